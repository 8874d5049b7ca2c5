//! Views for window and terminals, made from the types of the crate `terraform`.

use super::drafts::GeneratedBoard;
use shared_protocol::{
    BoardId, NodeId, Revision,
    messages::ProblemSeverity,
    terraform::{
        CostBasis, CostPart, CostView, HclSpan, NodeCost, PlanAttribute, PlanChange, PlanCounts, PlanView,
        PlannedAction, TerraformFindingView,
    },
};
use terraform::{
    cost::{BoardCostEstimate, EstimateBasis},
    run::{AttributeValue, ChangeSummary, LocatedDiagnostic, ResourceAction, TerraformPlan},
    settings::IGNORED_PROGRAM_NOTICE,
};

/// Returns `None` for an action without effect.
pub(super) fn action(action: ResourceAction) -> Option<PlannedAction> {
    Some(match action {
        ResourceAction::Create => PlannedAction::Create,
        ResourceAction::Update => PlannedAction::Update,
        ResourceAction::Replace => PlannedAction::Replace,
        ResourceAction::Delete => PlannedAction::Delete,
        ResourceAction::Read => PlannedAction::Read,
        ResourceAction::Nothing => return None,
    })
}

pub(super) fn counts(summary: ChangeSummary) -> PlanCounts {
    PlanCounts { add: summary.add, change: summary.change, remove: summary.remove }
}

/// The findings about the files themselves.
pub(super) fn findings(draft: &GeneratedBoard) -> Vec<TerraformFindingView> {
    let finding = |found: &terraform::TerraformFinding| TerraformFindingView {
        severity: found.severity,
        node: found.node,
        prop: found.prop.clone(),
        message: found.message.clone(),
        detail: String::new(),
    };
    draft.generated.findings.iter().map(finding).collect()
}

/// The findings about the files and their settings.
pub(super) fn findings_of(draft: &GeneratedBoard) -> Vec<TerraformFindingView> {
    let ignored = draft.settings.names_program().then(|| TerraformFindingView {
        severity: ProblemSeverity::Warning,
        node: None,
        prop: None,
        message: IGNORED_PROGRAM_NOTICE.to_owned(),
        detail: String::new(),
    });
    ignored.into_iter().chain(findings(draft)).collect()
}

/// A diagnostic of a run.
pub(super) fn diagnostic_finding(located: &LocatedDiagnostic) -> TerraformFindingView {
    let LocatedDiagnostic { diagnostic, node, prop } = located;
    TerraformFindingView {
        severity: if diagnostic.is_error { ProblemSeverity::Error } else { ProblemSeverity::Warning },
        node: *node,
        prop: prop.clone(),
        message: diagnostic.summary.clone(),
        detail: diagnostic.detail.clone(),
    }
}

pub(super) fn spans(draft: &GeneratedBoard) -> Vec<HclSpan> {
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let spans = draft.generated.spans.iter();
    spans
        .map(|span| HclSpan {
            file: span.file.clone(),
            first: line(span.first),
            last: line(span.last),
            node: span.node,
        })
        .collect()
}

/// The planned action of each node, the gravest one where it has several resources.
pub(super) fn planned_actions(plan: &TerraformPlan) -> Vec<(NodeId, PlannedAction)> {
    let mut nodes: Vec<NodeId> = plan.changes.iter().filter_map(|change| change.node).collect();
    nodes.sort();
    nodes.dedup();
    nodes.into_iter().filter_map(|node| Some((node, action(plan.action_of(node)?)?))).collect()
}

pub(super) fn plan(plan: &TerraformPlan, board: BoardId, counts: PlanCounts) -> PlanView {
    PlanView { board, counts, outdated: false, changes: changes(plan) }
}

/// The order of actions: the gravest is the lowest, so that destructive ones come first.
pub(super) fn gravity(action: PlannedAction) -> u8 {
    match action {
        PlannedAction::Delete => 0,
        PlannedAction::Replace => 1,
        PlannedAction::Update => 2,
        PlannedAction::Create => 3,
        PlannedAction::Read => 4,
    }
}

/// The planned changes, without those that have no effect.
pub(super) fn changes(plan: &TerraformPlan) -> Vec<PlanChange> {
    let attribute = |difference: &terraform::run::AttributeDifference| PlanAttribute {
        path: difference.path.clone(),
        before: visible_value(&difference.before),
        after: visible_value(&difference.after),
        forces_replacement: difference.forces_replacement,
    };
    let change = |change: &terraform::run::PlannedChange| {
        Some(PlanChange {
            address: change.address.clone(),
            node: change.node,
            action: action(change.action)?,
            reason: change.reason.as_deref().map(reason),
            attributes: change.attributes.iter().map(attribute).collect(),
        })
    };
    plan.changes.iter().filter_map(change).collect()
}

fn visible_value(value: &AttributeValue) -> Option<String> {
    match value {
        AttributeValue::Absent => None,
        AttributeValue::Value(serde_json::Value::String(text)) => Some(text.clone()),
        AttributeValue::Value(other) => Some(other.to_string()),
        AttributeValue::Sensitive => Some("(sensitive)".to_owned()),
        AttributeValue::Unknown => Some("(known after apply)".to_owned()),
    }
}

/// Terraform's reason codes as words.
fn reason(code: &str) -> String {
    match code {
        "replace_because_tainted" => "it is tainted",
        "replace_because_cannot_update" => "it cannot be changed in place",
        "replace_by_request" => "its replacement was requested",
        "replace_by_triggers" => "a resource that triggers its replacement changes",
        "delete_because_no_resource_config" => "it is no longer on the board",
        "delete_because_no_module" => "its module is no longer on the board",
        "read_because_config_unknown" => "its configuration is known only after apply",
        "read_because_dependency_pending" => "a resource it depends on changes first",
        other => return other.replace('_', " "),
    }
    .to_owned()
}

pub(super) fn cost(estimates: &BoardCostEstimate, board: BoardId, revision: Revision) -> CostView {
    let total = &estimates.total;
    let known = estimates.nodes.iter().any(|node| node.monthly.is_some());
    let nodes = estimates.nodes.iter().map(|estimate| NodeCost {
        node: estimate.node,
        basis: cost_basis(estimate.basis),
        monthly: estimate.monthly,
        components: estimate.components.iter().map(part).collect(),
    });
    CostView {
        board,
        revision,
        currency: estimates.currency.clone(),
        monthly: known.then_some(total.monthly),
        priced: total.priced as u64,
        free: total.free as u64,
        usage_based: total.usage_based as u64,
        unknown: total.unknown as u64,
        nodes: nodes.collect(),
    }
}

fn part(component: &terraform::cost::ComponentEstimate) -> CostPart {
    CostPart {
        label: component.label.clone(),
        basis: cost_basis(component.basis),
        monthly: component.monthly,
        source: component.source.as_ref().map(|(source, date)| format!("{source}, {date}")),
    }
}

fn cost_basis(basis: EstimateBasis) -> CostBasis {
    match basis {
        EstimateBasis::Priced => CostBasis::Priced,
        EstimateBasis::Free => CostBasis::Free,
        EstimateBasis::UsageBased => CostBasis::UsageBased,
        EstimateBasis::Unknown => CostBasis::Unknown,
    }
}
