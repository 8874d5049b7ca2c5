//! The check of the kept operations and the checkpoint against their hashes. It reads everything, page by page, so that
//! a writer can handle other messages in between.

use super::{
    Journal,
    chain::HashChainLink,
    row::{OPERATION_COLUMNS, OperationRow},
    to_sql,
};
use crate::{Digest, JournalError};
use rusqlite::OptionalExtension as _;
use shared_protocol::Revision;

/// Findings in one check; the rest would say the same.
const MAX_FINDINGS: usize = 100;
/// Operations in one page of [`Journal::verify`].
const PAGE_OPERATIONS: u32 = 1_000;

/// The range of kept operations whose hash chain was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedHashChain {
    /// The oldest kept operation; one after `last` when there is none.
    pub first: Revision,
    pub last: Revision,
    pub count: u64,
}

/// A check of the operations, as far as it has come.
#[derive(Debug, Clone)]
pub struct ChainCheck {
    link: HashChainLink,
    first: Revision,
    count: u64,
    /// The revision and the problem of each operation that was changed or removed.
    pub findings: Vec<(Revision, String)>,
    pub is_done: bool,
}

impl ChainCheck {
    pub fn chain(&self) -> VerifiedHashChain {
        VerifiedHashChain { first: self.first, last: self.link.revision, count: self.count }
    }

    fn find(&mut self, revision: Revision, problem: impl Into<String>) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push((revision, problem.into()));
        }
    }

    fn follow(&mut self, row: &OperationRow, checkpoint: Option<HashChainLink>) {
        match self.link.next_link(row) {
            Ok(link) => self.link = link,
            Err((revision, problem)) => {
                self.find(revision, problem);
                // The rest is compared with what the row says, so that each change is found on its own.
                self.link = HashChainLink { revision: row.revision, hash: row.hash };
            }
        }
        self.compare(checkpoint);
        if let Err(JournalError::Damaged { revision, problem, .. }) = row.decode() {
            self.find(revision, problem);
        }
        self.count += 1;
    }

    /// Checks that the chain and the checkpoint agree at the revision of the checkpoint.
    fn compare(&mut self, checkpoint: Option<HashChainLink>) {
        if checkpoint.is_some_and(|found| found.revision == self.link.revision && found != self.link) {
            self.find(self.link.revision, "the checkpoint does not match the operations around it");
        }
    }
}

impl Journal {
    /// Goes on with a check by at most `most` operations; `None` begins one.
    pub fn check_operations(&self, check: Option<ChainCheck>, most: u32) -> Result<ChainCheck, JournalError> {
        let anchor = self.anchor()?;
        let (checkpoint, damaged) = match self.read_checkpoint() {
            Ok(found) => (found.map(|(_, link)| link), None),
            Err(JournalError::Damaged { revision, problem, .. }) => (None, Some((revision, problem))),
            Err(error) => return Err(error),
        };
        let mut check = check.unwrap_or_else(|| {
            let findings = damaged.into_iter().collect();
            let first = anchor.revision.next();
            let mut check = ChainCheck { link: anchor, first, count: 0, findings, is_done: false };
            check.compare(checkpoint);
            check
        });
        if check.link.revision < anchor.revision {
            // Operations were compacted between two pages.
            check.link = anchor;
        }
        let sql = format!(
            "SELECT {OPERATION_COLUMNS} FROM operations WHERE revision > ?1 ORDER BY revision LIMIT ?2"
        );
        let mut select = self.connection.prepare_cached(&sql)?;
        let mut rows = select.query((to_sql(check.link.revision.0)?, most))?;
        let mut read = 0;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => OperationRow::from_sql(row),
                Ok(None) => break,
                Err(error) if JournalError::is_corruption(&error) => {
                    Err(JournalError::damaged_at(check.link.revision.next(), error.to_string()))
                }
                Err(error) => return Err(error.into()),
            };
            match row {
                Ok(row) => check.follow(&row, checkpoint),
                Err(JournalError::Damaged { revision, problem, .. }) => {
                    // Nothing after it can be compared.
                    check.find(revision, problem);
                    check.is_done = true;
                    return Ok(check);
                }
                Err(error) => return Err(error),
            }
            read += 1;
        }
        check.is_done = read < most;
        if let Some(checkpoint) =
            checkpoint.filter(|found| check.is_done && found.revision > check.link.revision)
        {
            let problem = format!("it is missing; the checkpoint is of revision {}", checkpoint.revision);
            check.find(check.link.revision.next(), problem);
        }
        Ok(check)
    }

    /// Checks every kept operation and the checkpoint at once. The error names the first finding.
    pub fn verify(&self) -> Result<VerifiedHashChain, JournalError> {
        let mut check = self.check_operations(None, PAGE_OPERATIONS)?;
        while !check.is_done {
            check = self.check_operations(Some(check), PAGE_OPERATIONS)?;
        }
        match check.findings.first() {
            None => Ok(check.chain()),
            Some((revision, problem)) => Err(JournalError::damaged_at(*revision, problem.clone())),
        }
    }

    /// Returns the revision and the hash of the newest operation.
    pub fn operation_head(&self) -> (Revision, String) {
        (self.tail.revision, self.tail.hash.to_string())
    }

    /// Returns the hash that the chain has at a revision; `None` when the operation is no longer kept.
    pub fn operation_hash(&self, revision: Revision) -> Result<Option<String>, JournalError> {
        let sql = "SELECT hash FROM operations WHERE revision = ?1
            UNION ALL SELECT chain_hash FROM checkpoint WHERE revision = ?1
            UNION ALL SELECT hash FROM anchor WHERE revision = ?1 LIMIT 1";
        let mut select = self.connection.prepare_cached(sql)?;
        let hash: Option<Digest> = select.query_row([to_sql(revision.0)?], |row| row.get(0)).optional()?;
        Ok(hash.map(|hash| hash.to_string()))
    }
}
