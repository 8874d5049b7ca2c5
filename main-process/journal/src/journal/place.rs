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

use super::{FILE, Journal};
use crate::JournalError;
use std::{fs::Metadata, io, os::unix::fs::MetadataExt as _, path::PathBuf, time::SystemTime};

/// The folder of the files, and their stamps after our last write.
#[derive(Debug)]
pub(super) struct Place {
    dir: PathBuf,
    database: Option<Stamp>,
    /// `None` before the first write, when there is no log.
    log: Option<Stamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    id: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            id: (metadata.dev(), metadata.ino()),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

impl Place {
    /// Records the current files as ours.
    pub(super) fn new(dir: PathBuf) -> Result<Self, JournalError> {
        let mut place = Self { dir, database: None, log: None };
        (place.database, place.log) = (place.look("db")?, place.look("db-wal")?);
        if place.database.is_none() {
            return Err(displaced("db", None, None));
        }
        Ok(place)
    }

    /// As [`Self::new`]. Fails when the database is not the file that `before` recorded, because the connection was
    /// opened in between.
    pub(super) fn after(before: &Self) -> Result<Self, JournalError> {
        let place = Self::new(before.dir.clone())?;
        let id = |place: &Self| place.database.map(|database| database.id);
        if id(&place) != id(before) {
            return Err(displaced("db", before.database, place.database));
        }
        Ok(place)
    }

    fn look(&self, suffix: &str) -> Result<Option<Stamp>, JournalError> {
        match self.dir.join(FILE).with_extension(suffix).symlink_metadata() {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
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
    pub fn check(&self) -> Result<(), JournalError> {
        if !self.is_in_step {
            let problem = ".draftboard/journal.db contains a write that was not acknowledged".to_owned();
            return Err(JournalError::Displaced { problem });
        }
        self.check_place()
    }

    pub(super) fn check_place(&self) -> Result<(), JournalError> {
        let Some(place) = &self.place else { return Ok(()) };
        for (suffix, known) in [("db", place.database), ("db-wal", place.log)] {
            let found = place.look(suffix)?;
            if found != known {
                return Err(displaced(suffix, known, found));
            }
        }
        Ok(())
    }

    /// After our write: checks that the same files are at their paths, and records their new state.
    pub(super) fn settle(&mut self) -> Result<(), JournalError> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let (database, log) = (place.look("db")?, place.look("db-wal")?);
        // A write leaves a database and a log, even when there was no log before.
        let is_same = |known: Option<Stamp>, found: Option<Stamp>| {
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

fn displaced(suffix: &str, known: Option<Stamp>, found: Option<Stamp>) -> JournalError {
    let happened = match (known, found) {
        (_, None) => "was deleted",
        (Some(known), Some(found)) if known.id == found.id && found.size < known.size => "was truncated",
        (Some(known), Some(found)) if known.id == found.id => "was written to",
        (_, Some(_)) => "was replaced",
    };
    JournalError::Displaced { problem: format!(".draftboard/journal.{suffix} {happened} by another program") }
}
