//! The Terraform of the open workspace, for window, terminals and agents: files, costs, runs, imports.
//!
//! Owns: what is remembered between two questions (generators, runs, plans, statuses, secrets), the thread that answers, and
//! what the window is told unasked. Must not know: how files are made or a run goes (`infrastructure` does), how the graph
//! changes, MCP, egui.
//!
//! ```text
//! writer ── show(workspace) ──▶ Ground, one at a time          never waits
//!        ── request ──▶ orders ──▶ worker's thread ── reply    bounded; generating happens here
//!                                   └─ one thread a run ── lines, statuses ──▶ Around::tell
//! ```

mod around;
mod drafts;
mod follower;
mod ground;
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

pub use around::{Around, Told};
pub use follower::{Follower, Outcome};
pub use import::import;
pub use request_plan::{PlanKey, SavedPlan};
pub use trial::{About, TrialAsked};
pub use user::UserFolders;

use arc_swap::ArcSwapOption;
use authority::Snapshot;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use drafts::Drafts;
use ground::Ground;
use processes::ProgramSpawner;
use request_plan::RequestPlans;
use shared_protocol::{
    Actor, BoardId, BoardKind, Change, Code, NodeId, ProposalId, ProposalState, Refusal, Subject,
    proposal::ContentHash,
    request::Responder,
    review::ReviewAnswer,
    terraform::{CostView, Finding, RequestPlanView, RunOperation, TerraformAnswer, TerraformRequest},
};
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    io,
    sync::Arc,
    thread::JoinHandle,
};
use terraform::cost::{self, Estimates};
use terraform::price_files::Prices;
use workspace::{Pricing, Workspace};

/// Texts by their path within a board's folder.
type Files = BTreeMap<String, Arc<str>>;

/// Requests that may wait.
const MAX_ORDERS: usize = 256;

pub enum Order {
    Request {
        request: TerraformRequest,
        actor: Actor,
        responder: Responder<TerraformAnswer>,
        /// Hears of the run that this starts.
        follower: Option<Arc<dyn Follower>>,
    },
    /// A plan of what is only proposed.
    Trial {
        asked: Box<TrialAsked>,
        responder: Responder<ReviewAnswer>,
    },
    /// The saved plan of an agent's request to apply or destroy.
    PlanRequest {
        asked: Box<RequestAsked>,
        responder: Option<Responder<ReviewAnswer>>,
    },
    /// A person said yes to a saved plan.
    ApplyRequest {
        apply: Box<ApplyRequest>,
        responder: Responder<TerraformAnswer>,
    },
    /// Something is not as it was.
    Look,
    Stop,
}

/// A request to apply or destroy that is to be planned.
pub struct RequestAsked {
    pub key: PlanKey,
    /// [`RunOperation::Apply`] or [`RunOperation::Destroy`].
    pub operation: RunOperation,
    /// As the client calls itself.
    pub requested_by: String,
    pub actor: Actor,
    pub secrets: Vec<(String, String)>,
    /// A person pressed *Plan*: also what executes or sends while it is planned is then their own.
    pub pressed: bool,
}

/// A saved plan that a person said yes to.
pub struct ApplyRequest {
    pub key: PlanKey,
    pub saved: Arc<SavedPlan>,
    pub requested_by: String,
    /// Who approved it.
    pub actor: Actor,
    pub follower: Arc<dyn Follower>,
}

/// How the rest of the process reaches this part.
#[derive(Clone)]
pub struct Link {
    orders: Sender<Order>,
    shown: Arc<Shown>,
}

/// What the writer shows, and what was made of it.
#[derive(Default)]
struct Shown {
    ground: ArcSwapOption<Ground>,
    drafts: Drafts,
    prices: Prices,
    requests: RequestPlans,
    /// The site of the ground, once the worker has seen it.
    site: ArcSwapOption<site::Site>,
}

impl Shown {
    fn estimates(&self, ground: &Ground, board: BoardId) -> Result<Estimates, Refusal> {
        let settings = ground.settings(ground.board(board)?)?;
        let book = self.prices.of(&ground.files)?;
        Ok(cost::estimate(&ground.snapshot, board, &settings, &book))
    }
}

impl Link {
    /// Nobody is at the other end before [`start`].
    pub fn new() -> (Self, Receiver<Order>) {
        let (orders, waiting) = bounded(MAX_ORDERS);
        (Self { orders, shown: Arc::default() }, waiting)
    }

    /// Shows the workspace as it is now, if that is news.
    pub fn show(&self, workspace: &Workspace) {
        let ground = Ground { files: Arc::clone(workspace.files()), snapshot: workspace.snapshot().clone() };
        if self.shown.ground.load().as_ref().is_none_or(|before| !before.is_same(&ground)) {
            self.shown.ground.store(Some(Arc::new(ground)));
            self.look();
        }
        let queue = &workspace.desk().queue;
        self.shown.requests.retain(|id, version| {
            use ProposalState::{Open, Stale};
            queue
                .get(id)
                .is_some_and(|known| known.version == version && matches!(known.state, Open | Stale { .. }))
        });
    }

    /// Answers later, from another thread.
    pub fn request(&self, request: TerraformRequest, actor: Actor, responder: Responder<TerraformAnswer>) {
        self.order(Order::Request { request, actor, responder, follower: None });
    }

    /// As [`Self::request`]; the run that this starts is followed to its end.
    pub fn run_followed(
        &self,
        request: TerraformRequest,
        actor: Actor,
        responder: Responder<TerraformAnswer>,
        follower: Arc<dyn Follower>,
    ) {
        self.order(Order::Request { request, actor, responder, follower: Some(follower) });
    }

    /// Plans what is only proposed, beside the board's own folder. Answers when it has begun.
    pub fn trial(&self, asked: TrialAsked, responder: Responder<ReviewAnswer>) {
        self.order(Order::Trial { asked: Box::new(asked), responder });
    }

    /// Plans an agent's request and keeps the plan. Answers, where somebody waits, when it has begun.
    pub fn plan_request(&self, asked: RequestAsked, responder: Option<Responder<ReviewAnswer>>) {
        if self.shown.requests.begin(asked.key) {
            return self.order(Order::PlanRequest { asked: Box::new(asked), responder });
        }
        if let Some(responder) = responder {
            let message = "The request is being planned already.";
            responder.send(Err(Refusal::new(Code::Conflict, message).hint("Wait for the plan.")));
        }
    }

    /// The plan of a request, as far as there is one.
    pub fn request_plan(&self, proposal: ProposalId) -> Option<RequestPlanView> {
        self.shown.requests.view(proposal)
    }

    /// Whether a yes names the plan that is there, and whether everything is as it was planned.
    pub fn check_request(
        &self,
        proposal: ProposalId,
        board: BoardId,
        hash: Option<ContentHash>,
    ) -> Result<(), Refusal> {
        let saved = self.shown.requests.named(proposal, hash)?;
        let ground = self.shown.ground.load_full();
        let (Some(ground), Some(site)) = (ground, self.shown.site.load_full()) else {
            return Err(Refusal::new(Code::NoWorkspace, "no workspace is open"));
        };
        site.refuse_busy(board)?;
        let draft = self.shown.drafts.of(&ground, board)?;
        let checked = saved.check(&draft, &site);
        if checked.is_err() {
            // The worker says why with the request.
            self.look();
        }
        checked
    }

    /// The plan that was said yes to; nobody else gets it any more.
    pub fn take_request(&self, proposal: ProposalId) -> Option<Arc<SavedPlan>> {
        self.shown.requests.take(proposal)
    }

    /// Applies exactly the plan that was said yes to, or nothing.
    pub fn apply_request(&self, apply: ApplyRequest, responder: Responder<TerraformAnswer>) {
        self.order(Order::ApplyRequest { apply: Box::new(apply), responder });
    }

    fn order(&self, order: Order) {
        let refused = match self.orders.try_send(order) {
            Ok(()) => return,
            Err(TrySendError::Full(order)) => (
                order,
                Refusal::new(Code::Timeout, "too much is waiting for Terraform")
                    .hint("Try again in a moment."),
            ),
            Err(TrySendError::Disconnected(order)) => {
                (order, Refusal::new(Code::NoWorkspace, "Draftboard is closing"))
            }
        };
        match refused {
            (Order::Request { responder, .. } | Order::ApplyRequest { responder, .. }, refusal) => {
                responder.send(Err(refusal));
            }
            (Order::Trial { responder, .. }, refusal) => responder.send(Err(refusal)),
            (Order::PlanRequest { asked, responder }, refusal) => {
                self.shown.requests.fail(asked.key, refusal.message.clone());
                if let Some(responder) = responder {
                    responder.send(Err(refusal));
                }
            }
            (Order::Look | Order::Stop, _) => {}
        }
    }

    /// A board's files as they would be written and what is wrong with them, for a reader with a state of its own.
    pub fn files(&self, snapshot: &Snapshot, board: BoardId) -> Result<(Files, Vec<Finding>), Refusal> {
        let draft = self.shown.drafts.of(&self.ground_of(snapshot)?, board)?;
        Ok((draft.generated.files.clone(), views::findings(&draft)))
    }

    /// What a board costs, for a reader with a state of its own.
    pub fn cost(&self, snapshot: &Snapshot, board: BoardId) -> Result<CostView, Refusal> {
        let estimates = self.shown.estimates(&self.ground_of(snapshot)?, board)?;
        Ok(views::cost(&estimates, board, snapshot.revision()))
    }

    /// By how much a month's costs of what is touched differ, as far as prices are known.
    fn cost_difference(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        changes: &[Change],
    ) -> Result<f64, Refusal> {
        let ground = self.ground_of(before)?;
        let book = self.shown.prices.of(&ground.files)?;
        let mut settings: BTreeMap<BoardId, terraform::Settings> = BTreeMap::new();
        let nodes: BTreeSet<NodeId> = changes
            .iter()
            .filter_map(|change| match Subject::of(change) {
                Subject::Node(id) if !change.is_layout() => Some(id),
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
                let cost =
                    cost::estimate_one(state, id, settings, &book).and_then(|estimate| estimate.monthly);
                difference += sign * cost.unwrap_or(0.0);
            }
        }
        Ok(difference)
    }

    fn ground_of(&self, snapshot: &Snapshot) -> Result<Ground, Refusal> {
        let ground = self.shown.ground.load_full();
        let ground = ground.ok_or_else(|| Refusal::new(Code::NoWorkspace, "no workspace is open"))?;
        Ok(Ground { files: Arc::clone(&ground.files), snapshot: snapshot.clone() })
    }

    fn look(&self) {
        // Full: it will look anyway.
        let _ = self.orders.try_send(Order::Look);
    }

    /// Runs are asked to end, and given a moment for it.
    pub fn stop(&self) {
        // Closed: it has ended already.
        let _ = self.orders.send(Order::Stop);
    }
}

/// Less than this a month is noise of prices.
const LEAST_RISE: f64 = 0.005;

impl Pricing for Link {
    fn plan_sink(&self, state: &Snapshot, board: BoardId, operation: RunOperation) -> Option<String> {
        let site = self.shown.site.load_full();
        let user = site.as_ref().map(|site| &*site.user);
        let judged = self
            .ground_of(state)
            .and_then(|ground| self.shown.drafts.of(&ground, board))
            .and_then(|draft| initialised::needs_person(&draft, user, operation));
        judged.unwrap_or_else(|refusal| Some(refusal.message))
    }

    fn rises(&self, before: &Snapshot, after: &Snapshot, changes: &[Change]) -> bool {
        match self.cost_difference(before, after, changes) {
            Ok(difference) => difference > LEAST_RISE,
            Err(refusal) => {
                tracing::debug!(%refusal, "costs of a proposal are not known");
                false
            }
        }
    }
}

/// Starts the thread that answers.
pub fn start(
    link: Link,
    orders: Receiver<Order>,
    around: Arc<dyn Around>,
    spawner: Arc<dyn ProgramSpawner>,
    user: UserFolders,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("terraform".to_owned())
        .spawn(move || worker::Worker::new(link, around, spawner, user).run(&orders))
}
