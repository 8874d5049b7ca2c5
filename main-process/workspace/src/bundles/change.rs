//! Changing entities: planned on the bundles as they are, carried out as an edit of their files in one operation.

use super::view;
use crate::{Moment, SourceEdits, Workspace};
use bundles::{Plan, plan};
use serde_json::{Value, json};
use shared_protocol::{
    Actor, Code, Refusal, SourcePath,
    bundle::BundleAnswer,
    messages::{Answer, Applied, Patch},
};
use std::sync::Arc;

impl Workspace {
    /// What a person asks for in the words of `apply_changes`.
    pub(super) fn change_entities(
        &mut self,
        bundle: &str,
        changes: &str,
        dry_run: bool,
        actor: &Actor,
        moment: Moment,
    ) -> Result<(Answer, Vec<Patch>), Refusal> {
        let changes: Value = serde_json::from_str(changes)
            .map_err(|error| Refusal::new(Code::BadRequest, format!("changes: {error}")).field("changes"))?;
        let arguments = json!({ "bundleId": bundle, "changes": changes, "dryRun": dry_run });
        let plan = plan(&self.bundles.loaded, &arguments).map_err(|refusal| refused(&refusal))?;
        if dry_run {
            let answer = BundleAnswer::Checked {
                possible: plan.is_possible(),
                diagnostics: plan.diagnostics().iter().map(|found| view::diagnostic(bundle, found)).collect(),
                files: plan.edits().iter().map(|edit| edit.path().to_owned()).collect(),
            };
            return Ok((Answer::Bundle(answer), Vec::new()));
        }
        let (applied, patches) = self.apply(&plan, actor, moment)?;
        Ok((Answer::Applied(applied), patches))
    }

    /// Carries out what was planned, as one operation that is on the disk when this returns. Refused when a file is no longer
    /// what it was planned on.
    pub fn apply(
        &mut self,
        plan: &Plan,
        actor: &Actor,
        moment: Moment,
    ) -> Result<(Applied, Vec<Patch>), Refusal> {
        if !plan.is_possible() {
            let refusal = plan.answer().err();
            let mut refusal = refusal.map_or_else(
                || Refusal::new(Code::ValidationError, "some of the changes cannot be made"),
                |refusal| refused(&refusal),
            );
            refusal.hints.extend(plan.diagnostics().into_iter().map(|finding| finding.to_line()).take(5));
            return Err(refusal);
        }
        let folder = self.bundles.folder_of(plan.bundle_id()).cloned().ok_or_else(|| {
            Refusal::new(Code::NotFound, format!("there is no bundle {}", plan.bundle_id()))
        })?;
        let mut edits = SourceEdits::new();
        for edit in plan.edits() {
            let path = SourcePath::parse(format!("{folder}/{}", edit.path()))
                .map_err(|error| Refusal::new(Code::BadRequest, error.to_string()))?;
            if self.snapshot.source(&path) != edit.before.as_ref() {
                let message = format!("{path} changed since it was read");
                return Err(Refusal::new(Code::Stale, message).hint("Read it again, then repeat the change."));
            }
            edits.insert(path, edit.after.as_deref().map(Arc::from));
        }
        self.edit_sources(plan.summary(), edits, actor, moment)
    }
}

/// What the bundles' own code refuses, in the words of the workspace.
fn refused(refusal: &bundles::Refusal) -> Refusal {
    let code = match refusal.code {
        bundles::Code::BadRequest => Code::BadRequest,
        bundles::Code::NotFound => Code::NotFound,
        bundles::Code::ValidationError => Code::ValidationError,
        bundles::Code::ReferenceError | bundles::Code::DeleteBlocked => Code::ReferenceError,
        bundles::Code::Stale => Code::Stale,
        bundles::Code::LimitExceeded => Code::LimitExceeded,
        bundles::Code::ActuationDisabled | bundles::Code::UnsupportedCapability | bundles::Code::Internal => {
            Code::Internal
        }
    };
    let refused = Refusal::new(code, refusal.message.clone());
    match &refusal.field {
        Some(field) => refused.field(field.clone()),
        None => refused,
    }
}
