//! The messages of the Terraform feature and their handling, and the responses of main to its requests.

use super::{TerraformFeature, obstacle::obstacle, panel::TerraformTab, run_dialog::RunDialog, words};
use crate::{
    frame::{CommandSender, Feature, FeatureContext},
    panel_id::PanelId,
    terraform_answers::{TerraformAnswers, TerraformBoard, TerraformReply, VisibleTerraformAnswers},
    view::WindowAction,
};
use shared_protocol::text::count_noun;
use shared_protocol::{
    ElementId,
    requests::{CancelRun, ImportedBoard, StartRun, WrittenHcl},
    terraform::{TerraformOperation, TerraformRunId},
};

pub(crate) type TerraformContext<'a> = FeatureContext<'a, TerraformFeature>;

#[derive(Debug, Clone)]
pub(crate) enum TerraformMessage {
    /// Starts a run, after the questions that it needs.
    Run(TerraformOperation),
    CancelRun,
    ShowChanges,
    /// Shows the output of a run; the newest for `None`.
    ShowRun(Option<TerraformRunId>),
}

impl Feature for TerraformFeature {
    type Message = TerraformMessage;
    type Reply = TerraformReply;
}

/// The parts of the window that show answers about Terraform.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TerraformVisibility {
    pub(crate) terraform: bool,
    pub(crate) hcl: bool,
    pub(crate) problems: bool,
}

impl TerraformFeature {
    pub(crate) fn handle(&mut self, message: TerraformMessage, cx: &TerraformContext<'_>) {
        match message {
            TerraformMessage::Run(operation) => self.run(operation, cx),
            TerraformMessage::CancelRun => {
                if let Some(run) = cx.view.run_in_progress() {
                    cx.request(CancelRun { run: run.id }, TerraformReply::Cancelled);
                }
            }
            TerraformMessage::ShowChanges => {
                self.panel.tab = TerraformTab::Changes;
                cx.act(WindowAction::ShowPanel(PanelId::Terraform));
            }
            TerraformMessage::ShowRun(run) => self.panel.chosen_run = run,
        }
    }

    fn run(&mut self, operation: TerraformOperation, cx: &TerraformContext<'_>) {
        let view = cx.view;
        if let Some(message) = obstacle(view, operation) {
            return cx.act(WindowAction::Warn { message, details: Vec::new() });
        }
        let Some(board) = view.infrastructure() else { return };
        let (revision, told) = (view.snapshot.revision(), view.deployed());
        let now = TerraformBoard { board, revision, view: told, time: f64::NEG_INFINITY };
        if words::needs_values(operation) && !view.terraform_answers.has_current_files(&now) {
            self.queued_run = Some(operation);
            return;
        }
        if let Some(dialog) = RunDialog::for_operation(view, board, operation, &self.stored_secrets) {
            self.dialog = Some(dialog);
            return cx.act(WindowAction::CloseDialog);
        }
        self.start(StartRun { board, operation, confirmed: false, secrets: Vec::new() }, cx);
    }

    /// Sends a run and remembers the names of the values that go with it.
    pub(super) fn start(&mut self, request: StartRun, cx: &TerraformContext<'_>) {
        self.sent_secrets = request.secrets.iter().map(|(name, _)| (request.board, name.clone())).collect();
        self.panel.chosen_run = None;
        cx.request(request, TerraformReply::Started);
    }

    // ---- main ----------------------------------------------------------------------------------------------------------

    /// Requests the answers that are shown and missing or outdated. Returns the seconds after which to try again.
    pub(crate) fn request_outdated(
        &self,
        now: &TerraformBoard<'_>,
        visible: TerraformVisibility,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) -> Option<f64> {
        let shows_changes = visible.terraform && self.panel.tab == TerraformTab::Changes;
        let wants = VisibleTerraformAnswers {
            files: visible.terraform || visible.hcl || visible.problems,
            files_at_once: self.queued_run.is_some(),
            plan: shows_changes || self.dialog.is_some(),
            runs: visible.terraform,
            chosen_run: self.panel.chosen_run,
        };
        let (requests, again) = answers.request_missing(now, wants);
        commands.request_all(requests);
        again
    }

    /// Takes a response. Refusals of requests that a person made are shown; answers that the window fetches by itself keep
    /// the reason.
    pub(crate) fn receive(
        &mut self,
        reply: TerraformReply,
        answers: &mut TerraformAnswers,
        egui: &egui::Context,
        commands: &CommandSender<Self>,
    ) {
        match reply {
            TerraformReply::Hcl(result) => {
                match (self.queued_run.take(), &result) {
                    (Some(operation), Ok(_)) => commands.send(TerraformMessage::Run(operation)),
                    (Some(_), Err(refusal)) => commands.act(WindowAction::Refuse(refusal.clone())),
                    (None, _) => {}
                }
                answers.hcl.receive(result.map(|hcl| (hcl.board, hcl)));
            }
            TerraformReply::Cost(result) => answers.cost.receive(result.map(|cost| (cost.board, cost))),
            TerraformReply::Plan { board, result } => answers.plan.receive(result.map(|plan| (board, plan))),
            TerraformReply::Runs { board, result } => {
                answers.history.receive(result.map(|runs| (board, runs)))
            }
            TerraformReply::Lines { result: Ok((run, lines)), .. } => answers.lines.receive(&run, lines),
            TerraformReply::Lines { run, result: Err(_) } => answers.lines.refuse(run),
            TerraformReply::Started(Ok(_)) => {
                self.stored_secrets.extend(std::mem::take(&mut self.sent_secrets));
                self.panel.tab = TerraformTab::Runs;
                commands.act(WindowAction::ShowPanel(PanelId::Terraform));
            }
            TerraformReply::Cancelled(Ok(())) => {}
            TerraformReply::Written(Ok(written)) => {
                commands.act(describe_written(&written));
                answers.hcl.outdate();
            }
            TerraformReply::Prices(Ok(text)) => {
                egui.copy_text(text);
                let next = "Fill it in and save it as a .json file in the folder prices of the workspace."
                    .to_owned();
                commands.act(WindowAction::notify("Copied the missing prices", vec![next]));
            }
            TerraformReply::Started(Err(refusal))
            | TerraformReply::Cancelled(Err(refusal))
            | TerraformReply::Written(Err(refusal))
            | TerraformReply::Prices(Err(refusal)) => {
                self.sent_secrets.clear();
                commands.act(WindowAction::Refuse(refusal));
            }
        }
    }

    /// Shows a board that was made from a folder.
    pub(crate) fn receive_import(
        &mut self,
        imported: ImportedBoard,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) {
        let details = match imported.notes.len() {
            0 => Vec::new(),
            count => vec![format!("{} in the problems panel.", count_noun(count, "import note"))],
        };
        commands.act(WindowAction::notify("Imported the folder as a board", details));
        commands.act(WindowAction::SelectCreated(vec![ElementId::Board(imported.board)]));
        answers.imported = Some((imported.board, imported.notes));
    }
}

fn describe_written(files: &WrittenHcl) -> WindowAction {
    let WrittenHcl { written, removed, in_the_way } = files;
    let message = format!("Wrote {}", count_noun(written.len(), "file"));
    let mut details = Vec::new();
    if !removed.is_empty() {
        details.push(format!("Removed {}.", removed.join(", ")));
    }
    if in_the_way.is_empty() {
        return WindowAction::notify(message, details);
    }
    let names = in_the_way.join(", ");
    details.push(format!("Not overwritten, because Draftboard did not write them: {names}."));
    WindowAction::Warn { message, details }
}
