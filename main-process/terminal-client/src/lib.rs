//! The terminal's side of a running Draftboard: the connection to its socket, and responses in words or as JSON.
//!
//! Must not know: how a request is handled, the command line's verbs, workspaces.

mod client;
pub mod format;
pub mod managed_servers;

pub use client::{TerminalClient, TerminalClientError};
