//! `draftboard audit verify`: names each line, decision, approval and operation that does not hold. A workspace that is
//! open is verified by the Draftboard that has it open; otherwise a copy of its journal is, so that nothing is changed.

use super::super::{
    WRONG_USAGE, WorkspaceArguments, format,
    workspace_at::{connect_to_running, find},
};
use crate::device_keys;
use journal::JournalCopy;
use processes::{LockError, WorkspaceLock};
use serde_json::json;
use shared_protocol::{
    Refusal, RefusalCode,
    requests::VerifyAudit,
    review::{AuditLine, AuditReport},
    text::count_noun,
};
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::ExitCode,
};
use workspace::{OpenWorkspaceError, verify_audit, verify_exported, verify_missing};

pub(super) const HELP: &str = "Exit code: 0 if everything holds, 1 with findings, 2 if it could not be verified.\n\n\
    Findings name changed, removed and forged lines, a cut end, decisions without a signature, approvals without a grant,\n\
    unknown keys, and changed or removed operations. An exported file is checked for its chain and its signatures only.\n\n\
    Examples:\n  draftboard audit verify\n  draftboard audit verify -w ~/projects/parcels --json\n  \
    draftboard audit verify audit.jsonl";

const MAX_LINE_BYTES: u64 = 1 << 20;

pub(super) fn run(file: Option<&Path>, at: &WorkspaceArguments) -> ExitCode {
    let verified = match file {
        Some(path) => verify_file(path),
        None => verify_workspace(at.workspace.as_deref()),
    };
    let report = match verified {
        Ok(report) => report,
        Err(refusal) => {
            format::refuse(&refusal, at.json);
            return ExitCode::from(WRONG_USAGE);
        }
    };
    let holds = report.findings.is_empty();
    if at.json {
        format::print_json(&json!({ "ok": holds, "data": report }));
    } else {
        format::print_visible(&words(&report, file.is_some()));
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn words(report: &AuditReport, is_file: bool) -> String {
    let AuditReport { lines, signed, before_signing, operations, anchored, findings, .. } = report;
    let lines = count_noun(usize::try_from(*lines).unwrap_or(usize::MAX), "audit line");
    let mut text = format!("{lines}, {signed} signed");
    if *before_signing > 0 {
        text += &format!(", {before_signing} from before signing began");
    }
    if !is_file {
        let anchor = if *anchored { "anchored on this device" } else { "not anchored on this device" };
        text += &format!("; {operations} operations; {anchor}");
    }
    match findings.len() {
        0 => format!("Verified: {text}"),
        count => {
            let list: String =
                findings.iter().map(|found| format!("\n- {}\n  {}", found.message, found.hint)).collect();
            format!("{} in {text}{list}", count_noun(count, "finding"))
        }
    }
}

fn verify_workspace(named: Option<&Path>) -> Result<AuditReport, Refusal> {
    let root = find(named)?;
    if !root.join("draftboard.toml").exists() {
        return Err(OpenWorkspaceError::no_workspace(&root).into());
    }
    if let Some(mut client) = connect_to_running(&root)? {
        return Ok(client.request(VerifyAudit {})?);
    }
    let unreadable = |error: String| Refusal::new(RefusalCode::StorageError, error);
    let root = root.canonicalize().map_err(|error| unreadable(error.to_string()))?;
    // Nobody can write to a folder that takes no lock.
    let _lock = match WorkspaceLock::acquire(&root) {
        Err(error @ LockError::Held { .. }) => {
            return Err(Refusal::new(RefusalCode::Conflict, error.to_string())
                .hint("Another command may be running: try again."));
        }
        lock => lock.ok(),
    };
    let files = device_keys::proof_files();
    match JournalCopy::of(&root.join(".draftboard")).map_err(|error| unreadable(error.to_string()))? {
        Some(copy) => verify_audit(&mut copy.journal(), &files, &root),
        None => verify_missing(&files, &root),
    }
}

fn verify_file(path: &Path) -> Result<AuditReport, Refusal> {
    let unreadable = |error: String| {
        Refusal::new(RefusalCode::BadRequest, format!("{} cannot be read: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut reader = BufReader::new(file);
    let mut next = || -> Option<Result<AuditLine, Refusal>> {
        loop {
            let mut text = String::new();
            match std::io::Read::take(&mut reader, MAX_LINE_BYTES).read_line(&mut text) {
                Err(error) => return Some(Err(unreadable(error.to_string()))),
                Ok(0) => return None,
                Ok(_) if text.trim().is_empty() => {}
                Ok(_) => {
                    let line = serde_json::from_str(&text);
                    return Some(line.map_err(|error| unreadable(error.to_string())));
                }
            }
        }
    };
    verify_exported(std::iter::from_fn(&mut next), &device_keys::proof_files())
}
