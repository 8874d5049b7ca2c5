//! `draftboard audit`: the audit of the review queue, exported and checked.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use clap::Subcommand;
use journal::check_audit;
use shared_protocol::{
    Refusal, RefusalCode,
    requests::ReadAudit,
    review::{AuditLine, MAX_AUDIT_ENTRIES},
};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
};

const MAX_LINE_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, Subcommand)]
pub(super) enum AuditVerb {
    /// Prints all lines as JSON, oldest first
    Export,
    /// Verifies the hash chain; exit code 1 if it is broken
    Verify {
        /// An exported audit log [default: the log of the workspace]
        file: Option<PathBuf>,
    },
}

pub(super) fn run(asked: &AuditVerb, at: &WorkspaceArguments) -> ExitCode {
    let done = match asked {
        AuditVerb::Export => for_each_line(at, |lines| {
            for line in lines {
                match serde_json::to_string(line) {
                    Ok(text) => format::print(&format::visible_json(&text)),
                    Err(error) => return Err(Refusal::new(RefusalCode::Internal, error.to_string())),
                }
            }
            Ok(())
        })
        .map(|_| None),
        AuditVerb::Verify { file: None } => {
            let mut end = None;
            for_each_line(at, |lines| {
                end = check_audit(end.take(), lines).map_err(|broken| damaged_chain_refusal(&broken))?;
                Ok(())
            })
            .map(|()| Some(end))
        }
        AuditVerb::Verify { file: Some(path) } => verify_file(path).map(Some),
    };
    match done {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(end)) => {
            let (number, hash) = end.unwrap_or_default();
            if at.json {
                format::print_json(
                    &serde_json::json!({ "ok": true, "data": { "lines": number, "hash": hash } }),
                );
            } else {
                format::print(&format!("Verified: {number} lines, hash chain intact"));
            }
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}

fn for_each_line(
    at: &WorkspaceArguments,
    mut take: impl FnMut(&[AuditLine]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
    let mut after = 0;
    loop {
        let lines = reached.request(ReadAudit { after, limit: MAX_AUDIT_ENTRIES })?;
        take(&lines)?;
        match lines.last() {
            Some(last) => after = last.number,
            None => return Ok(()),
        }
    }
}

fn verify_file(path: &Path) -> Result<Option<(u64, String)>, Refusal> {
    let unreadable = |error: String| {
        Refusal::new(RefusalCode::BadRequest, format!("{} cannot be read: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut reader = BufReader::new(file);
    let mut end = None;
    loop {
        let mut text = String::new();
        let read = std::io::Read::take(&mut reader, MAX_LINE_BYTES).read_line(&mut text);
        if read.map_err(|error| unreadable(error.to_string()))? == 0 {
            return Ok(end);
        }
        if text.trim().is_empty() {
            continue;
        }
        let line: AuditLine = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        end = check_audit(end.take(), &[line]).map_err(|broken| damaged_chain_refusal(&broken))?;
    }
}

fn damaged_chain_refusal(broken: &journal::AuditChainError) -> Refusal {
    Refusal::new(RefusalCode::Conflict, broken.to_string())
        .hint("The log was edited or the disk failed. Compare it with a backup.")
}
