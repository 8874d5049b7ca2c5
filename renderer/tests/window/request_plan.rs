//! An agent's request to apply: nothing can be accepted before its plan is there, and the yes is to that plan.

use crate::shop::Shop;
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    ProposalId, ProposalSubject,
    decisions::{
        AcceptProposal, PersonDecision, PlanProposal, ProposalDecision, ReviewRequest, WindowRequest,
    },
    messages::ToRenderer,
    proposal::{ContentHash, ElementChangeKind, ProposedAction, ReviewVerdict, Risk},
    review::ProposedElement,
    terraform::{
        ApplyRequestPlanState, ApplyRequestPlanView, PlanChange, PlanCounts, PlannedAction,
        TerraformOperation, TerraformView,
    },
};

struct Case {
    shop: Shop,
    id: ProposalId,
}

impl Case {
    fn new() -> Self {
        let mut shop = Shop::open_as((1440.0, 1000.0), Theme::Light, |_| {});
        let (id, board) = (shop.main.propose(17, "Tidy up", &[]), shop.infrastructure);
        shop.main.change(id, |opened| {
            opened.rationale = "Plan: 0 to add, 0 to change, 0 to destroy".to_owned();
            opened.brief.act = Some(ProposedAction::Run { board, operation: TerraformOperation::Apply });
            opened.elements = vec![ProposedElement {
                subject: ProposalSubject::Act,
                kind: ElementChangeKind::Changed,
                text: "runs terraform apply on production".to_owned(),
                board: Some(board),
                differences: Vec::new(),
                files: Vec::new(),
                risks: vec![Risk::Destructive],
                destructive: true,
                needs: Vec::new(),
                effect_of: Vec::new(),
            }];
        });
        shop.settle();
        shop.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::R);
        shop.settle();
        shop.window.get_by_label("Review proposal 17").click();
        shop.settle();
        Self { shop, id }
    }

    fn tell(&mut self, state: ApplyRequestPlanState) {
        let version = self.shop.main.reviews.opened[&self.id].brief.version;
        let request =
            ApplyRequestPlanView { proposal: self.id, version, board: self.shop.infrastructure, state };
        let view = TerraformView { requests: vec![request], ..TerraformView::default() };
        self.shop.main.send(ToRenderer::Terraform(Box::new(view)));
        self.shop.settle();
    }

    fn ready(&mut self, plan: u8) {
        let change = PlanChange {
            address: "aws_db_instance.orders".to_owned(),
            node: None,
            action: PlannedAction::Delete,
            reason: None,
            attributes: Vec::new(),
        };
        self.tell(ApplyRequestPlanState::Ready {
            hash: ContentHash::from_bytes([plan; 32]),
            counts: PlanCounts { add: 0, change: 0, remove: 1 },
            changes: vec![change],
            expires: u64::MAX,
        });
    }

    fn look(&mut self) {
        let text = "runs terraform apply on production";
        self.shop.window.get_by_role_and_label(egui::accesskit::Role::Button, text).click();
        self.shop.settle();
    }

    /// The gesture, typed.
    fn include(&mut self) {
        self.shop.retype("Name of the removed element", "include");
        self.shop.press(Key::Enter);
        self.shop.settle();
    }

    fn accept(&mut self, label: &str) -> Vec<ReviewVerdict> {
        self.shop.window.get_by_label(label).click();
        self.shop.settle();
        let heard = self.shop.main.reviews.heard.iter();
        let accepted = heard.filter_map(|request| match request {
            WindowRequest::Decision(PersonDecision::Proposal(ProposalDecision::AcceptProposal(
                AcceptProposal { verdict },
            ))) => Some(verdict.clone()),
            _ => None,
        });
        accepted.collect()
    }
}

#[test]
fn an_apply_waits_for_its_plan_and_a_yes_names_it() {
    let mut case = Case::new();
    assert!(case.shop.shows("Not planned yet. Press Plan"));
    case.look();
    let reason = "This board's plan runs data external x in main.tf. Press Plan to run it yourself.";
    for (state, shown) in [
        (ApplyRequestPlanState::Needed { reason: reason.to_owned() }, reason),
        (ApplyRequestPlanState::Planning { run: None }, "Planning…"),
        (
            ApplyRequestPlanState::Failed { reason: "no credentials".to_owned() },
            "The plan failed: no credentials",
        ),
    ] {
        case.tell(state);
        assert!(case.shop.shows(shown), "{shown}");
        assert!(
            case.shop.window.query_by_label("Name of the removed element").is_none(),
            "there is nothing to hold"
        );
        let accept = case.shop.window.get_by_label("Accept nothing");
        assert!(accept.accesskit_node().is_disabled(), "{shown}");
    }
    case.shop.window.get_by_label("Plan again").click();
    case.shop.settle();
    let last = case.shop.main.reviews.heard.last().cloned();
    assert!(
        matches!(last, Some(WindowRequest::Review(ReviewRequest::PlanProposal(PlanProposal { proposal, .. }))) if proposal == case.id),
        "{last:?}"
    );

    case.ready(1);
    assert!(case.shop.shows("aws_db_instance.orders"), "each resource");
    assert!(case.shop.shows("0 to add, 0 to change, 1 to destroy"));
    case.include();
    assert!(case.shop.shows("1 of 1 ticked"));
    // Planned again meanwhile: the gesture was about the plan before.
    case.ready(2);
    assert!(case.shop.shows("0 of 1 ticked"), "the gesture is cleared");
    case.include();
    let verdicts = case.accept("Accept it");
    let [verdict] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!(verdict.plan, Some(ContentHash::from_bytes([2; 32])));
}
