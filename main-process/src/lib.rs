//! The main process: it holds all state, and is the only one that touches the workspace.
//!
//! Owns: wiring. Opening workspaces, the one writer, the renderer's supervisor, the socket for terminals, the command line.
//! Must not know: how a graph may change (that is `authority`) or how it is stored (`journal`).

pub mod cli;
pub mod demo;
mod export;
mod host;
mod mcp;
mod preview;
mod renderer_link;
mod standalone;
mod terminal;
#[cfg(test)]
mod testing;

pub(crate) use managed_servers as upstreams;
pub(crate) use terraform_runs as terraform_worker;
