//! Registers Draftboard with the clients of agents: an entry in their configuration that starts the bridge.
//!
//! Owns: the path of the file, the content of the entry, and that nothing else in the file changes. An entry holds no secret:
//! the bridge finds the running Draftboard and its credentials by itself.
//! Must not know: MCP, sockets.

mod clients;
mod file;
mod merge;

pub use clients::{ClientConfigFile, ClientFolders, ConfigScope, ConnectableClient};
pub use file::{ConnectError, ConnectOutcome, connect, example};
use journal::{WorkspaceFiles, WorkspacePath};
use serde_json::{Value, json};
use std::path::Path;

/// The name of the entry in every configuration.
const NAME: &str = "draftboard";

/// The command that a client runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeCommand {
    /// The path of the executable.
    pub command: String,
    pub workspace: Option<String>,
    /// Whether it may start Draftboard when none is running.
    pub launch: bool,
}

impl BridgeCommand {
    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["mcp".to_owned()];
        if let Some(workspace) = &self.workspace {
            arguments.extend(["--workspace".to_owned(), workspace.clone()]);
        }
        if self.launch {
            arguments.push("--launch".to_owned());
        }
        arguments
    }
}

/// The `mcp.json` of a workspace: the entry in the form that most clients read, to copy from.
const MCP_JSON: &str = ".draftboard/mcp.json";

/// Updates `mcp.json`. It is a convenience, so a failure is only logged.
pub fn keep_mcp_json(workspace: &Path) {
    let written = std::env::current_exe().map_err(|error| error.to_string()).and_then(|exe| {
        let text = mcp_json(&exe, workspace);
        let files = WorkspaceFiles::open(workspace).map_err(|error| error.to_string())?;
        let path = WorkspacePath::parse(MCP_JSON).map_err(|error| error.to_string())?;
        if files.read_text(&path).is_ok_and(|there| there == text) {
            return Ok(());
        }
        files.write_atomic(&path, text.as_bytes()).map_err(|error| error.to_string())
    });
    if let Err(reason) = written {
        tracing::debug!(reason, "{MCP_JSON} was not written");
    }
}

fn mcp_json(exe: &Path, workspace: &Path) -> String {
    let bridge = BridgeCommand {
        command: exe.display().to_string(),
        workspace: Some(workspace.display().to_string()),
        launch: false,
    };
    let entry: Value = json!({ "command": bridge.command, "args": bridge.arguments() });
    format!("{:#}\n", json!({ "mcpServers": { NAME: entry } }))
}
