//! `draftboard terraform`: runs of the person at the terminal. Apply and destroy show a plan and ask for confirmation; there is
//! no way to confirm beforehand.

use super::{WorkspaceArguments, board_at::ReachedBoard, format};
use serde_json::{Value, json};
use shared_protocol::{
    Refusal, RefusalCode,
    requests::{CancelRun, GenerateHcl, ListRuns, ReadPlan, ReadRunLines, StartRun},
    terraform::{
        MAX_RUN_LINES, PlanChange, PlannedAction, TerraformOperation, TerraformRunId, TerraformRunLine,
        TerraformRunState, TerraformRunView,
    },
};
use std::{
    io::{BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

pub(super) const HELP: &str = "The board's files are written to terraform/BOARD first. Set the values of sensitive variables as \
    TF_VAR_<name>.\napply and destroy show a plan and ask for confirmation, so they need a terminal.\n\
    Ctrl+C cancels the run; a second Ctrl+C ends this command without waiting for it.\n\n\
    Examples:\n  draftboard terraform init\n  draftboard terraform plan network\n  draftboard terraform apply network";

/// Lines kept for an answer in JSON.
const MAX_KEPT_LINES: usize = 20_000;
const INTERRUPTED: i32 = 130;

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum TerraformVerb {
    /// Downloads providers and modules
    Init,
    /// Checks the files
    Validate,
    /// Shows the changes that apply would make
    Plan,
    /// Shows a plan, asks for confirmation and applies it
    Apply,
    /// Shows a plan, asks for confirmation and destroys all resources of the board
    Destroy,
}

#[derive(Debug, clap::Args)]
pub(super) struct TerraformArguments {
    /// The operation
    #[arg(value_enum)]
    verb: TerraformVerb,
    /// The board [default: the only infrastructure board]
    board: Option<String>,
    #[command(flatten)]
    at: WorkspaceArguments,
}

pub(super) fn run(asked: &TerraformArguments) -> ExitCode {
    TerraformCommand::open(asked)
        .and_then(|mut session| session.run(asked.verb))
        .unwrap_or_else(|refusal| format::refuse(&refusal, asked.at.json))
}

struct TerraformCommand {
    at: ReachedBoard,
    json: bool,
    secrets: Vec<(String, String)>,
    /// Ctrl+C was pressed.
    interrupted: Arc<AtomicBool>,
    /// TerraformArguments asked for `init`.
    needs_init: bool,
}

impl TerraformCommand {
    fn open(asked: &TerraformArguments) -> Result<Self, Refusal> {
        if matches!(asked.verb, TerraformVerb::Apply | TerraformVerb::Destroy)
            && !std::io::stdin().is_terminal()
        {
            let message = "apply and destroy change real resources and need a confirmation at a terminal";
            return Err(Refusal::new(RefusalCode::ConfirmationRequired, message).hint(
                "Run it in a terminal, or in the window. In a pipeline, write the files with `draftboard hcl --write` and run \
                 terraform there.",
            ));
        }
        let mut at = ReachedBoard::find(&asked.at, asked.board.as_deref())?;
        let board = at.board.id;
        let view = at.request(GenerateHcl { board })?;
        at.print_findings(&view.findings);
        // The running Draftboard has its own environment.
        let given = |name: &String| Some((name.clone(), std::env::var(format!("TF_VAR_{name}")).ok()?));
        let secrets = view.secrets.iter().filter_map(given).collect();
        let interrupted = Arc::new(AtomicBool::new(false));
        let registered = signal_hook::flag::register_conditional_shutdown(
            signal_hook::consts::SIGINT,
            INTERRUPTED,
            Arc::clone(&interrupted),
        )
        .and_then(|_| signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted)));
        if let Err(error) = registered {
            tracing::warn!(%error, "Ctrl+C ends this command and not the run");
        }
        let mut session = Self { at, json: asked.at.json, secrets, interrupted, needs_init: false };
        session.print_interrupted()?;
        Ok(session)
    }

    /// Warns of an interrupted run before anything else runs.
    fn print_interrupted(&mut self) -> Result<(), Refusal> {
        let board = self.at.board.id;
        let runs = self.at.request(ListRuns { board })?;
        if let Some(run) = runs.first().filter(|run| run.state == TerraformRunState::Interrupted) {
            format::print_warning(&format!(
                "the last run was interrupted when Draftboard ended. Its log is {}; run plan to see the current state",
                run.log
            ));
        }
        Ok(())
    }

    fn run(&mut self, verb: TerraformVerb) -> Result<ExitCode, Refusal> {
        match verb {
            TerraformVerb::Init => self.run_only(TerraformOperation::Init),
            TerraformVerb::Validate => self.run_only(TerraformOperation::Validate),
            TerraformVerb::Plan => self.run_only(TerraformOperation::Plan),
            TerraformVerb::Apply => {
                self.run_planned(TerraformOperation::Plan, "yes", "Type yes to apply this plan")
            }
            TerraformVerb::Destroy => {
                let name = self.at.board.name.to_string();
                self.run_planned(
                    TerraformOperation::PlanDestroy,
                    &name,
                    "Type the board's name to destroy all its resources",
                )
            }
        }
    }

    fn run_only(&mut self, operation: TerraformOperation) -> Result<ExitCode, Refusal> {
        let (run, lines) = self.run_to_end(operation)?;
        let plan = match operation {
            TerraformOperation::Plan if is_success(&run) => self.plan()?,
            _ => Vec::new(),
        };
        Ok(self.answer(&run, &lines, &plan))
    }

    /// Plans, shows, asks, and applies what was shown.
    fn run_planned(
        &mut self,
        planning: TerraformOperation,
        expected: &str,
        question: &str,
    ) -> Result<ExitCode, Refusal> {
        let (run, lines) = self.run_to_end(planning)?;
        if !is_success(&run) {
            return Ok(self.answer(&run, &lines, &[]));
        }
        let plan = self.plan()?;
        if plan.is_empty() {
            format::print_warning("no changes: the real resources match the board");
            return Ok(self.answer(&run, &lines, &plan));
        }
        for change in &plan {
            eprint_visible(&format!("{} {}", action_label(change.action), change.address));
        }
        if !confirm(&format!("{question}, or anything else to cancel: "), expected) {
            return Err(Refusal::new(
                RefusalCode::ConfirmationRequired,
                "the operation was cancelled; nothing was changed",
            ));
        }
        let (run, lines) = self.run_to_end(TerraformOperation::ApplyPlan)?;
        Ok(self.answer(&run, &lines, &plan))
    }

    fn plan(&mut self) -> Result<Vec<PlanChange>, Refusal> {
        let plan = self.at.request(ReadPlan { board: self.at.board.id })?;
        Ok(plan.map(|plan| plan.changes).unwrap_or_default())
    }

    /// Starts a run and shows what it says until it has ended.
    fn run_to_end(
        &mut self,
        operation: TerraformOperation,
    ) -> Result<(TerraformRunView, Vec<TerraformRunLine>), Refusal> {
        let (board, confirmed) = (self.at.board.id, operation.needs_confirmation());
        let secrets = self.secrets.clone();
        let run = self.at.request(StartRun { board, operation, confirmed, secrets })?;
        let (mut from, mut kept, mut is_asked) = (0, Vec::new(), false);
        loop {
            if self.interrupted.load(Ordering::Acquire) && !is_asked {
                is_asked = true;
                self.cancel(run);
            }
            let (view, lines) = self.at.request(ReadRunLines { run, from })?;
            from += lines.len() as u64;
            let is_last = lines.len() < MAX_RUN_LINES && from >= view.lines;
            for line in lines {
                self.needs_init |= operation != TerraformOperation::Init && needs_init_hint(&line.text);
                if !self.json {
                    show(&line);
                } else if kept.len() < MAX_KEPT_LINES {
                    kept.push(line);
                }
            }
            if is_last && !matches!(view.state, TerraformRunState::Running | TerraformRunState::Cancelling) {
                return Ok((view, kept));
            }
        }
    }

    fn cancel(&mut self, run: TerraformRunId) {
        format::print_warning("cancelling the run; press Ctrl+C again to stop waiting for it");
        // The run may have ended meanwhile.
        if let Err(refusal) = self.at.request(CancelRun { run }) {
            format::print_warning(&refusal.to_string());
        }
    }

    fn answer(&self, run: &TerraformRunView, lines: &[TerraformRunLine], plan: &[PlanChange]) -> ExitCode {
        let success = is_success(run);
        if self.json {
            let data: Value = json!({ "run": run, "lines": lines, "changes": plan });
            format::print_json(&json!({ "ok": success, "data": data }));
        } else if !success {
            format::print_warning(&format!("the run failed; the log is {}", run.log));
            if self.needs_init {
                format::print_warning(&format!(
                    "Run `draftboard terraform init {}` first.",
                    self.at.board.name
                ));
            }
        }
        if success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn is_success(run: &TerraformRunView) -> bool {
    matches!(run.state, TerraformRunState::Succeeded { .. })
}

/// TerraformArguments and OpenTofu name the command in their details.
fn needs_init_hint(line: &str) -> bool {
    line.contains("terraform init") || line.contains("tofu init")
}

fn action_label(action: PlannedAction) -> &'static str {
    match action {
        PlannedAction::Create => "create ",
        PlannedAction::Update => "update ",
        PlannedAction::Replace => "replace",
        PlannedAction::Delete => "delete ",
        PlannedAction::Read => "read   ",
    }
}

fn show(line: &TerraformRunLine) {
    if line.error { eprint_visible(&line.text) } else { format::print_visible(&format!("{}\n", line.text)) }
}

/// Writes to standard error.
fn eprint_visible(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{}", format::visible(text)));
}

/// Asks at the terminal.
fn confirm(question: &str, expected: &str) -> bool {
    let mut err = std::io::stderr().lock();
    drop(write!(err, "{question}").and_then(|()| err.flush()));
    drop(err);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && answer.trim() == expected
}
