//! The writer: one thread owns the open workspace. Every other part sends it messages over a bounded channel, and receives
//! its response when the change is durable and published (see [`publisher`] for the order).
//!
//! Owns: deciding, reviewing, writing files, the audit, and the one place that publishes. Must not know: who routes a
//! request here, how a connection encodes a response, or how Terraform, previews and managed servers work.

mod agent_run;
mod announcer;
mod codes;
mod launching;
mod notify;
mod process;
mod publisher;
mod requests;
mod review_requests;
mod service_links;
mod session;
mod subscriber;
mod writer_thread;

pub(crate) use launching::{LaunchTarget, launch, launch_at};
pub(crate) use process::{ProcessHandle, ProcessSignal};
pub(crate) use requests::{WorkspaceRequest, WorkspaceTurn};
pub(crate) use review_requests::TerminalReviewer;
pub(crate) use service_links::{WriterPreviewEvents, WriterServiceEvents, terraform_user};
pub(crate) use session::{ServeTerminals, Session, WorkspaceSessionError};
pub(crate) use subscriber::MAX_QUEUED;

use crate::{background, responses::wait_for};
use agents::AgentServerAddress;
use authority::proposals::{AgentRequest, CallingClient};
use crossbeam_channel::{SendTimeoutError, Sender, bounded};
use journal::FileChange;
use mcp_server::AgentReplyFn;
use shared_protocol::{
    Actor, NodeId, ProposalId, Refusal, RefusalCode,
    managed_servers::ManagedServersView,
    mcp::McpView,
    messages::{AppliedCommand, Presence, ToRenderer, WorkbenchInstanceView},
    request::Responder,
    requests::{ExportBoard, ExportedFile},
    review::AuditEvent,
    terraform::{TerraformRunId, TerraformRunLine, TerraformView},
};
use std::{
    io,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    thread::JoinHandle,
    time::Duration,
};
use workspace::Mutation;
use writer_thread::Writer;

/// Messages that may wait; a sender of more is refused.
const MAX_WAITING: usize = 1_024;
const SEND_LIMIT: Duration = Duration::from_secs(10);

/// One message to the writer.
pub(crate) enum WriterMsg {
    /// A change of the content; waiting ones are decided together and share one write to the disk.
    Mutate {
        mutation: Mutation,
        actor: Actor,
        responder: Responder<AppliedCommand>,
    },
    /// A request of an agent to the review queue; joins the group of mutations.
    Submit {
        client: CallingClient,
        request: AgentRequest,
        reply: AgentReplyFn,
    },
    /// A line of the audit; joins the group of mutations.
    AuditLine {
        event: AuditEvent,
        by: managed_servers::RequestOrigin,
        reason: String,
    },
    /// A request that runs in its own turn.
    Call(WriterRequest),
    /// The outcome of an accepted action that another part carried out.
    ActionOutcome {
        proposal: ProposalId,
        outcome: String,
    },
    FileChanged(FileChange),
    /// The selection and viewports of the window.
    Presence(Presence),
    /// A node was selected in a preview.
    SelectNode(NodeId),
    /// A renderer is connected: it receives everything, then patches.
    Attach(Sender<ToRenderer>),
    /// The renderer missed a patch.
    Resync,
    /// A service's new view, for the window.
    Mcp(Box<McpView>),
    Terraform(Box<TerraformView>),
    ManagedServers(Box<ManagedServersView>),
    RunLines {
        run: TerraformRunId,
        first: u64,
        lines: Vec<TerraformRunLine>,
    },
    /// The address where agents connect, for the discovery record.
    McpAddress(Option<AgentServerAddress>),
    /// A message from a connection to one workspace; refused once that workspace is closed, also when it waited for the writer.
    OfWorkspace {
        is_closed: Arc<AtomicBool>,
        message: Box<WriterMsg>,
    },
    Stop,
}

/// A typed request as the writer runs it: with the writer, or with the refusal of a message that was not delivered.
pub(crate) struct WriterRequest(RunWithWriterFn);

type RunWithWriterFn = Box<dyn FnOnce(Result<&mut Writer, Refusal>) + Send>;

impl WriterMsg {
    /// Answers a message that was not delivered.
    pub(super) fn refuse(self, refusal: Refusal) {
        match self {
            Self::Mutate { responder, .. } => responder.send(Err(refusal)),
            Self::Submit { reply, .. } => reply(Err(refusal)),
            Self::OfWorkspace { message, .. } => message.refuse(refusal),
            Self::Call(WriterRequest(call)) => call(Err(refusal)),
            Self::AuditLine { .. }
            | Self::ActionOutcome { .. }
            | Self::FileChanged(_)
            | Self::Presence(_)
            | Self::SelectNode(_)
            | Self::Attach(_)
            | Self::Resync
            | Self::Mcp(_)
            | Self::Terraform(_)
            | Self::ManagedServers(_)
            | Self::RunLines { .. }
            | Self::McpAddress(_)
            | Self::Stop => tracing::debug!(%refusal, "a message to the writer was dropped"),
        }
    }
}

/// The services that read what the writer publishes and receive their requests from the router.
#[derive(Clone)]
pub(crate) struct Services {
    pub(crate) agents: agents::AgentServerHandle,
    pub(crate) terraform: terraform_runs::TerraformHandle,
    pub(crate) previews: preview_sessions::PreviewsHandle,
    pub(crate) managed_servers: managed_servers::ManagedServersHandle,
}

/// Sends messages to the writer.
#[derive(Clone)]
pub(crate) struct WriterHandle {
    messages: Sender<WriterMsg>,
    /// Set on the handles of connections to one workspace.
    is_closed: Option<Arc<AtomicBool>>,
}

impl WriterHandle {
    /// Starts the writer's thread on an open workspace.
    pub(crate) fn start(
        launch: LaunchTarget,
        process: ProcessHandle,
        services: Services,
        terminals: ServeTerminals,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (messages, waiting) = bounded(MAX_WAITING);
        let handle = Self { messages, is_closed: None };
        let own = handle.clone();
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || Writer::new(launch, own, process, services, terminals).run(&waiting))?;
        Ok((handle, thread))
    }

    /// Binds the handle to the workspace of one connection: `is_closed` is set when that workspace is closed.
    pub(crate) fn bound_to(&self, is_closed: Arc<AtomicBool>) -> Self {
        Self { messages: self.messages.clone(), is_closed: Some(is_closed) }
    }

    fn bind(&self, message: WriterMsg) -> WriterMsg {
        match &self.is_closed {
            Some(is_closed) => {
                WriterMsg::OfWorkspace { is_closed: Arc::clone(is_closed), message: Box::new(message) }
            }
            None => message,
        }
    }

    /// Sends a message and waits a moment for room. A message that is not delivered is answered with the refusal.
    pub(crate) fn send(&self, message: WriterMsg) -> Result<(), Refusal> {
        self.messages.send_timeout(self.bind(message), SEND_LIMIT).map_err(|error| {
            let (message, refusal) = match error {
                SendTimeoutError::Timeout(message) => (message, too_many()),
                SendTimeoutError::Disconnected(message) => (message, closing()),
            };
            message.refuse(refusal.clone());
            refusal
        })
    }

    /// Sends a message that is worthless later; drops it when the channel is full.
    pub(crate) fn send_if_room(&self, message: WriterMsg) {
        if self.messages.try_send(message).is_err() {
            tracing::debug!("a message to the writer was dropped");
        }
    }

    /// Changes the workspace.
    pub(crate) fn mutate(&self, mutation: Mutation, actor: Actor, responder: Responder<AppliedCommand>) {
        // A message that is not delivered is answered.
        let _ = self.send(WriterMsg::Mutate { mutation, actor, responder });
    }

    /// Handles a request that concerns the workspace alone.
    pub(crate) fn request<R: WorkspaceRequest>(
        &self,
        request: R,
        actor: Actor,
        responder: Responder<R::Response>,
    ) {
        self.call(responder, move |writer| writer.handle(request, &actor));
    }

    /// As [`Self::request`], and waits for the response.
    pub(crate) fn wait_for<R: WorkspaceRequest>(
        &self,
        request: R,
        actor: Actor,
        limit: Duration,
    ) -> Result<R::Response, Refusal> {
        wait_for(limit, |responder| self.request(request, actor, responder))
    }

    pub(crate) fn describe_instance(&self, responder: Responder<WorkbenchInstanceView>) {
        self.call(responder, |writer| Ok(writer.describe_instance()));
    }

    pub(crate) fn raise_window(&self, responder: Responder<()>) {
        self.call(responder, Writer::raise_window);
    }

    /// Draws a board into a file on a thread of its own.
    pub(crate) fn export(&self, request: ExportBoard, responder: Responder<ExportedFile>) {
        self.call_with(responder, move |writer, responder| {
            let snapshot = writer.workspace().snapshot().clone();
            background::spawn("export", responder, move |responder| {
                let ExportBoard { board, path } = request;
                let drawn = board_export::export(&snapshot, board, Path::new(&path));
                responder.send(drawn.map(|bytes| ExportedFile { path, bytes }));
            });
        });
    }

    /// Runs `respond` in its turn, after the messages before it are handled.
    pub(crate) fn run_in_turn(&self, respond: impl FnOnce() + Send + 'static) {
        self.call(Responder::new(move |_| respond()), |_| Ok(()));
    }

    /// Runs a request in a turn of its own, publishes what it changed, then sends the response.
    fn call<T: Send + 'static>(
        &self,
        responder: Responder<T>,
        run: impl FnOnce(&mut Writer) -> Result<T, Refusal> + Send + 'static,
    ) {
        self.call_with(responder, move |writer, responder| {
            let result = run(writer);
            writer.respond(move || responder.send(result));
        });
    }

    /// As [`Self::call`] for a request that is answered elsewhere, such as on a thread of its own.
    fn call_with<T: Send + 'static>(
        &self,
        responder: Responder<T>,
        run: impl FnOnce(&mut Writer, Responder<T>) + Send + 'static,
    ) {
        let call = WriterRequest(Box::new(move |writer| match writer {
            Ok(writer) => run(writer, responder),
            Err(refusal) => responder.send(Err(refusal)),
        }));
        // A message that is not delivered is answered.
        let _ = self.send(WriterMsg::Call(call));
    }
}

fn too_many() -> Refusal {
    Refusal::new(RefusalCode::Timeout, "too many requests are waiting").hint("Try again in a moment.")
}

pub(crate) fn workspace_closed() -> Refusal {
    Refusal::new(RefusalCode::NoWorkspace, "the workspace was closed")
        .hint("Connect again to reach the workspace that is open now.")
}

fn closing() -> Refusal {
    Refusal::new(RefusalCode::NoWorkspace, "Draftboard is closing")
}
