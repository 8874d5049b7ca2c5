//! Terraform in the workbench: asking for what is on the screen, starting runs, and what comes of the answers.

use super::{Pending, Workbench};
use crate::{
    dialogs::Modal,
    features::terraform::{obstacle::obstacle, panel::Shows, run_dialog::RunDialog, words},
    panel_id::PanelId,
    panels::notices::Tone,
    terraform_answers::{Asked, Now, Wants, of_board},
    view::Action,
    wording::counted,
};
use canvas::Standings;
use egui::Context;
use shared_protocol::{
    BoardKind, ElementId,
    messages::Request,
    terraform::{RunOperation, TerraformAnswer, TerraformRequest},
};
use std::time::Duration;

impl Workbench {
    /// Asks main for what is looked at and not known, or not known any more.
    pub(super) fn ask_terraform(&mut self, context: &Context, actions: &mut Vec<Action>) {
        let in_front = |panel| self.dock.is_in_front(panel);
        let (terraform, changes) =
            (in_front(PanelId::Terraform), self.panels.terraform.shows == Shows::Changes);
        let wants = Wants {
            hcl: terraform || in_front(PanelId::Hcl) || in_front(PanelId::Problems),
            plan: (terraform && changes) || self.dialogs.asks_about_run(),
            runs: terraform,
        };
        let Some(workspace) = self.replica.workspace() else { return };
        let board = self.session.board.and_then(|board| workspace.snapshot.board(board));
        let Some(board) = board.filter(|board| board.kind == BoardKind::Infrastructure) else { return };
        let now = Now {
            board: board.id,
            revision: workspace.snapshot.revision(),
            told: of_board(self.replica.terraform(), board.id),
            time: context.input(|input| input.time),
        };
        let mut requests = Vec::new();
        let again = self.session.terraform.ask(&now, wants, &mut requests);
        actions.extend(requests.into_iter().map(|request| Action::Ask(Request::Terraform(request))));
        if let Some(seconds) = again {
            context.request_repaint_after(Duration::from_secs_f64(seconds + 0.01));
        }
    }

    /// Starts a run, after whatever has to be asked first.
    pub(super) fn run_terraform(&mut self, operation: RunOperation) {
        let Some(view) = self.view() else { return };
        if let Some(why) = obstacle(&view, operation) {
            return self.notices.tell(Tone::Bad, why, Vec::new());
        }
        let Some(board) = view.infrastructure() else { return };
        let now =
            Now { board, revision: view.snapshot.revision(), told: view.deployed(), time: f64::NEG_INFINITY };
        if words::needs_values(operation) && !view.known.has_current_files(&now) {
            return self.session.terraform.hold(operation);
        }
        if let Some(dialog) = RunDialog::needed(&view, board, operation) {
            return self.dialogs.open(Modal::Run(dialog));
        }
        let request = TerraformRequest::Run { board, operation, confirmed: false, secrets: Vec::new() };
        self.session.terraform.sending(&request);
        self.ask(Request::Terraform(request), Pending::Terraform(Asked::Run));
    }

    pub(super) fn cancel_run(&mut self) {
        let Some(run) = self.view().and_then(|view| view.going().map(|run| run.id)) else { return };
        let request = Request::Terraform(TerraformRequest::Cancel { run });
        self.ask(request, Pending::Terraform(Asked::Other));
    }

    pub(super) fn show_changes(&mut self) {
        self.panels.terraform.shows = Shows::Changes;
        self.dock.show(PanelId::Terraform);
    }

    /// What is drawn on nodes follows.
    pub(super) fn terraform_told(&mut self) {
        for (board, canvas) in &mut self.canvases {
            canvas.set_standings(of_board(self.replica.terraform(), *board).and_then(Standings::of));
        }
    }

    pub(super) fn terraform_answered(&mut self, answer: TerraformAnswer, context: &Context) {
        match &answer {
            TerraformAnswer::Started { .. } => {
                self.panels.terraform.shows = Shows::Runs;
                self.dock.show(PanelId::Terraform);
            }
            TerraformAnswer::Written { written, removed, in_the_way } => {
                let mut more = Vec::new();
                if !removed.is_empty() {
                    more.push(format!("Removed {}.", removed.join(", ")));
                }
                if !in_the_way.is_empty() {
                    let names = in_the_way.join(", ");
                    more.push(format!("Left alone, because they are somebody else's: {names}."));
                }
                let tone = if in_the_way.is_empty() { Tone::Good } else { Tone::Bad };
                self.notices.tell(tone, format!("Wrote {}", counted(written.len(), "file")), more);
            }
            TerraformAnswer::Imported { board, notes, .. } => {
                self.session.awaited = vec![ElementId::Board(*board)];
                let more = match notes.len() {
                    0 => Vec::new(),
                    count => vec![format!("{} about it in the problems panel.", counted(count, "note"))],
                };
                self.notices.tell(Tone::Good, "Imported the folder as a board", more);
            }
            _ => {}
        }
        let held = self.session.terraform.receive(answer);
        if !self.session.awaited.is_empty() {
            self.select_awaited(context);
        }
        if let Some(operation) = held {
            self.run_terraform(operation);
        }
    }
}
