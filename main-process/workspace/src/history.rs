//! The operations that undo and redo may name.

use super::notices::{NoticeTopic, WorkspaceNotices};
use authority::UndoHistory;
use journal::Journal;
use shared_protocol::{Operation, Revision, limits::MAX_HISTORY_OPERATIONS};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct OperationHistory {
    pub(super) order: UndoHistory,
    summaries: BTreeMap<Revision, String>,
}

impl OperationHistory {
    pub(super) fn load(journal: &Journal, notices: &mut WorkspaceNotices) -> Self {
        let log = journal.log(MAX_HISTORY_OPERATIONS).unwrap_or_else(|error| {
            notices.set(NoticeTopic::UndoHistory, format!("Earlier changes cannot be undone: {error}"));
            Vec::new()
        });
        let order = UndoHistory::from_operations(log.iter().rev().map(|entry| (entry.revision, entry.kind)));
        let summaries = log.into_iter().map(|entry| (entry.revision, entry.summary)).collect();
        Self { order, summaries }
    }

    pub(super) fn record(&mut self, operations: &[Operation], order: UndoHistory) {
        self.order = order;
        let recorded = operations.iter().map(|operation| (operation.revision, operation.summary.clone()));
        self.summaries.extend(recorded);
        while self.summaries.len() > MAX_HISTORY_OPERATIONS {
            self.summaries.pop_first();
        }
    }

    pub(super) fn undo_summary(&self) -> Option<String> {
        self.summary(self.order.next_undo())
    }

    pub(super) fn redo_summary(&self) -> Option<String> {
        self.summary(self.order.next_redo())
    }

    fn summary(&self, revision: Option<Revision>) -> Option<String> {
        self.summaries.get(&revision?).map(|summary| without_prefix(summary).to_owned())
    }
}

/// A summary without the prefixes of undo and redo, which would pile up.
pub(super) fn without_prefix(summary: &str) -> &str {
    summary.strip_prefix("Undo: ").or_else(|| summary.strip_prefix("Redo: ")).unwrap_or(summary)
}
