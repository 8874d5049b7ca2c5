//! Rebuilds the journal after its files were deleted, replaced or damaged while Draftboard runs.

use super::{
    JOURNAL_FILE, Journal,
    chain::HashChainLink,
    open::{connect, quick_check, read_end},
    review,
};
use crate::JournalError;
use rusqlite::config::DbConfig;
use safe_fs::SafeFolder;
use shared_protocol::GraphDocument;
use std::path::{Path, PathBuf};

/// The result of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltJournal {
    /// Whether operations, review queue and audit were all carried over. Otherwise the journal holds a single
    /// checkpoint until [`Journal::roll_back`] restores the queue.
    pub is_complete: bool,
    /// The path of the files that were found in its place and set aside.
    pub set_aside_path: Option<PathBuf>,
}

impl Journal {
    /// Rebuilds the journal of `dir` after [`JournalError::Displaced`]. A deleted or replaced file is still open in
    /// the connection: everything is copied from it. If the copy fails, the new journal starts from `document`.
    /// Files at the path of the journal are set aside. After an error the journal is unchanged, and the call can be
    /// repeated.
    pub fn rebuild(&mut self, dir: &Path, document: &GraphDocument) -> Result<RebuiltJournal, JournalError> {
        let folder = SafeFolder::open(dir).map_err(|error| JournalError::of_path(&error))?;
        let copy = self.copy_to(&folder).inspect_err(|error| {
            tracing::warn!(%error, "cannot read the open journal");
        });
        let renewed = self.install(&folder, copy.as_deref().ok(), document);
        if renewed.is_err()
            && let Ok(copy) = copy
        {
            // A leftover copy is harmless.
            let _ = folder.remove(copy);
        }
        renewed
    }

    /// Copies everything that the connection reads into a new file, and verifies that the copy is complete.
    fn copy_to(&self, folder: &SafeFolder) -> Result<String, JournalError> {
        let name = safe_fs::temporary_name();
        let path = folder.path().join(&name);
        let copied = || -> Result<(), JournalError> {
            self.connection.execute("VACUUM INTO ?1", [path.to_string_lossy()])?;
            {
                let copy = connect(&path)?;
                quick_check(&copy, &path)?;
                let (tail, _) = read_end(&copy)?;
                if (tail, review::ReviewTail::read(&copy)?) != (self.tail, self.review) {
                    let problem = "the copy is incomplete".to_owned();
                    return Err(JournalError::Unreadable { path: path.clone(), problem });
                }
            }
            // `VACUUM INTO` does not sync its output.
            let file = folder.open_file(&name).map_err(|error| JournalError::of_path(&error))?;
            file.sync_all().map_err(|error| JournalError::of_io(&error))
        };
        copied().map(|()| name.clone()).inspect_err(|_| drop(folder.remove(&name)))
    }

    fn install(
        &mut self,
        folder: &SafeFolder,
        copy: Option<&str>,
        document: &GraphDocument,
    ) -> Result<RebuiltJournal, JournalError> {
        // Closing this connection must not touch the files of its successor, which have the same paths.
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let aside = Self::set_aside(folder.path())?;
        if let Some(copy) = copy {
            folder.rename_new(copy, folder, JOURNAL_FILE).map_err(|error| JournalError::of_path(&error))?;
            folder.sync().map_err(|error| JournalError::of_path(&error))?;
        }
        let mut journal = Self::open_or_create(folder.path(), copy.is_none())?;
        let end = if copy.is_some() {
            (self.tail, self.review)
        } else {
            (HashChainLink::START, review::ReviewTail::START)
        };
        if (journal.tail, journal.review) != end {
            // Another program replaced the file during the rebuild.
            let problem = ".draftboard/journal.db was replaced while it was rebuilt".to_owned();
            return Err(JournalError::Displaced { problem });
        }
        if copy.is_none() {
            journal.checkpoint(document, 0)?;
            journal.is_consistent = false;
        }
        *self = journal;
        Ok(RebuiltJournal { is_complete: copy.is_some(), set_aside_path: aside })
    }
}
