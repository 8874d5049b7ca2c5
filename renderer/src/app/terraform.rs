//! Terraform in the window: which answers are shown, and the deployment status on the canvases.

use super::{Workbench, dispatch::CommandQueue};
use crate::{
    features::terraform::TerraformVisibility,
    panel_id::PanelId,
    terraform_answers::{TerraformBoard, of_board},
};
use canvas::BoardDeployStatus;
use egui::Context;
use shared_protocol::BoardKind;
use std::time::Duration;

impl Workbench {
    /// Requests the answers about Terraform that are shown and missing or outdated.
    pub(super) fn follow_terraform(&mut self, context: &Context, queue: &mut CommandQueue) {
        let in_front = |panel| self.dock.is_in_front(panel);
        let visible = TerraformVisibility {
            terraform: in_front(PanelId::Terraform),
            hcl: in_front(PanelId::Hcl),
            problems: in_front(PanelId::Problems),
        };
        let Some(workspace) = self.replica.workspace() else { return };
        let board = self.session.board.and_then(|board| workspace.snapshot.board(board));
        let Some(board) = board.filter(|board| board.kind == BoardKind::Infrastructure) else { return };
        let now = TerraformBoard {
            board: board.id,
            revision: workspace.snapshot.revision(),
            view: of_board(&self.replica.terraform, board.id),
            time: context.input(|input| input.time),
        };
        let answers = &mut self.session.terraform;
        let again =
            queue.sender(|commands| self.terraform.request_outdated(&now, visible, answers, commands));
        if let Some(seconds) = again {
            context.request_repaint_after(Duration::from_secs_f64(seconds + 0.01));
        }
    }

    /// Draws the deployment status of nodes as main last sent it.
    pub(super) fn update_standings(&mut self) {
        for (board, canvas) in &mut self.canvases {
            canvas.set_deploy_status(
                of_board(&self.replica.terraform, *board).and_then(BoardDeployStatus::from_board),
            );
        }
    }
}
