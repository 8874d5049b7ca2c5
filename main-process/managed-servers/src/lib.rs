//! The MCP servers that Draftboard manages for its user, and tool manifests, wired into the process: who may ask and decide,
//! what window and agents are shown, where things are kept, and how servers are started and ended.
//!
//! Owns: the service's life, the folders, forms and views. Must not know: how a server is talked to (`upstreams` does), what
//! agents' tools look like on the wire (`mcp-server` does), the graph.
//!
//! ```text
//! writer ── show(root) ──▶ which workspace's manifests
//!        ── request, decide ──▶ orders ──▶ keeper ── a task each ── reply     bounded, on the agents' runtime
//!                                          └─ follower ── view ──▶ Job::Upstreams, tools ──▶ Published
//! ```

mod follow;
mod forms;
mod guests;
mod internal;
mod keeper;
mod manifests;
mod sources;
mod views;
mod words;

pub use manifests::check as check_manifests;

use arc_swap::ArcSwap;
use mcp_server::{Doings, Guests, View};
use shared_protocol::{
    Code, ProposalId, Refusal,
    request::Responder,
    review::AuditEvent,
    upstreams::{ToolCall, UpstreamAnswer, UpstreamDecision, UpstreamRequest, UpstreamsView},
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
};
use upstreams::McpService;

/// Orders that may wait.
const MAX_ORDERS: usize = 256;
/// Servers are given their grace; what is left then is ended by its warden.
const STOP_LIMIT: Duration = Duration::from_secs(8);

/// Who decides, and which way the decision came.
#[derive(Debug, Clone)]
pub struct By {
    pub name: String,
    pub way: &'static str,
}

pub enum Order {
    Request { request: UpstreamRequest, by: By, responder: Responder<UpstreamAnswer> },
    Decide { decision: UpstreamDecision, by: By, responder: Responder<UpstreamAnswer> },
    Accepted(Accepted),
    Stop(crossbeam_channel::Sender<()>),
}

/// A call that an agent has asked for and a person has accepted.
pub struct Accepted {
    pub proposal: ProposalId,
    /// What people call the proposal.
    pub number: u64,
    /// Who asked.
    pub proposer: String,
    pub call: ToolCall,
}

/// How the rest of the process reaches this part.
#[derive(Clone)]
pub struct Link {
    orders: mpsc::Sender<Order>,
    /// The open workspace.
    root: watch::Sender<Option<PathBuf>>,
    shown: Arc<ArcSwap<UpstreamsView>>,
    /// Once it is open.
    service: Arc<OnceLock<Arc<McpService>>>,
}

/// Where the user's things are.
#[derive(Debug, Clone)]
pub struct ManagedServerFolders {
    pub config: PathBuf,
    pub data: PathBuf,
}

impl ManagedServerFolders {
    pub fn of_user() -> Self {
        Self { config: user_folders::config_folder(), data: user_folders::upstreams_data() }
    }

    /// The user's own manifests.
    fn manifests(&self) -> PathBuf {
        self.config.join("manifests")
    }
}

/// The rest of the process, as far as managed servers report to it. [`Self::publish_tools`] and [`Self::agents_view`] are
/// called on the runtime and must not wait; the others may.
pub trait ManagedServerEvents: Send + Sync {
    /// Publishes the servers and manifests to the window.
    fn publish_view(&self, view: UpstreamsView);

    /// Publishes the tools that agents may call.
    fn publish_tools(&self, tools: Guests);

    fn record_audit(&self, event: AuditEvent, by: By, reason: String);

    /// Records the outcome of an accepted call with its proposal.
    fn record_outcome(&self, proposal: ProposalId, outcome: String);

    /// The view that agents read.
    fn agents_view(&self) -> Arc<View>;
}

pub struct ManagedServerContext {
    pub events: Arc<dyn ManagedServerEvents>,
    /// Calls of agents that wait for the outcome of an accepted call.
    pub action_runs: Arc<Doings>,
    /// The executable that plays the warden.
    pub exe: PathBuf,
    pub folders: ManagedServerFolders,
}

impl Link {
    /// Nobody is at the other end before [`start`].
    pub fn new() -> (Self, mpsc::Receiver<Order>) {
        let (orders, waiting) = mpsc::channel(MAX_ORDERS);
        let (root, shown) = (watch::Sender::new(None), Arc::default());
        (Self { orders, root, shown, service: Arc::default() }, waiting)
    }

    /// Says which workspace is open, if that is news.
    pub fn show(&self, root: &Path) {
        self.root.send_if_modified(|known| {
            let is_news = known.as_deref() != Some(root);
            if is_news {
                *known = Some(root.to_owned());
            }
            is_news
        });
    }

    /// What window and terminals were told last.
    pub fn view(&self) -> Arc<UpstreamsView> {
        self.shown.load_full()
    }

    /// A decision in words, for whoever is asked for it.
    pub fn purpose(&self, decision: &UpstreamDecision) -> Result<String, Refusal> {
        let mut view = self.view().as_ref().clone();
        // What was added a moment ago may not have been shown yet.
        if let Some(service) = self.service.get() {
            view.servers = service.list().iter().map(|config| views::brief(service, config)).collect();
        }
        words::purpose(decision, &view)
    }

    /// Answers later, from another thread.
    pub fn request(&self, request: UpstreamRequest, by: By, responder: Responder<UpstreamAnswer>) {
        self.order(Order::Request { request, by, responder });
    }

    /// Carries out what a person has decided. Whoever calls this has made sure of that.
    pub fn decide(&self, decision: UpstreamDecision, by: By, responder: Responder<UpstreamAnswer>) {
        self.order(Order::Decide { decision, by, responder });
    }

    /// Calls what was accepted, once, and notes what came of it. A refusal means that nothing was called, and is told by whoever
    /// asked for this.
    pub fn accepted(&self, accepted: Accepted) -> Result<(), Refusal> {
        self.leave(Order::Accepted(accepted)).map_err(|returned| returned.1)
    }

    fn order(&self, order: Order) {
        let Err(returned) = self.leave(order) else { return };
        if let (Order::Request { responder, .. } | Order::Decide { responder, .. }, refusal) = *returned {
            responder.send(Err(refusal));
        }
    }

    /// Leaves an order there, or gives it back with the reason.
    fn leave(&self, order: Order) -> Result<(), Box<(Order, Refusal)>> {
        self.orders.try_send(order).map_err(|error| match error {
            mpsc::error::TrySendError::Full(order) => Box::new((order, too_much())),
            mpsc::error::TrySendError::Closed(order) => {
                let refusal = Refusal::new(Code::ServiceUnavailable, "managed servers are not looked after")
                    .hint("Start Draftboard again; its log says why.");
                Box::new((order, refusal))
            }
        })
    }

    /// Ends all servers and waits until they are gone, or their time is over. Not from within the runtime.
    pub fn stop(&self) {
        let (done, is_done) = crossbeam_channel::bounded(1);
        // Closed: it has ended already.
        if self.orders.blocking_send(Order::Stop(done)).is_ok() && is_done.recv_timeout(STOP_LIMIT).is_err() {
            tracing::warn!("servers that did not end in time are left to their wardens");
        }
    }
}

fn too_much() -> Refusal {
    Refusal::new(Code::Timeout, "too much is waiting for managed servers").hint("Try again in a moment.")
}

/// Starts this part on the agents' runtime, and does not wait: a keyring may take its time.
pub fn start(link: Link, orders: mpsc::Receiver<Order>, context: ManagedServerContext, runtime: &Handle) {
    runtime.spawn(keeper::run(link, orders, context, runtime.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_finds_no_place_is_told_to_whoever_accepted_it() {
        let (link, waiting) = Link::new();
        let accepted = || Accepted {
            proposal: ProposalId::from_bits(1),
            number: 1,
            proposer: "agent".to_owned(),
            call: ToolCall { tool: "a__b".to_owned(), arguments: "{}".to_owned(), definition: None },
        };
        for _ in 0..MAX_ORDERS {
            link.accepted(accepted()).unwrap();
        }
        assert_eq!(link.accepted(accepted()).unwrap_err().code, Code::Timeout);
        drop(waiting);
        assert_eq!(link.accepted(accepted()).unwrap_err().code, Code::ServiceUnavailable);
    }
}
