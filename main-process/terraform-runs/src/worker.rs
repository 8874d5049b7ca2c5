//! The thread that answers requests in order, and publishes the view when it changes.

use super::{
    ApplyPlanRequest, PlanRequest, RunFollower, TerraformEvent, TerraformEvents, TerraformHandle,
    TerraformMsg, TerraformRequest, TerraformUserFiles,
    drafts::GeneratedBoard,
    import::import,
    initialised,
    request_plan::PlanFile,
    running::{self, ApplyRequestRun, ApplyRequestStep, PreparedRun},
    site::{BoardRunReservation, WorkspaceTerraform},
    trial::{self, PlanProposalRequest},
    views,
    workspace_inputs::{TerraformWorkspaceInputs, storage},
};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use journal::{FileError, WorkspacePath};
use processes::ProgramSpawner;
use shared_protocol::{
    Actor, BoardId, Refusal, RefusalCode, Revision,
    decisions::ReviewPlanStart,
    request::Responder,
    requests::{
        CancelRun, EstimateCost, GenerateHcl, ImportBoard, ListMissingPrices, ListRuns, ReadPlan,
        ReadRunLines, StartRun, WriteHcl, WrittenHcl,
    },
    terraform::{HclFile, HclView, TerraformOperation, TerraformRunId, TerraformView},
};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use terraform::{cost, write};
use workspace::time_and_seed;

/// The minimum interval between two views for the window.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(50);
/// The minimum interval between two comparisons of plans with boards that are being edited.
const COMPARE_INTERVAL: Duration = Duration::from_millis(250);
/// The time that runs have to end when the process stops; wardens end the rest.
const STOP_LIMIT: Duration = Duration::from_secs(5);
const MAX_SECRETS: usize = 256;
const MAX_SECRET_BYTES: usize = 64 << 10;

pub(super) struct TerraformWorker {
    link: TerraformHandle,
    around: Arc<dyn TerraformEvents>,
    spawner: Arc<dyn ProgramSpawner>,
    user: Arc<TerraformUserFiles>,
    /// The workspace that the writer published last.
    here: Option<(Arc<TerraformWorkspaceInputs>, Arc<WorkspaceTerraform>)>,
    published: Option<TerraformView>,
    next_publish: Instant,
    /// The revision that plans were compared with.
    compared: Option<Revision>,
    next_compare: Instant,
    /// An event may have outdated the plans of requests.
    is_request_old: bool,
    next_request_check: Instant,
    has_changed: bool,
}

impl TerraformWorker {
    pub(super) fn new(
        link: TerraformHandle,
        around: Arc<dyn TerraformEvents>,
        spawner: Arc<dyn ProgramSpawner>,
        user: TerraformUserFiles,
    ) -> Self {
        let soon = Instant::now();
        Self {
            link,
            around,
            spawner,
            user: Arc::new(user),
            here: None,
            published: None,
            next_publish: soon,
            compared: None,
            next_compare: soon,
            is_request_old: false,
            next_request_check: soon,
            has_changed: false,
        }
    }

    pub(super) fn run(mut self, orders: &Receiver<TerraformMsg>) {
        loop {
            let order = match self.next_deadline() {
                Some(deadline) => orders.recv_deadline(deadline),
                None => orders.recv().map_err(RecvTimeoutError::from),
            };
            let is_timeout = matches!(order, Err(RecvTimeoutError::Timeout));
            match order {
                Ok(TerraformMsg::Request { call, actor, follower }) => {
                    self.sync_workspace();
                    self.handle(call, actor, follower);
                    self.has_changed = true;
                }
                Ok(TerraformMsg::Trial { request, responder }) => {
                    self.sync_workspace();
                    self.trial(*request, responder);
                    self.has_changed = true;
                }
                Ok(TerraformMsg::PlanRequest { request, responder }) => {
                    self.sync_workspace();
                    self.plan_request(*request, responder);
                    self.has_changed = true;
                }
                Ok(TerraformMsg::ApplyRequest { apply, responder }) => {
                    self.sync_workspace();
                    self.apply_request(*apply, responder);
                    self.has_changed = true;
                }
                Ok(TerraformMsg::Refresh) => {
                    self.sync_workspace();
                    self.has_changed = true;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(TerraformMsg::Stop) | Err(RecvTimeoutError::Disconnected) => break,
            }
            let is_over = |end: u64| end <= time_and_seed().time;
            self.is_request_old |=
                !is_timeout || self.link.shared.requests.next_expiry().is_some_and(is_over);
            self.compare_plans();
            self.compare_requests();
            self.publish_view();
        }
        if let Some((_, site)) = self.here {
            site.close();
            site.wait(STOP_LIMIT);
        }
        // Dropping them removes their files.
        self.link.shared.requests.retain(|_, _| false);
    }

    fn next_deadline(&self) -> Option<Instant> {
        let publish = self.has_changed.then_some(self.next_publish);
        let compare = self.is_behind().then_some(self.next_compare);
        let requests = self.link.shared.requests.next_expiry().map(|end| {
            let left = Duration::from_millis(end.saturating_sub(time_and_seed().time));
            let due = if self.is_request_old { Duration::ZERO } else { left };
            (Instant::now() + due).max(self.next_request_check)
        });
        [publish, compare, requests].into_iter().flatten().min()
    }

    /// Takes the newest state of the workspace, and opens a new site for another workspace.
    fn sync_workspace(&mut self) {
        let Some(ground) = self.link.shared.inputs.load_full() else { return };
        let site = match &self.here {
            Some((before, site)) if before.is_same_workspace(&ground) => Arc::clone(site),
            before => {
                if let Some((_, site)) = before {
                    site.close();
                }
                let user = Arc::clone(&self.user);
                let site = Arc::new(WorkspaceTerraform::open(&ground, Arc::clone(&self.spawner), user));
                self.link.shared.site.store(Some(Arc::clone(&site)));
                self.compared = None;
                for board in ground.boards().filter(|board| site.state_file(board).is_some()) {
                    match self.link.shared.drafts.draft(&ground, board.id) {
                        Ok(draft) => drop(site.read_state_file(&draft)),
                        Err(refusal) => {
                            tracing::warn!(%refusal, board = %board.name, "the state is not read")
                        }
                    }
                }
                site
            }
        };
        self.here = Some((ground, site));
    }

    // ---- the published view -------------------------------------------------------------------------------------------

    fn is_behind(&self) -> bool {
        let now = self.here.as_ref().map(|(ground, _)| ground.snapshot.revision());
        self.compared != now && self.here.as_ref().is_some_and(|(_, site)| !site.plans().is_empty())
    }

    fn compare_plans(&mut self) {
        if !self.is_behind() || Instant::now() < self.next_compare {
            return;
        }
        let Some((ground, site)) = &self.here else { return };
        for (board, plan) in site.plans() {
            let draft = self.link.shared.drafts.draft(ground, board);
            site.mark_plan(board, &plan, draft.map_or(true, |draft| !plan.fits(&draft)));
        }
        self.compared = Some(ground.snapshot.revision());
        self.next_compare = Instant::now() + COMPARE_INTERVAL;
        self.has_changed = true;
    }

    /// Ends plans of requests that have expired, or whose inputs have changed.
    fn compare_requests(&mut self) {
        if !self.is_request_old || Instant::now() < self.next_request_check {
            return;
        }
        self.is_request_old = false;
        self.next_request_check = Instant::now() + COMPARE_INTERVAL;
        let Some((ground, site)) = &self.here else { return };
        for (key, saved) in self.link.shared.requests.saved_plans() {
            let draft = self.link.shared.drafts.draft(ground, key.board);
            if let Err(refusal) = draft.and_then(|draft| saved.check(&draft, site)) {
                self.link.shared.requests.mark_needed(key, refusal.message);
                self.has_changed = true;
            }
        }
    }

    fn publish_view(&mut self) {
        if !self.has_changed || Instant::now() < self.next_publish {
            return;
        }
        self.has_changed = false;
        let Some((ground, site)) = &self.here else { return };
        let view = TerraformView { requests: self.link.shared.requests.views(), ..site.view(ground) };
        if self.published.as_ref() != Some(&view) {
            self.around.publish(TerraformEvent::View(Box::new(view.clone())));
            self.published = Some(view);
            self.next_publish = Instant::now() + PUBLISH_INTERVAL;
        }
    }

    // ---- requests -----------------------------------------------------------------------------------------------------

    fn handle(&self, call: TerraformRequest, actor: Actor, follower: Option<Arc<dyn RunFollower>>) {
        let Some((ground, site)) = &self.here else { return call.refuse(no_workspace()) };
        match call {
            TerraformRequest::StartRun(request, responder) => {
                let starting = self.prepare_start(ground, site, request, actor);
                match starting.and_then(|starting| Ok((site.reserve(&starting.draft.board)?, starting))) {
                    Ok((reserved, starting)) => {
                        running::start(PreparedRun { follower, ..starting }, reserved, responder);
                    }
                    Err(refusal) => responder.send(Err(refusal)),
                }
            }
            TerraformRequest::ReadRunLines(ReadRunLines { run, from }, responder) => {
                site.lines(run, from, responder)
            }
            TerraformRequest::GenerateHcl(GenerateHcl { board }, responder) => {
                responder.send(self.hcl(ground, site, board))
            }
            TerraformRequest::WriteHcl(WriteHcl { board }, responder) => {
                responder.send(self.write(ground, board))
            }
            TerraformRequest::EstimateCost(EstimateCost { board }, responder) => {
                let estimates = self.link.shared.estimates(ground, board);
                responder.send(estimates.map(|estimates| estimates.view));
            }
            TerraformRequest::ListMissingPrices(ListMissingPrices { board }, responder) => {
                let estimates = self.link.shared.estimates(ground, board);
                responder.send(estimates.map(|estimates| cost::describe_missing(&estimates)));
            }
            TerraformRequest::CancelRun(CancelRun { run }, responder) => responder.send(site.cancel(run)),
            TerraformRequest::ListRuns(ListRuns { board }, responder) => {
                responder.send(ground.board(board).map(|board| site.history(board.id)));
            }
            TerraformRequest::ReadPlan(ReadPlan { board }, responder) => {
                responder.send(ground.board(board).map(|board| site.plan(board.id)));
            }
            TerraformRequest::ImportBoard(ImportBoard { path, name }, responder) => {
                let apply = |mutation| self.around.apply(mutation, actor);
                let (files, snapshot) = (&ground.files, &ground.snapshot);
                responder.send(import(
                    files,
                    snapshot,
                    Path::new(&path),
                    name.as_deref(),
                    time_and_seed(),
                    apply,
                ));
            }
        }
    }

    fn draft(
        &self,
        ground: &TerraformWorkspaceInputs,
        board: BoardId,
    ) -> Result<Arc<GeneratedBoard>, Refusal> {
        self.link.shared.drafts.draft(ground, board)
    }

    fn prepare_start(
        &self,
        ground: &TerraformWorkspaceInputs,
        site: &Arc<WorkspaceTerraform>,
        request: StartRun,
        actor: Actor,
    ) -> Result<PreparedRun, Refusal> {
        let StartRun { board, operation, confirmed, secrets } = request;
        if operation.needs_confirmation() && !confirmed {
            let message = "This changes real resources, so a person must confirm it.";
            return Err(Refusal::new(RefusalCode::ConfirmationRequired, message).field("confirmed"));
        }
        check_secrets(&secrets)?;
        let draft = self.draft(ground, board)?;
        Ok(PreparedRun {
            site: Arc::clone(site),
            operation,
            secrets: site.secrets(board, secrets),
            draft,
            actor,
            link: self.link.clone(),
            around: Arc::clone(&self.around),
            spawner: Arc::clone(&self.spawner),
            follower: None,
            until: None,
            request: None,
        })
    }

    /// Plans a proposal, unless a person has to give values first.
    fn trial(&self, request: PlanProposalRequest, responder: Responder<ReviewPlanStart>) {
        let PlanProposalRequest { proposal: about, board, state, secrets, actor } = request;
        let Some((ground, site)) = &self.here else {
            return responder.send(Err(no_workspace()));
        };
        let proposed = TerraformWorkspaceInputs { files: Arc::clone(&ground.files), snapshot: state };
        let run = StartRun { board, operation: TerraformOperation::Plan, confirmed: false, secrets };
        let starting = match self.prepare_start(&proposed, site, run, actor) {
            Ok(starting) => PreparedRun { until: Some(Instant::now() + trial::TRIAL_LIMIT), ..starting },
            Err(refusal) => return responder.send(Err(refusal)),
        };
        let secrets = missing_secrets(site, &starting.draft);
        if !secrets.is_empty() {
            return responder.send(Ok(ReviewPlanStart::NeedsValues { board, secrets }));
        }
        match site.reserve_trial(board) {
            Ok(place) => {
                // A board that the proposal adds does not exist yet.
                let now = self.draft(ground, board).ok();
                trial::start(
                    about,
                    starting,
                    now,
                    place,
                    responder.map(|run| ReviewPlanStart::Started { run }),
                );
            }
            Err(refusal) => responder.send(Err(refusal)),
        }
    }

    /// Plans an agent's request, unless a person has to give values or start it.
    fn plan_request(&self, request: PlanRequest, responder: Option<Responder<ReviewPlanStart>>) {
        let (key, responder) = (request.key, responder.unwrap_or_else(|| Responder::new(drop)));
        let requests = &self.link.shared.requests;
        match self.begin_request_plan(request) {
            Ok(ApplyRequestPlanStep::Starts(reserved, starting)) => {
                running::start(*starting, reserved, responder.map(|run| ReviewPlanStart::Started { run }));
            }
            Ok(ApplyRequestPlanStep::NeedsValues(secrets)) => {
                requests.mark_needed(
                    key,
                    format!("The plan needs a value for {}. Press Plan.", secrets.join(", ")),
                );
                responder.send(Ok(ReviewPlanStart::NeedsValues { board: key.board, secrets }));
            }
            Ok(ApplyRequestPlanStep::NeedsPress(reason)) => {
                requests.mark_needed(key, reason.clone());
                responder.send(Err(Refusal::new(RefusalCode::ConfirmationRequired, reason)));
            }
            Err(refusal) => {
                requests.fail(key, refusal.message.clone());
                responder.send(Err(refusal));
            }
        }
    }

    fn begin_request_plan(&self, request: PlanRequest) -> Result<ApplyRequestPlanStep, Refusal> {
        let PlanRequest { key, operation, requested_by, actor, secrets, requested_by_person: pressed } =
            request;
        let plans = match operation {
            TerraformOperation::Destroy => TerraformOperation::PlanDestroy,
            _ => TerraformOperation::Plan,
        };
        let Some((ground, site)) = &self.here else {
            return Err(no_workspace());
        };
        let run = StartRun { board: key.board, operation: plans, confirmed: false, secrets };
        let starting = self.prepare_start(ground, site, run, actor)?;
        let missing = missing_secrets(site, &starting.draft);
        if !missing.is_empty() {
            return Ok(ApplyRequestPlanStep::NeedsValues(missing));
        }
        if !pressed && let Some(reason) = initialised::needs_person(&starting.draft, Some(&self.user), plans)?
        {
            return Ok(ApplyRequestPlanStep::NeedsPress(reason));
        }
        let reserved = site.reserve(&starting.draft.board)?;
        let file = PlanFile::make(&self.user.plans, ground.files.root(), key.proposal).map_err(|error| {
            Refusal::new(RefusalCode::StorageError, format!("The plan file could not be created: {error}."))
                .hint("Free some disk space, then plan again.")
        })?;
        let request =
            Some(ApplyRequestRun { key, requested_by, step: ApplyRequestStep::Plan(Arc::new(file)) });
        Ok(ApplyRequestPlanStep::Starts(reserved, Box::new(PreparedRun { request, ..starting })))
    }

    /// Applies a saved plan. Its inputs are checked once more when the run starts.
    fn apply_request(&self, apply: ApplyPlanRequest, responder: Responder<TerraformRunId>) {
        let ApplyPlanRequest { key, plan: saved, requested_by, actor, follower } = apply;
        let Some((ground, site)) = &self.here else {
            return responder.send(Err(no_workspace()));
        };
        let operation = TerraformOperation::ApplyPlan;
        let run = StartRun { board: key.board, operation, confirmed: true, secrets: Vec::new() };
        let starting = self.prepare_start(ground, site, run, actor);
        match starting.and_then(|starting| Ok((site.reserve(&starting.draft.board)?, starting))) {
            Ok((reserved, starting)) => {
                let request =
                    Some(ApplyRequestRun { key, requested_by, step: ApplyRequestStep::Apply(saved) });
                let starting = PreparedRun { request, follower: Some(follower), ..starting };
                running::start(starting, reserved, responder);
            }
            Err(refusal) => responder.send(Err(refusal)),
        }
    }

    fn hcl(
        &self,
        ground: &TerraformWorkspaceInputs,
        site: &Arc<WorkspaceTerraform>,
        board: BoardId,
    ) -> Result<HclView, Refusal> {
        let draft = self.draft(ground, board)?;
        self.find_program(site);
        site.read_state_file(&draft);
        let difference = write::difference(&ground.files, &draft.board.name, &draft.generated)
            .map_err(|error| storage(&error))?;
        let folder = write::folder_of(&draft.board.name);
        let mut files = Vec::with_capacity(draft.generated.files.len());
        for (name, text) in &draft.generated.files {
            let path = format!("{folder}/{name}");
            let on_disk = match difference.written.contains(&path) {
                true => Some(read(ground, &path)?),
                false => None,
            };
            files.push(HclFile { path: name.clone(), text: text.to_string(), on_disk });
        }
        Ok(HclView {
            board,
            revision: ground.snapshot.revision(),
            files,
            spans: draft.generated.spans.clone(),
            findings: views::findings_of(&draft),
            secrets: missing_secrets(site, &draft),
            in_the_way: difference.in_the_way,
            removed: difference.removed,
        })
    }

    fn write(&self, ground: &TerraformWorkspaceInputs, board: BoardId) -> Result<WrittenHcl, Refusal> {
        let draft = self.draft(ground, board)?;
        let done = write::write(&ground.files, &draft.board.name, &draft.generated)
            .map_err(|error| storage(&error))?;
        let write::GeneratedFilesDiff { written, removed, in_the_way } = done;
        Ok(WrittenHcl { written, removed, in_the_way })
    }

    /// Finds the program and its version for the window. The program is the user's own: opening a workspace starts nothing
    /// that came with it.
    fn find_program(&self, site: &Arc<WorkspaceTerraform>) {
        if !site.needs_program() {
            return;
        }
        let (site, spawner, link) = (Arc::clone(site), Arc::clone(&self.spawner), self.link.clone());
        let work = move || {
            // The view has the result, also a failure.
            drop(site.program(&*spawner));
            link.refresh();
        };
        if let Err(error) = std::thread::Builder::new().name("terraform-program".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread to find Terraform");
        }
    }
}

/// The next step in planning a request.
enum ApplyRequestPlanStep {
    Starts(BoardRunReservation, Box<PreparedRun>),
    /// These variables need values.
    NeedsValues(Vec<String>),
    /// A person must start the plan, for this reason.
    NeedsPress(String),
}

/// The text of a file; empty when it is missing.
fn read(ground: &TerraformWorkspaceInputs, path: &str) -> Result<String, Refusal> {
    match WorkspacePath::parse(path).and_then(|path| ground.files.read_text(&path)) {
        Ok(text) => Ok(text),
        Err(FileError::Missing { .. }) => Ok(String::new()),
        Err(error) => Err(storage(&error)),
    }
}

/// Sensitive variables without a value.
fn missing_secrets(site: &WorkspaceTerraform, draft: &GeneratedBoard) -> Vec<String> {
    let variables = draft.generated.variables.iter();
    variables
        .filter(|variable| variable.sensitive && variable.default.is_none())
        .map(|variable| variable.name.clone())
        .filter(|name| {
            !site.has_secret(draft.board.id, name) && std::env::var_os(format!("TF_VAR_{name}")).is_none()
        })
        .collect()
}

fn check_secrets(secrets: &[(String, String)]) -> Result<(), Refusal> {
    let wrong = |message: String| Err(Refusal::new(RefusalCode::BadRequest, message).field("secrets"));
    if secrets.len() > MAX_SECRETS {
        return wrong(format!("more than {MAX_SECRETS} values"));
    }
    for (name, value) in secrets {
        if !terraform::hcl::is_identifier(name) {
            return wrong(format!("{name:?} is not the name of a variable"));
        }
        if value.len() > MAX_SECRET_BYTES || value.contains('\0') {
            return wrong(format!("the value of {name} is too long, or contains a NUL character"));
        }
    }
    Ok(())
}

fn no_workspace() -> Refusal {
    Refusal::new(RefusalCode::NoWorkspace, "No workspace is open.")
}
