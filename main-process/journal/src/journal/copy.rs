//! A copy of a closed journal, to read it without changing anything: opening a journal brings it to the present format, and
//! a write-protected one cannot be opened at all.

use super::{DATABASE_SUFFIXES, Journal, open::safe_folder};
use crate::JournalError;
use std::{io, path::Path};
use tempfile::TempDir;

/// A journal in a temporary folder, which is removed with it.
#[derive(Debug)]
pub struct JournalCopy {
    journal: Journal,
    _folder: TempDir,
}

impl JournalCopy {
    /// Copies the journal of `dir`; `None` when there is none. The caller makes sure that nobody writes to it, as far as
    /// that is possible.
    pub fn of(dir: &Path) -> Result<Option<Self>, JournalError> {
        let failed = |error: io::Error| JournalError::of_io(&error);
        let from = match safe_folder(dir) {
            Ok(folder) => folder,
            Err(_) if !dir.exists() => return Ok(None),
            Err(error) => return Err(error),
        };
        let folder = tempfile::Builder::new().prefix("draftboard-journal-").tempdir().map_err(failed)?;
        let mut copied = false;
        for suffix in DATABASE_SUFFIXES {
            let name = format!("journal.{suffix}");
            // The index of the log is made anew.
            if suffix == "db-shm"
                || from.kind(&name).map_err(|error| JournalError::of_path(&error))?.is_none()
            {
                continue;
            }
            let mut source = from.open_file(&name).map_err(|error| JournalError::of_path(&error))?;
            let mut copy = std::fs::File::create_new(folder.path().join(&name)).map_err(failed)?;
            io::copy(&mut source, &mut copy).map_err(failed)?;
            copied |= suffix == "db";
        }
        if !copied {
            return Ok(None);
        }
        let journal = Journal::open_or_create(folder.path(), false)?;
        Ok(Some(Self { journal, _folder: folder }))
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }
}
