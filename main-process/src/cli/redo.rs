//! `draftboard redo`: does the last undone operation again.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::requests::RedoLast;
use std::process::ExitCode;

pub(super) fn run(at: &WorkspaceArguments) -> ExitCode {
    let redone = ReachedWorkspace::resolve(at.workspace.as_deref())
        .and_then(|mut reached| reached.request(RedoLast {}));
    format::exit(redone.map(|applied| format::print_response(&applied, at.json)), at.json)
}
