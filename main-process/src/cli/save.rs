//! `draftboard save`: writes the files.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::requests::SaveFiles;
use std::process::ExitCode;

pub(super) fn run(at: &WorkspaceArguments) -> ExitCode {
    let saved = ReachedWorkspace::resolve(at.workspace.as_deref())
        .and_then(|mut reached| reached.request(SaveFiles {}));
    format::exit(saved.map(|saved| format::print_response(&saved, at.json)), at.json)
}
