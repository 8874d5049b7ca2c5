//! Queries on the history.

use super::{
    Journal,
    row::{OPERATION_COLUMNS, OperationRow},
    to_sql,
};
use crate::JournalError;
use rusqlite::OptionalExtension as _;
use shared_protocol::{Actor, Operation, OperationKind, Revision};

/// A log entry: an operation without its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    pub revision: Revision,
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub actor: Actor,
    pub kind: OperationKind,
    pub summary: String,
    pub change_count: usize,
}

impl Journal {
    /// Returns the operation of a revision; `None` when it is not kept or does not exist yet.
    pub fn operation(&self, revision: Revision) -> Result<Option<Operation>, JournalError> {
        let sql = format!("SELECT {OPERATION_COLUMNS} FROM operations WHERE revision = ?1");
        let mut select = self.connection.prepare_cached(&sql)?;
        let row =
            select.query_row([to_sql(revision.0)?], |row| Ok(OperationRow::from_sql(row))).optional()?;
        row.map(|row| row?.decode()).transpose()
    }

    /// Returns the newest operations, newest first, without reading their changes.
    pub fn log(&self, limit: usize) -> Result<Vec<JournalEntry>, JournalError> {
        self.entries("ORDER BY revision DESC LIMIT ?1", to_sql(limit as u64)?)
    }

    /// Returns the log entry of a revision; `None` when it is not kept or does not exist yet.
    pub fn journal_entry(&self, revision: Revision) -> Result<Option<JournalEntry>, JournalError> {
        Ok(self.entries("WHERE revision = ?1", to_sql(revision.0)?)?.pop())
    }

    fn entries(&self, which: &str, number: i64) -> Result<Vec<JournalEntry>, JournalError> {
        let sql =
            format!("SELECT revision, time, actor, kind, summary, change_count FROM operations {which}");
        let mut select = self.connection.prepare_cached(&sql)?;
        let rows = select.query_map([number], |row| {
            let numbers: (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(5)?);
            let texts: (String, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((numbers, texts))
        })?;
        rows.map(|row| {
            let ((revision, time, change_count), (actor, kind, summary)) = row?;
            let revision = Revision(u64::try_from(revision).unwrap_or(0));
            let undecodable =
                |error: serde_json::Error| JournalError::damaged_at(revision, error.to_string());
            Ok(JournalEntry {
                revision,
                time: u64::try_from(time).unwrap_or(0),
                actor: serde_json::from_str(&actor).map_err(undecodable)?,
                kind: serde_json::from_str(&kind).map_err(undecodable)?,
                summary,
                change_count: usize::try_from(change_count).unwrap_or(0),
            })
        })
        .collect()
    }

    /// Returns up to `most` operations after a revision, oldest first; `None` when some of them are no longer kept.
    pub fn operations_since(
        &self,
        revision: Revision,
        most: usize,
    ) -> Result<Option<Vec<Operation>>, JournalError> {
        if revision < self.anchor()?.revision {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {OPERATION_COLUMNS} FROM operations WHERE revision > ?1 ORDER BY revision LIMIT ?2"
        );
        self.select(&sql, (to_sql(revision.0)?, to_sql(most as u64)?)).map(Some)
    }

    /// Returns the newest kept operations, oldest first, including those before a checkpoint. The undo history
    /// starts from them.
    pub fn newest_operations(&self, most: usize) -> Result<Vec<Operation>, JournalError> {
        let sql = format!("SELECT {OPERATION_COLUMNS} FROM operations ORDER BY revision DESC LIMIT ?1");
        let mut operations = self.select(&sql, [to_sql(most as u64)?])?;
        operations.reverse();
        Ok(operations)
    }

    fn select(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<Operation>, JournalError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map(params, |row| Ok(OperationRow::from_sql(row)))?;
        rows.map(|row| row??.decode()).collect()
    }
}
