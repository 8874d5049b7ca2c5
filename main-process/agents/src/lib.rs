//! The agents' side of the process: the runtime of the MCP server, its settings, port, token and discovery, the requests of
//! window and terminals about it, and the tools of spec bundles, in a workspace or served by themselves ([`standalone`]).
//!
//! Owns: the connection settings and the published view. Must not know: the writer, which it calls through
//! [`AgentServerEvents`]; the tools of the workspace, which the crate `mcp_server` owns.

mod controller;
mod listen;
mod offline;
mod published;
mod settings;
mod specs;
pub mod standalone;
mod workbench_adapter;

pub use controller::{AgentServerDeps, RunningAgentServer, start};
pub use offline::offline_surface;
pub use published::AgentViewPublisher;
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
    let changes: Arc<dyn specs::BundleChangeExecutor> = Arc::new(specs::ProposedBundleChanges);
    specs::add_to(&mut surface, &changes);
    surface
}

/// The address of this process over HTTP, as the discovery record holds it.
#[derive(Debug, Clone)]
pub struct AgentServerAddress {
    pub url: String,
    pub token: InstanceToken,
}

/// The calls of the agents' side into the process. Requests to the review queue go to the same handle, straight from the
/// tools of `mcp_server`.
pub trait AgentServerEvents: ReviewSubmitter {
    /// Shows the agents' side in the window.
    fn publish_view(&self, view: McpView);

    /// Writes the address into the discovery record.
    fn record_address(&self, address: Option<AgentServerAddress>);

    /// Runs `respond` when every address before it is recorded: a client that receives the response finds the address.
    fn run_after_recording(&self, respond: Box<dyn FnOnce() + Send>);

    fn read_patches(&self, since: Revision) -> Result<Option<Vec<Patch>>, Refusal>;
}

service_calls! {
    /// The requests of window and terminals about the server.
    pub enum AgentServerRequest {
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
pub enum AgentServerMsg {
    Request(AgentServerRequest),
    /// The connection of an authenticated bridge.
    Bridge(UnixStream),
    /// The mode of the open workspace; overrides the user's setting and does not change it.
    WorkspaceMode(Option<McpMode>),
    Stop,
}

/// Sends messages to the agents' side, and holds what it publishes.
#[derive(Clone)]
pub struct AgentServerHandle {
    pub published: Arc<AgentViewPublisher>,
    /// The outcomes of accepted actions, for the calls that wait for them.
    pub action_runs: Arc<ActionRuns>,
    messages: mpsc::Sender<AgentServerMsg>,
    mode: Arc<AtomicU8>,
}

impl AgentServerHandle {
    /// Creates the handle; messages wait for [`start`].
    pub fn new() -> (Self, mpsc::Receiver<AgentServerMsg>) {
        let (messages, waiting) = mpsc::channel(MAX_MESSAGES);
        let mode = Arc::new(AtomicU8::new(McpMode::Off as u8));
        (Self { published: Arc::default(), action_runs: Arc::default(), messages, mode }, waiting)
    }

    pub fn request<R: Request>(&self, request: R, responder: Responder<R::Response>)
    where
        AgentServerRequest: From<(R, Responder<R::Response>)>,
    {
        if let Err(refused) = self.messages.try_send(AgentServerMsg::Request((request, responder).into())) {
            let (mpsc::error::TrySendError::Full(message) | mpsc::error::TrySendError::Closed(message)) =
                refused;
            if let AgentServerMsg::Request(call) = message {
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
            true => Err(Refusal::new(RefusalCode::Conflict, "agent access is off")
                .hint("Turn it on in the status bar, or start with `--mode observe`.")),
            false => Ok(()),
        }
    }

    pub fn serve_bridge(&self, bridge: UnixStream) -> Result<(), Refusal> {
        self.messages.try_send(AgentServerMsg::Bridge(bridge)).map_err(|_| unavailable())
    }

    /// Sets the mode of the open workspace; `None` goes back to the user's setting.
    pub fn set_workspace_mode(&self, mode: Option<McpMode>) {
        if self.messages.try_send(AgentServerMsg::WorkspaceMode(mode)).is_err() {
            tracing::error!("the mode of this workspace was not set");
        }
    }

    pub fn stop(&self) {
        // Closed: the agents' side has ended already.
        let _ = self.messages.blocking_send(AgentServerMsg::Stop);
    }

    fn set_mode(&self, mode: McpMode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }
}

fn unavailable() -> Refusal {
    Refusal::new(RefusalCode::Conflict, "the MCP server is not running")
        .hint("Restart Draftboard. Its log shows the cause.")
}
