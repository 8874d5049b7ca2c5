//! `draftboard revert`: takes back one older operation and keeps later work.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::{Revision, requests::RevertOperation};
use std::process::ExitCode;

pub(super) fn run(operation: u64, partial: bool, at: &WorkspaceArguments) -> ExitCode {
    let request = RevertOperation { revision: Revision(operation), partial };
    let reverted =
        ReachedWorkspace::resolve(at.workspace.as_deref()).and_then(|mut reached| reached.request(request));
    format::exit(reverted.map(|applied| format::print_response(&applied, at.json)), at.json)
}
