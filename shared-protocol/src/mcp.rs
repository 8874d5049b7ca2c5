//! The agents' side for window and terminals: its view and its requests. Nothing here is MCP itself, and nothing here carries
//! the token.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The permissions of agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpMode {
    /// Nobody is let in.
    Off,
    /// Agents see what the designer sees, and change nothing.
    #[default]
    Observe,
    /// Agents may propose; a person decides.
    Guarded,
}

impl McpMode {
    pub const ALL: [Self; 3] = [Self::Off, Self::Observe, Self::Guarded];

    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Guarded => "guarded",
        }
    }
}

impl fmt::Display for McpMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for McpMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|mode| mode.word() == text);
        known.ok_or_else(|| format!("{text:?} is not a mode: expected off, observe or guarded"))
    }
}

/// The agents' side as a person sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpView {
    pub mode: McpMode,
    /// Where it listens; none when it does not.
    pub url: Option<String>,
    pub port: Option<u16>,
    /// The port that the settings ask for.
    pub configured_port: u16,
    pub bind: String,
    /// Why it does not listen although it should, and what to do.
    pub error: Option<String>,
    /// The settings file.
    pub config_path: String,
    pub clients: Vec<McpClient>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpClient {
    pub id: u64,
    /// As it calls itself; nobody has checked that.
    pub name: String,
    pub version: String,
    pub transport: McpTransport,
    pub era: McpEra,
    /// Milliseconds since 1970, UTC.
    pub since: u64,
    pub last: u64,
    /// The tool, resource or prompt of its last request.
    pub reading: String,
    pub calls: u64,
    pub reads: u64,
    pub subscriptions: u64,
    pub paused: bool,
    /// It has a connection of its own. Without one, all that call themselves the same are shown as one.
    pub connected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpTransport {
    Http,
    /// `draftboard mcp`, over the local socket.
    Bridge,
}

/// Which kind of protocol revision a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpEra {
    /// Up to 2025-11-25: one handshake, then a session.
    Legacy,
    /// From 2026-07-28: every request stands alone.
    Modern,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum McpRequest {
    /// Answered by the view.
    View,
    SetMode(McpMode),
    SetPort(u16),
    /// Listens anew, with what the settings say now.
    Restart,
    /// Everybody must read the new token.
    RotateToken,
    /// Its calls are refused until it may go on.
    Pause {
        client: u64,
    },
    Resume {
        client: u64,
    },
    Disconnect {
        client: u64,
    },
    /// Asks the server for its health, over the network as a client would. Answered by text.
    TestConnection,
    /// The entry for the configuration of a client program. Answered by text.
    ClientConfig {
        client: String,
    },
}
