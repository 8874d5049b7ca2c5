//! The journal: every accepted operation, durable before it is acknowledged.
//!
//! One process, one connection, one writer. The database is held with an exclusive lock, which the operating system lets
//! go of as soon as **any** descriptor of the file is closed in this process: nothing else here may open `journal.db`
//! while a [`Journal`] is alive.

mod append;
mod audit;
mod chain;
mod compact;
mod file_records;
mod open;
mod place;
mod query;
mod recover;
mod renew;
mod review;
mod row;
mod schema;
mod state;
mod take_back;

pub use audit::{AuditBreak, check_audit};
pub use chain::VerifiedChain;
pub use file_records::Known;
pub use query::LogEntry;
pub use recover::Recovered;
pub use renew::RenewedJournal;
pub use review::{KeptReview, ReviewWrite, Stored, WrittenProposal};
pub use schema::JOURNAL_FORMAT;

use crate::JournalError;
use chain::Link;
use place::Place;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use shared_protocol::Revision;

/// Durable operations, the newest checkpoint, the review queue with its audit, what is known of files, and small state.
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    /// The newest acknowledged operation, or the checkpoint when there is none after it.
    tail: Link,
    since_checkpoint: Growth,
    /// What was written to the review queue so far, and acknowledged.
    review: review::End,
    /// False while the database may not end at `tail` and `review`: see [`Self::take_back`].
    is_in_step: bool,
    /// None for a journal in memory.
    place: Option<Place>,
}

const FILE: &str = "journal.db";

/// What came after the checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Growth {
    operations: u64,
    bytes: u64,
}

/// Whether a transaction must have reached the disk when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// Synced: survives the loss of power.
    Durable,
    /// Not synced: the newest of these may be lost with the power, but the file stays whole.
    Relaxed,
}

impl Journal {
    /// The newest revision that is safe.
    pub fn revision(&self) -> Revision {
        self.tail.revision
    }

    /// The one way to write: into the journal's own files or not at all, one transaction, all or nothing.
    fn in_transaction<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.check_place()?;
        let done = self.commit(durability, work);
        // A write that failed may have left bytes in the log, on a full disk for one; these are ours as well.
        let settled = self.settle();
        let done = done?;
        settled.map(|()| done)
    }

    fn commit<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let synchronous = match durability {
            Durability::Durable => "FULL",
            Durability::Relaxed => "NORMAL",
        };
        self.connection.pragma_update(None, "synchronous", synchronous)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// SQLite's integers are signed.
fn to_sql(number: u64) -> Result<i64, JournalError> {
    i64::try_from(number).map_err(|error| JournalError::unstorable("a number above 2^63", error))
}
