//! The status of a server as the contract defines it.

use serde::Serialize;
use shared_protocol::{
    Refusal,
    managed_servers::{ServerExit, StartPhase},
};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ManagedServerStatus {
    /// Disabled by a person.
    Disabled,
    Stopped,
    Starting {
        phase: StartPhase,
    },
    /// The server is shutting down, or failed and is being cleaned up.
    Stopping,
    /// Connected. `tools` are the exposed names that agents can call.
    Running {
        tools: Vec<String>,
    },
    /// The server failed and will be restarted.
    Backoff {
        attempt: u32,
        retry_in_ms: u64,
        message: String,
    },
    /// The server runs, and a person has approved none of its tools.
    NeedsApproval {
        tools: Vec<String>,
    },
    NeedsCredentials {
        missing: Vec<String>,
    },
    Error {
        message: String,
    },
}

impl ManagedServerStatus {
    /// Returns whether the server is connected.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::NeedsApproval { .. })
    }
}

/// Details of a server for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerStatusDetails {
    pub status: ManagedServerStatus,
    /// The protocol version while the server runs.
    pub protocol: Option<String>,
    /// The self-reported name of the server. Nothing depends on it.
    pub server: Option<String>,
    pub tools: usize,
    /// The number of tools that are new or changed since their approval.
    pub waiting: usize,
    pub last_failure: Option<Refusal>,
    /// The exit of its last process.
    pub exit: Option<ServerExit>,
}
