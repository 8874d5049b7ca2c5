//! Checks that the files at the paths of the journal are the files that the connection has open.
//!
//! `git clean -fdx`, a restored backup or a script can delete, replace or truncate the files while Draftboard runs.
//! SQLite would keep writing to an unlinked file, and acknowledged changes would be lost with the process. The
//! files are therefore checked by path before every write and after its sync:
//!
//! ```text
//! check()     same files, unchanged since our last write?   no: nothing is written
//! commit      synced into the files that the connection has open
//! settle()    still the files at these paths?               no: not acknowledged
//! ```
//!
//! The check never opens the files: closing a descriptor would release the lock of SQLite.

use super::{JOURNAL_FILE, Journal};
use crate::JournalError;
use std::{fs::Metadata, io, os::unix::fs::MetadataExt as _, path::PathBuf, time::SystemTime};

/// The folder of the files, and their stamps after our last write.
#[derive(Debug)]
pub(super) struct JournalFiles {
    dir: PathBuf,
    database: Option<JournalFileStamp>,
    /// `None` before the first write, when there is no log.
    log: Option<JournalFileStamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct JournalFileStamp {
    id: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

impl JournalFileStamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            id: (metadata.dev(), metadata.ino()),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

impl JournalFiles {
    /// Records the current files as ours.
    pub(super) fn new(dir: PathBuf) -> Result<Self, JournalError> {
        let mut place = Self { dir, database: None, log: None };
        (place.database, place.log) = (place.stamp_of("db")?, place.stamp_of("db-wal")?);
        if place.database.is_none() {
            return Err(displaced("db", None, None));
        }
        Ok(place)
    }

    /// As [`Self::new`]. Fails when the database is not the file that `before` recorded, because the connection was
    /// opened in between.
    pub(super) fn new_checked(before: &Self) -> Result<Self, JournalError> {
        let place = Self::new(before.dir.clone())?;
        let id = |place: &Self| place.database.map(|database| database.id);
        if id(&place) != id(before) {
            return Err(displaced("db", before.database, place.database));
        }
        Ok(place)
    }

    fn stamp_of(&self, suffix: &str) -> Result<Option<JournalFileStamp>, JournalError> {
        match self.dir.join(JOURNAL_FILE).with_extension(suffix).symlink_metadata() {
            Ok(metadata) => Ok(Some(JournalFileStamp::from_metadata(&metadata))),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(JournalError::of_io(&error)),
        }
    }
}

impl Journal {
    /// Compares the files with their state after our last write. Returns [`JournalError::Displaced`] when another
    /// program changed them, or when they contain a refused write.
    pub fn check_consistency(&self) -> Result<(), JournalError> {
        if !self.is_consistent {
            let problem = ".draftboard/journal.db contains a write that was not acknowledged".to_owned();
            return Err(JournalError::Displaced { problem });
        }
        self.check_before_write()
    }

    pub(super) fn check_before_write(&self) -> Result<(), JournalError> {
        let Some(place) = &self.place else { return Ok(()) };
        for (suffix, known) in [("db", place.database), ("db-wal", place.log)] {
            let found = place.stamp_of(suffix)?;
            if found != known {
                return Err(displaced(suffix, known, found));
            }
        }
        Ok(())
    }

    /// After our write: checks that the same files are at their paths, and records their new state.
    pub(super) fn check_after_write(&mut self) -> Result<(), JournalError> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let (database, log) = (place.stamp_of("db")?, place.stamp_of("db-wal")?);
        // A write leaves a database and a log, even when there was no log before.
        let is_same = |known: Option<JournalFileStamp>, found: Option<JournalFileStamp>| {
            found.is_some_and(|found| known.is_none_or(|known| found.id == known.id))
        };
        let shrank = place.database.zip(database).is_some_and(|(known, found)| found.size < known.size);
        if !is_same(place.database, database) || shrank {
            return Err(displaced("db", place.database, database));
        }
        if !is_same(place.log, log) {
            return Err(displaced("db-wal", place.log, log));
        }
        (place.database, place.log) = (database, log);
        Ok(())
    }
}

fn displaced(suffix: &str, known: Option<JournalFileStamp>, found: Option<JournalFileStamp>) -> JournalError {
    let happened = match (known, found) {
        (_, None) => "was deleted",
        (Some(known), Some(found)) if known.id == found.id && found.size < known.size => "was truncated",
        (Some(known), Some(found)) if known.id == found.id => "was written to",
        (_, Some(_)) => "was replaced",
    };
    JournalError::Displaced { problem: format!(".draftboard/journal.{suffix} {happened} by another program") }
}
