//! A write-ahead record of a batch, so that an interrupted write can be completed after a crash.
//!
//! The record is one file. It is created atomically and synced to disk before any other file is touched. While it
//! exists, the batch is committed; it is removed after all files are written.

use super::plan::PlannedFileEdit;
use crate::{
    BundleFinding,
    diagnostic::BundleFindingSource,
    files::{BundleFileError, BundleFiles, BundlePath, STATE_FOLDER},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const RECORD_FORMAT: u32 = 1;
/// The maximum bytes of a record: more than the largest planned batch after escaping.
const MAX_RECORD_BYTES: u64 = 100 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct WriteAheadRecord {
    format: u32,
    edits: Vec<RecordedFileEdit>,
}

#[derive(Serialize, Deserialize)]
struct RecordedFileEdit {
    path: String,
    /// The digest of the previous content.
    before: Option<String>,
    after: Option<String>,
}

pub(super) fn record_path() -> Result<BundlePath, BundleFileError> {
    BundlePath::parse(&format!("{STATE_FOLDER}/bundle-changes.json"))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn write_record(files: &BundleFiles, edits: &[PlannedFileEdit]) -> Result<(), BundleFileError> {
    let edits = edits
        .iter()
        .map(|edit| RecordedFileEdit {
            path: edit.path.to_string(),
            before: edit.before.as_deref().map(digest),
            after: edit.after.clone(),
        })
        .collect();
    let place = record_path()?;
    let text = serde_json::to_string(&WriteAheadRecord { format: RECORD_FORMAT, edits })
        .map_err(|error| BundleFileError::Failed { path: place.to_string(), problem: error.to_string() })?;
    files.write_or_remove(&place, Some(&text))?;
    files.sync_folders_of([&place])
}

/// Removes the record after all its files are durable. The removal itself need not be durable: a record that reappears
/// matches the files.
pub(super) fn remove_record(files: &BundleFiles) -> Result<(), BundleFileError> {
    files.write_or_remove(&record_path()?, None)
}

/// Completes an interrupted batch, if any, and reports the files that could not be completed. Skips a batch that another
/// program is currently writing.
pub(crate) fn recover(files: &BundleFiles) -> Vec<BundleFinding> {
    match complete_batch(files) {
        Ok(problems) => problems,
        Err(problem) => vec![finding(format!("An interrupted change could not be finished: {problem}"))],
    }
}

fn finding(message: String) -> BundleFinding {
    BundleFinding::error(message).with_source(BundleFindingSource::Gate, "gate.changes.interrupted")
}

fn complete_batch(files: &BundleFiles) -> Result<Vec<BundleFinding>, BundleFileError> {
    let _lock = match files.lock(false) {
        Ok(Some(lock)) => lock,
        Ok(None) | Err(BundleFileError::Busy) => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let place = record_path()?;
    files.remove_leftovers(&place);
    let text = match files.read_up_to(&place, MAX_RECORD_BYTES) {
        Ok(file) => file.text,
        Err(BundleFileError::Missing { .. }) => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let malformed = |problem: String| BundleFileError::Failed { path: place.to_string(), problem };
    let intent: WriteAheadRecord =
        serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    if intent.format != RECORD_FORMAT {
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
            Err(BundleFileError::Missing { .. }) => None,
            Err(problem) => return Err(problem),
        };
        if now == edit.after {
            continue;
        }
        if now.as_deref().map(digest) == edit.before {
            files.write_or_remove(&path, edit.after.as_deref())?;
        } else {
            problems.push(finding(format!(
                "{path} was edited while a change to it was interrupted; it was left as it is"
            )));
        }
    }
    files.sync_folders_of(&paths)?;
    remove_record(files)?;
    Ok(problems)
}
