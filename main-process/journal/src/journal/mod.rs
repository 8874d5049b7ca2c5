//! The journal: every accepted operation is durable before it is acknowledged.
//!
//! One process, one connection, one writer. An exclusive lock protects the database. The operating system releases
//! that lock as soon as **any** descriptor of the file is closed in this process: no other code may open
//! `journal.db` while a [`Journal`] is alive.

mod append;
mod audit;
mod chain;
mod compact;
mod file_identity;
mod file_records;
mod open;
mod query;
mod rebuild;
mod recover;
mod review;
mod rollback;
mod row;
mod schema;
mod state;

pub use audit::{AuditChainError, check_audit};
pub use chain::VerifiedHashChain;
pub use file_records::FileRecord;
pub use query::JournalEntry;
pub use rebuild::RebuiltJournal;
pub use recover::RecoveredHistory;
pub use review::{ProposalWrite, ReviewWrite, StoredProposal, StoredReview};
pub use schema::JOURNAL_FORMAT;

use crate::JournalError;
use chain::HashChainLink;
use file_identity::JournalFiles;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use shared_protocol::Revision;

/// Durable storage of operations, the newest checkpoint, the review queue with its audit, file records and small
/// state.
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    /// The newest acknowledged operation, or the checkpoint when no operation follows it.
    tail: HashChainLink,
    since_checkpoint: JournalGrowth,
    /// The acknowledged end of the review queue and its audit.
    review: review::ReviewTail,
    /// False while the database may contain more than `tail` and `review`: see [`Self::roll_back`].
    is_consistent: bool,
    /// `None` for a journal in memory.
    place: Option<JournalFiles>,
}

const JOURNAL_FILE: &str = "journal.db";

/// The operations and bytes since the checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct JournalGrowth {
    operations: u64,
    bytes: u64,
}

/// The durability of a transaction when its call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// Synced: survives a power loss.
    Durable,
    /// Not synced: the newest may be lost in a power loss, but the file stays intact.
    Relaxed,
}

impl Journal {
    /// Returns the newest durable revision.
    pub fn revision(&self) -> Revision {
        self.tail.revision
    }

    /// Runs `work` in one atomic transaction. Every write goes through here, and only into the files that the
    /// journal opened.
    fn in_transaction<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.check_before_write()?;
        let done = self.commit(durability, work);
        // A failed write, for example on a full disk, may have left bytes in the log. Those are recorded as well.
        let settled = self.check_after_write();
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

/// Converts to the signed integers of SQLite.
fn to_sql(number: u64) -> Result<i64, JournalError> {
    i64::try_from(number).map_err(|error| JournalError::unstorable("a number above 2^63", error))
}
