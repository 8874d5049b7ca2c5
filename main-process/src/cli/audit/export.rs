//! `draftboard audit export`: every line, as JSON.

use super::super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::{Refusal, RefusalCode, requests::ReadAudit, review::MAX_AUDIT_ENTRIES};
use std::process::ExitCode;

pub(super) const HELP: &str = "Example: draftboard audit export > audit.jsonl";

pub(super) fn run(at: &WorkspaceArguments) -> ExitCode {
    match print_lines(at) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}

fn print_lines(at: &WorkspaceArguments) -> Result<(), Refusal> {
    let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
    let mut after = 0;
    loop {
        let lines = reached.request(ReadAudit { after, limit: MAX_AUDIT_ENTRIES })?;
        for line in &lines {
            let text = serde_json::to_string(line)
                .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
            format::print(&format::visible_json(&text));
        }
        match lines.last() {
            Some(last) => after = last.number,
            None => return Ok(()),
        }
    }
}
