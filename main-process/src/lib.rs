//! The main process: it holds all state, and is the only one that touches the workspace.
//!
//! Owns: wiring. Opening workspaces, the writer, the router, the renderer's supervisor, the socket for terminals, the command
//! line. Must not know: how a graph may change (`authority` does) or how it is stored (`journal` does).
//!
//! The arrows between the modules, none of which points upwards:
//!
//! ```text
//! cli ─▶ renderer_connection, terminal ─▶ router ─▶ writer ─▶ background, responses, logging, local_user
//! ```

mod background;
pub mod cli;
mod device_keys;
mod local_user;
mod logging;
mod renderer_connection;
mod responses;
mod router;
mod terminal;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod writer;

use std::{path::Path, process::ExitCode};

/// Plays the demo's agent.
pub fn run_demo_agent(workspace: &Path) -> ExitCode {
    logging::start_logging();
    demo::run_agent(workspace)
}
