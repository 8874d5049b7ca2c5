//! Putting changes onto a state they were not made on: for undo, for reverting an older operation, for external edits.

use crate::{ApplyError, Snapshot};
use shared_protocol::{BoardId, Change, Code, Refusal};
use std::collections::BTreeSet;

/// Changes that fit the present state, and those that do not.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebased {
    pub fitting: Vec<Change>,
    pub conflicts: Vec<(Change, ApplyError)>,
}

/// Tries each change in turn; one that meets something else than it expects is a conflict and left out.
pub fn rebase(snapshot: &Snapshot, changes: &[Change]) -> Rebased {
    let mut state = snapshot.clone();
    let mut rebased = Rebased { fitting: Vec::new(), conflicts: Vec::new() };
    for change in changes {
        match state.apply_change(change) {
            Ok(()) => rebased.fitting.push(change.clone()),
            // Already as it should be, whoever did it.
            Err(_) if is_done(&state, change) => {}
            Err(error) => rebased.conflicts.push((change.clone(), error)),
        }
    }
    rebased
}

fn is_done(state: &Snapshot, change: &Change) -> bool {
    let same = Change::inverted(change);
    state.clone().apply_change(&same).is_ok()
}

impl Rebased {
    /// All of it, or a refusal that names what stands in the way.
    pub fn all(self, what: &str) -> Result<Vec<Change>, Refusal> {
        if self.conflicts.is_empty() {
            return Ok(self.fitting);
        }
        let shown: Vec<String> = self.conflicts.iter().take(5).map(|(_, error)| error.to_string()).collect();
        let more = self.conflicts.len().saturating_sub(shown.len());
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let message = format!("{what} is in conflict with later work: {}{more}", shown.join("; "));
        let refusal = Refusal::new(Code::Conflict, message);
        Err(if self.fitting.is_empty() {
            refusal
        } else {
            let count = self.fitting.len();
            let total = count + self.conflicts.len();
            refusal.hint(format!(
                "{count} of {total} changes can be reverted: ask for a partial revert to do so."
            ))
        })
    }
}

/// The boards whose content these changes touch, judged by the state before or after them.
pub fn boards_touched<'a>(
    snapshot: &Snapshot,
    changes: impl IntoIterator<Item = &'a Change>,
) -> BTreeSet<BoardId> {
    let mut boards = BTreeSet::new();
    let of_node = |id| snapshot.node(id).map(|node| node.board);
    for change in changes {
        match change {
            Change::Board { id, .. } => drop(boards.insert(*id)),
            Change::Node { before, after, .. } => {
                boards.extend(before.iter().chain(after).map(|node| node.board));
            }
            Change::Edge { before, after, .. } => {
                boards.extend(before.iter().chain(after).map(|edge| edge.board));
            }
            Change::Name { node, .. }
            | Change::Label { node, .. }
            | Change::Parent { node, .. }
            | Change::Prop { node, .. }
            | Change::References { node, .. }
            | Change::Placement { node, .. } => boards.extend(of_node(*node)),
        }
    }
    boards
}
