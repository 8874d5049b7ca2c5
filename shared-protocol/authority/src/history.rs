//! What can be undone and redone. Undo is a new operation; the history is read off the operations, so it survives a
//! restart.

use shared_protocol::{OperationKind, Revision, limits::MAX_HISTORY};
use std::collections::VecDeque;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Operations that undo would take back, newest last.
    undo: VecDeque<Revision>,
    /// Undo operations that redo would take back, newest last.
    redo: VecDeque<Revision>,
}

impl History {
    /// Read off the operations that are kept, oldest first.
    pub fn of(operations: impl IntoIterator<Item = (Revision, OperationKind)>) -> Self {
        let mut history = Self::default();
        for (revision, kind) in operations {
            history.record(revision, kind);
        }
        history
    }

    pub fn record(&mut self, revision: Revision, kind: OperationKind) {
        match kind {
            OperationKind::Edit | OperationKind::Revert(_) => {
                self.redo.clear();
                self.undo.push_back(revision);
            }
            OperationKind::Undo(of) => {
                // After compaction the undone operation may be older than what is kept.
                if self.undo.back() == Some(&of) {
                    self.undo.pop_back();
                }
                self.redo.push_back(revision);
            }
            OperationKind::Redo(of) => {
                if self.redo.back() == Some(&of) {
                    self.redo.pop_back();
                }
                self.undo.push_back(revision);
            }
        }
        for stack in [&mut self.undo, &mut self.redo] {
            if stack.len() > MAX_HISTORY {
                stack.pop_front();
            }
        }
    }

    /// The operation whose inverse undo applies.
    pub fn to_undo(&self) -> Option<Revision> {
        self.undo.back().copied()
    }

    /// The operation whose inverse redo applies.
    pub fn to_redo(&self) -> Option<Revision> {
        self.redo.back().copied()
    }
}
