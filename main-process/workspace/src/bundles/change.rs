//! Changes of entities and maps: planned on the bundles as they are, carried out by the workspace in one operation.

use super::{
    SpecBundles,
    map::{self, MapDrawing},
};
use crate::SourceFileEdits;
use authority::Snapshot;
use bundles::{BundleChangePlan, plan};
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode, SourcePath, bundle::EntityRef};
use std::sync::Arc;

impl SpecBundles {
    /// Plans changes in the form of `apply_changes`.
    pub(crate) fn plan_changes(
        &self,
        bundle: &str,
        changes: &str,
        dry_run: bool,
    ) -> Result<BundleChangePlan, Refusal> {
        let changes: Value = serde_json::from_str(changes).map_err(|error| {
            Refusal::new(RefusalCode::BadRequest, format!("changes: {error}")).field("changes")
        })?;
        let arguments = json!({ "bundleId": bundle, "changes": changes, "dryRun": dry_run });
        plan(&self.loaded, &arguments).map_err(to_refusal)
    }

    /// The edits of files that a plan makes. Refused when a file is no longer what it was planned on.
    pub(crate) fn edits_of(
        &self,
        plan: &BundleChangePlan,
        snapshot: &Snapshot,
    ) -> Result<SourceFileEdits, Refusal> {
        if !plan.is_possible() {
            let refusal = plan.answer().err();
            let mut refusal = refusal.map_or_else(
                || {
                    Refusal::new(
                        RefusalCode::ValidationError,
                        "some changes are invalid, so none were applied",
                    )
                },
                to_refusal,
            );
            refusal.hints.extend(plan.diagnostics().into_iter().map(|finding| finding.to_line()).take(5));
            return Err(refusal);
        }
        let folder = self.folder_of(plan.bundle_id()).ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("there is no bundle {}", plan.bundle_id()))
        })?;
        let mut edits = SourceFileEdits::new();
        for edit in plan.edits() {
            let path = SourcePath::parse(format!("{folder}/{}", edit.path()))
                .map_err(|error| Refusal::new(RefusalCode::BadRequest, error.to_string()))?;
            if snapshot.source(&path) != edit.before.as_ref() {
                let message = format!("{path} changed since it was read");
                return Err(
                    Refusal::new(RefusalCode::Stale, message).hint("Read it again, then repeat the change.")
                );
            }
            edits.insert(path, edit.after.as_deref().map(Arc::from));
        }
        Ok(edits)
    }

    /// Draws a map of a bundle, or of the entities around one of them.
    pub(crate) fn draw_map(
        &self,
        bundle: &str,
        around: Option<&EntityRef>,
        depth: u32,
        snapshot: &Snapshot,
        seed: u64,
    ) -> Result<MapDrawing, Refusal> {
        let around = around.map(|entity| self.entity(entity)).transpose()?.map(|(_, entity)| entity);
        map::draw(snapshot, self.get(bundle)?, around, depth, seed)
    }
}

/// A refusal of the crate `bundles` with the codes of the workspace.
fn to_refusal(refusal: Refusal) -> Refusal {
    let code = match refusal.code {
        RefusalCode::DeleteBlocked => RefusalCode::ReferenceError,
        RefusalCode::ActuationDisabled | RefusalCode::UnsupportedCapability => RefusalCode::Internal,
        code => code,
    };
    Refusal { code, details: None, ..refusal }
}
