//! Compaction: a checkpoint takes the place of the operations that led to it, except for the newest, which stay so that
//! they can be undone.

use super::{Durability, Growth, Journal, chain::Link, to_sql};
use crate::{Digest, JournalError};
use rusqlite::{OptionalExtension as _, Transaction};
use shared_protocol::Document;

/// More than this after the checkpoint makes the next start slow.
const MOST_OPERATIONS: u64 = 5_000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Journal {
    /// Enough has gathered since the last checkpoint to make another.
    pub fn should_compact(&self) -> bool {
        self.since_checkpoint.operations > MOST_OPERATIONS || self.since_checkpoint.bytes > MOST_BYTES
    }

    /// Stores `document` as the state at its revision, then lets go of operations at or before that revision, except the
    /// newest `keep_operations` of the journal. One transaction: after a failure everything is as it was.
    ///
    /// The revision must be one the journal holds and not older than the checkpoint before. An empty journal takes any:
    /// its operations then go on from there.
    pub fn checkpoint(&mut self, document: &Document, keep_operations: usize) -> Result<(), JournalError> {
        self.check()?;
        let link = self.link_at(document)?;
        let text = serde_json::to_string(document)
            .map_err(|error| JournalError::unstorable("the checkpoint", error))?;
        let newest = self.tail.revision.max(link.revision);
        let let_go = link.revision.0.min(newest.0.saturating_sub(keep_operations as u64));
        self.in_transaction(Durability::Durable, |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO checkpoint (only, revision, chain_hash, document_hash, document) VALUES (1, ?1, ?2, ?3, ?4)",
                (to_sql(link.revision.0)?, link.hash, Digest::of(text.as_bytes()), &text),
            )?;
            move_anchor(transaction, link, let_go)?;
            transaction.execute("DELETE FROM operations WHERE revision <= ?1", [to_sql(let_go)?])?;
            Ok(())
        })?;
        self.read_end_again();
        self.cut_log_back();
        self.settle()
    }

    fn is_empty(&self) -> bool {
        self.tail == Link::START && self.since_checkpoint == Growth::default()
    }

    /// Where in the chain the document stands.
    fn link_at(&self, document: &Document) -> Result<Link, JournalError> {
        let revision = document.revision;
        if revision == self.tail.revision {
            return Ok(self.tail);
        }
        if self.is_empty() {
            return Ok(Link { revision, ..Link::START });
        }
        let older_than_checkpoint: bool = self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM checkpoint WHERE revision > ?1)",
            [to_sql(revision.0)?],
            |row| row.get(0),
        )?;
        let found = self
            .connection
            .query_row(
                "SELECT revision, hash FROM operations WHERE revision = ?1",
                [to_sql(revision.0)?],
                |row| Link::from_columns(row, 0, 1),
            )
            .optional()?;
        // The state before the oldest kept operation has its place in the chain as well.
        let anchor = Some(self.anchor()?).filter(|anchor| anchor.revision == revision);
        found.or(anchor).filter(|_| !older_than_checkpoint).ok_or(JournalError::NotKept { revision })
    }

    /// The log has grown by the checkpoint; a failure costs disk space and nothing else.
    fn cut_log_back(&self) {
        let cut = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = cut {
            tracing::debug!(%error, "the journal's log was not cut back");
        }
    }
}

/// The chain of what is kept hangs on the newest operation that is not.
fn move_anchor(transaction: &Transaction<'_>, checkpoint: Link, let_go: u64) -> Result<(), JournalError> {
    let newest_let_go = transaction
        .query_row(
            "SELECT revision, hash FROM operations WHERE revision <= ?1 ORDER BY revision DESC LIMIT 1",
            [to_sql(let_go)?],
            |row| Link::from_columns(row, 0, 1),
        )
        .optional()?;
    let any_kept: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM operations WHERE revision > ?1)",
        [to_sql(let_go)?],
        |row| row.get(0),
    )?;
    // With no operation left, what comes next hangs on the checkpoint.
    let anchor = newest_let_go.or((!any_kept).then_some(checkpoint));
    if let Some(anchor) = anchor {
        transaction.execute(
            "INSERT OR REPLACE INTO anchor (only, revision, hash) VALUES (1, ?1, ?2)",
            (to_sql(anchor.revision.0)?, anchor.hash),
        )?;
    }
    Ok(())
}
