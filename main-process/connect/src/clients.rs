//! The clients, and the configuration file of each.

use super::BridgeCommand;
use jsonc_parser::cst::CstInputValue;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ConnectableClient {
    ClaudeDesktop,
    ClaudeCode,
    Vscode,
    Cursor,
}

/// The reach of a configuration: everything the user opens, or one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ConfigScope {
    /// The client's own configuration
    User,
    /// A file in the workspace, which can be shared with others
    Project,
}

/// The folders in which configurations are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFolders {
    pub home: PathBuf,
    /// The folder of programs' configurations on this system.
    pub config: PathBuf,
    pub workspace: Option<PathBuf>,
}

/// A file to write, and the form of the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfigFile {
    pub file: PathBuf,
    /// The object that holds the servers.
    pub key: &'static str,
    /// The name of the workspace in the entry.
    pub workspace: Option<String>,
    /// Whether the entry names its transport.
    pub typed: bool,
    /// The owner of the file: a link in a workspace, which may come from another person, is not followed.
    pub scope: ConfigScope,
}

impl ClientFolders {
    /// The folders of the present user, from the environment.
    pub fn of_user(workspace: Option<PathBuf>) -> Option<Self> {
        let variable =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = variable("HOME").or_else(|| variable("USERPROFILE"))?;
        let config = if cfg!(target_os = "macos") {
            home.join("Library/Application Support")
        } else if cfg!(windows) {
            variable("APPDATA")?
        } else {
            variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
        };
        Some(Self { home, config, workspace })
    }
}

impl ConnectableClient {
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Vscode => "VS Code",
            Self::Cursor => "Cursor",
        }
    }

    /// The step that makes the entry take effect.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => {
                "Restart Claude Desktop; Draftboard is then listed under Settings, Developer."
            }
            Self::ClaudeCode => {
                "Start `claude` in the folder, approve the server when prompted, and check `/mcp`."
            }
            Self::Vscode => "Run `MCP: List Servers` in VS Code, choose draftboard, and start it.",
            Self::Cursor => "Open Cursor's settings, Tools & MCP, and turn draftboard on.",
        }
    }

    /// The default scope: the workspace where there is one and the client reads its file.
    pub fn usual_scope(self, places: &ClientFolders) -> ConfigScope {
        if self == Self::ClaudeDesktop || places.workspace.is_none() {
            ConfigScope::User
        } else {
            ConfigScope::Project
        }
    }

    /// Returns `None` when the client has no such file: a project's file needs a workspace, and Claude Desktop has none at all.
    pub fn target(self, scope: ConfigScope, places: &ClientFolders) -> Option<ClientConfigFile> {
        let key = if self == Self::Vscode { "servers" } else { "mcpServers" };
        let typed = self == Self::Vscode;
        let workspace = places.workspace.as_deref();
        if scope == ConfigScope::User {
            let file = match self {
                Self::ClaudeDesktop => places.config.join("Claude/claude_desktop_config.json"),
                Self::ClaudeCode => places.home.join(".claude.json"),
                Self::Vscode => places.config.join("Code/User/mcp.json"),
                Self::Cursor => places.home.join(".cursor/mcp.json"),
            };
            return Some(ClientConfigFile { file, key, workspace: workspace.map(text), typed, scope });
        }
        // A shared file names no folder of this machine.
        let root = workspace?;
        let (file, workspace) = match self {
            Self::ClaudeDesktop => return None,
            // It runs servers in the folder where it was started, and the bridge searches upwards from there.
            Self::ClaudeCode => (".mcp.json", None),
            Self::Vscode => (".vscode/mcp.json", Some("${workspaceFolder}".to_owned())),
            Self::Cursor => (".cursor/mcp.json", Some("${workspaceFolder}".to_owned())),
        };
        Some(ClientConfigFile { file: root.join(file), key, workspace, typed, scope })
    }
}

impl ClientConfigFile {
    /// The members of the entry, in the order in which they are written.
    pub(super) fn members(&self, bridge: &BridgeCommand) -> Vec<(&'static str, CstInputValue)> {
        let arguments = bridge.arguments().into_iter().map(CstInputValue::String).collect();
        let mut members = vec![
            ("command", CstInputValue::String(bridge.command.clone())),
            ("args", CstInputValue::Array(arguments)),
        ];
        if self.typed {
            members.insert(0, ("type", CstInputValue::String("stdio".to_owned())));
        }
        members
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::{ClientFolders, ConfigScope, ConnectableClient};

    fn places(workspace: Option<&str>) -> ClientFolders {
        ClientFolders { home: "/h".into(), config: "/h/.config".into(), workspace: workspace.map(Into::into) }
    }

    #[test]
    fn every_client_has_its_file() {
        use ConnectableClient::{ClaudeCode, ClaudeDesktop, Cursor, Vscode};
        let desktop = "/h/.config/Claude/claude_desktop_config.json";
        for (client, workspace, scope, file, named) in [
            (ClaudeDesktop, Some("/w"), ConfigScope::User, desktop, Some("/w")),
            (ClaudeDesktop, None, ConfigScope::User, desktop, None),
            (ClaudeCode, Some("/w"), ConfigScope::Project, "/w/.mcp.json", None),
            (ClaudeCode, None, ConfigScope::User, "/h/.claude.json", None),
            (Vscode, Some("/w"), ConfigScope::Project, "/w/.vscode/mcp.json", Some("${workspaceFolder}")),
            (Vscode, None, ConfigScope::User, "/h/.config/Code/User/mcp.json", None),
            (Cursor, Some("/w"), ConfigScope::Project, "/w/.cursor/mcp.json", Some("${workspaceFolder}")),
            (Cursor, None, ConfigScope::User, "/h/.cursor/mcp.json", None),
        ] {
            let places = places(workspace);
            assert_eq!(client.usual_scope(&places), scope, "{client:?}");
            let target = client.target(scope, &places).unwrap();
            assert_eq!(
                (target.file.to_str(), target.workspace.as_deref()),
                (Some(file), named),
                "{client:?}"
            );
        }
    }

    #[test]
    fn a_project_s_file_needs_a_workspace() {
        assert_eq!(ConnectableClient::ClaudeDesktop.target(ConfigScope::Project, &places(Some("/w"))), None);
        assert_eq!(ConnectableClient::Vscode.target(ConfigScope::Project, &places(None)), None);
    }
}
