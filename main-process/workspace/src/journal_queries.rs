//! Queries of the journal: the log of operations, their origins, and the audit.

use super::{error::storage, group::patch, storage::WorkspaceStorage};
use shared_protocol::{
    Refusal, RefusalCode, Revision,
    messages::{MAX_REQUESTED_OPERATIONS, OperationLogEntry, Patch},
    review::{AuditLine, ProposalOfOperation},
};

/// Operations in one answer. A client that is further behind reads everything again.
const MAX_CHANGES: usize = 1_000;
const MAX_LOG_ENTRIES: usize = 10_000;

impl WorkspaceStorage {
    pub(super) fn log(&self, limit: usize) -> Result<Vec<OperationLogEntry>, Refusal> {
        let entries = self.journal.log(limit.min(MAX_LOG_ENTRIES)).map_err(|error| storage(&error))?;
        Ok(entries.into_iter().map(log_entry).collect())
    }

    /// Some operations of the log. Operations that are no longer kept are left out.
    pub(super) fn operations(&self, revisions: &[Revision]) -> Result<Vec<OperationLogEntry>, Refusal> {
        if revisions.len() > MAX_REQUESTED_OPERATIONS {
            let message = format!(
                "{} operations exceed the limit of {MAX_REQUESTED_OPERATIONS} per request",
                revisions.len()
            );
            return Err(Refusal::new(RefusalCode::LimitExceeded, message)
                .hint("Request fewer operations, or read the log."));
        }
        let found = revisions.iter().filter_map(|revision| self.journal.journal_entry(*revision).transpose());
        found.map(|entry| entry.map(log_entry).map_err(|error| storage(&error))).collect()
    }

    /// The changes after a revision; `None` when they are no longer kept.
    pub(super) fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        let operations =
            self.journal.operations_since(revision, MAX_CHANGES).map_err(|error| storage(&error))?;
        Ok(operations.map(|operations| operations.into_iter().map(patch).collect()))
    }

    /// The proposals that operations came from. Operations without one are left out.
    pub(super) fn origins(&self, revisions: &[Revision]) -> Result<Vec<ProposalOfOperation>, Refusal> {
        if revisions.len() > MAX_REQUESTED_OPERATIONS {
            return Err(Refusal::new(RefusalCode::LimitExceeded, "too many operations at once"));
        }
        let found = revisions.iter().filter_map(|revision| self.journal.origin(*revision).transpose());
        found.map(|origin| origin.map_err(|error| storage(&error))).collect()
    }

    pub(super) fn audit(&self, after: u64, limit: u32) -> Result<Vec<AuditLine>, Refusal> {
        self.journal.audit(after, limit).map_err(|error| storage(&error))
    }
}

fn log_entry(entry: journal::JournalEntry) -> OperationLogEntry {
    OperationLogEntry {
        revision: entry.revision,
        time: entry.time,
        actor: entry.actor,
        kind: entry.kind,
        summary: entry.summary,
        changes: entry.change_count as u64,
    }
}
