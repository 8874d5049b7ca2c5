//! The MCP servers that Draftboard manages for its user, and tool manifests, within the process: requests, decisions, views,
//! and proxied tools for agents.
//!
//! Owns: the lifetime of the service, the folders, forms and views. Must not know: how a server is talked to (`managed_servers`
//! does), the wire format of agents' tools (`mcp-server` does), the graph, the writer.
//!
//! ```text
//! writer  ── show(root) ──▶ the workspace whose manifests are read
//! clients ── request, decide ──▶ orders ── a task each ──▶ Responder      bounded, on the agents' runtime
//!                                  └─ publish.rs ── views, tools ──▶ ManagedServerEvents
//! ```
//!
//! A request goes from any thread straight to the runtime: the restart of a server does not pass the writer.

mod forms;
mod internal;
mod manifests;
mod orders;
mod proxied_tools;
mod publish;
mod purpose;
mod sources;
mod views;

pub use manifests::check as check_manifests;
pub use mcp_client::{Keyring, Secret, SecretStore};

use arc_swap::ArcSwap;
use mcp_client::ManagedServersService;
use mcp_server::{ActionRuns, AgentView, ProxiedTools};
use shared_protocol::{
    ProposalId, Refusal, RefusalCode,
    decisions::{
        ApproveManifest, ApproveTools, CallTool, DeleteServer, EnableServer, ManagedServerDecision,
        SetManifestPolicy, SetManifestSecret, SetServerSecret, SetTool, UpdateServer,
    },
    managed_servers::{ManagedServersView, ToolCall},
    request::{Request, Responder, ResponseChannel},
    requests::{
        AddServer, CallServerTool, DisableServer, ImportServers, ListImportSources, ListServers,
        PreviewServerImport, ReadServerLog, ReloadManifests, RestartServer, SearchServerRegistry, ShowServer,
        StartServer, StopServer, WithdrawTool,
    },
    review::AuditEvent,
    service_calls,
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

/// The capacity of the queue of orders.
const MAX_ORDERS: usize = 256;
/// The time for all servers to stop; wardens end the rest.
const STOP_LIMIT: Duration = Duration::from_secs(8);

/// The actor of a request or decision, and its channel: window, terminal or agent.
#[derive(Debug, Clone)]
pub struct RequestOrigin {
    pub name: String,
    pub channel: &'static str,
}

service_calls! {
    /// The requests about managed servers.
    pub enum ManagedServerRequest {
        ListServers,
        ShowServer,
        StartServer,
        StopServer,
        RestartServer,
        DisableServer,
        AddServer,
        WithdrawTool,
        ReadServerLog,
        ListImportSources,
        PreviewServerImport,
        ImportServers,
        SearchServerRegistry,
        CallServerTool,
        ReloadManifests,
    }
}

service_calls! {
    /// The decisions about managed servers and manifests.
    pub enum ManagedServerDecisionCall {
        EnableServer,
        ApproveTools,
        SetTool,
        UpdateServer,
        DeleteServer,
        SetServerSecret,
        ApproveManifest,
        SetManifestPolicy,
        SetManifestSecret,
        CallTool,
    }
}

pub enum ManagedServerMsg {
    Request { call: ManagedServerRequest, by: RequestOrigin },
    Decide { call: ManagedServerDecisionCall, purpose: String, by: RequestOrigin },
    Accepted(AcceptedToolCall),
    Stop(crossbeam_channel::Sender<()>),
}

/// A call that an agent proposed and a person accepted.
pub struct AcceptedToolCall {
    pub proposal: ProposalId,
    /// The number of the proposal, which people use.
    pub number: u64,
    /// The client that proposed the call.
    pub proposer: String,
    pub call: ToolCall,
}

/// Sends requests and decisions to the managed servers. Cheap to clone.
#[derive(Clone)]
pub struct ManagedServersHandle {
    orders: mpsc::Sender<ManagedServerMsg>,
    /// The root of the open workspace.
    root: watch::Sender<Option<PathBuf>>,
    view: Arc<ArcSwap<ManagedServersView>>,
    /// Set once the service is open.
    service: Arc<OnceLock<Arc<ManagedServersService>>>,
}

/// The user's folders for managed servers.
#[derive(Debug, Clone)]
pub struct ManagedServerFolders {
    pub config: PathBuf,
    pub data: PathBuf,
}

impl ManagedServerFolders {
    pub fn of_user() -> Self {
        Self { config: user_folders::config_folder(), data: user_folders::managed_servers_data() }
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
    fn publish_view(&self, view: ManagedServersView);

    /// Publishes the tools that agents may call.
    fn publish_tools(&self, tools: ProxiedTools);

    fn record_audit(&self, event: AuditEvent, by: RequestOrigin, reason: String);

    /// Records the outcome of an accepted call with its proposal.
    fn record_outcome(&self, proposal: ProposalId, outcome: String);

    /// The view that agents read.
    fn agents_view(&self) -> Arc<AgentView>;
}

pub struct ManagedServerContext {
    pub events: Arc<dyn ManagedServerEvents>,
    /// Calls of agents that wait for the outcome of an accepted call.
    pub action_runs: Arc<ActionRuns>,
    /// The executable that plays the warden.
    pub exe: PathBuf,
    pub folders: ManagedServerFolders,
}

impl ManagedServersHandle {
    /// Orders wait in the queue until [`start`].
    pub fn new() -> (Self, mpsc::Receiver<ManagedServerMsg>) {
        let (orders, waiting) = mpsc::channel(MAX_ORDERS);
        let (root, shown) = (watch::Sender::new(None), Arc::default());
        (Self { orders, root, view: shown, service: Arc::default() }, waiting)
    }

    /// Sets the open workspace.
    pub fn show(&self, root: &Path) {
        self.root.send_if_modified(|known| {
            let is_news = known.as_deref() != Some(root);
            if is_news {
                *known = Some(root.to_owned());
            }
            is_news
        });
    }

    /// The view that was published last.
    pub fn view(&self) -> Arc<ManagedServersView> {
        self.view.load_full()
    }

    /// Describes a decision for the person who confirms it.
    pub fn purpose(&self, decision: &ManagedServerDecision) -> Result<String, Refusal> {
        let mut view = self.view().as_ref().clone();
        // A server that was added a moment ago may not be in the view yet.
        if let Some(service) = self.service.get() {
            view.servers = service.list().iter().map(|config| views::brief(service, config)).collect();
        }
        purpose::describe(decision, &view)
    }

    /// Sends a request. The response comes from another thread.
    pub fn request<R: Request>(&self, request: R, by: RequestOrigin, responder: Responder<R::Response>)
    where
        ManagedServerRequest: From<(R, Responder<R::Response>)>,
    {
        self.order(ManagedServerMsg::Request { call: (request, responder).into(), by });
    }

    /// Carries out a decision. The caller has made sure that a person made it.
    pub fn decide(&self, decision: ManagedServerDecision, by: RequestOrigin, channel: impl ResponseChannel) {
        use ManagedServerDecision as Decision;
        let purpose = self.purpose(&decision).unwrap_or_else(|refusal| refusal.message);
        let call = match decision {
            Decision::EnableServer(decision) => (decision, channel.typed()).into(),
            Decision::ApproveTools(decision) => (decision, channel.typed()).into(),
            Decision::SetTool(decision) => (decision, channel.typed()).into(),
            Decision::UpdateServer(decision) => (decision, channel.typed()).into(),
            Decision::DeleteServer(decision) => (decision, channel.typed()).into(),
            Decision::SetServerSecret(decision) => (decision, channel.typed()).into(),
            Decision::ApproveManifest(decision) => (decision, channel.typed()).into(),
            Decision::SetManifestPolicy(decision) => (decision, channel.typed()).into(),
            Decision::SetManifestSecret(decision) => (decision, channel.typed()).into(),
            Decision::CallTool(decision) => (decision, channel.typed()).into(),
        };
        self.order(ManagedServerMsg::Decide { call, purpose, by });
    }

    /// Makes an accepted call, once, and records its outcome. A refusal means that nothing was called; the caller reports it.
    pub fn execute_accepted_call(&self, accepted: AcceptedToolCall) -> Result<(), Refusal> {
        self.queue(ManagedServerMsg::Accepted(accepted)).map_err(|returned| returned.1)
    }

    fn order(&self, order: ManagedServerMsg) {
        let Err(returned) = self.queue(order) else { return };
        match *returned {
            (ManagedServerMsg::Request { call, .. }, refusal) => call.refuse(refusal),
            (ManagedServerMsg::Decide { call, .. }, refusal) => call.refuse(refusal),
            (ManagedServerMsg::Accepted(_) | ManagedServerMsg::Stop(_), _) => {}
        }
    }

    /// Queues an order, or returns it with the refusal.
    fn queue(&self, order: ManagedServerMsg) -> Result<(), Box<(ManagedServerMsg, Refusal)>> {
        self.orders.try_send(order).map_err(|error| match error {
            mpsc::error::TrySendError::Full(order) => Box::new((order, too_many())),
            mpsc::error::TrySendError::Closed(order) => {
                let refusal =
                    Refusal::new(RefusalCode::ServiceUnavailable, "Managed servers are not running.")
                        .hint("Restart Draftboard. Its log shows the cause.");
                Box::new((order, refusal))
            }
        })
    }

    /// Stops all servers and waits for their end or the time limit. Must not be called on the runtime.
    pub fn stop(&self) {
        let (done, is_done) = crossbeam_channel::bounded(1);
        // Closed: the service has ended already.
        if self.orders.blocking_send(ManagedServerMsg::Stop(done)).is_ok()
            && is_done.recv_timeout(STOP_LIMIT).is_err()
        {
            tracing::warn!("servers that did not stop in time are left to their wardens");
        }
    }
}

fn too_many() -> Refusal {
    Refusal::new(RefusalCode::Timeout, "Too many requests are waiting for managed servers.")
        .hint("Try again in a moment.")
}

/// Starts the service on the agents' runtime without waiting for it: a keyring may take a moment.
pub fn start(
    link: ManagedServersHandle,
    orders: mpsc::Receiver<ManagedServerMsg>,
    context: ManagedServerContext,
    runtime: &Handle,
) {
    runtime.spawn(orders::run(link, orders, context, runtime.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_finds_no_place_is_told_to_whoever_accepted_it() {
        let (link, waiting) = ManagedServersHandle::new();
        let accepted = || AcceptedToolCall {
            proposal: ProposalId::from_bits(1),
            number: 1,
            proposer: "agent".to_owned(),
            call: ToolCall { tool: "a__b".to_owned(), arguments: "{}".to_owned(), definition: None },
        };
        for _ in 0..MAX_ORDERS {
            link.execute_accepted_call(accepted()).unwrap();
        }
        assert_eq!(link.execute_accepted_call(accepted()).unwrap_err().code, RefusalCode::Timeout);
        drop(waiting);
        assert_eq!(link.execute_accepted_call(accepted()).unwrap_err().code, RefusalCode::ServiceUnavailable);
    }
}
