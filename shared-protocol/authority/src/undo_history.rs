//! The undo and redo stacks.
//!
//! An undo never rewrites the journal: it appends the inverse of an earlier operation as a new operation, and so does a
//! redo. The journal is the only thing that is stored. The stacks are derived from the kinds of its operations, so they
//! survive a restart: [`UndoHistory::from_operations`] replays the journal, and [`UndoHistory::record`] follows each new operation.
//!
//! Both stacks hold revisions, newest last:
//!
//! - `undo` holds the operations whose inverse the next undo applies: edits, reverts and redos.
//! - `redo` holds the *undo operations* whose inverse the next redo applies, not the operations that they undid. Undo
//!   and redo are then the same step, "append the inverse of the operation on top", and a redo restores exactly the
//!   changes of the undo, which may be fewer than those of the first operation: a rebase can leave out a move (see
//!   `rebase.rs`).
//!
//! # Example
//!
//! ```text
//!     operation          appended as       undo       redo
//! 1.  add `net`          r1 Edit           [1]        []
//! 2.  add `a`            r2 Edit           [1 2]      []
//! 3.  undo               r3 Undo(2)        [1]        [3]
//! 4.  undo               r4 Undo(1)        []         [3 4]
//! 5.  redo               r5 Redo(4)        [5]        [3]
//! 6.  add `files`        r6 Edit           [5 6]      []
//! 7.  undo               r7 Undo(6)        [5]        [7]
//! 8.  undo               r8 Undo(5)        []         [7 8]
//! ```
//!
//! The journal afterwards; each arrow leads to the operation whose inverse was applied:
//!
//! ```text
//! r8  undo  ───────────────┐   removes `net` again
//! r7  undo  ───────────┐   │   removes `files`
//! r6  add `files`  <───┘   │   clears the redo stack
//! r5  redo  ───────────┐ <─┘   adds `net` again
//! r4  undo  ───────┐ <─┘       removes `net`
//! r3  undo  ───┐   │           removes `a`
//! r2  add `a` <┘   │
//! r1  add `net` <──┘
//! ```
//!
//! - Step 5 applies the inverse of r4, not r1 again. Its own revision goes onto the undo stack, so step 8 undoes r5. r1
//!   to r4 stay in the journal, but the stack jumps over them: an undo never undoes an undo.
//! - Step 6 clears the redo stack: r3 was made for a state without `files`. `a` can no longer be redone, but a revert
//!   of r3 still brings it back, because a revert names any operation that the journal keeps.
//! - A revert counts as an edit: it clears the redo stack, and the next undo takes the revert back.
//!
//! # A journal that starts later
//!
//! Compaction drops the oldest operations. If the journal above starts at r3, its replay meets `Undo(2)` with an empty
//! undo stack. r2 is not on top, so nothing is popped, and r3 still goes onto the redo stack: r3 itself is kept, so its
//! inverse is known. That is why `record` compares the top of the stack before it pops.

use shared_protocol::{OperationKind, Revision, limits::MAX_HISTORY_OPERATIONS};
use std::collections::VecDeque;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoHistory {
    /// Operations whose inverse an undo applies, newest last.
    undo: VecDeque<Revision>,
    /// Undo operations whose inverse a redo applies, newest last.
    redo: VecDeque<Revision>,
}

impl UndoHistory {
    /// Derives the stacks from the kept operations, oldest first.
    pub fn from_operations(operations: impl IntoIterator<Item = (Revision, OperationKind)>) -> Self {
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
                // After compaction the undone operation may be older than the journal.
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
            if stack.len() > MAX_HISTORY_OPERATIONS {
                stack.pop_front();
            }
        }
    }

    /// Returns the operation whose inverse the next undo applies.
    pub fn next_undo(&self) -> Option<Revision> {
        self.undo.back().copied()
    }

    /// Returns the operation whose inverse the next redo applies.
    pub fn next_redo(&self) -> Option<Revision> {
        self.redo.back().copied()
    }
}
