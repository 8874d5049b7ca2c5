//! A write-ahead record of a batch, so that an interrupted write can be completed after a crash.
//!
//! The record is one file. It is created atomically and synced to disk before any other file is touched. While it
//! exists, the batch is committed; it is removed after all files are written.

use super::plan::FileEdit;
use crate::{
    Diagnostic,
    diagnostic::Source,
    files::{BundleFiles, BundlePath, FileProblem, STATE_FOLDER},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const FORMAT: u32 = 1;
/// The maximum bytes of a record: more than the largest planned batch after escaping.
const MAX_BYTES: u64 = 100 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Intent {
    format: u32,
    edits: Vec<IntendedEdit>,
}

#[derive(Serialize, Deserialize)]
struct IntendedEdit {
    path: String,
    /// The digest of the previous content.
    before: Option<String>,
    after: Option<String>,
}

pub(super) fn place() -> Result<BundlePath, FileProblem> {
    BundlePath::parse(&format!("{STATE_FOLDER}/bundle-changes.json"))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn record(files: &BundleFiles, edits: &[FileEdit]) -> Result<(), FileProblem> {
    let edits = edits
        .iter()
        .map(|edit| IntendedEdit {
            path: edit.path.to_string(),
            before: edit.before.as_deref().map(digest),
            after: edit.after.clone(),
        })
        .collect();
    let place = place()?;
    let text = serde_json::to_string(&Intent { format: FORMAT, edits })
        .map_err(|error| FileProblem::Failed { path: place.to_string(), problem: error.to_string() })?;
    files.put(&place, Some(&text))?;
    files.sync_folders_of([&place])
}

/// Removes the record after all its files are durable. The removal itself need not be durable: a record that reappears
/// matches the files.
pub(super) fn forget(files: &BundleFiles) -> Result<(), FileProblem> {
    files.put(&place()?, None)
}

/// Completes an interrupted batch, if any, and reports the files that could not be completed. Skips a batch that another
/// program is currently writing.
pub(crate) fn recover(files: &BundleFiles) -> Vec<Diagnostic> {
    match finish(files) {
        Ok(problems) => problems,
        Err(problem) => vec![finding(format!("An interrupted change could not be finished: {problem}"))],
    }
}

fn finding(message: String) -> Diagnostic {
    Diagnostic::error(message).by(Source::Gate, "gate.changes.interrupted")
}

fn finish(files: &BundleFiles) -> Result<Vec<Diagnostic>, FileProblem> {
    let _lock = match files.lock(false) {
        Ok(Some(lock)) => lock,
        Ok(None) | Err(FileProblem::Busy) => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let place = place()?;
    files.remove_leftovers(&place);
    let text = match files.read_up_to(&place, MAX_BYTES) {
        Ok(file) => file.text,
        Err(FileProblem::Missing { .. }) => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let malformed = |problem: String| FileProblem::Failed { path: place.to_string(), problem };
    let intent: Intent = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    if intent.format != FORMAT {
        return Err(malformed(format!("format {} is not known here", intent.format)));
    }
    let mut problems = Vec::new();
    let mut paths = Vec::new();
    for edit in &intent.edits {
        let path = BundlePath::parse(&edit.path)?;
        // Draftboard records only entity files; any other record was shipped with the bundle.
        if !(edit.path.ends_with(".yaml") || edit.path.ends_with(".yml")) {
            return Err(malformed(format!("{path} is no entity's file; remove the record")));
        }
        paths.push(path.clone());
        files.remove_leftovers(&path);
        let now = match files.read(&path) {
            Ok(file) => Some(file.text),
            Err(FileProblem::Missing { .. }) => None,
            Err(problem) => return Err(problem),
        };
        if now == edit.after {
            continue;
        }
        if now.as_deref().map(digest) == edit.before {
            files.put(&path, edit.after.as_deref())?;
        } else {
            problems.push(finding(format!(
                "{path} was edited while a change to it was interrupted; it was left as it is"
            )));
        }
    }
    files.sync_folders_of(&paths)?;
    forget(files)?;
    Ok(problems)
}
