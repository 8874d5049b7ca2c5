//! Reasons that a run cannot start, shown on its button and when a command tries to start it.

use super::words;
use crate::view::FrameView;
use shared_protocol::terraform::{PlanState, TerraformOperation};

/// Returns `None` when the run can start.
pub(crate) fn obstacle(view: &FrameView<'_>, operation: TerraformOperation) -> Option<String> {
    if view.infrastructure().is_none() {
        return Some("Only infrastructure boards run Terraform. Open one first.".to_owned());
    }
    if view.is_held() {
        return Some("The file of this board needs a decision. See the banner above the board.".to_owned());
    }
    if let Some(Err(why)) = &view.terraform.program {
        return Some(why.clone());
    }
    if let Some(run) = view.run_in_progress() {
        let name = words::operation(run.operation);
        return Some(format!("{name} is running. Wait for it or cancel it."));
    }
    match (operation, view.deployed().map(|told| told.plan).unwrap_or_default()) {
        (TerraformOperation::ApplyPlan, PlanState::None) => {
            Some("There is no saved plan. Run Plan first.".to_owned())
        }
        (TerraformOperation::ApplyPlan, PlanState::Outdated(_)) => {
            Some("The board has changed since this plan was made. Plan again.".to_owned())
        }
        _ => None,
    }
}
