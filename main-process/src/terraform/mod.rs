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
mod kept_plan;
mod lines;
mod prices;
mod running;
mod site;
mod spawner;
#[cfg(test)]
mod tests;
mod trial;
mod views;
mod worker;

pub(crate) use around::{Around, Told};
pub(crate) use follower::{Follower, Outcome};
pub(crate) use import::import;
pub(crate) use spawner::Wardens;
pub(crate) use trial::{About, TrialAsked};

use crate::{
    host::Reply,
    workspace::{Pricing, Workspace},
};
use arc_swap::ArcSwapOption;
use authority::Snapshot;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use drafts::Drafts;
use ground::Ground;
use infrastructure::{
    cost::{self, Estimates},
    run::Spawner,
};
use prices::Prices;
use shared_protocol::{
    Actor, BoardId, BoardKind, Change, Code, NodeId, Refusal, Subject,
    terraform::{CostView, Finding, TerraformRequest},
};
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    io,
    sync::Arc,
    thread::JoinHandle,
};

/// Texts by their path within a board's folder.
type Files = BTreeMap<String, Arc<str>>;

/// Requests that may wait.
const MAX_ORDERS: usize = 256;

pub(crate) enum Order {
    Request {
        request: TerraformRequest,
        actor: Actor,
        reply: Reply,
        /// Hears of the run that this starts.
        follower: Option<Arc<dyn Follower>>,
    },
    /// A plan of what is only proposed.
    Trial {
        asked: Box<TrialAsked>,
        reply: Reply,
    },
    /// Something is not as it was.
    Look,
    Stop,
}

/// How the rest of the process reaches this part.
#[derive(Clone)]
pub(crate) struct Link {
    orders: Sender<Order>,
    shown: Arc<Shown>,
}

/// What the writer shows, and what was made of it.
#[derive(Default)]
struct Shown {
    ground: ArcSwapOption<Ground>,
    drafts: Drafts,
    prices: Prices,
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
    pub(crate) fn new() -> (Self, Receiver<Order>) {
        let (orders, waiting) = bounded(MAX_ORDERS);
        (Self { orders, shown: Arc::default() }, waiting)
    }

    /// Shows the workspace as it is now, if that is news.
    pub(crate) fn show(&self, workspace: &Workspace) {
        let ground = Ground { files: Arc::clone(workspace.files()), snapshot: workspace.snapshot().clone() };
        if self.shown.ground.load().as_ref().is_none_or(|before| !before.is_same(&ground)) {
            self.shown.ground.store(Some(Arc::new(ground)));
            self.look();
        }
    }

    /// Answers later, from another thread.
    pub(crate) fn request(&self, request: TerraformRequest, actor: Actor, reply: Reply) {
        self.order(Order::Request { request, actor, reply, follower: None });
    }

    /// As [`Self::request`]; the run that this starts is followed to its end.
    pub(crate) fn run_followed(
        &self,
        request: TerraformRequest,
        actor: Actor,
        reply: Reply,
        follower: Arc<dyn Follower>,
    ) {
        self.order(Order::Request { request, actor, reply, follower: Some(follower) });
    }

    /// Plans what is only proposed, beside the board's own folder. Answers when it has begun.
    pub(crate) fn trial(&self, asked: TrialAsked, reply: Reply) {
        self.order(Order::Trial { asked: Box::new(asked), reply });
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
        if let (Order::Request { reply, .. } | Order::Trial { reply, .. }, refusal) = refused {
            reply(Err(refusal));
        }
    }

    /// A board's files as they would be written and what is wrong with them, for a reader with a state of its own.
    pub(crate) fn files(
        &self,
        snapshot: &Snapshot,
        board: BoardId,
    ) -> Result<(Files, Vec<Finding>), Refusal> {
        let draft = self.shown.drafts.of(&self.ground_of(snapshot)?, board)?;
        Ok((draft.generated.files.clone(), views::findings(&draft)))
    }

    /// What a board costs, for a reader with a state of its own.
    pub(crate) fn cost(&self, snapshot: &Snapshot, board: BoardId) -> Result<CostView, Refusal> {
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
        let mut settings: BTreeMap<BoardId, infrastructure::Settings> = BTreeMap::new();
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
    pub(crate) fn stop(&self) {
        // Closed: it has ended already.
        let _ = self.orders.send(Order::Stop);
    }
}

/// Less than this a month is noise of prices.
const LEAST_RISE: f64 = 0.005;

impl Pricing for Link {
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
pub(crate) fn start(
    link: Link,
    orders: Receiver<Order>,
    around: Arc<dyn Around>,
    spawner: Arc<dyn Spawner>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("terraform".to_owned())
        .spawn(move || worker::Worker::new(link, around, spawner).run(&orders))
}
