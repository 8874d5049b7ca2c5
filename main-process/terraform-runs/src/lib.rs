//! The Terraform of the open workspace, for window, terminals and agents: files, costs, runs, plans, statuses, imports.
//!
//! Owns: the state between two requests (generators, runs, plans, statuses, secrets), the thread that answers, and the view
//! that it publishes. Must not know: how files are generated or a program is run (the crate `terraform` does), how the graph
//! changes, MCP, windows, the writer.
//!
//! ```text
//! writer  ── show(workspace) ──▶ TerraformWorkspaceInputs, the newest ones    never waits
//! clients ── request ──▶ orders ──▶ worker thread ──▶ Responder              bounded; files are generated here
//!                                     └─ one thread per run ── lines, views ──▶ TerraformEvents
//! ```

mod drafts;
mod events;
mod follower;
mod history;
mod import;
mod initialised;
mod kept_plan;
mod lines;
mod request_plan;
mod running;
mod site;
#[cfg(test)]
mod tests;
mod trial;
mod user;
mod views;
mod worker;
mod workspace_inputs;

pub use events::{TerraformEvent, TerraformEvents};
pub use follower::{FollowedRunOutcome, RunFollower};
pub use import::import;
pub use request_plan::{ApplyRequestVersion, SavedPlan};
pub use trial::{PlanProposalRequest, PlannedProposal};
pub use user::TerraformUserFiles;

use arc_swap::ArcSwapOption;
use authority::Snapshot;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use drafts::GeneratedBoards;
use processes::ProgramSpawner;
use request_plan::ApplyRequestPlans;
use shared_protocol::{
    Actor, BoardId, BoardKind, Change, NodeId, ProposalId, ProposalState, ProposalSubject, Refusal,
    RefusalCode,
    decisions::ReviewPlanStart,
    proposal::ContentHash,
    request::{Request, Responder},
    requests::{
        CancelRun, EstimateCost, GenerateHcl, ImportBoard, ListMissingPrices, ListRuns, ReadPlan,
        ReadRunLines, StartRun, WriteHcl,
    },
    service_calls,
    terraform::{ApplyRequestPlanView, CostView, TerraformFindingView, TerraformOperation, TerraformRunId},
};
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    io,
    sync::Arc,
    thread::JoinHandle,
};
use terraform::cost::{self, BoardCostEstimate};
use terraform::price_files::PriceFileCache;
use workspace::{ProposalJudge, Workspace};
use workspace_inputs::TerraformWorkspaceInputs;

/// Texts by their path within a board's folder.
type TextsByPath = BTreeMap<String, Arc<str>>;

/// The capacity of the queue of requests.
const MAX_ORDERS: usize = 256;

service_calls! {
    /// The requests that the worker answers.
    pub enum TerraformRequest {
        GenerateHcl,
        WriteHcl,
        EstimateCost,
        ListMissingPrices,
        StartRun,
        CancelRun,
        ListRuns,
        ReadRunLines,
        ReadPlan,
        ImportBoard,
    }
}

pub enum TerraformMsg {
    Request {
        call: TerraformRequest,
        actor: Actor,
        /// Receives the events of the run that this starts.
        follower: Option<Arc<dyn RunFollower>>,
    },
    /// A plan of a proposal.
    Trial {
        request: Box<PlanProposalRequest>,
        responder: Responder<ReviewPlanStart>,
    },
    /// The saved plan of an agent's request to apply or destroy.
    PlanRequest {
        request: Box<PlanRequest>,
        responder: Option<Responder<ReviewPlanStart>>,
    },
    /// A saved plan that a person accepted.
    ApplyRequest {
        apply: Box<ApplyPlanRequest>,
        responder: Responder<TerraformRunId>,
    },
    /// The state or the view may have changed.
    Refresh,
    Stop,
}

/// An agent's request to apply or destroy that needs a plan.
pub struct PlanRequest {
    pub key: ApplyRequestVersion,
    /// [`TerraformOperation::Apply`] or [`TerraformOperation::Destroy`].
    pub operation: TerraformOperation,
    /// The client's name for itself, which is not verified.
    pub requested_by: String,
    pub actor: Actor,
    pub secrets: Vec<(String, String)>,
    /// A person pressed *Plan*, and so allowed everything that planning executes or sends.
    pub requested_by_person: bool,
}

/// A saved plan that a person accepted.
pub struct ApplyPlanRequest {
    pub key: ApplyRequestVersion,
    pub plan: Arc<SavedPlan>,
    pub requested_by: String,
    /// The person who accepted it.
    pub actor: Actor,
    pub follower: Arc<dyn RunFollower>,
}

/// Sends requests to the Terraform worker. Cheap to clone.
#[derive(Clone)]
pub struct TerraformHandle {
    orders: Sender<TerraformMsg>,
    shared: Arc<SharedTerraform>,
}

/// The state that the handle and the worker share.
#[derive(Default)]
struct SharedTerraform {
    inputs: ArcSwapOption<TerraformWorkspaceInputs>,
    drafts: GeneratedBoards,
    prices: PriceFileCache,
    requests: ApplyRequestPlans,
    /// The site of the ground, once the worker has opened it.
    site: ArcSwapOption<site::WorkspaceTerraform>,
}

impl SharedTerraform {
    fn estimates(
        &self,
        ground: &TerraformWorkspaceInputs,
        board: BoardId,
    ) -> Result<BoardCostEstimate, Refusal> {
        let settings = ground.settings(ground.board(board)?)?;
        let book = self.prices.price_book(&ground.files)?;
        Ok(cost::estimate(&ground.snapshot, board, &settings, &book))
    }
}

impl TerraformHandle {
    /// Requests wait in the queue until [`start`].
    pub fn new() -> (Self, Receiver<TerraformMsg>) {
        let (orders, waiting) = bounded(MAX_ORDERS);
        (Self { orders, shared: Arc::default() }, waiting)
    }

    /// Publishes the present workspace to the worker, if it differs from the last one.
    pub fn show(&self, workspace: &Workspace) {
        let ground = TerraformWorkspaceInputs {
            files: Arc::clone(workspace.files()),
            snapshot: workspace.snapshot().clone(),
        };
        if self.shared.inputs.load().as_ref().is_none_or(|before| !before.is_same(&ground)) {
            self.shared.inputs.store(Some(Arc::new(ground)));
            self.refresh();
        }
        let queue = &workspace.review_state().queue;
        self.shared.requests.retain(|id, version| {
            use ProposalState::{Open, Stale};
            queue
                .get(id)
                .is_some_and(|known| known.version == version && matches!(known.state, Open | Stale { .. }))
        });
    }

    /// Sends a request. The response comes from another thread.
    pub fn request<R: Request>(&self, request: R, actor: Actor, responder: Responder<R::Response>)
    where
        TerraformRequest: From<(R, Responder<R::Response>)>,
    {
        let call = TerraformRequest::from((request, responder));
        self.send(TerraformMsg::Request { call, actor, follower: None });
    }

    /// As [`Self::request`]; the follower receives the events of the run.
    pub fn run_followed(
        &self,
        request: StartRun,
        actor: Actor,
        responder: Responder<TerraformRunId>,
        follower: Arc<dyn RunFollower>,
    ) {
        let call = TerraformRequest::StartRun(request, responder);
        self.send(TerraformMsg::Request { call, actor, follower: Some(follower) });
    }

    /// Plans a proposal, beside the board's own folder. Responds when the run has started.
    pub fn trial(&self, request: PlanProposalRequest, responder: Responder<ReviewPlanStart>) {
        self.send(TerraformMsg::Trial { request: Box::new(request), responder });
    }

    /// Plans an agent's request and saves the plan. Responds when the run has started.
    pub fn plan_request(&self, request: PlanRequest, responder: Option<Responder<ReviewPlanStart>>) {
        if self.shared.requests.begin(request.key) {
            return self.send(TerraformMsg::PlanRequest { request: Box::new(request), responder });
        }
        if let Some(responder) = responder {
            let message = "The request is being planned already.";
            responder.send(Err(Refusal::new(RefusalCode::Conflict, message).hint("Wait for the plan.")));
        }
    }

    /// The plan of a request, if there is one.
    pub fn request_plan(&self, proposal: ProposalId) -> Option<ApplyRequestPlanView> {
        self.shared.requests.view(proposal)
    }

    /// Checks that a yes names the present plan, and that its inputs are unchanged.
    pub fn check_request(
        &self,
        proposal: ProposalId,
        board: BoardId,
        hash: Option<ContentHash>,
    ) -> Result<(), Refusal> {
        let saved = self.shared.requests.find_by_hash(proposal, hash)?;
        let ground = self.shared.inputs.load_full();
        let (Some(ground), Some(site)) = (ground, self.shared.site.load_full()) else {
            return Err(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open."));
        };
        site.refuse_busy(board)?;
        let draft = self.shared.drafts.draft(&ground, board)?;
        let checked = saved.check(&draft, &site);
        if checked.is_err() {
            // The worker shows the reason with the request.
            self.refresh();
        }
        checked
    }

    /// Takes the accepted plan; it can be taken once.
    pub fn take_request(&self, proposal: ProposalId) -> Option<Arc<SavedPlan>> {
        self.shared.requests.take_plan(proposal)
    }

    /// Applies exactly the accepted plan, or nothing.
    pub fn apply_request(&self, apply: ApplyPlanRequest, responder: Responder<TerraformRunId>) {
        self.send(TerraformMsg::ApplyRequest { apply: Box::new(apply), responder });
    }

    fn send(&self, order: TerraformMsg) {
        let refused = match self.orders.try_send(order) {
            Ok(()) => return,
            Err(TrySendError::Full(order)) => (
                order,
                Refusal::new(RefusalCode::Timeout, "Too many requests are waiting for Terraform.")
                    .hint("Try again in a moment."),
            ),
            Err(TrySendError::Disconnected(order)) => {
                (order, Refusal::new(RefusalCode::NoWorkspace, "Draftboard is closing."))
            }
        };
        match refused {
            (TerraformMsg::Request { call, .. }, refusal) => call.refuse(refusal),
            (TerraformMsg::ApplyRequest { responder, .. }, refusal) => responder.send(Err(refusal)),
            (TerraformMsg::Trial { responder, .. }, refusal) => responder.send(Err(refusal)),
            (TerraformMsg::PlanRequest { request, responder }, refusal) => {
                self.shared.requests.fail(request.key, refusal.message.clone());
                if let Some(responder) = responder {
                    responder.send(Err(refusal));
                }
            }
            (TerraformMsg::Refresh | TerraformMsg::Stop, _) => {}
        }
    }

    /// The generated files of a board and their findings, for a reader with a state of its own.
    pub fn files(
        &self,
        snapshot: &Snapshot,
        board: BoardId,
    ) -> Result<(TextsByPath, Vec<TerraformFindingView>), Refusal> {
        let draft = self.shared.drafts.draft(&self.workspace_inputs(snapshot)?, board)?;
        Ok((draft.generated.files.clone(), draft.generated.findings.clone()))
    }

    /// The costs of a board, for a reader with a state of its own.
    pub fn cost(&self, snapshot: &Snapshot, board: BoardId) -> Result<CostView, Refusal> {
        Ok(self.shared.estimates(&self.workspace_inputs(snapshot)?, board)?.view)
    }

    /// The difference in monthly costs of the touched nodes, as far as prices are known.
    fn cost_difference(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        changes: &[Change],
    ) -> Result<f64, Refusal> {
        let ground = self.workspace_inputs(before)?;
        let book = self.shared.prices.price_book(&ground.files)?;
        let mut settings: BTreeMap<BoardId, terraform::TerraformProjectSettings> = BTreeMap::new();
        let nodes: BTreeSet<NodeId> = changes
            .iter()
            .filter_map(|change| match ProposalSubject::of_change(change) {
                ProposalSubject::Node(id) if !change.is_layout() => Some(id),
                _ => None,
            })
            .collect();
        let mut difference = 0.0;
        for id in nodes {
            for (state, sign) in [(before, -1.0), (after, 1.0)] {
                let board = state.node(id).and_then(|node| state.board(node.board));
                let Some(board) = board.filter(|board| board.kind == BoardKind::Infrastructure) else {
                    continue;
                };
                let settings = match settings.entry(board.id) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => place.insert(ground.settings(board)?),
                };
                let cost = cost::estimate_one(state, id, settings, &book).and_then(|cost| cost.monthly);
                difference += sign * cost.unwrap_or(0.0);
            }
        }
        Ok(difference)
    }

    fn workspace_inputs(&self, snapshot: &Snapshot) -> Result<TerraformWorkspaceInputs, Refusal> {
        let ground = self.shared.inputs.load_full();
        let ground = ground.ok_or_else(|| Refusal::new(RefusalCode::NoWorkspace, "No workspace is open."))?;
        Ok(TerraformWorkspaceInputs { files: Arc::clone(&ground.files), snapshot: snapshot.clone() })
    }

    fn refresh(&self) {
        // Full: the worker refreshes with the next order anyway.
        let _ = self.orders.try_send(TerraformMsg::Refresh);
    }

    /// Stops the worker. Runs are cancelled and have a moment to end.
    pub fn stop(&self) {
        // Closed: the worker has ended already.
        let _ = self.orders.send(TerraformMsg::Stop);
    }
}

/// Smaller rises per month are noise of prices.
const MIN_RISE: f64 = 0.005;

impl ProposalJudge for TerraformHandle {
    fn plan_sink(&self, state: &Snapshot, board: BoardId, operation: TerraformOperation) -> Option<String> {
        let site = self.shared.site.load_full();
        let user = site.as_ref().map(|site| &*site.user);
        let judged = self
            .workspace_inputs(state)
            .and_then(|ground| self.shared.drafts.draft(&ground, board))
            .and_then(|draft| initialised::needs_person(&draft, user, operation));
        judged.unwrap_or_else(|refusal| Some(refusal.message))
    }

    fn cost_rises(&self, before: &Snapshot, after: &Snapshot, changes: &[Change]) -> bool {
        match self.cost_difference(before, after, changes) {
            Ok(difference) => difference > MIN_RISE,
            Err(refusal) => {
                tracing::debug!(%refusal, "the costs of a proposal are unknown");
                false
            }
        }
    }
}

/// Starts the worker thread.
pub fn start(
    link: TerraformHandle,
    orders: Receiver<TerraformMsg>,
    around: Arc<dyn TerraformEvents>,
    spawner: Arc<dyn ProgramSpawner>,
    user: TerraformUserFiles,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("terraform".to_owned())
        .spawn(move || worker::TerraformWorker::new(link, around, spawner, user).run(&orders))
}
