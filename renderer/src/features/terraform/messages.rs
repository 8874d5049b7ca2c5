//! The messages of the Terraform feature and their handling, and the responses of main to its requests.

use super::{TerraformFeature, obstacle::obstacle, panel::TerraformTab, run_dialog::RunDialog, words};
use crate::{
    frame::{CommandSender, Feature, FeatureContext, MainRequest},
    panel_id::PanelId,
    terraform_answers::{TerraformAnswers, TerraformBoard, TerraformPending, TerraformWants},
    view::WindowAction,
    wording::count_noun,
};
use shared_protocol::{
    ElementId, Refusal,
    messages::WorkbenchRequest,
    terraform::{TerraformOperation, TerraformRequest, TerraformResponse, TerraformRunId},
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
    type Pending = TerraformPending;

    fn describe_request(request: &MainRequest) -> TerraformPending {
        match request {
            MainRequest::Request(WorkbenchRequest::Terraform(request)) => {
                TerraformPending::from_request(request)
            }
            _ => TerraformPending::Other,
        }
    }
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
                    cx.request(TerraformRequest::Cancel { run: run.id });
                }
            }
            TerraformMessage::ShowChanges => {
                self.panel.tab = TerraformTab::Changes;
                cx.push_action(WindowAction::ShowPanel(PanelId::Terraform));
            }
            TerraformMessage::ShowRun(run) => self.panel.chosen_run = run,
        }
    }

    fn run(&mut self, operation: TerraformOperation, cx: &TerraformContext<'_>) {
        let view = cx.view;
        if let Some(message) = obstacle(view, operation) {
            return cx.push_action(WindowAction::Warn { message, details: Vec::new() });
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
            return cx.push_action(WindowAction::CloseDialog);
        }
        self.start(TerraformRequest::Run { board, operation, confirmed: false, secrets: Vec::new() }, cx);
    }

    /// Sends a run and remembers the names of the values that go with it.
    pub(super) fn start(&mut self, request: TerraformRequest, cx: &TerraformContext<'_>) {
        if let TerraformRequest::Run { board, secrets, .. } = &request {
            self.sent_secrets = secrets.iter().map(|(name, _)| (*board, name.clone())).collect();
            self.panel.chosen_run = None;
        }
        cx.request(request);
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
        let wants = TerraformWants {
            files: visible.terraform || visible.hcl || visible.problems,
            files_at_once: self.queued_run.is_some(),
            plan: shows_changes || self.dialog.is_some(),
            runs: visible.terraform,
            chosen_run: self.panel.chosen_run,
        };
        let mut requests = Vec::new();
        let again = answers.request_missing(now, wants, &mut requests);
        requests.into_iter().for_each(|request| commands.request(request));
        again
    }

    pub(crate) fn handle_response(
        &mut self,
        answer: TerraformResponse,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) {
        match &answer {
            TerraformResponse::Started { .. } => {
                self.stored_secrets.extend(std::mem::take(&mut self.sent_secrets));
                self.panel.tab = TerraformTab::Runs;
                commands.push_action(WindowAction::ShowPanel(PanelId::Terraform));
            }
            TerraformResponse::Written { written, removed, in_the_way } => {
                let message = format!("Wrote {}", count_noun(written.len(), "file"));
                let mut details = Vec::new();
                if !removed.is_empty() {
                    details.push(format!("Removed {}.", removed.join(", ")));
                }
                if in_the_way.is_empty() {
                    commands.push_action(WindowAction::notify(message, details));
                } else {
                    let names = in_the_way.join(", ");
                    details.push(format!("Not overwritten, because Draftboard did not write them: {names}."));
                    commands.push_action(WindowAction::Warn { message, details });
                }
            }
            TerraformResponse::Imported { board, notes, .. } => {
                let details = match notes.len() {
                    0 => Vec::new(),
                    count => vec![format!("{} in the problems panel.", count_noun(count, "import note"))],
                };
                commands.push_action(WindowAction::notify("Imported the folder as a board", details));
                commands.push_action(WindowAction::SelectCreated(vec![ElementId::Board(*board)]));
            }
            TerraformResponse::Hcl(_) => {
                if let Some(operation) = self.queued_run.take() {
                    commands.send(TerraformMessage::Run(operation));
                }
            }
            _ => {}
        }
        answers.receive(answer);
    }

    /// Copies the template of a price book.
    pub(crate) fn received_prices(&self, text: String, egui: &egui::Context, commands: &CommandSender<Self>) {
        egui.copy_text(text);
        let next = "Fill it in and save it as a .json file in the folder prices of the workspace.".to_owned();
        commands.push_action(WindowAction::notify("Copied the missing prices", vec![next]));
    }

    /// Shows the refusal of a request that a person made; answers that the window fetches by itself keep the reason.
    pub(crate) fn handle_refusal(
        &mut self,
        pending: TerraformPending,
        refusal: Refusal,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) {
        if self.handle_send_failure(pending, &refusal, answers) {
            commands.push_action(WindowAction::Refuse(refusal));
        }
    }

    /// Records that a request has no answer. Returns whether a person waits for it.
    pub(crate) fn handle_send_failure(
        &mut self,
        pending: TerraformPending,
        refusal: &Refusal,
        answers: &mut TerraformAnswers,
    ) -> bool {
        match pending {
            TerraformPending::Run | TerraformPending::Prices | TerraformPending::Other => {
                self.sent_secrets.clear();
                true
            }
            _ => {
                answers.refuse(pending, refusal);
                pending == TerraformPending::Hcl && self.queued_run.take().is_some()
            }
        }
    }
}
