//! A plan: what a batch of changes would do to which files. Pure: it reads the loaded bundle and nothing else.

use super::{
    planner::Planner,
    request::{Operation, Request},
    result::ChangeResult,
};
use crate::{
    Bundles, Data, Diagnostic,
    envelope::{Answer, Code, Refusal},
    files::BundlePath,
};
use serde_json::Value;
use std::sync::Arc;

/// A file that a plan would write or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub(crate) path: BundlePath,
    /// What it must hold for the plan to hold; nothing if it must not be there.
    pub before: Option<Arc<str>>,
    /// What it is to hold; nothing if it is to go.
    pub after: Option<String>,
}

impl FileEdit {
    /// Relative to the bundle.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }
}

/// What a batch of changes would do.
#[derive(Debug, Clone)]
pub struct Plan {
    bundle_id: String,
    request: Request,
    results: Vec<ChangeResult>,
    edits: Vec<FileEdit>,
}

/// Plans the changes that the arguments of `apply_changes` ask for.
pub fn plan(bundles: &Bundles, arguments: &Value) -> Result<Plan, Refusal> {
    let request = Request::read(arguments)?;
    let bundle = bundles.resolve(request.bundle_id.as_deref())?;
    let mut planner = Planner::new(bundle, &request);
    let mut results: Vec<ChangeResult> = Vec::new();
    for change in &request.changes {
        let mut result = ChangeResult::new(change);
        result.failure = planner.change(change, &mut result).err();
        results.push(result);
    }
    planner.check_references(&mut results);
    for result in &mut results {
        planner.show(result);
    }
    let edits = planner.edits()?;
    Ok(Plan { bundle_id: bundle.id().to_owned(), request, results, edits })
}

impl Plan {
    pub fn bundle_id(&self) -> &str {
        &self.bundle_id
    }

    pub fn is_dry_run(&self) -> bool {
        self.request.dry_run
    }

    /// Whether all changes can be made.
    pub fn is_possible(&self) -> bool {
        self.results.iter().all(|result| result.failure.is_none())
    }

    /// The files as the changes would leave them.
    pub fn edits(&self) -> &[FileEdit] {
        &self.edits
    }

    /// Whether any entity would go.
    pub fn deletes(&self) -> bool {
        self.results.iter().any(|result| matches!(result.change.operation, Operation::Delete))
    }

    /// One line that says what it does.
    pub fn summary(&self) -> String {
        match &self.results[..] {
            [only] => {
                let operation = match only.change.operation {
                    Operation::Create { .. } => "Create",
                    Operation::Update { .. } => "Change",
                    Operation::Delete => "Delete",
                };
                format!("{operation} {} {}", only.change.entity_type, only.change.entity_id)
            }
            many => format!("{} changes of {}", many.len(), self.bundle_id),
        }
    }

    /// What there is to say about the changes.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.results.iter().flat_map(ChangeResult::diagnostics).collect()
    }

    /// The answer of `apply_changes`: what would be done or, if it is no dry run, what was.
    pub fn answer(&self) -> Result<Answer, Refusal> {
        self.answer_as(!self.is_dry_run())
    }

    /// As [`Self::answer`], where what is no dry run may still wait for somebody.
    pub fn answer_as(&self, is_written: bool) -> Result<Answer, Refusal> {
        let results = |applied: bool| -> Data {
            let numbered = self.results.iter().enumerate();
            numbered.map(|(index, result)| result.to_data(index, applied)).collect::<Vec<_>>().into()
        };
        let failed: Vec<Code> =
            self.results.iter().filter_map(|result| Some(result.failure.as_ref()?.code)).collect();
        let echo = [
            ("dryRun", self.is_dry_run().into()),
            ("validate", self.request.validate.as_str().into()),
            ("referencePolicy", self.request.references.as_str().into()),
        ];
        if !failed.is_empty() {
            let [dry_run, validate, references] = echo;
            let details = Data::map([dry_run, validate, references, ("results", results(false))]);
            let message = format!("{} change(s) failed", failed.len());
            return Err(Refusal::new(worst(&failed), message).with(details));
        }
        let files = |gone: bool| {
            let paths = self.edits.iter().filter(|edit| edit.after.is_none() == gone).map(FileEdit::path);
            Data::texts(paths)
        };
        let names = match is_written {
            true => ("applied", "modifiedFiles", "deletedFiles"),
            false => ("wouldApply", "wouldModify", "wouldDelete"),
        };
        let [dry_run, validate, references] = echo;
        let data = Data::map([
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
        Ok(Answer::new(data).of(&self.bundle_id).meta(meta).diagnostics(diagnostics))
    }
}

/// The code of the whole batch.
fn worst(failed: &[Code]) -> Code {
    [Code::NotFound, Code::DeleteBlocked, Code::ReferenceError]
        .into_iter()
        .find(|code| failed.contains(code))
        .unwrap_or(Code::ValidationError)
}
