//! Checks manifests without running anything, for `validate` and `manifest check`.

use super::{DraftboardMethods, ManifestFolder, ManifestReport, read_manifests};
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode, managed_servers::ManifestOrigin};
use std::path::Path;

/// The methods that a manifest of the type `internal` can call.
pub const INTERNAL_METHODS: [&str; 4] =
    ["server.status", "workspace.status", "workspace.boards", "workspace.problems"];

/// Accepts the names of Draftboard's own methods and refuses every call.
struct MethodNames;

impl DraftboardMethods for MethodNames {
    fn has_method(&self, method: &str) -> bool {
        INTERNAL_METHODS.contains(&method)
    }

    fn call(&self, _: &str, _: &Value) -> Result<Value, Refusal> {
        let message = "Checking a manifest calls no method".to_owned();
        Err(Refusal::new(RefusalCode::Conflict, message))
    }
}

/// Reads manifests as a running Draftboard would. A folder may also be one file.
pub fn check_manifests(folders: &[ManifestFolder]) -> Vec<ManifestReport> {
    read_manifests(folders, &MethodNames)
}

/// The mistakes in a workspace's manifests: each file's path in the workspace, and the mistake.
pub fn manifest_problems(root: &Path) -> Vec<(String, String)> {
    let folder = ManifestFolder { origin: ManifestOrigin::Workspace, path: root.join("manifests") };
    let mut problems = Vec::new();
    for report in check_manifests(&[folder]) {
        let file = report.path.strip_prefix(root).unwrap_or(&report.path).display().to_string();
        let mistakes = report.hidden.iter().filter(|(name, _)| report.mistakes.contains(name));
        let mistakes = mistakes.map(|(name, why)| format!("{name}: {why}"));
        problems.extend(report.problem.into_iter().chain(mistakes).map(|why| (file.clone(), why)));
    }
    problems
}
