//! Time and size limits per server and per tool.

use serde::{Deserialize, Serialize};
use shared_protocol::managed_servers::ToolCallPolicy;
use std::time::Duration;

/// Limits in milliseconds or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerLimits {
    /// Time to fetch the package before the first start.
    pub install_ms: u64,
    /// Time to connect to an HTTP server.
    pub connect_ms: u64,
    /// Time from the start of the process to its list of tools.
    pub handshake_ms: u64,
    /// Time a call may be silent; progress resets it.
    pub idle_ms: u64,
    /// Total time of a call.
    pub total_ms: u64,
    /// Grace period before a forced stop.
    pub grace_ms: u64,
    /// The maximum bytes of one result.
    pub result_bytes: usize,
    /// The maximum number of concurrent calls.
    pub calls: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            install_ms: 300_000,
            connect_ms: 10_000,
            handshake_ms: 30_000,
            idle_ms: 60_000,
            total_ms: 600_000,
            grace_ms: 5_000,
            result_bytes: 1 << 20,
            calls: 32,
        }
    }
}

/// One day; longer times are usually unit mistakes.
pub(super) const MAX_LIMIT_MS: u64 = 86_400_000;
pub(super) const MAX_RESULT_BYTES: usize = 8 << 20;
pub(super) const MAX_CONCURRENT_CALLS: usize = 256;

impl ServerLimits {
    pub(crate) fn install(&self) -> Duration {
        Duration::from_millis(self.install_ms)
    }

    pub(crate) fn connect(&self) -> Duration {
        Duration::from_millis(self.connect_ms)
    }

    pub(crate) fn handshake(&self) -> Duration {
        Duration::from_millis(self.handshake_ms)
    }

    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }

    /// Returns the idle and total time limits for calls of a tool.
    pub(crate) fn of_call(&self, tool: Option<&ToolSettings>) -> (Duration, Duration) {
        let idle = tool.and_then(|tool| tool.idle_ms).unwrap_or(self.idle_ms);
        let total = tool.and_then(|tool| tool.total_ms).unwrap_or(self.total_ms);
        (Duration::from_millis(idle.min(total)), Duration::from_millis(total))
    }
}

/// The settings of a person for one tool.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    pub enabled: bool,
    pub policy: ToolCallPolicy,
    pub idle_ms: Option<u64>,
    pub total_ms: Option<u64>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self { enabled: true, policy: ToolCallPolicy::Ask, idle_ms: None, total_ms: None }
    }
}
