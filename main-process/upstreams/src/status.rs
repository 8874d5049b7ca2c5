//! How a server is, in the words of the contract.

use crate::actor::Phase;
use serde::Serialize;
use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum McpStatus {
    /// Switched off by a person.
    Disabled,
    Stopped,
    Starting {
        phase: Phase,
    },
    /// It was asked to end, or has failed and is cleared away.
    Stopping,
    /// The names that agents call.
    Running {
        tools: Vec<String>,
    },
    /// It failed and is tried again.
    Backoff {
        attempt: u32,
        retry_in_ms: u64,
        message: String,
    },
    /// It runs, and none of its tools may be used before a person has looked at them.
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

impl McpStatus {
    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::NeedsApproval { .. })
    }
}

/// What else a person wants to know.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Details {
    pub status: McpStatus,
    /// Of the protocol, while it runs.
    pub protocol: Option<String>,
    /// What the server calls itself. Nothing is decided by it.
    pub server: Option<String>,
    pub tools: usize,
    /// Tools that a person has not looked at, or that have changed since.
    pub waiting: usize,
    pub last_failure: Option<crate::Failure>,
    /// How its process ended the last time.
    pub exit: Option<ServerProcessExit>,
}

/// The way in which the process of a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServerProcessExit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl From<ExitStatus> for ServerProcessExit {
    fn from(status: ExitStatus) -> Self {
        Self { code: status.code(), signal: status.signal() }
    }
}

impl std::fmt::Display for ServerProcessExit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(formatter, "ended with code {code}"),
            (None, Some(signal)) => write!(formatter, "was ended by signal {signal}"),
            (None, None) => write!(formatter, "ended"),
        }
    }
}
