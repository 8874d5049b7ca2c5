//! One run, on a thread of its own: it writes the files, starts the program, passes its output on as it comes, and reads the
//! plan and the state that the run left.

use super::{
    RunFollower, TerraformEvent, TerraformEvents, TerraformHandle,
    drafts::GeneratedBoard,
    follower::RunReport,
    history, initialised,
    kept_plan::CurrentBoardPlan,
    request_plan::{ApplyRequestVersion, PlanFile, PlanInputs, SavedPlan, configuration},
    site::{BoardRunReservation, WorkspaceTerraform, refusal},
    workspace_inputs::storage,
};
use processes::ProgramSpawner;
use shared_protocol::{
    Actor, Board, Refusal, RefusalCode,
    messages::ProblemSeverity,
    request::Responder,
    terraform::{
        PlanChange, PlanCounts, PlannedAction, TerraformFindingView, TerraformOperation, TerraformRunId,
        TerraformRunState, TerraformRunView,
    },
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::RecvTimeoutError,
    },
    time::{Duration, Instant},
};
use terraform::{
    run::{RunEvent, RunRequest, TerraformProgram, TerraformRun, refuse_links},
    settings::IGNORED_PROGRAM_NOTICE,
};
use workspace::time_and_seed;

/// The interval in which a silent run is checked for cancellation.
const GLANCE: Duration = Duration::from_millis(50);
/// Events within this time are passed on together.
const GATHER: Duration = Duration::from_millis(20);
const MAX_GATHERED_EVENTS: usize = 500;

/// The request for a run and everything that it needs.
pub(super) struct PreparedRun {
    pub(super) site: Arc<WorkspaceTerraform>,
    pub(super) draft: Arc<GeneratedBoard>,
    pub(super) operation: TerraformOperation,
    pub(super) secrets: BTreeMap<String, String>,
    pub(super) actor: Actor,
    pub(super) link: TerraformHandle,
    pub(super) around: Arc<dyn TerraformEvents>,
    pub(super) spawner: Arc<dyn ProgramSpawner>,
    pub(super) follower: Option<Arc<dyn RunFollower>>,
    /// The time at which the run is cancelled.
    pub(super) until: Option<Instant>,
    pub(super) request: Option<ApplyRequestRun>,
}

/// A run for an agent's request to apply or destroy.
pub(super) struct ApplyRequestRun {
    pub(super) key: ApplyRequestVersion,
    /// The client's name for itself, which is not verified.
    pub(super) requested_by: String,
    pub(super) step: ApplyRequestStep,
}

pub(super) enum ApplyRequestStep {
    Plan(Arc<PlanFile>),
    /// Applies exactly this file.
    Apply(Arc<SavedPlan>),
}

pub(super) fn start(
    starting: PreparedRun,
    reserved: BoardRunReservation,
    responder: Responder<TerraformRunId>,
) {
    let work = move || {
        let alive = starting.site.alive();
        match starting.prepare() {
            Ok(prepared) => starting.follow_run(reserved, prepared, responder),
            Err(refusal) => {
                drop(reserved);
                starting.planning_failed(&refusal.message);
                starting.link.refresh();
                responder.send(Err(refusal));
            }
        }
        drop(alive);
    };
    if let Err(error) = std::thread::Builder::new().name("terraform-run".to_owned()).spawn(work) {
        tracing::error!(%error, "no thread for a run; the request is refused");
    }
}

/// A run that has been started.
struct StartedRun {
    program: TerraformProgram,
    run: TerraformRun,
    /// The inputs of a request's plan.
    binding: Option<PlanInputs>,
    /// The result of this `init` is recorded as made here.
    is_known: bool,
}

impl PreparedRun {
    fn prepare(&self) -> Result<StartedRun, Refusal> {
        let draft = &self.draft;
        let step = self.request.as_ref().map(|request| &request.step);
        match step {
            Some(ApplyRequestStep::Apply(saved)) => saved.check(draft, &self.site)?,
            _ if self.operation == TerraformOperation::ApplyPlan => self.site.check_plan(draft)?,
            _ => self.write()?,
        }
        let folder = draft.inputs.folder(&draft.board);
        let read = configuration(draft)?;
        refuse_links(&folder, read.constant_files()).map_err(|error| refusal(&error.into()))?;
        // A `.terraform` that came with a clone does not become ours by a run that no person started.
        let is_known = self.operation == TerraformOperation::Init
            && (self.follower.is_none() || initialised::is_ours(Some(&self.site.user), &folder));
        let program = self.site.program(&*self.spawner)?;
        let binding = match step {
            Some(ApplyRequestStep::Plan(_)) => Some(PlanInputs::from_draft(draft, self.secrets.clone())?),
            _ => None,
        };
        let operation = self.operation;
        let mut request = RunRequest::new(operation, draft.board.name.as_str(), folder);
        request.secrets = self.secrets.clone();
        request.plan = step.map(|step| match step {
            ApplyRequestStep::Plan(file) => file.path().to_owned(),
            ApplyRequestStep::Apply(saved) => saved.path().to_owned(),
        });
        // The confirmation was checked when the run was requested.
        if self.operation.needs_confirmation() {
            request = request.with_confirmation();
        }
        let run = self.site.runs.start(&program, &request).map_err(|error| refusal(&error))?;
        Ok(StartedRun { program, run, binding, is_known })
    }

    fn write(&self) -> Result<(), Refusal> {
        let draft = &self.draft;
        if matches!(self.operation, TerraformOperation::Plan | TerraformOperation::Apply) {
            refuse_errors(draft)?;
            refuse_left_behind(&self.site, &draft.board)?;
        }
        let files = &draft.inputs.files;
        let written = terraform::write::write(files, &draft.board.name, &draft.generated)
            .map_err(|error| storage(&error))?;
        refuse_foreign_files(&written.in_the_way)
    }

    fn follow_run(
        &self,
        reserved: BoardRunReservation,
        prepared: StartedRun,
        responder: Responder<TerraformRunId>,
    ) {
        let StartedRun { program, run, binding, is_known } = prepared;
        let (site, draft) = (&self.site, &self.draft);
        let view = TerraformRunView {
            id: 0,
            board: draft.board.id,
            operation: self.operation,
            by: self.actor.clone(),
            requested_by: self.request.as_ref().map(|request| request.requested_by.clone()),
            started: time_and_seed().time,
            state: TerraformRunState::Running,
            summary: None,
            progress: None,
            lines: 0,
            log: relative_log_path(site.files.root(), &run.log),
        };
        history::write_summary(&run.log, &view);
        let state_file = site.state_file(&draft.board);
        let (id, cancel) = site.begin_run_record(reserved, draft, run.log.clone(), state_file, view);
        if let Some(request) = &self.request {
            self.link.shared.requests.began(request.key, id);
        }
        if let Some(follower) = &self.follower {
            follower.on_started(id);
        }
        responder.send(Ok(id));
        self.link.refresh();
        if draft.settings.names_program() {
            self.report_error(id, IGNORED_PROGRAM_NOTICE);
        }
        let mut gathered = RunReport::default();
        let ended = self.pass_events(id, &run, &cancel, &mut gathered);
        let mut saved = None;
        if matches!(ended, TerraformRunState::Succeeded { .. }) {
            if is_known {
                self.remember_init(id);
            }
            saved = self.read_results(id, &program, binding);
        } else {
            let outcome = gathered.outcome(self.operation, ended, None);
            let error = outcome.complaints.iter().find(|said| said.is_error);
            self.planning_failed(error.map_or("Terraform did not finish", |said| said.summary.as_str()));
        }
        let kept = site.finish_run(id, ended);
        // Published after the end of the run, so that an immediate yes finds the board free.
        if let (Some(request), Some(saved)) = (&self.request, saved) {
            self.link.shared.requests.ready(request.key, saved);
        }
        if let Some((log, view)) = &kept {
            history::write_summary(log, view);
        }
        if let Some(follower) = &self.follower {
            let summary = kept.and_then(|(_, view)| view.summary);
            follower.on_ended(gathered.outcome(self.operation, ended, summary));
        }
        site.answer_waiting(id);
        self.link.refresh();
    }

    /// Passes events on until the run has ended.
    pub(super) fn pass_events(
        &self,
        id: TerraformRunId,
        run: &TerraformRun,
        cancel: &AtomicBool,
        gathered: &mut RunReport,
    ) -> TerraformRunState {
        loop {
            let is_late = self.until.is_some_and(|until| Instant::now() > until);
            if is_late || cancel.load(Ordering::Acquire) {
                run.cancel();
            }
            let first = match run.events.recv_timeout(GLANCE) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => {
                    self.site.answer_waiting(id);
                    continue;
                }
                // A run always reports its end, unless its thread panicked.
                Err(RecvTimeoutError::Disconnected) => {
                    return TerraformRunState::Failed { ended: time_and_seed().time, code: None };
                }
            };
            let events = gather(first, run);
            gathered.ingest(&events);
            self.publish_events(id, &events);
            if let Some(RunEvent::Ended { code, success, cancelled }) = events.last() {
                let ended = time_and_seed().time;
                return match (success, cancelled) {
                    (true, _) => TerraformRunState::Succeeded { ended },
                    (false, true) => TerraformRunState::Cancelled { ended },
                    (false, false) => TerraformRunState::Failed { ended, code: *code },
                };
            }
        }
    }

    fn publish_events(&self, id: TerraformRunId, events: &[RunEvent]) {
        let (first, lines) = self.site.record_events(id, events, &self.draft);
        if let Some(follower) = self.follower.as_ref().filter(|_| !lines.is_empty()) {
            follower.on_output(&lines);
        }
        if self.site.is_closed() {
            return;
        }
        if !lines.is_empty() {
            self.site.answer_waiting(id);
            self.around.publish(TerraformEvent::Lines { run: id, first, lines });
        }
        self.link.refresh();
    }

    fn remember_init(&self, id: TerraformRunId) {
        let folder = self.draft.inputs.folder(&self.draft.board);
        if let Err(error) = initialised::record_init(&self.site.user, &folder) {
            let what = "The initialisation of this folder could not be recorded, so its plans need a person";
            self.report_error(id, &format!("{what}: {error}"));
        }
    }

    /// Reads the plan, and a state that is kept elsewhere. Returns the saved plan of a request.
    fn read_results(
        &self,
        id: TerraformRunId,
        program: &TerraformProgram,
        binding: Option<PlanInputs>,
    ) -> Option<SavedPlan> {
        let (site, draft) = (&self.site, &self.draft);
        let folder = draft.inputs.folder(&draft.board);
        let plans = matches!(self.operation, TerraformOperation::Plan | TerraformOperation::PlanDestroy);
        let mut saved = None;
        if let (Some(ApplyRequestRun { step: ApplyRequestStep::Plan(file), .. }), Some(binding)) =
            (&self.request, binding)
        {
            match self.saved_plan(program, file, binding) {
                Ok(plan) => saved = Some(plan),
                Err(why) => {
                    self.report_error(id, &why);
                    self.planning_failed(&why);
                }
            }
        } else if plans {
            let kept = site.runs.read_plan(program, &folder, &draft.generated).and_then(|changes| {
                let counts = counts(&changes);
                let failed = |source| terraform::run::RunError::Files { path: folder.clone(), source };
                CurrentBoardPlan::new(changes, counts, draft).map_err(failed)
            });
            match kept {
                Ok(plan) => site.keep_plan(draft.board.id, plan),
                Err(error) => self.report_error(id, &error.to_string()),
            }
        }
        let is_elsewhere = folder.join(".terraform/terraform.tfstate").is_file();
        let asks = !matches!(self.operation, TerraformOperation::Init | TerraformOperation::Validate);
        // The tracker followed an apply or a destroy, and read a state in the folder.
        if asks && is_elsewhere && !self.operation.needs_confirmation() {
            match site.runs.read_state(program, &folder) {
                Ok(state) => site.take_state(&state, draft),
                Err(error) => self.report_error(id, &error.to_string()),
            }
        }
        saved
    }

    fn saved_plan(
        &self,
        program: &TerraformProgram,
        file: &Arc<PlanFile>,
        binding: PlanInputs,
    ) -> Result<SavedPlan, String> {
        let (site, draft) = (&self.site, &self.draft);
        let folder = draft.inputs.folder(&draft.board);
        let plan = site.runs.read_plan_file(program, (&folder, file.path()), &draft.generated);
        let changes = plan.map_err(|error| error.to_string())?;
        let counts = counts(&changes);
        SavedPlan::new(Arc::clone(file), changes, counts, binding)
    }

    /// Records why the plan of a request failed.
    fn planning_failed(&self, why: &str) {
        if let Some(ApplyRequestRun { key, step: ApplyRequestStep::Plan(_), .. }) = &self.request {
            self.link.shared.requests.fail(*key, why.to_owned());
        }
    }

    pub(super) fn report_error(&self, id: TerraformRunId, text: &str) {
        let stream = terraform::run::OutputStream::Err;
        self.publish_events(id, &[RunEvent::Line { stream, text: text.to_owned() }]);
    }
}

/// Refuses a board with errors: resources that are left out of the files would be planned for removal.
pub(super) fn refuse_errors(draft: &GeneratedBoard) -> Result<(), Refusal> {
    match draft.generated.findings.iter().find(|found| is_error(found)) {
        None => Ok(()),
        Some(error) => {
            let message = format!("{} has an error: {}", draft.board.name, error.message);
            Err(Refusal::new(RefusalCode::ValidationError, message)
                .hint("`draftboard hcl` and the Terraform panel list all errors."))
        }
    }
}

/// Refuses a renamed board whose state is under its old name: everything would be created a second time.
pub(super) fn refuse_left_behind(site: &WorkspaceTerraform, board: &Board) -> Result<(), Refusal> {
    if site.state_file(board).is_some() {
        return Ok(());
    }
    let folder = |name: &str| site.files.root().join("terraform").join(name);
    let names = history::other_names(&site.files.state_folder(), board);
    match names.iter().find(|name| folder(name).join("terraform.tfstate").is_file()) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("{} was run under the name {name}, and its state is in that folder", board.name);
            let hint = format!("Rename terraform/{name} to terraform/{}, then try again.", board.name);
            Err(Refusal::new(RefusalCode::Conflict, message).hint(hint))
        }
    }
}

pub(super) fn refuse_foreign_files(others: &[String]) -> Result<(), Refusal> {
    if others.is_empty() {
        return Ok(());
    }
    let message = format!("{} was not generated by Draftboard and is not overwritten", others.join(", "));
    Err(Refusal::new(RefusalCode::Conflict, message)
        .hint("Move the file away, or import its folder as a board."))
}

/// Gathers events that come within [`GATHER`].
fn gather(first: RunEvent, run: &TerraformRun) -> Vec<RunEvent> {
    let until = Instant::now() + GATHER;
    let mut events = vec![first];
    while events.len() < MAX_GATHERED_EVENTS && !matches!(events.last(), Some(RunEvent::Ended { .. })) {
        match run.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(event) => events.push(event),
            Err(_) => break,
        }
    }
    events
}

/// Counts as Terraform does: a replacement is one addition and one removal.
fn counts(changes: &[PlanChange]) -> PlanCounts {
    let mut counts = PlanCounts::default();
    for change in changes {
        match change.action {
            PlannedAction::Create => counts.add += 1,
            PlannedAction::Update => counts.change += 1,
            PlannedAction::Delete => counts.remove += 1,
            PlannedAction::Replace => {
                counts.add += 1;
                counts.remove += 1;
            }
            PlannedAction::Read => {}
        }
    }
    counts
}

fn is_error(finding: &TerraformFindingView) -> bool {
    finding.severity == ProblemSeverity::Error
}

/// The path of the log, relative to the workspace.
fn relative_log_path(root: &Path, log: &Path) -> String {
    log.strip_prefix(root).unwrap_or(log).display().to_string()
}
