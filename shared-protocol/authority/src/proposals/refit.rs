//! Refit: the rebase of one proposal onto the current state.
//!
//! A plain [`rebase`](crate::rebase()) would report a conflict whenever a name or a place is taken by now. An agent
//! often leaves both to the workbench, and two agents that each add "a bucket" then get the same name. That conflict
//! is accidental, so refit resolves it: `Proposal::chosen` lists the nodes whose name or place the workbench chose, and
//! these are chosen again. Names and places that the agent gave stay, and conflict.
//!
//! # Example
//!
//! At r7 an agent adds a bucket without a name or a place, sets a property, and moves it in a later call. Meanwhile a
//! person adds a bucket of the same type: r8 takes the name `s3_bucket` and the place P1.
//!
//! ```text
//!     changes of the proposal, made on r7         after refit on r8
//! 1.  Node       s3_bucket: none → node           named s3_bucket_2
//! 2.  Placement  s3_bucket: none → P1             none → P2, the nearest free space
//! 3.  Prop       s3_bucket.bucket: none → "logs"  unchanged
//! 4.  Placement  s3_bucket: P1 → P3               P2 → P3
//! 5.  Placement  net: S1 → S2                     left out: a person resized `net` to S3
//! ```
//!
//! ```text
//! proposal on r7 ──[1 choose]─► names and places chosen again
//!                ──[2 rebase]─► conflicting places of existing nodes left out; any other conflict: stale
//!                ──[3 room]───► containers grown again, as the sizes they were made for may be left out
//! ```
//!
//! 1. [`AutoReassignment`] walks the changes over a scratch copy of r8. A chosen name or place that is taken is replaced by a free
//!    one. Later changes that name the old value as their `before` are rewritten (row 4), or they would not apply. A new
//!    name avoids the names that the proposal itself takes further on.
//! 2. [`ProposalOverlay::rebase_keeping_places`] rebases the result. Row 5 conflicts, but a place has no meaning: later work keeps its place,
//!    unless the proposal is layout only, and then the conflict counts. Any other conflict ends the refit with its
//!    reasons, and the proposal is stale.
//! 3. If anything differs, containers grow around the nodes whose place was chosen.
//!
//! Each new choice becomes a note among the steps of the proposal. The caller stores a refit that differs as a new
//! version, so a verdict on the old one is void. A refit that does not differ leaves the proposal as it is.

use super::overlay::ProposalOverlay;
use crate::{Snapshot, decide::CommandDraft, layout, occupancy::ContainerScope};
use shared_protocol::{
    BoardId, Change, Node, NodeId, NodeName, Placement, Proposal, proposal::AutoAssignments,
    registry::NodeSize,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug)]
pub(super) struct RefitResult {
    pub(super) overlay: ProposalOverlay,
    /// Descriptions of the new choices.
    pub(super) notes: Vec<String>,
    /// Whether the changes differ from those of the proposal.
    pub(super) differs: bool,
}

/// Rebases a proposal onto a state, or returns the conflicts. The module documentation has an example.
pub(super) fn refit(snapshot: &Snapshot, proposal: &Proposal) -> Result<RefitResult, Vec<String>> {
    let Proposal { changes, chosen, .. } = proposal;
    let mut again = AutoReassignment::new(snapshot, changes, chosen);
    let changes: Vec<Change> = changes.iter().map(|change| again.reassign(change)).collect();
    let AutoReassignment { notes, .. } = again;
    let mut overlay = ProposalOverlay::rebase_keeping_places(snapshot, &changes)?;
    let mut differs = !notes.is_empty() || overlay.changes.len() != changes.len();
    if differs {
        // A node was placed elsewhere, or a container kept the size that a person gave it.
        let placed: Vec<NodeId> =
            chosen.places.iter().copied().filter(|id| overlay.state.node(*id).is_some()).collect();
        let mut draft = CommandDraft::new(&overlay.state, 0);
        // Without enough room the nodes stay in place.
        if layout::make_room(&mut draft, &placed).is_ok() {
            differs |= !draft.changes.is_empty();
            overlay.state = draft.state;
            overlay.changes.extend(draft.changes);
        }
    }
    Ok(RefitResult { overlay, notes, differs })
}

/// Whether an added node overlaps a place that the workbench chose for the proposal.
pub(super) fn overlaps_auto_place(proposal: &Proposal, added: &[(ContainerScope, Placement)]) -> bool {
    let rooms: BTreeMap<NodeId, ContainerScope> = proposal
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Node { id, before: None, after: Some(node) } => Some((*id, (node.board, node.parent))),
            _ => None,
        })
        .collect();
    proposal.changes.iter().any(|change| {
        let Change::Placement { node, before: None, after: Some(own) } = change else { return false };
        proposal.chosen.places.contains(node)
            && added.iter().any(|(room, other)| rooms.get(node) == Some(room) && other.overlaps(*own))
    })
}

/// Walks the changes with the state before each one, and chooses taken names and places again.
struct AutoReassignment<'a> {
    assignments: &'a AutoAssignments,
    state: Snapshot,
    /// The names that the proposal itself takes.
    own: BTreeSet<(BoardId, NodeName)>,
    renamed: BTreeMap<NodeId, (NodeName, NodeName)>,
    moved: BTreeMap<NodeId, (Placement, Placement)>,
    notes: Vec<String>,
}

impl<'a> AutoReassignment<'a> {
    fn new(snapshot: &Snapshot, changes: &[Change], chosen: &'a AutoAssignments) -> Self {
        let own = changes.iter().filter_map(|change| match change {
            Change::Node { before: None, after: Some(node), .. } => Some((node.board, node.name.clone())),
            Change::Name { node, after, .. } => Some((snapshot.node(*node)?.board, after.clone())),
            _ => None,
        });
        let (renamed, moved) = (BTreeMap::new(), BTreeMap::new());
        Self {
            assignments: chosen,
            state: snapshot.clone(),
            own: own.collect(),
            renamed,
            moved,
            notes: Vec::new(),
        }
    }

    fn reassign(&mut self, change: &Change) -> Change {
        let change = match change {
            Change::Node { id, before: None, after: Some(node) } => {
                Change::Node { id: *id, before: None, after: Some(self.with_free_name(node)) }
            }
            Change::Node { id, before: Some(before), after } => {
                let after = after.as_ref().map(|node| self.rename(node));
                Change::Node { id: *id, before: Some(self.rename(before)), after }
            }
            Change::Name { node, before, after } => {
                let known = self.renamed.get(node).filter(|(old, _)| old == before);
                let before = known.map_or(before, |(_, new)| new).clone();
                Change::Name { node: *node, before, after: after.clone() }
            }
            Change::Placement { node, before: None, after: Some(area) } => {
                let after = Some(self.free_place(*node, *area));
                Change::Placement { node: *node, before: None, after }
            }
            Change::Placement { node, before: Some(area), after } => {
                let known = self.moved.get(node).filter(|(old, _)| old == area);
                let before = Some(known.map_or(*area, |(_, new)| *new));
                Change::Placement { node: *node, before, after: *after }
            }
            other => other.clone(),
        };
        // A change that does not apply is reported by the rebase of the whole list.
        let _ = self.state.apply_change(&change);
        change
    }

    fn with_free_name(&mut self, node: &Arc<Node>) -> Arc<Node> {
        let is_taken = |name: &NodeName| {
            self.state.node_named(node.board, name).is_some_and(|holder| holder.id != node.id)
        };
        if !self.assignments.names.contains(&node.id) || !is_taken(&node.name) {
            return Arc::clone(node);
        }
        let stem = unnumbered_name(&node.name);
        let free = (2..)
            .map(|number| stem.numbered(number))
            .find(|name| !is_taken(name) && !self.own.contains(&(node.board, name.clone())));
        let Some(name) = free else { return Arc::clone(node) };
        self.notes.push(format!("{} was renamed to {name}: its name was taken in the meantime", node.name));
        self.own.insert((node.board, name.clone()));
        self.renamed.insert(node.id, (node.name.clone(), name.clone()));
        Arc::new(Node { name, ..Node::clone(node) })
    }

    fn rename(&self, node: &Arc<Node>) -> Arc<Node> {
        match self.renamed.get(&node.id) {
            Some((old, new)) if *old == node.name => {
                Arc::new(Node { name: new.clone(), ..Node::clone(node) })
            }
            _ => Arc::clone(node),
        }
    }

    fn free_place(&mut self, id: NodeId, area: Placement) -> Placement {
        let Some(node) = self.state.node(id).filter(|_| self.assignments.places.contains(&id)) else {
            return area;
        };
        let room = (node.board, node.parent);
        if !layout::is_occupied(&self.state, room, id, area) {
            return area;
        }
        let size = NodeSize { w: area.w, h: area.h };
        let free = area.moved_to(layout::find_free_place(&self.state, room, size, Some(area.origin())));
        self.notes.push(format!("{} was moved: its place was taken in the meantime", node.name));
        self.moved.insert(id, (area, free));
        free
    }
}

/// Returns the name without its numeric suffix.
fn unnumbered_name(name: &NodeName) -> NodeName {
    let text = name.as_str();
    let without = text.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('_');
    without.and_then(|stem| NodeName::parse(stem).ok()).unwrap_or_else(|| name.clone())
}
