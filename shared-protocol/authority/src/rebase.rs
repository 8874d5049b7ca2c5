//! Rebase: applying changes to a state that they were not made for. Undo, revert, imports, external edits and proposals
//! use it. The rebase of a whole proposal builds on it: see `proposals/refit.rs`.
//!
//! Each change carries the value `before` and `after`, so three outcomes are possible on another state:
//!
//! ```text
//! state == before   the change applies            fitting
//! state == after    it is already applied         dropped silently
//! otherwise         the state was changed since   conflict
//! ```
//!
//! Changes are tried in order on a scratch copy, so a later change sees the earlier ones. A conflict does not stop the
//! rebase; the caller decides with [`RebaseResult::require_complete`] whether the rest is of use.
//!
//! # Example: a node that cannot be removed
//!
//! ```text
//! r1  add `net`          Node net: none → net, Placement net: none → P1, Prop net.cidr_block: none → 10.1.0.0/16
//! r2  add `a` in `net`   Node a: none → a, …
//! ```
//!
//! Reverting r1 applies its changes inverted, last first. `net` still contains `a`, so its removal conflicts:
//!
//! ```text
//!                                             first pass                 second pass
//! 1.  Prop      net.cidr_block: 10.1… → none  fits                       left out: part of `net`
//! 2.  Placement net: P1 → none                fits                       left out: part of `net`
//! 3.  Node      net: net → none               conflict: `a` is in it     conflict
//!                                             staying = {net}: repeat    staying = {net}: done
//! ```
//!
//! Without the second pass the revert would leave `net` on the board without its value and its place. The loop ends
//! because `staying` only grows and holds nodes of the given changes only.

use crate::{ApplyError, Snapshot, proposals::describe_conflict};
use shared_protocol::{BoardId, Change, NodeId, Refusal, RefusalCode};
use std::collections::BTreeSet;

/// The changes that apply to the current state, and those that conflict with it.
#[derive(Debug, Clone, PartialEq)]
pub struct RebaseResult {
    pub fitting: Vec<Change>,
    pub conflicts: Vec<(Change, ApplyError)>,
}

/// Tries each change in order; a conflicting change is left out. A node whose removal conflicts stays as it is: all
/// other changes of that node are left out too.
pub fn rebase(snapshot: &Snapshot, changes: &[Change]) -> RebaseResult {
    let mut staying = BTreeSet::new();
    loop {
        let rebased = rebase_without(snapshot, changes, &staying);
        let known = staying.len();
        staying.extend(rebased.conflicts.iter().filter_map(|(change, _)| match change {
            Change::Node { id, after: None, .. } => Some(*id),
            _ => None,
        }));
        if staying.len() == known {
            return rebased;
        }
    }
}

fn rebase_without(snapshot: &Snapshot, changes: &[Change], staying: &BTreeSet<NodeId>) -> RebaseResult {
    let mut state = snapshot.clone();
    let mut rebased = RebaseResult { fitting: Vec::new(), conflicts: Vec::new() };
    for change in changes {
        if partially_changed_node(change).is_some_and(|node| staying.contains(&node)) {
            continue;
        }
        match state.apply_change(change) {
            Ok(()) => rebased.fitting.push(change.clone()),
            // Already applied, by this or another change.
            Err(_) if is_already_applied(&state, change) => {}
            Err(error) => rebased.conflicts.push((change.clone(), error)),
        }
    }
    rebased
}

/// Returns the node of a change that affects only a part of it.
fn partially_changed_node(change: &Change) -> Option<NodeId> {
    match change {
        Change::Name { node, .. }
        | Change::Label { node, .. }
        | Change::Parent { node, .. }
        | Change::Prop { node, .. }
        | Change::References { node, .. }
        | Change::Variable { node, .. }
        | Change::Placement { node, .. } => Some(*node),
        Change::Board { .. }
        | Change::Node { .. }
        | Change::Edge { .. }
        | Change::Source { .. }
        | Change::Override { .. } => None,
    }
}

fn is_already_applied(state: &Snapshot, change: &Change) -> bool {
    let node = |id: &NodeId| state.node(*id);
    match change {
        Change::Board { id, after, .. } => state.board(*id) == after.as_deref(),
        Change::Node { id, after, .. } => node(id) == after.as_deref(),
        Change::Name { node: id, after, .. } => node(id).is_some_and(|node| node.name == *after),
        Change::Label { node: id, after, .. } => node(id).is_some_and(|node| node.label == *after),
        Change::Parent { node: id, after, .. } => node(id).is_some_and(|node| node.parent == *after),
        Change::Prop { node: id, key, after, .. } => {
            node(id).is_some_and(|node| node.props.get(key) == after.as_ref())
        }
        Change::References { node: id, key, after, .. } => node(id)
            .is_some_and(|node| node.references.get(key).map_or(&[][..], Vec::as_slice) == after.as_slice()),
        Change::Variable { node: id, key, after, .. } => {
            node(id).is_some_and(|node| node.variables.contains(key) == *after)
        }
        Change::Edge { id, after, .. } => state.edge(*id) == after.as_deref(),
        Change::Placement { node, after, .. } => state.placement(*node) == *after,
        Change::Source { path, after, .. } => state.source(path) == after.as_ref(),
        Change::Override { key, after, .. } => state.override_at(key) == after.as_deref(),
    }
}

impl RebaseResult {
    /// Returns the applicable changes, or a refusal that lists the conflicts. A conflict in the place of a node does
    /// not count, because later work keeps its place, unless the changes are layout only.
    pub fn require_complete(self, snapshot: &Snapshot, what: &str) -> Result<Vec<Change>, Refusal> {
        let only_places = self.fitting.iter().all(Change::is_layout);
        let is_let_go = |change: &Change| matches!(change, Change::Placement { after: Some(_), .. });
        if self.conflicts.iter().all(|(change, _)| !only_places && is_let_go(change)) {
            return Ok(self.fitting);
        }
        let words = |(change, error): &(Change, ApplyError)| describe_conflict(snapshot, change, error);
        let shown: Vec<String> = self.conflicts.iter().take(5).map(words).collect();
        let more = self.conflicts.len().saturating_sub(shown.len());
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let message = format!("{what} conflicts with later changes: {}{more}", shown.join("; "));
        let refusal = Refusal::new(RefusalCode::Conflict, message);
        Err(if self.fitting.is_empty() {
            refusal
        } else {
            let count = self.fitting.len();
            let total = count + self.conflicts.len();
            refusal.hint(format!(
                "{count} of {total} changes can be reverted. Use a partial revert to revert only those."
            ))
        })
    }
}

/// Returns the boards whose content these changes touch, in the state before or after them.
pub fn boards_touched<'a>(
    snapshot: &Snapshot,
    changes: impl IntoIterator<Item = &'a Change>,
) -> BTreeSet<BoardId> {
    let mut boards = BTreeSet::new();
    for change in changes {
        match change {
            Change::Board { id, .. } => drop(boards.insert(*id)),
            Change::Node { before, after, .. } => {
                boards.extend(before.iter().chain(after).map(|node| node.board));
            }
            Change::Edge { before, after, .. } => {
                boards.extend(before.iter().chain(after).map(|edge| edge.board));
            }
            part => boards
                .extend(partially_changed_node(part).and_then(|id| snapshot.node(id)).map(|node| node.board)),
        }
    }
    boards
}
