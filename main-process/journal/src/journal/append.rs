//! Appends a group of operations in one transaction with one sync.

use super::{Durability, Journal, ReviewWrite, chain::HashChainLink, row::OperationRow, to_sql};
use crate::JournalError;
use rusqlite::Transaction;
use shared_protocol::Operation;

const INSERT_OPERATION: &str = "INSERT INTO operations
    (revision, time, actor, kind, summary, change_count, previous_hash, hash, changes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

impl Journal {
    /// Appends operations with consecutive revisions, all or nothing. Durable on return. After an error,
    /// [`Self::roll_back`] removes any trace of them; then the call can be repeated.
    pub fn append(&mut self, operations: &[Operation]) -> Result<(), JournalError> {
        self.append_with(operations, &ReviewWrite::default())
    }

    /// As [`Self::append`], with the review queue changes that belong to the operations, in one transaction.
    pub fn append_with(
        &mut self,
        operations: &[Operation],
        review: &ReviewWrite<'_>,
    ) -> Result<(), JournalError> {
        if operations.is_empty() && review.is_empty() {
            return Ok(());
        }
        self.check_consistency()?;
        let rows = chain_rows(self.tail, operations)?;
        let end = self.review;
        let written = self.in_transaction(Durability::Durable, |transaction| {
            insert_rows(transaction, &rows)?;
            review.write(transaction, end)
        });
        // A failed write may still have reached the database, for example in files that are no longer at their
        // paths.
        self.review = written.inspect_err(|_| self.detect_unacknowledged())?;
        if let Some(last) = rows.last() {
            self.tail = HashChainLink { revision: last.revision, hash: last.hash };
        }
        self.since_checkpoint.operations += rows.len() as u64;
        self.since_checkpoint.bytes += rows.iter().map(|row| row.changes.len() as u64).sum::<u64>();
        Ok(())
    }
}

pub(super) fn insert_rows(transaction: &Transaction<'_>, rows: &[OperationRow]) -> Result<(), JournalError> {
    let mut insert = transaction.prepare_cached(INSERT_OPERATION)?;
    for row in rows {
        insert.execute((
            to_sql(row.revision.0)?,
            to_sql(row.time)?,
            &row.actor,
            &row.kind,
            &row.summary,
            to_sql(row.change_count as u64)?,
            row.previous,
            row.hash,
            &row.changes,
        ))?;
    }
    Ok(())
}

pub(super) fn chain_rows(
    tail: HashChainLink,
    operations: &[Operation],
) -> Result<Vec<OperationRow>, JournalError> {
    let mut link = tail;
    let mut rows = Vec::with_capacity(operations.len());
    for operation in operations {
        let expected = link.revision.next();
        if operation.revision != expected {
            return Err(JournalError::Gap { expected, found: operation.revision });
        }
        let row = OperationRow::encode(operation, link.hash)?;
        link = HashChainLink { revision: row.revision, hash: row.hash };
        rows.push(row);
    }
    Ok(rows)
}
