//! Whether the journal's files are still those that the connection has open.
//!
//! `git clean -fdx`, a restored backup or a careless script can delete, replace or truncate them under a running Draftboard.
//! SQLite would go on writing into a file without a name, and what was acknowledged would be gone with the process. So the
//! files are looked at by their paths before a write begins and after it is synced:
//!
//! ```text
//! check()     same files, untouched since our last write?   no: nothing is written
//! commit      synced into whatever the connection has open
//! settle()    still the files at these paths?               no: not acknowledged
//! ```
//!
//! They are never opened here: closing a descriptor would let go of SQLite's lock.

use super::{FILE, Journal};
use crate::JournalError;
use std::{fs::Metadata, io, os::unix::fs::MetadataExt as _, path::PathBuf, time::SystemTime};

/// Where the files are, and how they were after the last write of ours.
#[derive(Debug)]
pub(super) struct Place {
    dir: PathBuf,
    database: Option<Stamp>,
    /// None before the first write: there is no log yet.
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
    /// Takes the files as they are for ours.
    pub(super) fn new(dir: PathBuf) -> Result<Self, JournalError> {
        let mut place = Self { dir, database: None, log: None };
        (place.database, place.log) = (place.look("db")?, place.look("db-wal")?);
        if place.database.is_none() {
            return Err(displaced("db", None, None));
        }
        Ok(place)
    }

    /// As [`Self::new`], if the database is still the one that `before` saw: the connection was made in between.
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
    /// Compares the files with those of the last write. [`JournalError::Displaced`] when somebody else touched them, or when
    /// they hold something that was refused.
    pub fn check(&self) -> Result<(), JournalError> {
        if !self.is_in_step {
            let problem = ".draftboard/journal.db holds something that was not acknowledged".to_owned();
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

    /// After a write of ours: the same files still stand at their paths, and as they are now they are ours.
    pub(super) fn settle(&mut self) -> Result<(), JournalError> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let (database, log) = (place.look("db")?, place.look("db-wal")?);
        // A write leaves a database and a log, whether or not the log was known before.
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
