//! Storage of the review queue: proposals, and the proposal that each operation came from. Written in one
//! transaction with the operations that belong to it. Standing approvals are not stored here, because a journal
//! travels with its workspace.

use super::{AuditSigner, Durability, Journal, audit::LatestAuditLine, to_sql};
use crate::JournalError;
use rusqlite::{Connection, OptionalExtension as _, Transaction};
use shared_protocol::{
    Change, Proposal, ProposalId, Revision,
    review::{AuditEntry, ProposalOfOperation},
};

/// The end of the queue and of the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReviewTail {
    stamp: u64,
    audit: LatestAuditLine,
}

impl ReviewTail {
    pub(super) const START: Self = Self { stamp: 0, audit: LatestAuditLine::START };

    pub(super) fn audit(&self) -> LatestAuditLine {
        self.audit
    }

    pub(super) fn read(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let stamp: i64 = connection.query_row("SELECT stamp FROM review", [], |row| row.get(0))?;
        Ok(Self { stamp: u64::try_from(stamp).unwrap_or(0), audit: LatestAuditLine::read(connection)? })
    }
}

/// Changes of the review queue to write.
#[derive(Debug, Default)]
pub struct ReviewWrite<'a> {
    /// The stamp after this write; higher than that of every earlier write.
    pub stamp: u64,
    pub proposals: Vec<ProposalWrite<'a>>,
    pub forgotten: Vec<ProposalId>,
    pub origins: Vec<ProposalOfOperation>,
    pub audit: Vec<AuditEntry>,
    /// Signs the lines of the audit.
    pub signer: Option<&'a dyn AuditSigner>,
}

/// A proposal to write, with the known state of its row.
#[derive(Debug)]
pub struct ProposalWrite<'a> {
    pub proposal: &'a Proposal,
    pub stamp: u64,
    /// The expected stamp of the row to replace; `None` for a new proposal.
    pub base_revision: Option<u64>,
    /// The number of leading changes that the row already has; `None` when all must be rewritten.
    pub unchanged_prefix: Option<usize>,
}

/// The stored review queue.
#[derive(Debug, Default)]
pub struct StoredReview {
    pub stamp: u64,
    pub proposals: Vec<StoredProposal>,
    /// Descriptions of rows that could not be read.
    pub unreadable: Vec<String>,
}

/// A stored proposal with the stamp of its row.
#[derive(Debug)]
pub struct StoredProposal {
    pub proposal: Proposal,
    pub stamp: u64,
}

impl ReviewWrite<'_> {
    pub fn is_empty(&self) -> bool {
        let Self { stamp: _, proposals, forgotten, origins, audit, signer: _ } = self;
        proposals.is_empty() && forgotten.is_empty() && origins.is_empty() && audit.is_empty()
    }

    pub(super) fn write(
        &self,
        transaction: &Transaction<'_>,
        end: ReviewTail,
        journal: &str,
    ) -> Result<ReviewTail, JournalError> {
        if self.is_empty() {
            return Ok(end);
        }
        for written in &self.proposals {
            written.write(transaction)?;
        }
        for id in &self.forgotten {
            transaction.execute("DELETE FROM proposals WHERE id = ?1", [to_sql(id.bits())?])?;
        }
        for origin in &self.origins {
            transaction.execute(
                "INSERT INTO origins (revision, origin) VALUES (?1, ?2)",
                (to_sql(origin.revision.0)?, json("the origin", origin)?),
            )?;
        }
        transaction.execute("UPDATE review SET stamp = ?1", [to_sql(self.stamp)?])?;
        let audit = end.audit.append(transaction, &self.audit, (journal, self.signer))?;
        Ok(ReviewTail { stamp: self.stamp, audit })
    }

    /// Restores this complete queue in a database where every write after `end` was refused.
    pub(super) fn restore(
        &self,
        transaction: &Transaction<'_>,
        end: ReviewTail,
    ) -> Result<ReviewTail, JournalError> {
        transaction.execute("DELETE FROM proposals WHERE stamp > ?1", [to_sql(end.stamp)?])?;
        let mut is_there = transaction.prepare("SELECT 1 FROM proposals WHERE id = ?1")?;
        for written in &self.proposals {
            if !is_there.exists([to_sql(written.proposal.id.bits())?])? {
                written.write(transaction)?;
            }
        }
        transaction.execute("UPDATE review SET stamp = ?1", [to_sql(self.stamp)?])?;
        end.audit.roll_back(transaction)?;
        Ok(ReviewTail { stamp: self.stamp, audit: end.audit })
    }
}

impl ProposalWrite<'_> {
    fn write(&self, transaction: &Transaction<'_>) -> Result<(), JournalError> {
        let Self { proposal, stamp, base_revision: over, unchanged_prefix: kept } = self;
        let id = to_sql(proposal.id.bits())?;
        let head = json("the proposal", &proposal.without_changes())?;
        let rows = match over {
            None => transaction
                .prepare_cached("INSERT INTO proposals (id, stamp, head) VALUES (?1, ?2, ?3)")?
                .execute((id, to_sql(*stamp)?, head))?,
            Some(over) => transaction
                .prepare_cached("UPDATE proposals SET stamp = ?2, head = ?3 WHERE id = ?1 AND stamp = ?4")?
                .execute((id, to_sql(*stamp)?, head, to_sql(*over)?))?,
        };
        if rows != 1 {
            return Err(JournalError::AnotherProposal { proposal: proposal.id });
        }
        let from = match kept {
            Some(kept) => *kept,
            None => {
                transaction
                    .prepare_cached("DELETE FROM proposal_changes WHERE proposal = ?1")?
                    .execute([id])?;
                0
            }
        };
        let added = proposal.changes.get(from..).unwrap_or_default();
        if !added.is_empty() {
            transaction
                .prepare_cached("INSERT INTO proposal_changes (proposal, part, changes) VALUES (?1, ?2, ?3)")?
                .execute((id, to_sql(*stamp)?, json("the changes", added)?))?;
        }
        Ok(())
    }
}

fn json<T: serde::Serialize + ?Sized>(what: &'static str, value: &T) -> Result<String, JournalError> {
    serde_json::to_string(value).map_err(|error| JournalError::unstorable(what, error))
}

impl Journal {
    /// Returns the stamp of the newest durable write to the queue.
    pub fn review_stamp(&self) -> u64 {
        self.review.stamp
    }

    /// Removes standing approvals that an earlier version or another program stored in this journal. Returns their
    /// number; a value that is not a list counts as one.
    pub fn drop_stored_approvals(&mut self) -> Result<usize, JournalError> {
        let text: String = self.connection.query_row("SELECT approvals FROM review", [], |row| row.get(0))?;
        let count = serde_json::from_str::<Vec<serde::de::IgnoredAny>>(&text).map_or(1, |list| list.len());
        if count > 0 {
            self.in_transaction(Durability::Durable, |transaction| {
                transaction.execute("UPDATE review SET approvals = '[]'", [])?;
                Ok(())
            })?;
        }
        Ok(count)
    }

    /// Returns the stored queue. Skips rows that do not decode and lists them.
    pub fn review(&self) -> Result<StoredReview, JournalError> {
        let mut kept = StoredReview { stamp: self.review.stamp, ..StoredReview::default() };
        let mut select = self.connection.prepare("SELECT id, stamp, head FROM proposals ORDER BY id")?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for row in rows {
            let (id, stamp, head): (i64, i64, String) = row?;
            match self.proposal(id, &head) {
                Ok(proposal) => {
                    kept.proposals
                        .push(StoredProposal { proposal, stamp: u64::try_from(stamp).unwrap_or(0) });
                }
                Err(error) => kept.unreadable.push(format!("proposal {id}: {error}")),
            }
        }
        Ok(kept)
    }

    fn proposal(&self, id: i64, head: &str) -> Result<Proposal, JournalError> {
        let unreadable = |error: serde_json::Error| JournalError::unstorable("a proposal", error);
        let mut proposal: Proposal = serde_json::from_str(head).map_err(unreadable)?;
        let mut select = self
            .connection
            .prepare_cached("SELECT changes FROM proposal_changes WHERE proposal = ?1 ORDER BY part")?;
        let parts = select.query_map([id], |row| row.get::<_, String>(0))?;
        for part in parts {
            let changes: Vec<Change> = serde_json::from_str(&part?).map_err(unreadable)?;
            proposal.changes.extend(changes);
        }
        Ok(proposal)
    }

    /// Returns every proposal without its changes. Skips rows that do not decode: [`Self::review`] lists them.
    pub fn proposal_heads(&self) -> Result<Vec<Proposal>, JournalError> {
        let mut select = self.connection.prepare("SELECT head FROM proposals ORDER BY id")?;
        let heads = select.query_map([], |row| row.get::<_, String>(0))?;
        heads
            .filter_map(|head| head.map(|head| serde_json::from_str(&head).ok()).transpose())
            .map(|head| head.map_err(JournalError::from))
            .collect()
    }

    /// Returns up to `most` origins of operations after a revision, oldest first. Skips rows that do not decode.
    pub fn origins_after(
        &self,
        revision: Revision,
        most: u32,
    ) -> Result<Vec<ProposalOfOperation>, JournalError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT origin FROM origins WHERE revision > ?1 ORDER BY revision LIMIT ?2")?;
        let rows = select.query_map((to_sql(revision.0)?, most), |row| row.get::<_, String>(0))?;
        rows.filter_map(|text| text.map(|text| serde_json::from_str(&text).ok()).transpose())
            .map(|origin| origin.map_err(JournalError::from))
            .collect()
    }

    /// Returns the proposal that an operation came from.
    pub fn origin(&self, revision: Revision) -> Result<Option<ProposalOfOperation>, JournalError> {
        let mut select = self.connection.prepare_cached("SELECT origin FROM origins WHERE revision = ?1")?;
        let text: Option<String> = select.query_row([to_sql(revision.0)?], |row| row.get(0)).optional()?;
        text.map(|text| {
            serde_json::from_str(&text).map_err(|error| JournalError::damaged_at(revision, error.to_string()))
        })
        .transpose()
    }
}
