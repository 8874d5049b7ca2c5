//! Appending: one transaction for a group of operations, synced once.

use super::{Durability, Journal, chain::Link, row::Row, to_sql};
use crate::JournalError;
use shared_protocol::Operation;

const INSERT: &str = "INSERT INTO operations
    (revision, time, actor, kind, summary, change_count, previous_hash, hash, changes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

impl Journal {
    /// Appends operations whose revisions follow on, all or nothing; durable when it returns. After an error nothing of
    /// them is kept, and the same call can be made again when the cause is gone.
    pub fn append(&mut self, operations: &[Operation]) -> Result<(), JournalError> {
        if operations.is_empty() {
            return Ok(());
        }
        let rows = chained(self.tail, operations)?;
        let inserted = self.insert(&rows);
        match (&inserted, rows.last()) {
            (Ok(()), Some(last)) => {
                self.tail = Link { revision: last.revision, hash: last.hash };
                self.since_checkpoint.operations += rows.len() as u64;
                self.since_checkpoint.bytes += rows.iter().map(|row| row.changes.len() as u64).sum::<u64>();
            }
            // The commit may have failed after it was written: what the database says counts.
            _ => self.read_end_again(),
        }
        inserted
    }

    fn insert(&mut self, rows: &[Row]) -> Result<(), JournalError> {
        let transaction = self.transaction(Durability::Durable)?;
        {
            let mut insert = transaction.prepare_cached(INSERT)?;
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
        }
        Ok(transaction.commit()?)
    }
}

fn chained(tail: Link, operations: &[Operation]) -> Result<Vec<Row>, JournalError> {
    let mut link = tail;
    let mut rows = Vec::with_capacity(operations.len());
    for operation in operations {
        let expected = link.revision.next();
        if operation.revision != expected {
            return Err(JournalError::Gap { expected, found: operation.revision });
        }
        let row = Row::encode(operation, link.hash)?;
        link = Link { revision: row.revision, hash: row.hash };
        rows.push(row);
    }
    Ok(rows)
}
