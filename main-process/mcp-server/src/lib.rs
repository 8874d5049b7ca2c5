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

mod acting;
mod cache;
mod clients;
mod doings;
mod draft;
mod envelope;
mod failure;
mod guests;
mod handler;
pub mod http;
mod notices;
mod offline;
mod page;
mod prompts;
mod resources;
mod service;
mod shown;
mod socket;
mod splice;
mod surface;
mod tools;
mod view;

pub use acting::{Acted, Asking, Progress, wait_of};
pub use clients::Clients;
pub use doings::{Doings, Done, Said, Seen};
pub use envelope::{Diagnostic, MAX_ENVELOPE_BYTES, MAX_MESSAGE_BYTES, Meta, Reply};
pub use failure::{Code, Failure};
pub use guests::{Guest, Guests, Passing};
pub use handler::Agent;
pub use offline::Offline;
pub use service::{INSTRUCTIONS, Service};
pub use shown::{shown, shown_line};
pub use surface::{
    Answering, Call, Completed, Completing, Completion, Depends, Document, Hints, Prompt, Resource, Sampled,
    Step, Stepping, Surface, Tool, Written,
};
pub use tools::proposal_fields;
pub use view::{AskReply, FoundEntity, Hcl, Picture, PictureOf, Specs, View, Workbench, WorkspaceView};
