//! What a reviewer sees of consequences: pages before and after, and a plan that somebody asked for.

use crate::shop::Shop;
use egui::{Key, Theme};
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    Actor, ActorKind, Command, NodeId, PropKey, PropValue, ProposalId, Refusal, RefusalCode, Revision,
    decisions::{DrawPagePictures, PlanProposal, ReviewPlanStart, ReviewRequest, WindowRequest},
    messages::{ProblemSeverity, ToRenderer},
    preview_sessions::PreviewImage,
    preview_wire::PreviewScreen,
    requests::{CancelRun, WorkbenchRequest},
    review::{BoardConsequences, PageRendering, ProposalConsequences, ProposedPagePictures, TouchedPage},
    terraform::{
        PlanAttribute, PlanChange, PlanCounts, PlannedAction, TerraformFindingView, TerraformOperation,
        TerraformRunLine, TerraformRunState, TerraformRunView, TerraformView, TrialPlanView,
    },
};

fn size(node: NodeId, value: &str) -> Command {
    Command::UpdateNode {
        node: node.into(),
        label: None,
        name: None,
        set: [(PropKey::parse("instance_type").unwrap(), PropValue::text(value))].into(),
        unset: Default::default(),
        references: Default::default(),
    }
}

/// A page of a colour, with a bar so that one sees where its top is.
fn page(colour: [u8; 4]) -> PageRendering {
    let (width, height) = (96, 60);
    let pixel = |place: usize| if place < width * 12 { [40, 40, 60, 255] } else { colour };
    let rgba = (0..width * height).flat_map(pixel).collect();
    PageRendering::Drawn(PreviewImage { width: 96, height: 60, rgba })
}

const PROPOSAL: u64 = 17;

struct Case {
    shop: Shop,
    id: ProposalId,
    home: NodeId,
}

impl Case {
    /// A proposal with these consequences, before anybody looks at it.
    fn new(window: (f32, f32), theme: Theme) -> Self {
        let mut shop = Shop::open_as(window, theme, |_| {});
        let home = shop.main.snapshot.nodes().find(|node| node.label == "Home").unwrap().id;
        let id = shop.main.propose(PROPOSAL, "A larger server", &[size(shop.web, "t3.large")]);
        let mut case = Self { shop, id, home };
        case.follows(|_| {});
        case
    }

    fn follows(&mut self, change: impl FnOnce(&mut ProposalConsequences)) {
        let Self { shop, id, home } = self;
        let opened = &shop.main.reviews.opened[id];
        let mut all = ProposalConsequences {
            proposal: *id,
            version: opened.brief.version,
            hash: opened.hash,
            boards: vec![BoardConsequences {
                board: shop.infrastructure,
                name: "production".into(),
                files: Vec::new(),
                more_files: 0,
                cost: None,
                problem: None,
            }],
            links: Vec::new(),
            pages: vec![TouchedPage { page: *home, title: "Home".into() }],
            more_pages: 0,
        };
        change(&mut all);
        shop.main.reviews.consequences.insert(*id, all);
    }

    fn drawn(&mut self, now: PageRendering, proposed: PageRendering) {
        let hash = self.shop.main.reviews.opened[&self.id].hash;
        let (proposal, page) = (self.id, self.home);
        let pictures = ProposedPagePictures { proposal, hash, page, now, proposed };
        self.shop.main.reviews.pictures.insert(page, pictures);
    }

    fn open(&mut self) {
        self.shop.settle();
        self.shop.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, Key::R);
        self.shop.settle();
        self.click("Review proposal 17");
    }

    fn click(&mut self, label: &str) {
        self.shop.window.get_by_label(label).click();
        self.shop.window.run_steps(6);
        self.shop.settle();
    }

    fn asked(&mut self) -> Vec<WindowRequest> {
        std::mem::take(&mut self.shop.main.reviews.heard)
    }

    fn trial(&self, run: u64, state: TerraformRunState) -> TrialPlanView {
        let opened = &self.shop.main.reviews.opened[&self.id];
        TrialPlanView {
            run: TerraformRunView {
                id: run,
                board: self.shop.infrastructure,
                operation: TerraformOperation::Plan,
                by: Actor::new(ActorKind::Window, "ada"),
                requested_by: None,
                started: 1,
                state,
                summary: None,
                progress: None,
                lines: 0,
                log: String::new(),
            },
            proposal: self.id,
            version: opened.brief.version,
            hash: opened.hash,
            over: self.shop.main.snapshot.revision(),
            changes: None,
            more_changes: 0,
            findings: Vec::new(),
        }
    }

    fn tell(&mut self, trial: TrialPlanView) {
        let view = TerraformView { trials: vec![trial], ..TerraformView::default() };
        self.shop.main.send(ToRenderer::Terraform(Box::new(view)));
        self.shop.settle();
    }

    fn planned(&self, run: u64) -> TrialPlanView {
        let change = |address: &str, action, node, attributes| PlanChange {
            address: address.into(),
            node,
            action,
            reason: (action == PlannedAction::Delete).then(|| "it is no longer on the board".to_owned()),
            attributes,
        };
        let attribute = PlanAttribute {
            path: "instance_type".into(),
            before: Some("t3.small".into()),
            after: Some("t3.large".into()),
            forces_replacement: false,
        };
        let mut trial = self.trial(run, TerraformRunState::Succeeded { ended: 9_000 });
        trial.run.summary = Some(PlanCounts { add: 1, change: 1, remove: 1 });
        trial.changes = Some(vec![
            change("aws_instance.cache", PlannedAction::Create, None, Vec::new()),
            change("aws_instance.web", PlannedAction::Update, Some(self.shop.web), vec![attribute]),
            change("aws_instance.worker", PlannedAction::Delete, None, Vec::new()),
        ]);
        trial
    }
}

fn case() -> Case {
    Case::new((1440.0, 1000.0), Theme::Light)
}

#[test]
fn a_page_is_asked_for_once_shown_side_by_side_and_enlarged() {
    let mut case = case();
    case.drawn(page([250, 250, 250, 255]), page([210, 235, 255, 255]));
    case.open();
    let asked: Vec<(NodeId, PreviewScreen)> = case
        .asked()
        .iter()
        .filter_map(|request| match request {
            WindowRequest::Review(ReviewRequest::DrawPagePictures(DrawPagePictures {
                page, screen, ..
            })) => Some((*page, *screen)),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].0 == case.home && asked[0].1.is_valid() && !asked[0].1.dark);
    for words in ["1 page would look different", "Now", "As proposed"] {
        assert!(case.shop.shows(words), "{words}");
    }
    let [now, proposed] =
        ["Home now", "Home as proposed"].map(|name| case.shop.window.get_by_label(name).rect());
    assert!((now.top() - proposed.top()).abs() < 1.0 && now.right() < proposed.left(), "side by side");
    case.click("Home as proposed");
    let larger = case.shop.window.query_all_by_label("Home now").map(|node| node.rect().width());
    assert!(larger.fold(0.0, f32::max) > now.width() * 2.0, "much larger");
    case.click("Close");
    assert_eq!(case.shop.window.query_all_by_label("Home now").count(), 1);
    assert!(case.asked().is_empty(), "nothing is drawn twice");
}

#[test]
fn what_is_not_there_what_failed_and_what_is_no_picture_is_told() {
    let mut case = case();
    case.drawn(PageRendering::Absent, PageRendering::Failed("a component ended the preview".into()));
    case.open();
    assert!(case.shop.shows("Home now: New page"));
    assert!(case.shop.shows("Home as proposed: No image: a component ended the preview"));

    let mut case = Case::new((1440.0, 1000.0), Theme::Light);
    let lie = PageRendering::Drawn(PreviewImage { width: 4_000, height: 4_000, rgba: vec![0; 16] });
    case.drawn(lie, PageRendering::Absent);
    case.open();
    assert!(case.shop.shows("Home now: No image: The image has the wrong size."));
    assert!(case.shop.shows("Home as proposed: Removed page"));

    let mut case = Case::new((1440.0, 1000.0), Theme::Light);
    case.open();
    assert!(case.shop.shows("No image available."), "main refused");
    case.drawn(page([1, 2, 3, 255]), page([1, 2, 3, 255]));
    case.click("Render");
    assert!(case.shop.shows("No visible difference on this screen."));
}

#[test]
fn pictures_of_another_version_are_not_shown() {
    let mut case = case();
    case.drawn(page([250, 250, 250, 255]), page([210, 235, 255, 255]));
    for pictures in case.shop.main.reviews.pictures.values_mut() {
        pictures.proposal = ProposalId::from_bits(99);
    }
    case.open();
    assert!(case.shop.shows("Home now: Drawing…"));
}

#[test]
fn nothing_is_planned_before_a_person_says_so_twice() {
    let mut case = case();
    case.open();
    let plans = |case: &mut Case| {
        case.asked()
            .into_iter()
            .filter(|request| matches!(request, WindowRequest::Review(ReviewRequest::PlanProposal(_))))
            .count()
    };
    assert_eq!(plans(&mut case), 0);
    case.click("Plan…");
    assert!(case.shop.shows("Runs terraform plan with your credentials"), "the board has resources of AWS");
    assert_eq!(plans(&mut case), 0, "it says what it does first");
    case.click("Do not plan");
    case.click("Plan…");
    case.shop.main.reviews.planning = Some(Ok(ReviewPlanStart::Started { run: 4 }));
    let (hash, board) = (case.shop.main.reviews.opened[&case.id].hash, case.shop.infrastructure);
    case.click("Plan now");
    let asked = case.asked();
    let plan = PlanProposal { proposal: case.id, hash, board, secrets: Vec::new() };
    let wanted = WindowRequest::Review(plan.into());
    assert_eq!(asked.iter().filter(|request| **request == wanted).count(), 1, "{asked:?}");
    assert!(!case.shop.shows("Plan now"), "the question is answered");
}

/// Goes to the plan as the command palette does.
fn go_to_plan(case: &mut Case) {
    case.shop.press_with(egui::Modifiers::COMMAND, Key::K);
    case.shop.settle();
    case.shop.type_keys("go to plan");
    case.shop.settle();
    case.shop.press(Key::Enter);
    case.shop.settle();
}

#[test]
fn going_to_the_plan_puts_the_keyboard_on_its_button_wherever_it_is() {
    let mut case = Case::new((1024.0, 640.0), Theme::Light);
    let commands: Vec<Command> = (0..12)
        .map(|place| {
            let mut add = shared_protocol::AddNode::new(
                case.shop.infrastructure,
                "aws/storage/s3_bucket".parse().unwrap(),
            );
            add.label = Some(format!("Bucket {place}"));
            Command::AddNode(add)
        })
        .collect();
    case.id = case.shop.main.propose(PROPOSAL, "Many buckets", &commands);
    case.follows(|all| all.pages.clear());
    case.open();
    go_to_plan(&mut case);
    case.shop.window.run_steps(30);
    let plan = case.shop.window.get_by_label("Plan…");
    assert!(plan.accesskit_node().is_focused());
    assert!(plan.rect().bottom() < 600.0, "in view: {:?}", plan.rect());
    let heading = case.shop.window.get_by_label("Consequences").rect();
    assert!(heading.bottom() < plan.rect().top(), "{heading:?}");
    case.shop.press(Key::Enter);
    case.shop.settle();
    assert!(case.shop.shows("Plan now") && !case.shop.shows("Decide later"), "Enter asks for the plan");
}

#[test]
fn going_to_the_plan_brings_the_heading_to_the_top() {
    let mut case = Case::new((1440.0, 900.0), Theme::Light);
    case.follows(|all| all.links = (0..40).map(|place| format!("a spec to node {place}")).collect());
    case.open();
    let top = case.shop.window.get_by_label("A larger server").rect().top();
    go_to_plan(&mut case);
    case.shop.window.run_steps(60);
    let heading = case.shop.window.get_by_label("Consequences").rect();
    assert!((heading.top() - top).abs() < 40.0, "{heading:?}, and the panel begins at {top}");
    assert!(case.shop.window.get_by_label("Plan…").accesskit_node().is_focused());
}

#[test]
fn going_to_the_plan_in_a_window_without_the_keyboard_scrolls_once() {
    let mut case = Case::new((1024.0, 640.0), Theme::Light);
    case.open();
    go_to_plan(&mut case);
    case.shop.window.run_steps(20);
    case.shop.window.input_mut().focused = false;
    case.shop.window.event(egui::Event::WindowFocused(false));
    // The button that starts it is led to.
    case.click("Plan…");
    case.shop.window.run_steps(20);
    let at = case.shop.window.get_by_label("Plan now").rect();
    case.shop.window.hover_at(at.center());
    let scroll = egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 80.0),
        modifiers: egui::Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
    };
    case.shop.window.event(scroll);
    case.shop.window.run_steps(30);
    let now = case.shop.window.get_by_label("Plan now").rect();
    assert!(now.top() > at.top() + 40.0, "it stays where it was scrolled to: {at:?} {now:?}");
}

#[test]
fn consequences_say_that_they_are_of_all_changes_while_some_are_ticked() {
    let mut case = case();
    let commands = [
        size(case.shop.web, "t3.large"),
        Command::Remove { nodes: vec![case.shop.worker.into()], edges: Vec::new() },
    ];
    case.id = case.shop.main.propose(PROPOSAL, "A larger server", &commands);
    case.follows(|_| {});
    case.open();
    let planned = case.planned(4);
    case.tell(planned);
    let scope = "For all 2 changes; 1 is ticked";
    assert_eq!(case.shop.window.query_all_by_label(scope).count(), 3, "heading, plan and pages");
    assert!(case.shop.shows("Plan and consequences are for all 2 changes; 1 is ticked"));
    case.click("Side by side");
    assert!(case.shop.shows("· For all 2 changes; 1 is ticked"));
    case.click("Tick removes ec2 instance worker");
    case.shop.retype("Name of the removed element", "worker");
    case.shop.press(Key::Enter);
    case.shop.settle();
    assert!(case.shop.shows("Accept all 2") && !case.shop.shows("For all 2 changes"));
}

#[test]
fn a_plan_of_built_in_resources_says_nothing_of_credentials() {
    let mut case = case();
    let board = case.shop.main.add_board(shared_protocol::BoardKind::Infrastructure, "Rehearsal");
    let mut add = shared_protocol::AddNode::new(board, "terraform/core/terraform_data".parse().unwrap());
    add.label = Some("Database".into());
    case.id = case.shop.main.propose(PROPOSAL, "A database", &[Command::AddNode(add)]);
    case.follows(|all| all.boards[0].board = board);
    case.open();
    case.click("Plan…");
    assert!(case.shop.shows("Runs terraform plan on a copy of the board's files and state."));
    assert!(!case.shop.shows("credentials"));
}

#[test]
fn a_plan_is_followed_cancelled_and_its_result_listed_with_what_goes_first() {
    let mut case = case();
    case.open();
    let going = case.trial(4, TerraformRunState::Running);
    case.tell(going);
    let line = TerraformRunLine { error: false, text: "terraform_data.first: Refreshing state…".into() };
    case.shop.main.send(ToRenderer::RunLines { run: 4, first: 0, lines: vec![line] });
    case.shop.settle();
    assert!(case.shop.shows("Plan: Terraform is planning"));
    assert!(!case.shop.shows("Plan again…"));
    case.click("Terraform output");
    assert!(case.shop.shows("Refreshing state"));
    case.shop.window.get_by_label("Cancel the plan").click();
    let asked = case.shop.settle();
    assert_eq!(asked, [WorkbenchRequest::CancelRun(CancelRun { run: 4 })]);

    let planned = case.planned(4);
    case.tell(planned);
    assert!(case.shop.shows("Plan: 1 to add, 1 to change, 1 to destroy"));
    let top = |name: &str| case.shop.rect_of(name).top();
    assert!(top("aws_instance.worker") < top("aws_instance.web"), "what goes stands first");
    assert!(top("aws_instance.web") < top("aws_instance.cache"));
    case.click("1 attribute");
    assert!(case.shop.shows("instance_type: t3.small -> t3.large"));
    assert!(case.shop.shows("Plan again…"));
}

#[test]
fn a_plan_of_another_version_says_so_and_so_does_one_that_failed() {
    let mut case = case();
    case.open();
    let mut old = case.planned(4);
    let before = case.shop.main.reviews.opened[&case.id].clone();
    old.hash = {
        let other =
            crate::proposals::opened(&case.shop.main.snapshot, case.id, 2, &[size(case.shop.web, "t3.nano")]);
        assert_ne!(other.hash, before.hash);
        other.hash
    };
    old.version = 3;
    case.tell(old);
    assert!(case.shop.shows("This plan is for version 3; version 1 is shown. Plan again."));

    let mut failed = case.trial(5, TerraformRunState::Failed { ended: 2, code: Some(1) });
    failed.findings = vec![TerraformFindingView {
        severity: ProblemSeverity::Error,
        node: None,
        prop: None,
        message: "No valid credential sources found".into(),
        detail: "Set AWS_PROFILE.".into(),
    }];
    case.tell(failed);
    for words in ["Plan: Terraform failed", "No valid credential sources found", "Set AWS_PROFILE."] {
        assert!(case.shop.shows(words), "{words}");
    }

    let mut moved = case.planned(6);
    moved.over = Revision(1);
    case.tell(moved);
    assert!(case.shop.shows("The workspace has changed since this plan was made."));
}

#[test]
fn values_that_a_plan_needs_are_asked_for_and_sent_once() {
    let mut case = case();
    case.open();
    case.click("Plan…");
    let board = case.shop.infrastructure;
    let secrets = vec!["db_password".to_owned()];
    case.shop.main.reviews.planning = Some(Ok(ReviewPlanStart::NeedsValues { board, secrets }));
    case.click("Plan now");
    assert!(case.shop.shows("db_password"));
    assert!(case.shop.window.get_by_label("Plan now").accesskit_node().is_disabled());
    case.shop.window.get_by_role_and_label(egui::accesskit::Role::PasswordInput, "db_password").focus();
    case.shop.window.run();
    case.shop.type_keys("hush");
    case.shop.main.reviews.planning =
        Some(Err(Refusal::new(RefusalCode::Conflict, "a run is going on for this board")));
    case.asked();
    case.click("Plan now");
    let given = case.asked().into_iter().find_map(|request| match request {
        WindowRequest::Review(ReviewRequest::PlanProposal(PlanProposal { secrets, .. })) => Some(secrets),
        _ => None,
    });
    assert_eq!(given.unwrap(), [("db_password".to_owned(), "hush".to_owned())]);
    assert!(case.shop.shows("A run is going on for this board"), "refused, and told");
    assert!(
        !case.shop.window.get_by_label("Plan now").accesskit_node().is_disabled(),
        "it can be tried again"
    );
}

#[test]
fn draws_consequences_in_both_themes_and_a_narrow_dock() {
    for (theme, word, window) in
        [(Theme::Light, "light", (1440.0, 1250.0)), (Theme::Dark, "dark-narrow", (900.0, 1450.0))]
    {
        let mut case = Case::new(window, theme);
        case.drawn(page([250, 250, 250, 255]), page([210, 235, 255, 255]));
        case.open();
        let planned = case.planned(4);
        case.tell(planned);
        case.click("Plan again…");
        case.shop.picture(&format!("consequences-{word}"));
        case.click("Home now");
        assert!(case.shop.window.query_all_by_label("Home now").count() > 1, "enlarged");
        case.shop.picture(&format!("consequences-enlarged-{word}"));
    }
}
