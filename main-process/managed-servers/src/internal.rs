//! The methods of manifests of type `internal`. All results are computed from the published view, so nothing waits and
//! nothing changes.

use super::ManagedServerEvents;
use mcp_client::{DraftboardMethods, INTERNAL_METHODS};
use serde_json::{Value, json};
use shared_protocol::Refusal;
use std::sync::Arc;

/// The number of problems in one answer.
const MAX_PROBLEMS: usize = 200;

pub(super) struct DraftboardMethodTable(pub(super) Arc<dyn ManagedServerEvents>);

impl DraftboardMethods for DraftboardMethodTable {
    fn has_method(&self, method: &str) -> bool {
        INTERNAL_METHODS.contains(&method)
    }

    fn call(&self, method: &str, _: &Value) -> Result<Value, Refusal> {
        let view = self.0.agents_view();
        if method == "server.status" {
            let version = env!("CARGO_PKG_VERSION");
            let workspace = view.workspace.as_ref().map(|workspace| &workspace.name);
            return Ok(json!({ "status": "running", "version": version, "workspace": workspace }));
        }
        let workspace = view.workspace.as_ref();
        let workspace = workspace.ok_or_else(|| Refusal::conflict("No workspace is open."))?;
        let snapshot = &workspace.snapshot;
        match method {
            "workspace.status" => Ok(json!({
                "name": workspace.name,
                "revision": workspace.revision(),
                "saved": workspace.status.saved,
                "boards": snapshot.boards().count(),
                "nodes": snapshot.nodes().count(),
            })),
            "workspace.boards" => {
                let boards = snapshot.boards().map(|board| {
                    json!({ "id": board.id, "name": board.name, "title": board.title, "kind": board.kind })
                });
                Ok(json!({ "boards": boards.collect::<Vec<_>>() }))
            }
            "workspace.problems" => {
                let problems = workspace.problems();
                let shown: Vec<_> = problems.iter().take(MAX_PROBLEMS).collect();
                Ok(json!({ "total": problems.iter().count(), "problems": shown }))
            }
            _ => Err(Refusal::not_found(format!("Draftboard has no method {method:.64}."))),
        }
    }
}
