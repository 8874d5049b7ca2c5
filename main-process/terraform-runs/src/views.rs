//! Views for window and terminals, made from the types of the crate `terraform`.

use super::drafts::GeneratedBoard;
use shared_protocol::{
    NodeId,
    terraform::{PlanChange, PlannedAction, TerraformFindingView},
};
use std::collections::BTreeMap;
use terraform::settings::IGNORED_PROGRAM_NOTICE;

/// The findings about the files and their settings.
pub(super) fn findings_of(draft: &GeneratedBoard) -> Vec<TerraformFindingView> {
    let ignored = draft.settings.names_program();
    let ignored = ignored.then(|| TerraformFindingView::warning(None, IGNORED_PROGRAM_NOTICE));
    ignored.into_iter().chain(draft.generated.findings.iter().cloned()).collect()
}

/// The planned action of each node, the gravest one where it has several resources.
pub(super) fn planned_actions(changes: &[PlanChange]) -> Vec<(NodeId, PlannedAction)> {
    let mut gravest = BTreeMap::new();
    for (node, action) in changes.iter().filter_map(|change| Some((change.node?, change.action))) {
        let kept = gravest.entry(node).or_insert(action);
        *kept = std::cmp::min_by_key(*kept, action, |action| gravity(*action));
    }
    gravest.into_iter().collect()
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
