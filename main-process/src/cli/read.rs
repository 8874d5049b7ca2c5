//! `draftboard read`: reads a resource as an agent does.

use super::{call::send, format};
use serde_json::json;
use std::process::ExitCode;

/// Reads a resource: its text, or the whole answer for machines.
pub(super) fn run(uri: &str, at: &super::WorkspaceArguments) -> ExitCode {
    match send(at.workspace.as_deref(), "resources/read", json!({ "uri": uri })) {
        Ok(result) if at.json => {
            format::print_json(&json!({ "ok": true, "data": result["contents"] }));
            ExitCode::SUCCESS
        }
        Ok(result) => {
            for content in result["contents"].as_array().into_iter().flatten() {
                format::print(content["text"].as_str().or(content["blob"].as_str()).unwrap_or_default());
            }
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}
