//! The server side of the Model Context Protocol: agents see the same state as the designer.
//!
//! Owns: the surface (tools, resources, prompts), the envelope, paging, connected clients, subscriptions, the HTTP
//! edge and bridge connections. Keeps no workspace state: every answer is computed from one [`View`].
//! Must not know: files, the journal, egui, token storage, the command line.
//!
//! ```text
//! Service::new(workbench, surface)      one per process
//!   ├─ http::Edge::start(…)             loopback, bearer token, limits
//!   └─ Service::converse(stream)        one bridge, newline-delimited JSON-RPC
//! ```

mod action_runs;
mod actions;
mod bridge;
mod cache;
mod clients;
mod draft;
mod envelope;
mod error;
mod escape;
mod handler;
pub mod http;
mod notifications;
mod offline;
mod page;
mod prompts;
mod proxied_tools;
mod resources;
mod service;
mod splice;
mod surface;
mod tools;
mod view;

pub use action_runs::{ActionRunState, Doings, Done, Said};
pub use actions::{Asking, CompletedAction, Progress, wait_of};
pub use clients::ClientRegistry;
pub use envelope::{EnvelopeDiagnostic, EnvelopeMeta, MAX_ENVELOPE_BYTES, MAX_MESSAGE_BYTES, ToolReply};
pub use error::{Code, Failure};
pub use escape::{shown, shown_line};
pub use handler::AgentHandler;
pub use offline::Offline;
pub use proxied_tools::{Guest, Guests, Passing};
pub use service::{INSTRUCTIONS, Service};
pub use surface::{
    Call, Completed, Completing, CompletionFn, Depends, Document, Hints, Prompt, ReplyFuture, Resource,
    SampledReply, Step, Stepping, Surface, Tool, Written,
};
pub use tools::proposal_fields;
pub use view::{AskReply, FoundEntity, Hcl, Picture, PictureOf, Specs, View, Workbench, WorkspaceView};
