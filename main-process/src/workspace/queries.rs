//! What can be asked of a workspace without changing it.

use super::{Workspace, error::storage, group::patch};
use authority::Problems;
use shared_protocol::{
    Refusal, Revision,
    messages::{LogEntry, Patch, Problem},
};

/// Operations given in one answer; a client that is further behind reads everything again.
const MAX_CHANGES: usize = 1_000;
const MAX_LOG: usize = 10_000;

impl Workspace {
    pub fn log(&self, limit: usize) -> Result<Vec<LogEntry>, Refusal> {
        let entries = self.journal.log(limit.min(MAX_LOG)).map_err(|error| storage(&error))?;
        let entry = |entry: journal::LogEntry| LogEntry {
            revision: entry.revision,
            time: entry.time,
            actor: entry.actor,
            kind: entry.kind,
            summary: entry.summary,
            changes: entry.change_count as u64,
        };
        Ok(entries.into_iter().map(entry).collect())
    }

    /// What changed after a revision, or nothing when that is no longer kept.
    pub fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        let operations = self.journal.since(revision, MAX_CHANGES).map_err(|error| storage(&error))?;
        Ok(operations.map(|operations| operations.into_iter().map(patch).collect()))
    }

    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Problems::of(&self.snapshot).iter().cloned().collect();
        problems.sort();
        problems
    }
}
