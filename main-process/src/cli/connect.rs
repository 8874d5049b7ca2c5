//! `draftboard connect`: an entry in a client's configuration.

use super::{RoleEntryPoints, format, workspace_at};
use connect::{
    BridgeCommand, ClientFolders, ConfigScope, ConnectError, ConnectOutcome, ConnectableClient, connect,
    example,
};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, clap::Args)]
pub(super) struct ConnectClientArguments {
    /// The MCP client to configure
    pub(super) client: ConnectableClient,
    /// The configuration to change [default: project in a workspace if the client supports it, else user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<ConfigScope>,
    /// Lets the client start Draftboard without a window when none is running
    #[arg(long)]
    pub(super) launch: bool,
    /// Prints the file and the entry without writing them
    #[arg(long)]
    pub(super) print: bool,
    #[command(flatten)]
    pub(super) at: super::WorkspaceArguments,
}

pub(super) fn run(asked: &ConnectClientArguments, roles: &RoleEntryPoints) -> ExitCode {
    match attempt(asked, roles) {
        Ok((text, data)) if asked.at.json => {
            drop(text);
            format::print_json(&serde_json::json!({ "ok": true, "data": data }));
            ExitCode::SUCCESS
        }
        Ok((text, _)) => {
            format::print(&text);
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, asked.at.json),
    }
}

fn attempt(
    asked: &ConnectClientArguments,
    roles: &RoleEntryPoints,
) -> Result<(String, serde_json::Value), Refusal> {
    let workspace = match &asked.at.workspace {
        Some(named) => Some(existing(named)?),
        None => workspace_at::find(None).ok().map(|found| found.canonicalize().unwrap_or(found)),
    };
    let places = ClientFolders::of_user(workspace).ok_or_else(|| {
        Refusal::new(RefusalCode::NotFound, "your home folder is unknown").hint("Set HOME to its path.")
    })?;
    let client = asked.client;
    let scope = asked.scope.unwrap_or_else(|| client.usual_scope(&places));
    let target = client.target(scope, &places).ok_or_else(|| no_such_file(client, &places))?;
    let command = command(&roles.exe, scope);
    let bridge = BridgeCommand { command, workspace: target.workspace.clone(), launch: asked.launch };
    let (file, entry) = (target.file.display().to_string(), example(&target, &bridge));
    if asked.print {
        let text = format!("{file}\n{entry}");
        return Ok((text, serde_json::json!({ "file": file, "entry": entry, "written": false })));
    }
    match connect(&target, &bridge).map_err(|error| refuse(error, &entry))? {
        ConnectOutcome::Already => {
            let text = format!("{} is already configured: {file}", client.title());
            Ok((text, serde_json::json!({ "file": file, "written": false })))
        }
        ConnectOutcome::Written { backup } => {
            let kept = backup.as_ref().map_or_else(String::new, |backup| {
                format!("\nThe previous version is saved as {}", backup.display())
            });
            let text = format!("{file}{kept}\n{}", client.next_step());
            Ok((text, serde_json::json!({ "file": file, "written": true, "backup": backup })))
        }
    }
}

fn existing(named: &Path) -> Result<PathBuf, Refusal> {
    named.canonicalize().map_err(|error| {
        Refusal::new(RefusalCode::NotFound, format!("{}: {error}", named.display())).field("workspace")
    })
}

/// A file that others share names the program; one of this user's says where it is, as it may not be on the client's path.
fn command(exe: &Path, scope: ConfigScope) -> String {
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        let same = |folder: PathBuf| folder.join("draftboard").canonicalize().is_ok_and(|found| found == exe);
        std::env::split_paths(&path).any(same)
    });
    if scope == ConfigScope::Project && on_path { "draftboard".to_owned() } else { exe.display().to_string() }
}

fn no_such_file(client: ConnectableClient, places: &ClientFolders) -> Refusal {
    if places.workspace.is_none() {
        return Refusal::new(RefusalCode::NoWorkspace, "there is no workspace here")
            .hint("Set one with --workspace, or use --scope user.");
    }
    Refusal::new(RefusalCode::BadRequest, format!("{} has no project configuration", client.title()))
        .field("scope")
        .hint("Use --scope user.")
}

fn refuse(error: ConnectError, entry: &str) -> Refusal {
    let code = match error {
        ConnectError::Merge { .. } => RefusalCode::Conflict,
        ConnectError::Read { .. } | ConnectError::Write { .. } => RefusalCode::StorageError,
    };
    Refusal::new(code, error.to_string()).hint(format!("Add this entry manually:\n{entry}"))
}
