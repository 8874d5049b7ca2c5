//! The MCP server as seen by the window and terminals, and their requests to it. This module does not implement MCP,
//! and no type here carries the token.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The access that agents have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpMode {
    /// No agent can connect.
    Off,
    /// Agents can read everything that the designer sees, and change nothing.
    #[default]
    Observe,
    /// Agents can propose changes; a person decides.
    Guarded,
}

impl McpMode {
    pub const ALL: [Self; 3] = [Self::Off, Self::Observe, Self::Guarded];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Guarded => "guarded",
        }
    }
}

impl fmt::Display for McpMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for McpMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        known.ok_or_else(|| format!("{text:?} is not a mode: expected off, observe or guarded"))
    }
}

/// The state of the MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpView {
    pub mode: McpMode,
    /// The URL of the server; `None` when it does not listen.
    pub url: Option<String>,
    pub port: Option<u16>,
    /// The port from the settings.
    pub configured_port: u16,
    pub bind: String,
    /// Why the server cannot listen, and how to fix it.
    pub error: Option<String>,
    /// The path of the settings file.
    pub config_path: String,
    pub clients: Vec<McpClientView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpClientView {
    pub id: u64,
    /// The name that the client reports; not verified.
    pub name: String,
    pub version: String,
    pub transport: AgentTransport,
    pub era: McpProtocolEra,
    /// Milliseconds since 1970, UTC.
    pub since: u64,
    pub last: u64,
    /// The last tool, resource or prompt that the client requested.
    pub reading: String,
    pub calls: u64,
    pub reads: u64,
    pub subscriptions: u64,
    pub paused: bool,
    /// Whether the client has its own connection. Clients without one are grouped by name.
    pub connected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentTransport {
    Http,
    /// The bridge `draftboard mcp`, over the local socket.
    Bridge,
}

/// The generation of the protocol revision that a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpProtocolEra {
    /// Up to 2025-11-25: a handshake, then a session.
    Legacy,
    /// From 2026-07-28: every request is independent.
    Modern,
}
