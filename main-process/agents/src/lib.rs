//! The agents' side of the process: the runtime of the MCP server, its settings, port, token and discovery, the requests of
//! window and terminals about it, and the tools of spec bundles, in a workspace or served by themselves ([`standalone`]).
//!
//! Owns: the connection settings and the published view. Must not know: the writer, which it calls through
//! [`AgentsEvents`]; the tools of the workspace, which the crate `mcp_server` owns.

mod controller;
mod listen;
mod offline;
mod published;
mod settings;
mod specs;
pub mod standalone;
mod workbench_adapter;

pub use controller::{AgentsDeps, RunningAgents, start};
pub use offline::offline_surface;
pub use published::PublishedView;
pub use settings::{
    DEFAULT_PORT, SettingsError, SettingsOverrides, keep_window_settings, terraform_program, window_settings,
};

use mcp_server::{ActionRuns, AgentSurface, ReviewSubmitter};
use processes::instance::InstanceToken;
use shared_protocol::{
    Refusal, RefusalCode, Revision,
    mcp::{McpMode, McpView},
    messages::Patch,
    request::{Request, Responder},
    requests::{
        DisconnectClient, PauseClient, ReadClientConfig, RestartAgents, ResumeClient, RotateToken,
        SetAgentMode, SetAgentPort, TestConnection, ViewAgents,
    },
    service_calls,
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
pub struct AgentsAddress {
    pub url: String,
    pub token: InstanceToken,
}

/// The calls of the agents' side into the process. Requests to the review queue go to the same handle, straight from the
/// tools of `mcp_server`.
pub trait AgentsEvents: ReviewSubmitter {
    /// Shows the agents' side in the window.
    fn publish_view(&self, view: McpView);

    /// Writes the address into the discovery record.
    fn record_address(&self, address: Option<AgentsAddress>);

    /// Runs `respond` when every address before it is recorded: a client that receives the response finds the address.
    fn run_after_recording(&self, respond: Box<dyn FnOnce() + Send>);

    fn read_patches(&self, since: Revision) -> Result<Option<Vec<Patch>>, Refusal>;
}

service_calls! {
    /// The requests of window and terminals about the server.
    pub enum AgentsCall {
        ViewAgents,
        SetAgentMode,
        SetAgentPort,
        RestartAgents,
        RotateToken,
        PauseClient,
        ResumeClient,
        DisconnectClient,
        TestConnection,
        ReadClientConfig,
    }
}

/// A message to the agents' side.
pub enum AgentsMsg {
    Request(AgentsCall),
    /// The connection of an authenticated bridge.
    Bridge(UnixStream),
    /// The mode of the open workspace; overrides the user's setting and does not change it.
    WorkspaceMode(Option<McpMode>),
    Stop,
}

/// Sends messages to the agents' side, and holds what it publishes.
#[derive(Clone)]
pub struct AgentsHandle {
    pub published: Arc<PublishedView>,
    /// The outcomes of accepted actions, for the calls that wait for them.
    pub action_runs: Arc<ActionRuns>,
    messages: mpsc::Sender<AgentsMsg>,
    mode: Arc<AtomicU8>,
}

impl AgentsHandle {
    /// Creates the handle; messages wait for [`start`].
    pub fn new() -> (Self, mpsc::Receiver<AgentsMsg>) {
        let (messages, waiting) = mpsc::channel(MAX_MESSAGES);
        let mode = Arc::new(AtomicU8::new(McpMode::Off as u8));
        (Self { published: Arc::default(), action_runs: Arc::default(), messages, mode }, waiting)
    }

    pub fn request<R: Request>(&self, request: R, responder: Responder<R::Response>)
    where
        AgentsCall: From<(R, Responder<R::Response>)>,
    {
        if let Err(refused) = self.messages.try_send(AgentsMsg::Request((request, responder).into())) {
            let (mpsc::error::TrySendError::Full(message) | mpsc::error::TrySendError::Closed(message)) =
                refused;
            if let AgentsMsg::Request(call) = message {
                call.refuse(unavailable());
            }
        }
    }

    /// Refuses a bridge while agents are off.
    pub fn admit_bridge(&self) -> Result<(), Refusal> {
        if self.messages.is_closed() {
            return Err(unavailable());
        }
        match self.mode.load(Ordering::SeqCst) == McpMode::Off as u8 {
            true => Err(Refusal::new(RefusalCode::Conflict, "agents are switched off")
                .hint("Switch them on in the status bar, or start with `--mode observe`.")),
            false => Ok(()),
        }
    }

    pub fn serve_bridge(&self, bridge: UnixStream) -> Result<(), Refusal> {
        self.messages.try_send(AgentsMsg::Bridge(bridge)).map_err(|_| unavailable())
    }

    /// Sets the mode of the open workspace; `None` goes back to the user's setting.
    pub fn set_workspace_mode(&self, mode: Option<McpMode>) {
        if self.messages.try_send(AgentsMsg::WorkspaceMode(mode)).is_err() {
            tracing::error!("the mode of this workspace was not set");
        }
    }

    pub fn stop(&self) {
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
