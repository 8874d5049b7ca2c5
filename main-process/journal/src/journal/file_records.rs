//! Records of workspace files: the content on record, and the pending content of a save. After a crash during a
//! save, both are recognised as ours and neither is treated as an edit by another program.

use super::{Durability, Journal};
use crate::{Digest, JournalError, WorkspacePath};
use rusqlite::OptionalExtension as _;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileRecord {
    /// The content that was last written or imported.
    pub recorded: Option<Digest>,
    /// The content that a save was about to write and may have written.
    pub pending: Option<Digest>,
}

impl FileRecord {
    /// Returns whether the content is recorded or pending.
    pub fn is_known(&self, content: Digest) -> bool {
        self.recorded == Some(content) || self.pending == Some(content)
    }
}

impl Journal {
    /// Records the contents that a save is about to write. Durable on return.
    ///
    /// A file has one pending content. One left by a crash must be settled before the next save: with
    /// [`Self::confirm_pending`] when the file has that content, otherwise with [`Self::record_content`]. [`Self::file_records`]
    /// returns both contents.
    pub fn record_pending(&mut self, files: &[(WorkspacePath, Digest)]) -> Result<(), JournalError> {
        self.for_each(
            Durability::Durable,
            "INSERT INTO files (path, recorded, pending) VALUES (?1, NULL, ?2)
             ON CONFLICT (path) DO UPDATE SET pending = ?2",
            files.iter().map(|(path, content)| (path.as_str(), *content)),
        )
    }

    /// Marks the pending contents as written. When a crash loses this call, the contents are still known as
    /// pending.
    pub fn confirm_pending(&mut self, paths: &[WorkspacePath]) -> Result<(), JournalError> {
        self.for_each(
            Durability::Relaxed,
            "UPDATE files SET recorded = pending, pending = NULL WHERE path = ?1 AND pending IS NOT NULL",
            paths.iter().map(|path| (path.as_str(),)),
        )
    }

    /// Records the content of these files and clears the pending content: after an external edit was imported, or a
    /// save failed before it wrote.
    pub fn record_content(&mut self, files: &[(WorkspacePath, Digest)]) -> Result<(), JournalError> {
        self.for_each(
            Durability::Durable,
            "INSERT OR REPLACE INTO files (path, recorded, pending) VALUES (?1, ?2, NULL)",
            files.iter().map(|(path, content)| (path.as_str(), *content)),
        )
    }

    /// Deletes the record of a file that is gone or no longer ours.
    pub fn forget_file(&mut self, path: &WorkspacePath) -> Result<(), JournalError> {
        self.for_each(
            Durability::Durable,
            "DELETE FROM files WHERE path = ?1",
            [(path.as_str(),)].into_iter(),
        )
    }

    pub fn file_record(&self, path: &WorkspacePath) -> Result<FileRecord, JournalError> {
        let mut select =
            self.connection.prepare_cached("SELECT recorded, pending FROM files WHERE path = ?1")?;
        let known = select
            .query_row([path.as_str()], |row| Ok(FileRecord { recorded: row.get(0)?, pending: row.get(1)? }))
            .optional()?;
        Ok(known.unwrap_or_default())
    }

    /// Returns the records of all files, sorted by path.
    pub fn file_records(&self) -> Result<Vec<(WorkspacePath, FileRecord)>, JournalError> {
        let mut select =
            self.connection.prepare_cached("SELECT path, recorded, pending FROM files ORDER BY path")?;
        let rows = select.query_map([], |row| {
            Ok((row.get::<_, String>(0)?, FileRecord { recorded: row.get(1)?, pending: row.get(2)? }))
        })?;
        let mut files = Vec::new();
        for row in rows {
            let (path, known) = row?;
            // An invalid path cannot have been recorded by us.
            files.extend(WorkspacePath::parse(path).ok().map(|path| (path, known)));
        }
        Ok(files)
    }

    fn for_each<P: rusqlite::Params>(
        &mut self,
        durability: Durability,
        sql: &str,
        rows: impl Iterator<Item = P>,
    ) -> Result<(), JournalError> {
        self.in_transaction(durability, |transaction| {
            let mut statement = transaction.prepare_cached(sql)?;
            for row in rows {
                statement.execute(row)?;
            }
            Ok(())
        })
    }
}
