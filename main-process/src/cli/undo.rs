//! `draftboard undo`: takes back the last operation.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::requests::UndoLast;
use std::process::ExitCode;

pub(super) fn run(at: &WorkspaceArguments) -> ExitCode {
    let undone = ReachedWorkspace::resolve(at.workspace.as_deref())
        .and_then(|mut reached| reached.request(UndoLast {}));
    format::exit(undone.map(|applied| format::print_response(&applied, at.json)), at.json)
}
