//! Allows one run per board across processes, and reports interrupted runs.
//!
//! The lock is a lock of the operating system, which releases it when the process ends for any reason. The lock
//! file keeps a record of the active run, from which the next start detects an interrupted run.

use super::runner::RunError;
use rustix::fs::{FileType, FlockOperation, flock};
use safe_fs::SafeFolder;
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::PathBuf,
};

const MAX_RECORD_BYTES: u64 = 64 * 1024;

/// A run that did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptedRun {
    pub board: String,
    pub operation: String,
    pub log: PathBuf,
}

#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
    path: PathBuf,
}

impl RunLock {
    /// Acquires the lock of a board. Returns [`RunError::Busy`] when another process holds it.
    pub(crate) fn acquire(folder: &SafeFolder, board: &str) -> Result<Self, RunError> {
        let name = format!("{board}.lock");
        let path = folder.path().join(&name);
        let file = folder.open_or_create(&name)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(RunError::Busy { board: board.to_owned() });
        }
        Ok(Self { file, path })
    }

    /// Records the active run, so that it is reported after a crash.
    pub(crate) fn record(&mut self, record: &InterruptedRun) -> Result<(), RunError> {
        let text = serde_json::to_string(record).unwrap_or_default();
        let written = self.file.set_len(0).and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|source| RunError::Files { path: self.path.clone(), source })
    }

    /// Clears the record of a finished run.
    pub(crate) fn release(mut self) {
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        // On failure the next start reports a finished run as interrupted, which is better than missing an
        // interrupted one.
        drop(emptied);
    }
}

/// Returns the interrupted runs and clears their records.
pub(crate) fn interrupted_runs(folder: &SafeFolder) -> Vec<InterruptedRun> {
    let mut found = Vec::new();
    let entries = folder.list().unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".lock")) {
        if entry.kind != FileType::RegularFile {
            let path = folder.path().join(&entry.name);
            tracing::warn!(path = %path.display(), "ignoring a run lock that is not a regular file");
            continue;
        }
        let Ok(file) = folder.open_or_create(&entry.name) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut text = String::new();
        if (&file).take(MAX_RECORD_BYTES).read_to_string(&mut text).is_ok()
            && let Ok(record) = serde_json::from_str(&text)
        {
            found.push(record);
            let _ = file.set_len(0);
        }
    }
    found.sort_by(|one: &InterruptedRun, other| one.board.cmp(&other.board));
    found
}
