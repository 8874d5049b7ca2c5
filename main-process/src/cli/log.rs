//! `draftboard log`: the newest operations first.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::requests::ReadLog;
use std::process::ExitCode;

pub(super) fn run(limit: u32, at: &WorkspaceArguments) -> ExitCode {
    let entries = ReachedWorkspace::resolve(at.workspace.as_deref())
        .and_then(|mut reached| reached.request(ReadLog { limit }));
    format::exit(entries.map(|entries| format::print_response(&entries, at.json)), at.json)
}
