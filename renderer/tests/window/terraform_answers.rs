//! What main would say about the Terraform of the shop: hand-made, so that a test says itself what there is to see.

use crate::shop::{Response, Shop, response};
use shared_protocol::{
    Actor, ActorKind, BoardId, NodeId, Refusal,
    messages::{ProblemSeverity, ToRenderer},
    requests::{ImportedBoard, ReadRunLines, WorkbenchRequest, WrittenHcl},
    terraform::{
        BoardTerraformView, CostBasis, CostPart, CostView, DeploymentState, HclFile, HclSpan, HclView,
        NodeCost, PlanAttribute, PlanChange, PlanCounts, PlanState, PlanView, PlannedAction,
        TerraformFindingView, TerraformOperation, TerraformRunId, TerraformRunLine, TerraformRunState,
        TerraformRunView, TerraformView,
    },
};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Terraform {
    pub(crate) hcl: Option<HclView>,
    pub(crate) cost: Option<CostView>,
    pub(crate) plan: Option<PlanView>,
    pub(crate) history: Vec<TerraformRunView>,
    pub(crate) lines: BTreeMap<TerraformRunId, Vec<TerraformRunLine>>,
    /// How often files were asked for.
    pub(crate) hcl_asked: usize,
}

impl Terraform {
    /// Answers a request about Terraform; none for another.
    pub(crate) fn answer(&mut self, request: &WorkbenchRequest) -> Option<Response> {
        use WorkbenchRequest as R;
        let nothing = || Refusal::new(shared_protocol::RefusalCode::NotFound, "nothing is known about it");
        Some(match request {
            R::GenerateHcl(_) => {
                self.hcl_asked += 1;
                response(self.hcl.clone().ok_or_else(nothing))
            }
            R::EstimateCost(_) => response(self.cost.clone().ok_or_else(nothing)),
            R::ReadPlan(_) => response(Ok(&self.plan)),
            R::ListRuns(_) => response(Ok(&self.history)),
            R::ReadRunLines(ReadRunLines { run, from }) => {
                let view = self.history.iter().find(|known| known.id == *run).ok_or_else(nothing);
                let all = self.lines.get(run).cloned().unwrap_or_default();
                let lines: Vec<_> = all.into_iter().skip(usize::try_from(*from).unwrap()).take(3).collect();
                response(view.map(|view| (view, lines)))
            }
            R::StartRun(_) => response(Ok::<TerraformRunId, _>(9)),
            R::WriteHcl(_) => response(Ok(WrittenHcl {
                written: vec!["main.tf".into()],
                removed: Vec::new(),
                in_the_way: Vec::new(),
            })),
            R::ListMissingPrices(_) => response(Ok("{}")),
            R::ImportBoard(_) | R::ImportFolder(_) => response::<ImportedBoard>(Err(nothing())),
            _ => return None,
        })
    }
}

pub(crate) fn run(
    board: BoardId,
    id: TerraformRunId,
    operation: TerraformOperation,
    state: TerraformRunState,
) -> TerraformRunView {
    TerraformRunView {
        id,
        board,
        operation,
        by: Actor::new(ActorKind::Window, "ada"),
        requested_by: None,
        started: 0,
        state,
        summary: None,
        progress: None,
        lines: 0,
        log: format!(".draftboard/terraform/production-{id}.log"),
    }
}

pub(crate) fn told(board: BoardId) -> BoardTerraformView {
    BoardTerraformView {
        board,
        run: None,
        statuses: Vec::new(),
        planned: Vec::new(),
        drifted: Vec::new(),
        findings: Vec::new(),
        plan: PlanState::None,
        interrupted: None,
    }
}

/// Main tells this, with a program that works.
pub(crate) fn tell(shop: &mut Shop, told: BoardTerraformView) {
    let program = Some(Ok("Terraform 1.11.0".to_owned()));
    shop.main.send(ToRenderer::Terraform(Box::new(TerraformView {
        program,
        boards: vec![told],
        trials: Vec::new(),
        requests: Vec::new(),
    })));
    shop.window.run();
}

pub(crate) fn line(text: &str, error: bool) -> TerraformRunLine {
    TerraformRunLine { error, text: text.to_owned() }
}

pub(crate) const COUNTS: PlanCounts = PlanCounts { add: 1, change: 1, remove: 1 };

/// The bucket is replaced, the web server changed, the network added; a queue that is on the board no more goes.
pub(crate) fn plan(shop: &Shop, outdated: bool) -> PlanView {
    let attribute = |path: &str, before: Option<&str>, after: Option<&str>, forces: bool| PlanAttribute {
        path: path.to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        forces_replacement: forces,
    };
    let change = |address: &str, node: Option<NodeId>, action, attributes| PlanChange {
        address: address.to_owned(),
        node,
        action,
        reason: None,
        attributes,
    };
    let mut replaced = change(
        "aws_s3_bucket.pictures",
        Some(shop.bucket),
        PlannedAction::Replace,
        vec![attribute("bucket", Some("\"pictures\""), Some("\"photos\""), true)],
    );
    replaced.reason = Some("cannot be changed in place".to_owned());
    PlanView {
        board: shop.infrastructure,
        counts: COUNTS,
        outdated,
        changes: vec![
            change(
                "aws_vpc.shop_network",
                Some(shop.network),
                PlannedAction::Create,
                vec![attribute("cidr_block", None, Some("\"10.0.0.0/16\""), false)],
            ),
            change(
                "aws_instance.web",
                Some(shop.web),
                PlannedAction::Update,
                vec![
                    attribute("instance_type", Some("\"t3.small\""), Some("\"t3.large\""), false),
                    attribute("user_data", Some("(sensitive)"), Some("(sensitive)"), false),
                ],
            ),
            replaced,
            change("aws_sqs_queue.old", None, PlannedAction::Delete, Vec::new()),
        ],
    }
}

pub(crate) const MAIN_TF: &str = "\
# Made by Draftboard.

resource \"aws_vpc\" \"shop_network\" {
  cidr_block = \"10.0.0.0/16\"
}

resource \"aws_instance\" \"web\" {
  ami           = var.web_ami
  instance_type = \"t3.large\"
  tags = {
    Name = \"web-${var.stage}\"
  }
}

resource \"aws_s3_bucket\" \"pictures\" {
  bucket = \"photos\"
}
";

/// Three blocks in one file that has changed since it was written, and a file that is not there yet.
pub(crate) fn hcl(shop: &Shop) -> HclView {
    let span = |first, last, node| HclSpan { file: "main.tf".into(), first, last, node };
    HclView {
        board: shop.infrastructure,
        revision: shop.main.snapshot.revision(),
        files: vec![
            HclFile {
                path: "main.tf".into(),
                text: MAIN_TF.into(),
                on_disk: Some(MAIN_TF.replace("t3.large", "t3.small")),
            },
            HclFile {
                path: "variables.tf".into(),
                text: "variable \"web_ami\" {\n  type = string\n}\n".into(),
                on_disk: Some(String::new()),
            },
            HclFile { path: "terraform.tf".into(), text: "terraform {\n}\n".into(), on_disk: None },
        ],
        spans: vec![span(3, 5, shop.network), span(7, 13, shop.web), span(15, 17, shop.bucket)],
        findings: vec![TerraformFindingView {
            severity: ProblemSeverity::Warning,
            node: Some(shop.bucket),
            prop: None,
            message: "no name by convention".into(),
            detail: String::new(),
        }],
        secrets: Vec::new(),
        in_the_way: vec!["backend.tf".into()],
        removed: vec!["locals.tf".into()],
    }
}

pub(crate) fn cost(shop: &Shop) -> CostView {
    let part = |label: &str, basis, monthly, source: Option<&str>| CostPart {
        label: label.to_owned(),
        basis,
        monthly,
        source: source.map(str::to_owned),
    };
    let node = |node, basis, monthly, components| NodeCost { node, basis, monthly, components };
    let source = Some("aws.amazon.com/ec2/pricing, 2026-01-31");
    CostView {
        board: shop.infrastructure,
        revision: shop.main.snapshot.revision(),
        currency: Some("USD".into()),
        monthly: Some(312.4),
        priced: 1,
        free: 1,
        usage_based: 0,
        unknown: 2,
        nodes: vec![
            node(
                shop.web,
                CostBasis::Priced,
                Some(312.4),
                vec![part("Instance, 730 h", CostBasis::Priced, Some(312.4), source)],
            ),
            node(shop.network, CostBasis::Free, None, Vec::new()),
            node(
                shop.bucket,
                CostBasis::Unknown,
                None,
                vec![part("Storage", CostBasis::Unknown, None, None)],
            ),
            node(shop.worker, CostBasis::Unknown, None, Vec::new()),
        ],
    }
}

/// A board in the middle of being applied.
pub(crate) fn applying(shop: &Shop) -> BoardTerraformView {
    let mut going = run(shop.infrastructure, 4, TerraformOperation::Apply, TerraformRunState::Running);
    going.progress = Some((3, 12));
    BoardTerraformView {
        run: Some(going),
        statuses: vec![
            (shop.network, DeploymentState::Created),
            (shop.subnet, DeploymentState::Creating),
            (shop.web, DeploymentState::Updating),
            (shop.worker, DeploymentState::Pending),
            (shop.bucket, DeploymentState::Failed),
        ],
        ..told(shop.infrastructure)
    }
}

/// A board with a plan that was kept, and a bucket that somebody changed by hand.
pub(crate) fn planned(shop: &Shop) -> BoardTerraformView {
    let mut last =
        run(shop.infrastructure, 3, TerraformOperation::Plan, TerraformRunState::Succeeded { ended: 4_200 });
    last.summary = Some(COUNTS);
    BoardTerraformView {
        run: Some(last),
        statuses: vec![(shop.web, DeploymentState::Created), (shop.bucket, DeploymentState::Created)],
        planned: vec![
            (shop.network, PlannedAction::Create),
            (shop.web, PlannedAction::Update),
            (shop.bucket, PlannedAction::Replace),
        ],
        drifted: vec![(shop.bucket, PlannedAction::Update)],
        plan: PlanState::Ready(COUNTS),
        ..told(shop.infrastructure)
    }
}
