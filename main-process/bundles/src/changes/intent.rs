//! The record of a change that is being written, so that a crash in the middle can be followed by finishing it.
//!
//! It is one file, put in place at once and on the disk before the first other file is touched. While it is there, the
//! change is decided; once all files are written it is removed.

use super::plan::FileEdit;
use crate::{
    Diagnostic,
    diagnostic::Source,
    files::{BundleFiles, BundlePath, FileProblem, STATE_FOLDER},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const FORMAT: u32 = 1;
/// More than the largest change that is planned, whatever its text is escaped to.
const MAX_BYTES: u64 = 100 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Intent {
    format: u32,
    edits: Vec<IntendedEdit>,
}

#[derive(Serialize, Deserialize)]
struct IntendedEdit {
    path: String,
    /// The digest of what the file held.
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

/// Once all its files are durable, a record is no longer needed. That it is gone need not be: finding it again, everything
/// is as it says.
pub(super) fn forget(files: &BundleFiles) -> Result<(), FileProblem> {
    files.put(&place()?, None)
}

/// Finishes a change that was interrupted, if there is one, and tells what could not be finished. A change that another
/// program is writing at this moment is left to it.
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
        // A change of ours is one of entities; a record that says otherwise came with the bundle.
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
