//! A plan of a board as a proposal would leave it. A person requests it, and it runs like every other run, but in a folder of
//! its own with a copy of the state: the board's folder, its state and its kept plan stay as they are.

use super::{
    drafts::GeneratedBoard,
    initialised,
    request_plan::configuration,
    running::{self, PreparedRun},
    site::{WorkspaceTerraform, refusal},
    views,
};
use authority::Snapshot;
use shared_protocol::{
    Actor, BoardId, ProposalId, Refusal, RefusalCode, Revision,
    proposal::ContentHash,
    request::Responder,
    terraform::{
        MAX_TRIAL_ATTRIBUTES, MAX_TRIAL_CHANGES, PlanChange, TerraformOperation, TerraformRunId,
        TerraformRunState, TerraformRunView,
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use terraform::{
    run::{RunError, RunRequest, TerraformProgram, TerraformRun, TerraformRunner, TrialFolder, TrialInput},
    write,
};
use workspace::time_and_seed;

/// The time limit of such a plan, the download of providers included.
pub(super) const TRIAL_LIMIT: Duration = Duration::from_secs(30 * 60);

/// A request to plan a proposal.
pub struct PlanProposalRequest {
    pub proposal: PlannedProposal,
    pub board: BoardId,
    /// The workspace with the proposal in it.
    pub state: Snapshot,
    pub secrets: Vec<(String, String)>,
    pub actor: Actor,
}

/// The version of the proposal that is planned.
#[derive(Debug, Clone, Copy)]
pub struct PlannedProposal {
    pub proposal: ProposalId,
    pub version: u32,
    pub hash: ContentHash,
    pub base: Revision,
}

/// Reserves the one plan of a proposal that may go on; released when dropped.
pub(super) struct ProposalPlanReservation(pub(super) Arc<WorkspaceTerraform>);

impl Drop for ProposalPlanReservation {
    fn drop(&mut self) {
        self.0.release_trial();
    }
}

pub(super) fn start(
    about: PlannedProposal,
    starting: PreparedRun,
    now: Option<Arc<GeneratedBoard>>,
    place: ProposalPlanReservation,
    responder: Responder<TerraformRunId>,
) {
    let work = move || {
        let alive = starting.site.alive();
        let link = starting.link.clone();
        let trial = ProposalTrial { proposal: about, starting, now };
        match trial.prepare() {
            Ok((program, scratch)) => trial.follow_run(&program, scratch, place, responder),
            Err(refusal) => {
                drop(place);
                responder.send(Err(refusal));
            }
        }
        link.refresh();
        drop(alive);
    };
    if let Err(error) = std::thread::Builder::new().name("terraform-trial".to_owned()).spawn(work) {
        tracing::error!(%error, "no thread for a plan of a proposal; the request is refused");
    }
}

struct ProposalTrial {
    proposal: PlannedProposal,
    starting: PreparedRun,
    /// The present board.
    now: Option<Arc<GeneratedBoard>>,
}

impl ProposalTrial {
    fn prepare(&self) -> Result<(TerraformProgram, TrialFolder), Refusal> {
        let PreparedRun { site, draft, spawner, .. } = &self.starting;
        running::refuse_errors(draft)?;
        let before = self.now.as_deref().map(configuration).transpose()?;
        if let Some(reached) = configuration(draft)?.first_reached_sink(before.as_ref()) {
            let message = format!(
                "Planning this proposal would execute or send something nobody has accepted yet: {reached}."
            );
            return Err(Refusal::new(RefusalCode::BadRequest, message)
                .hint("Review the change, accept it, and plan the board yourself."));
        }
        // The providers of that folder are linked and executed.
        if !initialised::is_ours(Some(&site.user), &draft.inputs.folder(&draft.board)) {
            return Err(Refusal::new(
                RefusalCode::BadRequest,
                "This board's folder was not initialised here.",
            )
            .hint("Run Init for the board, then plan the proposal again."));
        }
        running::refuse_left_behind(site, &draft.board)?;
        let files = &draft.inputs.files;
        let storage = |error| super::workspace_inputs::storage(&error);
        let difference = write::difference(files, &draft.board.name, &draft.generated).map_err(storage)?;
        running::refuse_foreign_files(&difference.in_the_way)?;
        let others = write::other_files(files, &draft.board.name).map_err(storage)?;
        let program = site.program(&**spawner)?;
        let planned = TrialInput {
            generated: &draft.generated,
            others: &others,
            backend: draft.settings.backend.as_ref(),
            folder: &draft.inputs.folder(&draft.board),
        };
        let scratch =
            TrialFolder::create(&files.state_folder(), &planned).map_err(|error| refusal(&error))?;
        Ok((program, scratch))
    }

    fn follow_run(
        &self,
        program: &TerraformProgram,
        scratch: TrialFolder,
        place: ProposalPlanReservation,
        responder: Responder<TerraformRunId>,
    ) {
        let PreparedRun { site, draft, actor, link, .. } = &self.starting;
        let view = TerraformRunView {
            id: 0,
            board: draft.board.id,
            operation: TerraformOperation::Init,
            by: actor.clone(),
            requested_by: None,
            started: time_and_seed().time,
            state: TerraformRunState::Running,
            summary: None,
            progress: None,
            lines: 0,
            // The log is removed with the folder.
            log: String::new(),
        };
        let (id, cancel) = site.trial_started(self.proposal, view);
        responder.send(Ok(id));
        link.refresh();
        let runs = TerraformRunner::new(Arc::clone(&self.starting.spawner), scratch.root());
        let ended = self.run(id, &cancel, &runs, program, &scratch);
        let changes = match ended {
            TerraformRunState::Succeeded { .. } => self.changes(id, &runs, program, &scratch),
            _ => None,
        };
        // The folder is removed before the end is published.
        drop(scratch);
        site.trial_ended(id, ended, changes);
        drop(place);
        site.answer_waiting(id);
    }

    /// Initialises, then plans.
    fn run(
        &self,
        id: TerraformRunId,
        cancel: &AtomicBool,
        runs: &TerraformRunner,
        program: &TerraformProgram,
        scratch: &TrialFolder,
    ) -> TerraformRunState {
        let mut ended = TerraformRunState::Cancelled { ended: time_and_seed().time };
        for operation in [TerraformOperation::Init, TerraformOperation::Plan] {
            if cancel.load(Ordering::Acquire) {
                return TerraformRunState::Cancelled { ended: time_and_seed().time };
            }
            self.starting.site.trial_step(id, operation);
            self.starting.link.refresh();
            ended = match self.begin(operation, runs, program, scratch) {
                Ok(run) => self.starting.pass_events(id, &run, cancel, &mut Default::default()),
                Err(error) => {
                    self.starting.report_error(id, &error.to_string());
                    TerraformRunState::Failed { ended: time_and_seed().time, code: None }
                }
            };
            if !matches!(ended, TerraformRunState::Succeeded { .. }) {
                return ended;
            }
        }
        ended
    }

    fn begin(
        &self,
        operation: TerraformOperation,
        runs: &TerraformRunner,
        program: &TerraformProgram,
        scratch: &TrialFolder,
    ) -> Result<TerraformRun, RunError> {
        let name = self.starting.draft.board.name.as_str();
        let mut request = RunRequest::new(operation, name, scratch.folder());
        request.secrets = self.starting.secrets.clone();
        // A remote state is read without a lock.
        request.arguments = vec!["-lock=false".to_owned()];
        runs.start(program, &request)
    }

    fn changes(
        &self,
        id: TerraformRunId,
        runs: &TerraformRunner,
        program: &TerraformProgram,
        scratch: &TrialFolder,
    ) -> Option<(Vec<PlanChange>, u64)> {
        match runs.read_plan(program, scratch.folder(), &self.starting.draft.generated) {
            Ok(changes) => Some(bounded(changes)),
            Err(error) => {
                self.starting.report_error(id, &error.to_string());
                None
            }
        }
    }
}

/// Keeps the gravest changes first, and counts the rest.
fn bounded(mut changes: Vec<PlanChange>) -> (Vec<PlanChange>, u64) {
    changes.sort_by_key(|change| views::gravity(change.action));
    let more = changes.len().saturating_sub(MAX_TRIAL_CHANGES) as u64;
    changes.truncate(MAX_TRIAL_CHANGES);
    for change in &mut changes {
        change.attributes.truncate(MAX_TRIAL_ATTRIBUTES);
    }
    (changes, more)
}

/// One at a time: each plan takes a processor, and a person reads one.
pub(super) fn busy() -> Refusal {
    Refusal::new(RefusalCode::Conflict, "Another plan of a proposal is going on.")
        .hint("Wait for it, or cancel it.")
}
