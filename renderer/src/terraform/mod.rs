//! Terraform as a person meets it: what main answered about the board that is looked at and when to ask again, what
//! stands in the way of a run, findings beside the problems of the board, the cost in the status bar, and the words for
//! all of it. The panels that show it are `panels/terraform` and `panels/hcl`.
//!
//! Must not know: how HCL is made, what a run does. Values of sensitive variables pass through and are not kept.

pub(crate) mod cost;
pub(crate) mod findings;
pub(crate) mod kept;
pub(crate) mod known;
pub(crate) mod lines;
pub(crate) mod money;
pub(crate) mod obstacle;
pub(crate) mod words;

pub(crate) use known::{Asked, Known, Wants};

use crate::view::{Action, View};
use shared_protocol::{
    BoardId, BoardKind,
    messages::Request,
    terraform::{BoardTerraform, RunState, RunView, TerraformRequest, TerraformView},
};

pub(crate) fn ask(actions: &mut Vec<Action>, request: TerraformRequest) {
    actions.push(Action::Ask(Request::Terraform(request)));
}

pub(crate) fn of_board(view: &TerraformView, board: BoardId) -> Option<&BoardTerraform> {
    view.boards.iter().find(|known| known.board == board)
}

pub(crate) fn is_going(run: &RunView) -> bool {
    matches!(run.state, RunState::Running | RunState::Cancelling)
}

impl<'a> View<'a> {
    /// The board, if it is one that becomes Terraform.
    pub(crate) fn infrastructure(&self) -> Option<BoardId> {
        self.board().filter(|board| board.kind == BoardKind::Infrastructure).map(|board| board.id)
    }

    /// What main says of the board's Terraform by itself.
    pub(crate) fn deployed(&self) -> Option<&'a BoardTerraform> {
        of_board(self.terraform, self.board?)
    }

    /// The run that goes on.
    pub(crate) fn going(&self) -> Option<&'a RunView> {
        self.deployed()?.run.as_ref().filter(|run| is_going(run))
    }
}
