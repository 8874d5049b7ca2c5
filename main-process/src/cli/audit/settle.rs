//! `draftboard audit settle`: ends findings that were noted when the workspace was opened, such as a restored backup.

use super::super::{WorkspaceArguments, format, workspace_at::find};
use crate::device_keys;
use serde_json::json;
use shared_protocol::{Refusal, RefusalCode};
use std::process::ExitCode;
use workspace::settle_findings;

pub(super) const HELP: &str = "A restored backup or a replaced journal stays a finding of `draftboard audit verify`, also after the\n\
    workspace was opened, until you settle it here.\n\nExample: draftboard audit settle -w ~/projects/parcels";

pub(super) fn run(at: &WorkspaceArguments) -> ExitCode {
    match settle(at) {
        Ok(count) if at.json => {
            format::print_json(&json!({ "ok": true, "data": { "settled": count } }));
            ExitCode::SUCCESS
        }
        Ok(count) => {
            format::print(&format!("Settled: {count}"));
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}

fn settle(at: &WorkspaceArguments) -> Result<usize, Refusal> {
    let failed = |error: String| Refusal::new(RefusalCode::StorageError, error);
    let root = find(at.workspace.as_deref())?.canonicalize().map_err(|error| failed(error.to_string()))?;
    let stored = device_keys::present_keys().and_then(|keys| keys.load());
    let key = stored.map_err(|error| failed(error.to_string()))?.key;
    settle_findings(&device_keys::proof_files(), &root, &key).map_err(failed)
}
