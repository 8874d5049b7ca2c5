//! A plan: the effect of a batch of changes on files. Pure: it reads only the loaded bundle.

use super::{
    planner::ChangePlanner,
    request::{ApplyChangesRequest, EntityOperation},
    result::ChangeResult,
};
use crate::{
    BundleFinding, Bundles,
    envelope::{BundleToolResponse, ToolResult},
    files::BundlePath,
};
use serde_json::Value;
use shared_protocol::{OrderedValue, Refusal, RefusalCode};
use std::sync::Arc;

/// A file that a plan writes or removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFileEdit {
    pub(crate) path: BundlePath,
    /// The content that the plan is based on; `None` if the file must not exist.
    pub before: Option<Arc<str>>,
    /// The new content; `None` if the file is removed.
    pub after: Option<String>,
}

impl PlannedFileEdit {
    /// The path, relative to the bundle.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }
}

/// The effect of a batch of changes.
#[derive(Debug, Clone)]
pub struct BundleChangePlan {
    bundle_id: String,
    request: ApplyChangesRequest,
    results: Vec<ChangeResult>,
    edits: Vec<PlannedFileEdit>,
}

/// Plans the changes in the arguments of `apply_changes`.
pub fn plan(bundles: &Bundles, arguments: &Value) -> Result<BundleChangePlan, Refusal> {
    let request = ApplyChangesRequest::read(arguments)?;
    let bundle = bundles.resolve(request.bundle_id.as_deref())?;
    let mut planner = ChangePlanner::new(bundle, &request);
    let mut results: Vec<ChangeResult> = Vec::new();
    for change in &request.changes {
        let mut result = ChangeResult::new(change);
        result.failure = planner.plan_change(change, &mut result).err();
        results.push(result);
    }
    planner.check_references(&mut results);
    for result in &mut results {
        planner.attach_final_entity(result);
    }
    let edits = planner.edits()?;
    Ok(BundleChangePlan { bundle_id: bundle.id().to_owned(), request, results, edits })
}

impl BundleChangePlan {
    pub fn bundle_id(&self) -> &str {
        &self.bundle_id
    }

    pub fn is_dry_run(&self) -> bool {
        self.request.dry_run
    }

    /// Returns whether all changes can be applied.
    pub fn is_possible(&self) -> bool {
        self.results.iter().all(|result| result.failure.is_none())
    }

    /// The files that the plan changes.
    pub fn edits(&self) -> &[PlannedFileEdit] {
        &self.edits
    }

    /// Returns whether the plan deletes any entity.
    pub fn deletes(&self) -> bool {
        self.results.iter().any(|result| matches!(result.change.operation, EntityOperation::Delete))
    }

    /// Returns a one-line summary.
    pub fn summary(&self) -> String {
        match &self.results[..] {
            [only] => {
                let operation = match only.change.operation {
                    EntityOperation::Create { .. } => "Create",
                    EntityOperation::Update { .. } => "Change",
                    EntityOperation::Delete => "Delete",
                };
                format!("{operation} {} {}", only.change.entity_type, only.change.entity_id)
            }
            many => format!("{} changes of {}", many.len(), self.bundle_id),
        }
    }

    /// Returns the findings about the changes.
    pub fn diagnostics(&self) -> Vec<BundleFinding> {
        self.results.iter().flat_map(ChangeResult::diagnostics).collect()
    }

    /// Returns the response of `apply_changes`: the planned effect for a dry run, otherwise the applied effect.
    pub fn answer(&self) -> ToolResult {
        self.answer_as(!self.is_dry_run())
    }

    /// Like [`Self::answer`], for changes that are not a dry run but may still wait for review.
    pub fn answer_as(&self, is_written: bool) -> ToolResult {
        let results = |applied: bool| -> OrderedValue {
            let numbered = self.results.iter().enumerate();
            numbered.map(|(index, result)| result.to_data(index, applied)).collect::<Vec<_>>().into()
        };
        let failed: Vec<RefusalCode> =
            self.results.iter().filter_map(|result| Some(result.failure.as_ref()?.code)).collect();
        let echo = [
            ("dryRun", self.is_dry_run().into()),
            ("validate", self.request.validate.as_str().into()),
            ("referencePolicy", self.request.references.as_str().into()),
        ];
        if !failed.is_empty() {
            let [dry_run, validate, references] = echo;
            let details = [dry_run, validate, references, ("results", results(false))];
            let message = format!("{} change(s) failed", failed.len());
            return Err(Refusal::new(batch_error_code(&failed), message).details(details));
        }
        let files = |gone: bool| {
            let paths =
                self.edits.iter().filter(|edit| edit.after.is_none() == gone).map(PlannedFileEdit::path);
            OrderedValue::texts(paths)
        };
        let names = match is_written {
            true => ("applied", "modifiedFiles", "deletedFiles"),
            false => ("wouldApply", "wouldModify", "wouldDelete"),
        };
        let [dry_run, validate, references] = echo;
        let data = OrderedValue::map([
            dry_run,
            validate,
            references,
            (names.0, self.results.len().into()),
            (names.1, files(false)),
            (names.2, files(true)),
            ("results", results(is_written)),
        ]);
        let diagnostics = self.results.iter().flat_map(ChangeResult::finding_data).collect();
        let meta = [("changesCount", self.results.len().into())];
        Ok(BundleToolResponse::new(data).with_bundle_id(&self.bundle_id).meta(meta).diagnostics(diagnostics))
    }
}

/// Returns the error code of the whole batch.
fn batch_error_code(failed: &[RefusalCode]) -> RefusalCode {
    [RefusalCode::NotFound, RefusalCode::DeleteBlocked, RefusalCode::ReferenceError]
        .into_iter()
        .find(|code| failed.contains(code))
        .unwrap_or(RefusalCode::ValidationError)
}
