//! The agents' side of the process: the runtime of the MCP server, its settings, port, token and discovery, and the requests
//! of window and terminals about it.
//!
//! Owns: the connection settings and the published view. Must not know: the writer, which it calls through
//! [`AgentsEvents`]; the tools, which the crate `mcp_server` owns.

pub(crate) mod controller;
pub(crate) mod listen;
mod offline;
mod published;
mod settings;
pub(crate) mod specs;
#[cfg(test)]
mod tests;
mod workbench_adapter;

pub(crate) use controller::{AgentsDeps, start};
pub(crate) use offline::offline_surface;
pub(crate) use published::PublishedView;
pub(crate) use settings::{
    AgentSettings, DEFAULT_PORT, SettingsOverrides, keep_window_settings, terraform_program, window_settings,
};

use authority::proposals::{AgentClient, AgentRequest};
use mcp_server::{ActionRuns, AgentReplyFn, AgentSurface};
use processes::instance::InstanceToken;
use shared_protocol::{
    Refusal, RefusalCode, Revision,
    mcp::{McpMode, McpRequest, McpView},
    messages::{Patch, WorkbenchResponse},
    request::Responder,
};
use std::{
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};
use tokio::sync::mpsc;

/// Messages that may wait for the agents' side.
const MAX_MESSAGES: usize = 64;

/// The tools, resources and prompts of a workspace.
fn surface() -> AgentSurface {
    let mut surface = AgentSurface::core();
    let changes: Arc<dyn specs::BundleChanges> = Arc::new(specs::ProposedChanges);
    specs::add_to(&mut surface, &changes);
    surface
}

/// The address of this process over HTTP, as the discovery record holds it.
#[derive(Debug, Clone)]
pub(crate) struct AgentsAddress {
    pub(crate) url: String,
    pub(crate) token: InstanceToken,
}

/// The calls of the agents' side into the process.
pub(crate) trait AgentsEvents: Send + Sync {
    /// Shows the agents' side in the window.
    fn publish_view(&self, view: McpView);

    /// Writes the address into the discovery record.
    fn record_address(&self, address: Option<AgentsAddress>);

    /// Runs `respond` when every address before it is recorded: a client that receives the response finds the address.
    fn run_after_recording(&self, respond: Box<dyn FnOnce() + Send>);

    /// Submits an agent's request to the review queue. Must not wait.
    fn submit(&self, client: AgentClient, request: AgentRequest, reply: AgentReplyFn);

    fn read_patches(&self, since: Revision) -> Result<Option<Vec<Patch>>, Refusal>;
}

/// A message to the agents' side.
pub(crate) enum AgentsMsg {
    Request {
        request: McpRequest,
        responder: Responder<WorkbenchResponse>,
    },
    /// The connection of an authenticated bridge.
    Bridge(UnixStream),
    /// The mode of the open workspace; overrides the user's setting and does not change it.
    WorkspaceMode(Option<McpMode>),
    Stop,
}

/// Sends messages to the agents' side, and holds what it publishes.
#[derive(Clone)]
pub(crate) struct AgentsHandle {
    pub(crate) published: Arc<PublishedView>,
    /// The outcomes of accepted actions, for the calls that wait for them.
    pub(crate) action_runs: Arc<ActionRuns>,
    messages: mpsc::Sender<AgentsMsg>,
    mode: Arc<AtomicU8>,
}

impl AgentsHandle {
    /// Messages wait for [`start`].
    pub(crate) fn new() -> (Self, mpsc::Receiver<AgentsMsg>) {
        let (messages, waiting) = mpsc::channel(MAX_MESSAGES);
        let mode = Arc::new(AtomicU8::new(McpMode::Off as u8));
        (Self { published: Arc::default(), action_runs: Arc::default(), messages, mode }, waiting)
    }

    pub(crate) fn request(&self, request: McpRequest, responder: Responder<WorkbenchResponse>) {
        if let Err(refused) = self.messages.try_send(AgentsMsg::Request { request, responder }) {
            let (mpsc::error::TrySendError::Full(message) | mpsc::error::TrySendError::Closed(message)) =
                refused;
            if let AgentsMsg::Request { responder, .. } = message {
                responder.send(Err(unavailable()));
            }
        }
    }

    /// Refuses a bridge while agents are off.
    pub(crate) fn admit_bridge(&self) -> Result<(), Refusal> {
        if self.messages.is_closed() {
            return Err(unavailable());
        }
        match self.mode.load(Ordering::SeqCst) == McpMode::Off as u8 {
            true => Err(Refusal::new(RefusalCode::Conflict, "agents are switched off")
                .hint("Switch them on in the status bar, or start with `--mode observe`.")),
            false => Ok(()),
        }
    }

    pub(crate) fn serve_bridge(&self, bridge: UnixStream) -> Result<(), Refusal> {
        self.messages.try_send(AgentsMsg::Bridge(bridge)).map_err(|_| unavailable())
    }

    /// Sets the mode of the open workspace; `None` goes back to the user's setting.
    pub(crate) fn set_workspace_mode(&self, mode: Option<McpMode>) {
        if self.messages.try_send(AgentsMsg::WorkspaceMode(mode)).is_err() {
            tracing::error!("the mode of this workspace was not set");
        }
    }

    pub(crate) fn stop(&self) {
        // Closed: the agents' side has ended already.
        let _ = self.messages.blocking_send(AgentsMsg::Stop);
    }

    fn set_mode(&self, mode: McpMode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }
}

fn unavailable() -> Refusal {
    Refusal::new(RefusalCode::Conflict, "the agents' side is not running")
        .hint("Start Draftboard again; its log names the cause.")
}
