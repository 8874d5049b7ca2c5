//! `draftboard mcp`: the stdio bridge. Nothing but MCP goes to standard output.

use super::{RoleEntryPoints, StandaloneArguments, format, serve_bundles, workspace_at};
use crate::logging::start_logging;
use bridge::DraftboardConnector;
use processes::spawn_detached;
use shared_protocol::{Refusal, RefusalCode, mcp::McpMode};
use std::{
    fs::{self, OpenOptions},
    os::unix::{fs::OpenOptionsExt, net::UnixStream},
    path::{Path, PathBuf},
    process::ExitCode,
};
use terminal_client::TerminalClient;
use user_folders as paths;

pub(super) fn run(
    workspace: Option<PathBuf>,
    launch: bool,
    bundles: StandaloneArguments,
    mode: Option<McpMode>,
    roles: &RoleEntryPoints,
) -> ExitCode {
    if bundles.is_meant() {
        return serve_bundles::over_stdio(bundles.standalone(mode));
    }
    if let Err(refusal) = bundles.refuse_approval() {
        return format::refuse(&refusal, false);
    }
    start_logging();
    let running = BridgeTarget { workspace, exe: roles.exe.clone(), launch };
    let surface = agents::offline_surface();
    match bridge::run(running, surface, std::io::stdin(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "the client closed the connection");
            ExitCode::FAILURE
        }
    }
}

/// The target instance, looked up on each connection: it may be another process by then.
struct BridgeTarget {
    workspace: Option<PathBuf>,
    exe: PathBuf,
    launch: bool,
}

impl BridgeTarget {
    /// The named workspace, the one around the current folder, or the last one that was open.
    fn to_launch(&self) -> Result<PathBuf, Refusal> {
        match &self.workspace {
            Some(named) => Ok(named.clone()),
            None => workspace_at::find(None).or_else(|refusal| {
                let is_workspace = |path: &PathBuf| path.join("draftboard.toml").is_file();
                paths::recent().into_iter().find(is_workspace).ok_or(refusal)
            }),
        }
    }
}

impl DraftboardConnector for BridgeTarget {
    fn connect(&self) -> Result<UnixStream, String> {
        let record =
            workspace_at::instance(self.workspace.as_deref()).map_err(|refusal| match refusal.code {
                // A client that clears the environment hides the folder in which a running Draftboard is found.
                RefusalCode::NotFound => format!(
                    "{}. If it is running, pass XDG_RUNTIME_DIR in the client's `env`",
                    refusal.message
                ),
                _ => refusal.to_string(),
            })?;
        let connected = TerminalClient::connect(&record).and_then(TerminalClient::into_mcp);
        connected.map_err(|error| Refusal::from(error).to_string())
    }

    fn launch(&self) -> Result<(), String> {
        let workspace = self.to_launch().map_err(|refusal| refusal.to_string())?;
        tracing::info!(workspace = %workspace.display(), "starting Draftboard");
        let log = log_file().map_err(|error| error.to_string())?;
        spawn_detached(&self.exe, &["serve".as_ref(), workspace.as_os_str()], log)
            .map_err(|error| error.to_string())
    }

    fn may_launch(&self) -> bool {
        self.launch
    }

    fn start_hint(&self) -> String {
        let workspace = self.workspace.as_deref().map_or("WORKSPACE".into(), Path::to_string_lossy);
        format!(
            "Open the workspace in Draftboard (`draftboard {workspace}`, or without a window `draftboard serve {workspace}`), \
             then call again."
        )
    }
}

/// The log of a started Draftboard; replaces the one before.
fn log_file() -> std::io::Result<fs::File> {
    let path = paths::serve_log();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}
