//! `draftboard serve`: a workspace, or bundles by themselves, without a window.

use super::{
    RoleEntryPoints, StandaloneArguments, WorkspaceArguments, format, serve_bundles, window, workspace_at,
};
use crate::{
    logging::start_logging,
    writer::{LaunchTarget, Session},
};
use shared_protocol::{Refusal, RefusalCode};
use std::{path::Path, process::ExitCode};

/// Runs without a window.
pub(super) fn run(
    folder: Option<&Path>,
    overrides: agents::SettingsOverrides,
    bundles: StandaloneArguments,
    at: &WorkspaceArguments,
    roles: &RoleEntryPoints,
) -> ExitCode {
    let json = at.json;
    if bundles.is_meant() {
        return serve_bundles::over_http(bundles.standalone(overrides.mode), overrides.port, json);
    }
    start_logging();
    let opened = workspace_at::find(folder.or(at.workspace.as_deref()))
        .and_then(|root| Session::open(&root).map_err(Refusal::from));
    let session = match opened {
        Ok(session) => session,
        Err(refusal) => return format::refuse(&refusal, json),
    };
    let root = session.workspace().root().display().to_string();
    let revision = session.workspace().snapshot().revision();
    let ready = |agents: Option<&str>| {
        if json {
            let pid = std::process::id();
            let line = serde_json::json!({ "ready": true, "pid": pid, "workspace": root, "revision": revision, "mcp": agents });
            format::print(&line.to_string());
        } else {
            format::print(&format!(
                "Serving {root} at revision {revision}, without a window. Stop with Ctrl+C."
            ));
        }
    };
    let launch = LaunchTarget { approval: bundles.standing_approval, ..LaunchTarget::from_session(session) };
    match window::run(launch, roles, false, overrides, ready) {
        Ok(code) => code,
        Err(error) => format::refuse(&Refusal::new(RefusalCode::Internal, error.to_string()), json),
    }
}
