//! Compaction: replaces operations with a checkpoint, except for the newest, which are kept for undo.

use super::{Durability, Journal, JournalGrowth, chain::HashChainLink, to_sql};
use crate::{Digest, JournalError};
use rusqlite::{OptionalExtension as _, Transaction};
use shared_protocol::GraphDocument;

/// Thresholds since the checkpoint above which the next start becomes slow.
const COMPACT_AFTER_OPERATIONS: u64 = 5_000;
const COMPACT_AFTER_BYTES: u64 = 64 * 1024 * 1024;

impl Journal {
    /// Returns whether enough operations were added since the last checkpoint.
    pub fn should_compact(&self) -> bool {
        self.since_checkpoint.operations > COMPACT_AFTER_OPERATIONS
            || self.since_checkpoint.bytes > COMPACT_AFTER_BYTES
    }

    /// Stores `document` as the state at its revision and deletes the operations up to that revision, except the
    /// newest `keep_operations` of the journal. One transaction: a failure changes nothing.
    ///
    /// The journal must contain the revision, and it must not be older than the previous checkpoint. An empty
    /// journal accepts any revision and continues from there.
    pub fn checkpoint(
        &mut self,
        document: &GraphDocument,
        keep_operations: usize,
    ) -> Result<(), JournalError> {
        self.check_consistency()?;
        let link = self.chain_link_at(document)?;
        let text = serde_json::to_string(document)
            .map_err(|error| JournalError::unstorable("the checkpoint", error))?;
        let newest = self.tail.revision.max(link.revision);
        let let_go = link.revision.0.min(newest.0.saturating_sub(keep_operations as u64));
        self.in_transaction(Durability::Durable, |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO checkpoint (only, revision, chain_hash, document_hash, document) VALUES (1, ?1, ?2, ?3, ?4)",
                (to_sql(link.revision.0)?, link.hash, Digest::hash(text.as_bytes()), &text),
            )?;
            move_anchor(transaction, link, let_go)?;
            transaction.execute("DELETE FROM operations WHERE revision <= ?1", [to_sql(let_go)?])?;
            Ok(())
        })?;
        self.reload_end();
        self.truncate_wal();
        self.check_after_write()
    }

    fn is_empty(&self) -> bool {
        self.tail == HashChainLink::START && self.since_checkpoint == JournalGrowth::default()
    }

    /// Returns the chain link at the revision of the document.
    fn chain_link_at(&self, document: &GraphDocument) -> Result<HashChainLink, JournalError> {
        let revision = document.revision;
        if revision == self.tail.revision {
            return Ok(self.tail);
        }
        if self.is_empty() {
            return Ok(HashChainLink { revision, ..HashChainLink::START });
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
                |row| HashChainLink::from_columns(row, 0, 1),
            )
            .optional()?;
        // The state before the oldest kept operation also has a link in the chain.
        let anchor = Some(self.anchor()?).filter(|anchor| anchor.revision == revision);
        found.or(anchor).filter(|_| !older_than_checkpoint).ok_or(JournalError::NotKept { revision })
    }

    /// Truncates the log, which grew by the checkpoint. A failure costs only disk space.
    fn truncate_wal(&self) {
        let cut = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = cut {
            tracing::debug!(%error, "cannot truncate the log of the journal");
        }
    }
}

/// Anchors the kept operations at the newest deleted one.
fn move_anchor(
    transaction: &Transaction<'_>,
    checkpoint: HashChainLink,
    let_go: u64,
) -> Result<(), JournalError> {
    let newest_let_go = transaction
        .query_row(
            "SELECT revision, hash FROM operations WHERE revision <= ?1 ORDER BY revision DESC LIMIT 1",
            [to_sql(let_go)?],
            |row| HashChainLink::from_columns(row, 0, 1),
        )
        .optional()?;
    let any_kept: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM operations WHERE revision > ?1)",
        [to_sql(let_go)?],
        |row| row.get(0),
    )?;
    // Without kept operations, the next operation follows the checkpoint.
    let anchor = newest_let_go.or((!any_kept).then_some(checkpoint));
    if let Some(anchor) = anchor {
        transaction.execute(
            "INSERT OR REPLACE INTO anchor (only, revision, hash) VALUES (1, ?1, ?2)",
            (to_sql(anchor.revision.0)?, anchor.hash),
        )?;
    }
    Ok(())
}
