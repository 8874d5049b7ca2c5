//! One run a board, also between processes, and a word about runs that were cut off.
//!
//! The lock is the system's: it ends with the process that holds it, however that ends. What stays is a record of the run
//! that was going on, which is how the next start knows.

use super::start::RunError;
use rustix::fs::{FileType, FlockOperation, flock};
use safe_fs::SafeFolder;
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::PathBuf,
};

const MOST_BYTES: u64 = 64 * 1024;

/// A run that did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupted {
    pub board: String,
    pub operation: String,
    pub log: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a board or says that somebody has it.
    pub(crate) fn take(folder: &SafeFolder, board: &str) -> Result<Self, RunError> {
        let name = format!("{board}.lock");
        let path = folder.path().join(&name);
        let file = folder.open_or_create(&name)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(RunError::Busy { board: board.to_owned() });
        }
        Ok(Self { file, path })
    }

    /// Notes what is going on, for whoever comes after a crash.
    pub(crate) fn note(&mut self, record: &Interrupted) -> Result<(), RunError> {
        let text = serde_json::to_string(record).unwrap_or_default();
        let written = self.file.set_len(0).and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|source| RunError::Files { path: self.path.clone(), source })
    }

    /// The run has come to its end, whatever that was.
    pub(crate) fn release(mut self) {
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        // When even this fails the next start reports a run that did end: better than silence about one that did not.
        drop(emptied);
    }
}

/// The runs that were cut off, and forgets them.
pub(crate) fn interrupted(folder: &SafeFolder) -> Vec<Interrupted> {
    let mut found = Vec::new();
    let entries = folder.list().unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".lock")) {
        if entry.kind != FileType::RegularFile {
            let path = folder.path().join(&entry.name);
            tracing::warn!(path = %path.display(), "left alone: the lock of a run must be a regular file, no link");
            continue;
        }
        let Ok(file) = folder.open_or_create(&entry.name) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut text = String::new();
        if (&file).take(MOST_BYTES).read_to_string(&mut text).is_ok()
            && let Ok(record) = serde_json::from_str(&text)
        {
            found.push(record);
            let _ = file.set_len(0);
        }
    }
    found.sort_by(|one: &Interrupted, other| one.board.cmp(&other.board));
    found
}
