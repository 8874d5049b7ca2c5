//! The messages of the Terraform feature and their handling, and the responses of main to its requests.

use super::{TerraformFeature, obstacle::obstacle, panel::TerraformTab, run_dialog::RunDialog, words};
use crate::{
    frame::{CommandSender, Feature, FeatureContext, MainRequest},
    panel_id::PanelId,
    terraform_answers::{TerraformAnswers, TerraformBoard, TerraformPending, TerraformWants},
    view::WindowAction,
};
use shared_protocol::text::counted;
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

    fn pending(request: &MainRequest) -> TerraformPending {
        match request {
            MainRequest::Request(WorkbenchRequest::Terraform(request)) => TerraformPending::of(request),
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
                if let Some(run) = cx.view.going() {
                    cx.request(TerraformRequest::Cancel { run: run.id });
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
        let now = TerraformBoard { board, revision, told, time: f64::NEG_INFINITY };
        if words::needs_values(operation) && !view.terraform_answers.has_current_files(&now) {
            self.held = Some(operation);
            return;
        }
        if let Some(dialog) = RunDialog::needed(view, board, operation, &self.given) {
            self.dialog = Some(dialog);
            return cx.act(WindowAction::CloseDialog);
        }
        self.start(TerraformRequest::Run { board, operation, confirmed: false, secrets: Vec::new() }, cx);
    }

    /// Sends a run and remembers the names of the values that go with it.
    pub(super) fn start(&mut self, request: TerraformRequest, cx: &TerraformContext<'_>) {
        if let TerraformRequest::Run { board, secrets, .. } = &request {
            self.giving = secrets.iter().map(|(name, _)| (*board, name.clone())).collect();
            self.panel.chosen_run = None;
        }
        cx.request(request);
    }

    // ---- main ----------------------------------------------------------------------------------------------------------

    /// Requests the answers that are shown and missing or outdated. Returns the seconds after which to try again.
    pub(crate) fn follow(
        &self,
        now: &TerraformBoard<'_>,
        visible: TerraformVisibility,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) -> Option<f64> {
        let shows_changes = visible.terraform && self.panel.tab == TerraformTab::Changes;
        let wants = TerraformWants {
            files: visible.terraform || visible.hcl || visible.problems,
            files_at_once: self.held.is_some(),
            plan: shows_changes || self.dialog.is_some(),
            runs: visible.terraform,
            chosen_run: self.panel.chosen_run,
        };
        let mut requests = Vec::new();
        let again = answers.request_missing(now, wants, &mut requests);
        requests.into_iter().for_each(|request| commands.request(request));
        again
    }

    pub(crate) fn responded(
        &mut self,
        answer: TerraformResponse,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) {
        match &answer {
            TerraformResponse::Started { .. } => {
                self.given.extend(std::mem::take(&mut self.giving));
                self.panel.tab = TerraformTab::Runs;
                commands.act(WindowAction::ShowPanel(PanelId::Terraform));
            }
            TerraformResponse::Written { written, removed, in_the_way } => {
                let message = format!("Wrote {}", counted(written.len(), "file"));
                let mut details = Vec::new();
                if !removed.is_empty() {
                    details.push(format!("Removed {}.", removed.join(", ")));
                }
                if in_the_way.is_empty() {
                    commands.act(WindowAction::notify(message, details));
                } else {
                    let names = in_the_way.join(", ");
                    details.push(format!("Not overwritten, because Draftboard did not write them: {names}."));
                    commands.act(WindowAction::Warn { message, details });
                }
            }
            TerraformResponse::Imported { board, notes, .. } => {
                let details = match notes.len() {
                    0 => Vec::new(),
                    count => vec![format!("{} in the problems panel.", counted(count, "import note"))],
                };
                commands.act(WindowAction::notify("Imported the folder as a board", details));
                commands.act(WindowAction::SelectCreated(vec![ElementId::Board(*board)]));
            }
            TerraformResponse::Hcl(_) => {
                if let Some(operation) = self.held.take() {
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
        commands.act(WindowAction::notify("Copied the missing prices", vec![next]));
    }

    /// Shows the refusal of a request that a person made; answers that the window fetches by itself keep the reason.
    pub(crate) fn refused(
        &mut self,
        pending: TerraformPending,
        refusal: Refusal,
        answers: &mut TerraformAnswers,
        commands: &CommandSender<Self>,
    ) {
        if self.lost(pending, &refusal, answers) {
            commands.act(WindowAction::Refuse(refusal));
        }
    }

    /// Records that a request has no answer. Returns whether a person waits for it.
    pub(crate) fn lost(
        &mut self,
        pending: TerraformPending,
        refusal: &Refusal,
        answers: &mut TerraformAnswers,
    ) -> bool {
        match pending {
            TerraformPending::Run | TerraformPending::Prices | TerraformPending::Other => {
                self.giving.clear();
                true
            }
            _ => {
                answers.refuse(pending, refusal);
                pending == TerraformPending::Hcl && self.held.take().is_some()
            }
        }
    }
}
