//! Terraform as a person meets it: what main answered about the board that is looked at and when to ask again, what
//! stands in the way of a run, findings beside the problems of the board, the cost in the status bar, and the words for
//! all of it. The panels that show it are `panels/terraform` and `panels/hcl`.
//!
//! Must not know: how HCL is made, what a run does. Values of sensitive variables pass through and are not kept.

pub(crate) mod cost;
pub(crate) mod findings;
pub(crate) mod hcl;
pub(crate) mod money;
pub(crate) mod obstacle;
pub(crate) mod panel;
pub(crate) mod run_dialog;
pub(crate) mod words;

use crate::view::Action;
use shared_protocol::{messages::Request, terraform::TerraformRequest};

pub(crate) fn ask(actions: &mut Vec<Action>, request: TerraformRequest) {
    actions.push(Action::Ask(Request::Terraform(request)));
}
