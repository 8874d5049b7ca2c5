//! The main process: it holds all state, and is the only one that touches the workspace.
//!
//! Owns: wiring. Opening workspaces, the writer, the router, the renderer's supervisor, the socket for terminals, the command
//! line. Must not know: how a graph may change (`authority` does) or how it is stored (`journal` does).
//!
//! The arrows between the modules, none of which points upwards:
//!
//! ```text
//! cli ─▶ renderer_connection, terminal ─▶ router ─▶ writer ─▶ agents ─▶ preview, terraform_worker, upstreams
//!                                             └▶ demo, export, background, responses, logging, local_user
//! ```

mod agents;
mod background;
pub mod cli;
pub mod demo;
mod device_keys;
mod export;
mod local_user;
mod logging;
mod renderer_connection;
mod responses;
mod router;
mod standalone;
mod terminal;
#[cfg(test)]
mod testing;
mod writer;

pub(crate) use managed_servers as upstreams;
pub(crate) use preview_sessions as preview;
pub(crate) use terraform_runs as terraform_worker;
