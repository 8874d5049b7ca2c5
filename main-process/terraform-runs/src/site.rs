//! The Terraform state of one open workspace: runs, plans, statuses, secrets. Shared between the worker and the threads of
//! runs. The lock is never held during I/O or generation.

use super::{
    drafts::GeneratedBoard,
    history,
    kept_plan::CurrentBoardPlan,
    lines::{RunLinesRequest, RunTranscript, read_log},
    request_plan,
    trial::{self, PlannedProposal, ProposalPlanReservation},
    user::TerraformUserFiles,
    workspace_inputs::TerraformWorkspaceInputs,
};
use crossbeam_channel::{Receiver, Sender, bounded};
use journal::{FileError, WorkspaceFiles, WorkspacePath};
use processes::ProgramSpawner;
use shared_protocol::{
    Board, BoardId, Refusal, RefusalCode,
    request::Responder,
    terraform::{
        BoardTerraformView, PlanChange, PlanState, PlanView, TerraformFindingView, TerraformOperation,
        TerraformRunId, TerraformRunLine, TerraformRunState, TerraformRunView, TerraformView, TrialPlanView,
    },
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use terraform::run::{
    OutputStream, RunError, RunEvent, RunNodeTracker, TerraformProgram, TerraformRunner, TrialFolder,
};

/// The number of runs of a board in the history; as many logs are kept.
const MAX_RUNS_PER_BOARD: usize = 20;
const MAX_FINDINGS: usize = 1_000;
/// The number of plans of proposals in memory.
const MAX_TRIALS: usize = 4;
/// The time that a request waits for the next line.
const LINE_WAIT: Duration = Duration::from_secs(1);

pub(super) struct WorkspaceTerraform {
    pub(super) files: Arc<WorkspaceFiles>,
    pub(super) runs: TerraformRunner,
    pub(super) user: Arc<TerraformUserFiles>,
    state: Mutex<WorkspaceTerraformState>,
    closed: AtomicBool,
    /// Each run holds a clone; `all_ended` disconnects with the last one.
    alive: Mutex<Option<Sender<()>>>,
    all_ended: Receiver<()>,
}

#[derive(Default)]
struct WorkspaceTerraformState {
    program: Option<Result<String, String>>,
    is_searched: bool,
    programs: BTreeMap<Option<String>, TerraformProgram>,
    boards: BTreeMap<BoardId, BoardRunState>,
    runs: BTreeMap<TerraformRunId, RunRecord>,
    /// The runs that plan proposals.
    trials: BTreeMap<TerraformRunId, TrialRun>,
    is_trying: bool,
}

struct TrialRun {
    proposal: PlannedProposal,
    tracker: RunNodeTracker,
    changes: Option<Vec<PlanChange>>,
    more_changes: u64,
}

#[derive(Default)]
struct BoardRunState {
    /// The last run, which may be going on.
    run: Option<TerraformRunId>,
    is_starting: bool,
    tracker: RunNodeTracker,
    /// The state file that the tracker started from.
    state_file: Option<String>,
    plan: Option<Arc<CurrentBoardPlan>>,
    is_plan_outdated: bool,
    interrupted: Option<String>,
    /// Values of sensitive variables. They are in memory only.
    secrets: BTreeMap<String, String>,
}

struct RunRecord {
    view: TerraformRunView,
    log: PathBuf,
    lines: RunTranscript,
    cancel: Arc<AtomicBool>,
    total: Option<u64>,
    finished_changes: u64,
}

impl RunRecord {
    fn is_running(&self) -> bool {
        matches!(self.view.state, TerraformRunState::Running | TerraformRunState::Cancelling)
    }
}

/// Reserves a board for its next run; released when dropped before that has started.
pub(super) struct BoardRunReservation {
    site: Option<Arc<WorkspaceTerraform>>,
    board: BoardId,
}

impl Drop for BoardRunReservation {
    fn drop(&mut self) {
        if let Some(site) = &self.site
            && let Some(board) = site.lock().boards.get_mut(&self.board)
        {
            board.is_starting = false;
        }
    }
}

impl WorkspaceTerraform {
    /// Reads the records of earlier processes. Runs nothing, because the workspace may be another person's.
    pub(super) fn open(
        ground: &TerraformWorkspaceInputs,
        spawner: Arc<dyn ProgramSpawner>,
        user: Arc<TerraformUserFiles>,
    ) -> Self {
        let runs = TerraformRunner::new(spawner, &ground.files.state_folder());
        let mut state = WorkspaceTerraformState::default();
        let mut found: Vec<(PathBuf, TerraformRunView)> =
            ground.boards().flat_map(|board| history::load(&runs, board)).collect();
        found.sort_by_key(|(_, run)| run.started);
        for (id, (log, mut view)) in (1..).zip(found) {
            view.id = id;
            state.boards.entry(view.board).or_default().run = Some(id);
            let lines = RunTranscript::finished(view.lines);
            let record =
                RunRecord { view, log, lines, cancel: Arc::default(), total: None, finished_changes: 0 };
            state.runs.insert(id, record);
        }
        // Shown until the next run of the board.
        for board in state.boards.values_mut() {
            let last = board.run.and_then(|run| state.runs.get(&run)).map(|record| &record.view);
            board.interrupted = last.filter(|run| run.state == TerraformRunState::Interrupted).map(|run| {
                format!(
                    "The last run ({}) was interrupted when Draftboard ended. Its log is {}; plan to see what exists \
                     now.",
                    run.operation.as_str(),
                    run.log
                )
            });
        }
        if let Err(error) = TrialFolder::remove_leftovers(&ground.files.state_folder()) {
            tracing::warn!(%error, "files of a plan of a proposal could not be removed");
        }
        if let Err(error) = request_plan::clear(&user.plans, ground.files.root()) {
            tracing::warn!(%error, "plans of earlier requests could not be removed");
        }
        for cut in runs.take_interrupted() {
            tracing::warn!(board = cut.board, operation = cut.operation, log = %cut.log.display(), "a run was interrupted");
        }
        let (alive, all_ended) = bounded(0);
        Self {
            files: Arc::clone(&ground.files),
            runs,
            user,
            state: Mutex::new(state),
            closed: AtomicBool::new(false),
            alive: Mutex::new(Some(alive)),
            all_ended,
        }
    }

    fn lock(&self) -> MutexGuard<'_, WorkspaceTerraformState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the site because another workspace is open, or none: cancels runs and publishes nothing more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).take();
        for record in self.lock().runs.values() {
            record.cancel.store(true, Ordering::Release);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// After [`Self::close`]: waits until all runs have ended, at most for this time.
    pub(super) fn wait(&self, limit: Duration) {
        // Nothing is sent; receiving ends with the last sender.
        let _ = self.all_ended.recv_timeout(limit);
    }

    // ---- the program ------------------------------------------------------------------------------------------------

    /// The program to run and its version. The user's settings choose it, never the workspace.
    pub(super) fn program(&self, spawner: &dyn ProgramSpawner) -> Result<TerraformProgram, Refusal> {
        let key = self.user.program()?;
        if let Some(known) = self.lock().programs.get(&key) {
            return Ok(known.clone());
        }
        let found = TerraformProgram::find(spawner, key.as_deref(), std::env::var_os("PATH").as_deref());
        let mut state = self.lock();
        state.program =
            Some(found.as_ref().map(|program| program.version.clone()).map_err(ToString::to_string));
        if let Ok(program) = &found {
            state.programs.insert(key, program.clone());
        }
        found.map_err(|error| refusal(&error))
    }

    /// Returns true once, as long as the program is unknown.
    pub(super) fn needs_program(&self) -> bool {
        let mut state = self.lock();
        !std::mem::replace(&mut state.is_searched, true) && state.program.is_none()
    }

    // ---- state files ------------------------------------------------------------------------------------------------

    /// Reads the state file into the statuses, unless a run is going on. Returns whether it changed.
    pub(super) fn read_state_file(&self, draft: &GeneratedBoard) -> bool {
        let Some(text) = self.state_file(&draft.board) else { return false };
        let mut state = self.lock();
        let is_busy = state.is_busy(draft.board.id);
        let board = state.boards.entry(draft.board.id).or_default();
        if is_busy || board.state_file.as_ref() == Some(&text) {
            return false;
        }
        let is_read = board.tracker.load_state_file(&text, &draft.generated);
        board.state_file = Some(text);
        is_read
    }

    /// The state in the board's own folder; `None` when it is missing or elsewhere.
    pub(super) fn state_file(&self, board: &Board) -> Option<String> {
        let path = format!("{}/terraform.tfstate", terraform::write::folder_of(&board.name));
        match WorkspacePath::parse(path).and_then(|path| self.files.read_text(&path)) {
            Ok(text) => Some(text),
            Err(FileError::Missing { .. }) => None,
            Err(error) => {
                tracing::warn!(%error, board = %board.name, "the state is not read");
                None
            }
        }
    }

    // ---- runs -------------------------------------------------------------------------------------------------------

    pub(super) fn reserve(self: &Arc<Self>, board: &Board) -> Result<BoardRunReservation, Refusal> {
        let mut state = self.lock();
        if state.is_busy(board.id) {
            let message = format!("Terraform is already running for {}.", board.name);
            return Err(Refusal::new(RefusalCode::Conflict, message).hint("Wait for it, or cancel it."));
        }
        state.boards.entry(board.id).or_default().is_starting = true;
        Ok(BoardRunReservation { site: Some(Arc::clone(self)), board: board.id })
    }

    /// Refuses while a run is going on for the board.
    pub(super) fn refuse_busy(&self, board: BoardId) -> Result<(), Refusal> {
        match self.lock().is_busy(board) {
            false => Ok(()),
            true => Err(Refusal::new(RefusalCode::Conflict, "Terraform is already running for this board.")
                .hint("Wait for it or cancel it, then decide.")),
        }
    }

    /// A token to hold as long as a run lasts; `None` while the workspace is closing.
    pub(super) fn alive(&self) -> Option<Sender<()>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds values of sensitive variables of a board, and returns all of them.
    pub(super) fn secrets(&self, board: BoardId, given: Vec<(String, String)>) -> BTreeMap<String, String> {
        let mut state = self.lock();
        let known = &mut state.boards.entry(board).or_default().secrets;
        known.extend(given);
        known.clone()
    }

    pub(super) fn has_secret(&self, board: BoardId, name: &str) -> bool {
        self.lock().boards.get(&board).is_some_and(|board| board.secrets.contains_key(name))
    }

    pub(super) fn check_plan(&self, draft: &GeneratedBoard) -> Result<(), Refusal> {
        let plan = self.lock().boards.get(&draft.board.id).and_then(|board| board.plan.clone());
        match plan {
            Some(plan) => plan.check(draft),
            None => {
                Err(Refusal::new(RefusalCode::NotFound, "There is no plan to apply.").hint("Plan first."))
            }
        }
    }

    /// Records a started run. Returns its number and its cancel flag.
    pub(super) fn begin_run_record(
        &self,
        mut reserved: BoardRunReservation,
        draft: &GeneratedBoard,
        log: PathBuf,
        state_file: Option<String>,
        view: TerraformRunView,
    ) -> (TerraformRunId, Arc<AtomicBool>) {
        reserved.site = None;
        let mut state = self.lock();
        let state = &mut *state;
        let id = state.runs.last_key_value().map_or(1, |(last, _)| last + 1);
        let view = TerraformRunView { id, ..view };
        let board = state.boards.entry(view.board).or_default();
        if let Some(before) = board.run.replace(id).and_then(|before| state.runs.get_mut(&before)) {
            before.lines.drop_kept();
        }
        board.is_starting = false;
        board.interrupted = None;
        // A plan is applied once, and the next plan overwrites it.
        let total =
            board.plan.as_ref().map(|plan| plan.view.counts).map(|all| all.add + all.change + all.remove);
        let applies_own = view.operation == TerraformOperation::ApplyPlan && view.requested_by.is_none();
        let total = total.filter(|_| applies_own);
        // A plan of a request has a file of its own.
        let is_request = view.requested_by.is_some()
            && matches!(view.operation, TerraformOperation::Plan | TerraformOperation::PlanDestroy);
        let leaves_plan = matches!(
            view.operation,
            TerraformOperation::Init | TerraformOperation::Validate | TerraformOperation::Drift
        );
        if !is_request && !leaves_plan {
            board.plan = None;
        }
        board.tracker.begin_run();
        if let Some(text) = state_file {
            board.tracker.load_state_file(&text, &draft.generated);
            board.state_file = Some(text);
        }
        let cancel = Arc::new(AtomicBool::new(self.is_closed()));
        let of_board = view.board;
        let record = RunRecord {
            view,
            log,
            lines: RunTranscript::default(),
            cancel: Arc::clone(&cancel),
            total,
            finished_changes: 0,
        };
        state.runs.insert(id, record);
        let is_old = |record: &&RunRecord| {
            record.view.board == of_board && !state.trials.contains_key(&record.view.id)
        };
        let old: Vec<TerraformRunId> =
            state.runs.values().filter(is_old).map(|record| record.view.id).collect();
        for id in old.iter().rev().skip(MAX_RUNS_PER_BOARD) {
            state.runs.remove(id);
        }
        (id, cancel)
    }

    /// Records events of a run. Returns the number of the first new line, and the new lines.
    pub(super) fn record_events(
        &self,
        run: TerraformRunId,
        events: &[RunEvent],
        draft: &GeneratedBoard,
    ) -> (u64, Vec<TerraformRunLine>) {
        let mut state = self.lock();
        let WorkspaceTerraformState { runs, boards, trials, .. } = &mut *state;
        let Some(record) = runs.get_mut(&run) else { return (0, Vec::new()) };
        // A plan of a proposal does not change the statuses of the board.
        let tracker = match trials.get_mut(&run) {
            Some(trial) => &mut trial.tracker,
            None => &mut boards.entry(record.view.board).or_default().tracker,
        };
        let first = record.lines.count();
        let mut lines = Vec::new();
        for event in events {
            match event {
                RunEvent::Line { stream, text } => {
                    let line = TerraformRunLine { error: *stream == OutputStream::Err, text: text.clone() };
                    record.lines.push(line.clone());
                    lines.push(line);
                }
                RunEvent::Finished { .. } => record.finished_changes += 1,
                RunEvent::Summary { summary, .. } if record.total.is_none() => {
                    record.total = Some(summary.add + summary.change + summary.remove);
                }
                _ => {}
            }
            tracker.apply_event(event, &draft.generated, &draft.inputs.snapshot);
        }
        let view = &mut record.view;
        view.lines = record.lines.count();
        view.summary = tracker.summary;
        view.progress = record
            .total
            .filter(|_| view.operation.needs_confirmation())
            .map(|total| (record.finished_changes.min(total), total));
        (first, lines)
    }

    /// Answers requests that wait for lines of this run.
    pub(super) fn answer_waiting(&self, run: TerraformRunId) {
        let (served, record) = {
            let mut state = self.lock();
            let Some(record) = state.runs.get_mut(&run) else { return };
            let is_over = !record.is_running();
            (record.lines.take_due(Instant::now(), is_over), run)
        };
        for waiting in served {
            waiting.responder.send(self.lines_now(record, waiting.from));
        }
    }

    /// Keeps a plan until the next run or plan of the board.
    pub(super) fn keep_plan(&self, board: BoardId, plan: CurrentBoardPlan) {
        let mut state = self.lock();
        let board = state.boards.entry(board).or_default();
        (board.plan, board.is_plan_outdated) = (Some(Arc::new(plan)), false);
    }

    pub(super) fn take_state(&self, state: &serde_json::Value, draft: &GeneratedBoard) {
        self.lock().boards.entry(draft.board.id).or_default().tracker.load_state(state, &draft.generated);
    }

    pub(super) fn finish_run(
        &self,
        run: TerraformRunId,
        ended: TerraformRunState,
    ) -> Option<(PathBuf, TerraformRunView)> {
        let mut state = self.lock();
        let record = state.runs.get_mut(&run)?;
        record.view.state = ended;
        Some((record.log.clone(), record.view.clone()))
    }

    pub(super) fn cancel(&self, run: TerraformRunId) -> Result<(), Refusal> {
        let mut state = self.lock();
        let record = state.runs.get_mut(&run).ok_or_else(|| unknown(run))?;
        if !record.is_running() {
            return Err(Refusal::new(RefusalCode::Conflict, "This run has already ended."));
        }
        record.view.state = TerraformRunState::Cancelling;
        record.cancel.store(true, Ordering::Release);
        Ok(())
    }

    pub(super) fn history(&self, board: BoardId) -> Vec<TerraformRunView> {
        let state = self.lock();
        let is_own =
            |record: &&RunRecord| record.view.board == board && !state.trials.contains_key(&record.view.id);
        let runs = state.runs.values().rev().filter(is_own);
        runs.map(|record| record.view.clone()).collect()
    }

    // ---- plans of proposals -------------------------------------------------------------------------------------------

    /// Reserves the one plan of a proposal. Refused while a run may be writing the state that is to be copied.
    pub(super) fn reserve_trial(
        self: &Arc<Self>,
        board: BoardId,
    ) -> Result<ProposalPlanReservation, Refusal> {
        let mut state = self.lock();
        if state.is_trying {
            return Err(trial::busy());
        }
        if state.is_busy(board) {
            let message = "Terraform is running for this board, and its state may be changing.";
            return Err(Refusal::new(RefusalCode::Conflict, message).hint("Wait for it, or cancel it."));
        }
        state.is_trying = true;
        Ok(ProposalPlanReservation(Arc::clone(self)))
    }

    pub(super) fn release_trial(&self) {
        self.lock().is_trying = false;
    }

    /// Records a started plan of a proposal. Returns its number and its cancel flag.
    pub(super) fn trial_started(
        &self,
        about: PlannedProposal,
        view: TerraformRunView,
    ) -> (TerraformRunId, Arc<AtomicBool>) {
        let mut state = self.lock();
        let id = state.runs.last_key_value().map_or(1, |(last, _)| last + 1);
        let cancel = Arc::new(AtomicBool::new(self.is_closed()));
        let record = RunRecord {
            view: TerraformRunView { id, ..view },
            log: PathBuf::new(),
            lines: RunTranscript::default(),
            cancel: Arc::clone(&cancel),
            total: None,
            finished_changes: 0,
        };
        state.runs.insert(id, record);
        let trial =
            TrialRun { proposal: about, tracker: RunNodeTracker::default(), changes: None, more_changes: 0 };
        state.trials.insert(id, trial);
        while state.trials.len() > MAX_TRIALS
            && let Some((old, _)) = state.trials.pop_first()
        {
            state.runs.remove(&old);
        }
        (id, cancel)
    }

    /// Records the step of a plan of a proposal.
    pub(super) fn trial_step(&self, run: TerraformRunId, operation: TerraformOperation) {
        if let Some(record) = self.lock().runs.get_mut(&run) {
            record.view.operation = operation;
        }
    }

    pub(super) fn trial_ended(
        &self,
        run: TerraformRunId,
        ended: TerraformRunState,
        changes: Option<(Vec<PlanChange>, u64)>,
    ) {
        let mut state = self.lock();
        let WorkspaceTerraformState { runs, trials, .. } = &mut *state;
        if let (Some(record), Some(trial)) = (runs.get_mut(&run), trials.get_mut(&run)) {
            record.view.state = ended;
            if let Some((changes, more)) = changes {
                (trial.changes, trial.more_changes) = (Some(changes), more);
            }
        }
    }

    // ---- lines ------------------------------------------------------------------------------------------------------

    /// Responds with the lines from a number on. A request for lines to come waits a moment while the run goes on.
    pub(super) fn lines(
        &self,
        run: TerraformRunId,
        from: u64,
        responder: Responder<(TerraformRunView, Vec<TerraformRunLine>)>,
    ) {
        let too_many = {
            let mut state = self.lock();
            match state.runs.get_mut(&run) {
                Some(record) if record.is_running() && from >= record.lines.count() => {
                    record.lines.wait(RunLinesRequest { from, until: Instant::now() + LINE_WAIT, responder })
                }
                _ => Some(RunLinesRequest { from, until: Instant::now(), responder }),
            }
        };
        if let Some(waiting) = too_many {
            waiting.responder.send(self.lines_now(run, waiting.from));
        }
    }

    fn lines_now(
        &self,
        run: TerraformRunId,
        from: u64,
    ) -> Result<(TerraformRunView, Vec<TerraformRunLine>), Refusal> {
        let (view, log, lines) = {
            let state = self.lock();
            let record = state.runs.get(&run).ok_or_else(|| unknown(run))?;
            (record.view.clone(), record.log.clone(), record.lines.from(from))
        };
        let lines = lines.unwrap_or_else(|| read_log(&log, from));
        Ok((view, lines))
    }

    // ---- views ------------------------------------------------------------------------------------------------------

    pub(super) fn plan(&self, board: BoardId) -> Option<PlanView> {
        let state = self.lock();
        let board = state.boards.get(&board)?;
        let plan = board.plan.as_ref()?;
        Some(PlanView { outdated: board.is_plan_outdated, ..plan.view.clone() })
    }

    /// The kept plans, to compare with the boards.
    pub(super) fn plans(&self) -> Vec<(BoardId, Arc<CurrentBoardPlan>)> {
        let state = self.lock();
        state.boards.iter().filter_map(|(id, board)| Some((*id, board.plan.clone()?))).collect()
    }

    pub(super) fn mark_plan(&self, board: BoardId, plan: &Arc<CurrentBoardPlan>, is_outdated: bool) {
        if let Some(board) = self.lock().boards.get_mut(&board)
            && board.plan.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, plan))
        {
            board.is_plan_outdated = is_outdated;
        }
    }

    pub(super) fn view(&self, ground: &TerraformWorkspaceInputs) -> TerraformView {
        let state = self.lock();
        let known = |(id, board): (&BoardId, &BoardRunState)| {
            ground.snapshot.board(*id)?;
            Some(board.view(*id, &state.runs, ground))
        };
        let trial = |(id, trial): (&TerraformRunId, &TrialRun)| Some(trial.view(&state.runs.get(id)?.view));
        TerraformView {
            program: state.program.clone(),
            boards: state.boards.iter().filter_map(known).collect(),
            trials: state.trials.iter().filter_map(trial).collect(),
            requests: Vec::new(),
        }
    }
}

impl WorkspaceTerraformState {
    fn is_busy(&self, board: BoardId) -> bool {
        self.boards.get(&board).is_some_and(|board| {
            let run = board.run.and_then(|run| self.runs.get(&run));
            board.is_starting || run.is_some_and(RunRecord::is_running)
        })
    }
}

impl TrialRun {
    fn view(&self, run: &TerraformRunView) -> TrialPlanView {
        let PlannedProposal { proposal, version, hash, base: over } = self.proposal;
        let complaints = self.tracker.diagnostics.iter().take(MAX_FINDINGS).cloned();
        TrialPlanView {
            run: run.clone(),
            proposal,
            version,
            hash,
            over,
            changes: self.changes.clone(),
            more_changes: self.more_changes,
            findings: complaints.collect(),
        }
    }
}

impl BoardRunState {
    fn view(
        &self,
        id: BoardId,
        runs: &BTreeMap<TerraformRunId, RunRecord>,
        ground: &TerraformWorkspaceInputs,
    ) -> BoardTerraformView {
        let is_there = |node: &shared_protocol::NodeId| ground.snapshot.node(*node).is_some();
        let statuses = self.tracker.statuses().filter(|(node, _)| is_there(node));
        let drifted = self.tracker.drifted.iter().filter(|(node, _)| is_there(node));
        let planned = self.plan.as_ref().filter(|_| !self.is_plan_outdated).map(|plan| plan.nodes.clone());
        let findings: Vec<TerraformFindingView> =
            self.tracker.diagnostics.iter().take(MAX_FINDINGS).cloned().collect();
        BoardTerraformView {
            board: id,
            run: self.run.and_then(|run| runs.get(&run)).map(|record| record.view.clone()),
            statuses: statuses.collect(),
            planned: planned.unwrap_or_default().into_iter().filter(|(node, _)| is_there(node)).collect(),
            drifted: drifted.filter_map(|(node, action)| Some((*node, action.planned()?))).collect(),
            findings,
            plan: self.plan.as_ref().map_or(PlanState::None, |plan| match self.is_plan_outdated {
                true => PlanState::Outdated(plan.view.counts),
                false => PlanState::Ready(plan.view.counts),
            }),
            interrupted: self.interrupted.clone(),
        }
    }
}

fn unknown(run: TerraformRunId) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("There is no run {run}."))
        .hint("The run history lists all saved runs.")
}

/// The refusal of a run that did not start.
pub(super) fn refusal(error: &RunError) -> Refusal {
    let code = match error {
        RunError::NotFound { .. } | RunError::NotAProgram { .. } | RunError::NoPlan => RefusalCode::NotFound,
        RunError::Busy { .. } => RefusalCode::Conflict,
        RunError::ConfirmationRequired { .. } => RefusalCode::ConfirmationRequired,
        RunError::TooSlow { .. } => RefusalCode::Timeout,
        RunError::TooMuch { .. } => RefusalCode::LimitExceeded,
        RunError::Start { .. } | RunError::Files { .. } | RunError::Path(_) | RunError::Plan(_) => {
            RefusalCode::StorageError
        }
        RunError::NoTrial(_) => RefusalCode::BadRequest,
    };
    Refusal::new(code, error.to_string())
}
