//! The server side of the Model Context Protocol: agents see the same state as the designer.
//!
//! Owns: the surface (tools, resources, prompts), the envelope, paging, connected clients, subscriptions, the HTTP
//! edge and bridge connections. Keeps no workspace state: every answer is computed from one [`AgentView`].
//! Must not know: files, the journal, egui, token storage, the command line.
//!
//! ```text
//! AgentService::new(workbench, surface) one per process
//!   ├─ http::HttpEdge::start(…)         loopback, bearer token, limits
//!   └─ serve_bridge_stream(stream)      one bridge, newline-delimited JSON-RPC
//! ```

mod action_runs;
mod actions;
mod bridge;
mod cache;
mod clients;
mod draft;
mod envelope;
mod escape;
mod handler;
pub mod http;
mod notifications;
mod offline;
mod page;
mod prompts;
mod proxied_tools;
mod refusal;
mod resources;
mod schema;
mod service;
mod splice;
mod surface;
mod tools;
mod view;

pub use action_runs::{ActionOutputLine, ActionResult, ActionRunState, ActionRuns};
pub use actions::{ActionRequest, CompletedAction, ProgressReporter, parse_wait_seconds};
pub use clients::ClientRegistry;
pub use envelope::{EnvelopeDiagnostic, EnvelopeMeta, MAX_ENVELOPE_BYTES, MAX_MESSAGE_BYTES, ToolReply};
pub use escape::{escape_hidden, escape_line};
pub use handler::AgentHandler;
pub use offline::SurfaceDescription;
pub use proxied_tools::{ForwardFuture, ProxiedTool, ProxiedTools};
pub use service::{AgentService, INSTRUCTIONS};
pub use surface::{
    AgentCall, AgentSurface, ClientModelReply, CompletionFn, CompletionRequest, CompletionValues,
    RawEnvelope, RawStepFuture, RawToolStep, ReplyFuture, ResourceDocument, ResourceInput, SurfacePrompt,
    SurfaceResource, SurfaceTool, ToolHints,
};
pub use tools::proposal_fields;
pub use view::{
    AgentReplyFn, AgentView, AgentWorkbench, AgentWorkspaceView, BoardHcl, BoardImageRequest,
    BoardImageSubject, FoundEntity, ReviewSubmitter, SpecsView,
};
