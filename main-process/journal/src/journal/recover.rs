//! Reads back the acknowledged history and verifies it.

use super::{
    Journal,
    chain::HashChainLink,
    row::{OPERATION_COLUMNS, OperationRow},
};
use crate::{Digest, JournalError};
use rusqlite::OptionalExtension as _;
use shared_protocol::{GraphDocument, Operation, Revision};

/// The last checkpoint and the operations after it, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveredHistory {
    pub checkpoint: Option<GraphDocument>,
    pub operations: Vec<Operation>,
}

impl Journal {
    /// Returns the checkpoint and every operation after it. On damage, the error carries the readable part. Older
    /// operations, kept for undo, are not checked: damage among them does not keep a workspace from opening.
    pub fn recover(&self) -> Result<RecoveredHistory, JournalError> {
        let (checkpoint, mut link) = match self.read_checkpoint()? {
            Some((document, link)) => (Some(document), link),
            None => (None, self.anchor()?),
        };
        let mut operations = Vec::new();
        let walked = self.rows_after(link.revision, &mut |row| {
            link = link
                .next_link(&row)
                .map_err(|(revision, problem)| JournalError::damaged_at(revision, problem))?;
            operations.push(row.decode()?);
            Ok(())
        });
        let recovered = RecoveredHistory { checkpoint, operations };
        match walked {
            Ok(()) => Ok(recovered),
            Err(JournalError::Damaged { revision, problem, .. }) => {
                Err(JournalError::Damaged { revision, problem, readable: Box::new(recovered) })
            }
            Err(other) => Err(other),
        }
    }

    /// Passes every kept operation after `revision` to `take`, oldest first, with one row in memory at a time.
    pub(super) fn rows_after(
        &self,
        revision: Revision,
        take: &mut dyn FnMut(OperationRow) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let sql = format!("SELECT {OPERATION_COLUMNS} FROM operations WHERE revision > ?1 ORDER BY revision");
        let mut select = self.connection.prepare_cached(&sql)?;
        let mut rows = select.query([i64::try_from(revision.0).unwrap_or(i64::MAX)])?;
        let mut reached = revision;
        loop {
            match rows.next() {
                Ok(None) => return Ok(()),
                Ok(Some(row)) => {
                    let row = OperationRow::from_sql(row)?;
                    reached = row.revision;
                    take(row)?;
                }
                Err(error) if JournalError::is_corruption(&error) => {
                    return Err(JournalError::damaged_at(reached.next(), error.to_string()));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the checkpoint, verified against its hash, and its chain link.
    pub(super) fn read_checkpoint(&self) -> Result<Option<(GraphDocument, HashChainLink)>, JournalError> {
        let sql = "SELECT revision, chain_hash, document_hash, document FROM checkpoint";
        let found = self.connection.query_row(sql, [], |row| {
            let text: String = row.get(3)?;
            Ok((HashChainLink::from_columns(row, 0, 1)?, row.get::<_, Digest>(2)?, text))
        });
        let (link, hash, text) = match found.optional() {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) if error.sqlite_error_code().is_some() && !JournalError::is_corruption(&error) => {
                return Err(error.into());
            }
            Err(error) => {
                return Err(JournalError::damaged_at(Revision::START, format!("the checkpoint: {error}")));
            }
        };
        let damaged =
            |problem: String| JournalError::damaged_at(link.revision, format!("the checkpoint {problem}"));
        if Digest::hash(text.as_bytes()) != hash {
            return Err(damaged("does not match its hash".to_owned()));
        }
        let document: GraphDocument =
            serde_json::from_str(&text).map_err(|error| damaged(format!("cannot be decoded: {error}")))?;
        if document.revision != link.revision {
            return Err(damaged(format!("is of revision {}", document.revision)));
        }
        Ok(Some((document, link)))
    }

    /// Returns the link that the oldest kept operation follows.
    pub(super) fn anchor(&self) -> Result<HashChainLink, JournalError> {
        let found = self
            .connection
            .query_row("SELECT revision, hash FROM anchor", [], |row| HashChainLink::from_columns(row, 0, 1))
            .optional()?;
        Ok(found.unwrap_or(HashChainLink::START))
    }
}
