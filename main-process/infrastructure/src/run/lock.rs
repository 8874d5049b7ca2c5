//! One run a board, also between processes, and a word about runs that were cut off.
//!
//! The lock is the system's: it ends with the process that holds it, however that ends. What stays is a record of the run
//! that was going on, which is how the next start knows.

use super::start::RunError;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
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
    pub(crate) fn take(folder: &Path, board: &str) -> Result<Self, RunError> {
        let path = path_of(folder, board);
        let failed = |source| RunError::Files { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
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
pub(crate) fn interrupted(folder: &Path) -> Vec<Interrupted> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut text = String::new();
        if (&file).take(MOST_BYTES).read_to_string(&mut text).is_ok()
            && let Ok(record) = serde_json::from_str(&text)
        {
            found.push(record);
        }
        let _ = file.set_len(0);
    }
    found.sort_by(|one: &Interrupted, other| one.board.cmp(&other.board));
    found
}

fn path_of(folder: &Path, board: &str) -> PathBuf {
    folder.join(format!("{board}.lock"))
}
