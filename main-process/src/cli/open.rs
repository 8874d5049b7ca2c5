//! `draftboard open`: the window on a workspace.

use super::{RoleEntryPoints, format, window, workspace_at};
use crate::{
    logging::start_logging,
    writer::{WorkspaceSessionError, launch, launch_at},
};
use processes::LockError;
use shared_protocol::{Refusal, RefusalCode, requests::RaiseWindow};
use std::{path::Path, process::ExitCode};

/// Opens the window.
pub(super) fn run(workspace: Option<&Path>, roles: &RoleEntryPoints) -> ExitCode {
    start_logging();
    if let Err(missing) = display() {
        return format::refuse(&missing, false);
    }
    let opened = match workspace {
        Some(root) => launch_at(root),
        None => launch(),
    };
    let launch = match opened {
        Ok(launch) => launch,
        Err((root, WorkspaceSessionError::Lock(error @ LockError::Held { .. }))) => {
            return raise(&root, &error);
        }
        Err((_, error)) => return format::refuse(&error.into(), false),
    };
    match window::run(launch, roles, true, agents::SettingsOverrides::default(), |_| ()) {
        Ok(code) => code,
        Err(error) => format::refuse(&Refusal::new(RefusalCode::Internal, error.to_string()), false),
    }
}

/// Refuses without a display: no window can open.
fn display() -> Result<(), Refusal> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    Err(Refusal::new(RefusalCode::BadRequest, "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set")
        .hint("Run `draftboard serve WORKSPACE` to work without a window; `draftboard doctor` shows what is missing."))
}

fn raise(root: &Path, held: &LockError) -> ExitCode {
    let raised = workspace_at::connect_to_running(root).and_then(|client| match client {
        Some(mut client) => client.request(RaiseWindow {}).map_err(Refusal::from),
        None => Err(Refusal::new(RefusalCode::Conflict, held.to_string())),
    });
    match raised {
        Ok(()) => {
            format::print(&format!(
                "{} is already open; its window was brought to the front",
                root.display()
            ));
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, false),
    }
}
