//! Fitting a proposal to a workspace that went on. Names and places that the agent had left to us are chosen again where
//! somebody else has them by now; nobody has to look at a conflict that nobody meant.

use super::overlay::Overlay;
use crate::{Snapshot, decide::Draft, layout, spatial::Room};
use shared_protocol::{
    BoardId, Change, Name, Node, NodeId, Placement, Proposal, proposal::Chosen, registry::Size,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug)]
pub(super) struct Refit {
    pub(super) overlay: Overlay,
    /// What was chosen again, in words.
    pub(super) notes: Vec<String>,
    /// The changes are others than they were.
    pub(super) differs: bool,
}

/// The changes as they fit on a state, or why they do not.
pub(super) fn refit(snapshot: &Snapshot, proposal: &Proposal) -> Result<Refit, Vec<String>> {
    let Proposal { changes, chosen, .. } = proposal;
    let mut again = Again::new(snapshot, changes, chosen);
    let changes: Vec<Change> = changes.iter().map(|change| again.chosen(change)).collect();
    let Again { notes, .. } = again;
    let mut overlay = Overlay::lenient(snapshot, &changes)?;
    let mut differs = !notes.is_empty() || overlay.changes.len() != changes.len();
    if differs {
        // Something stands elsewhere, or a container kept the size that somebody gave it.
        let placed: Vec<NodeId> =
            chosen.places.iter().copied().filter(|id| overlay.state.node(*id).is_some()).collect();
        let mut draft = Draft::new(&overlay.state, 0);
        // Without enough room they stand where they are.
        if layout::make_room(&mut draft, &placed).is_ok() {
            differs |= !draft.changes.is_empty();
            overlay.state = draft.state;
            overlay.changes.extend(draft.changes);
        }
    }
    Ok(Refit { overlay, notes, differs })
}

/// Whether one of these stands where the workbench had put something of the proposal.
pub(super) fn is_crowded(proposal: &Proposal, added: &[(Room, Placement)]) -> bool {
    let rooms: BTreeMap<NodeId, Room> = proposal
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

/// Goes through the changes with the state as it would be at each.
struct Again<'a> {
    chosen: &'a Chosen,
    state: Snapshot,
    /// Names that the proposal itself takes.
    own: BTreeSet<(BoardId, Name)>,
    renamed: BTreeMap<NodeId, (Name, Name)>,
    moved: BTreeMap<NodeId, (Placement, Placement)>,
    notes: Vec<String>,
}

impl<'a> Again<'a> {
    fn new(snapshot: &Snapshot, changes: &[Change], chosen: &'a Chosen) -> Self {
        let own = changes.iter().filter_map(|change| match change {
            Change::Node { before: None, after: Some(node), .. } => Some((node.board, node.name.clone())),
            Change::Name { node, after, .. } => Some((snapshot.node(*node)?.board, after.clone())),
            _ => None,
        });
        let (renamed, moved) = (BTreeMap::new(), BTreeMap::new());
        Self { chosen, state: snapshot.clone(), own: own.collect(), renamed, moved, notes: Vec::new() }
    }

    fn chosen(&mut self, change: &Change) -> Change {
        let change = match change {
            Change::Node { id, before: None, after: Some(node) } => {
                Change::Node { id: *id, before: None, after: Some(self.with_free_name(node)) }
            }
            Change::Node { id, before: Some(before), after } => {
                let after = after.as_ref().map(|node| self.renamed(node));
                Change::Node { id: *id, before: Some(self.renamed(before)), after }
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
        // What does not fit is found when all of it is fitted.
        let _ = self.state.apply_change(&change);
        change
    }

    fn with_free_name(&mut self, node: &Arc<Node>) -> Arc<Node> {
        let is_taken =
            |name: &Name| self.state.node_named(node.board, name).is_some_and(|holder| holder.id != node.id);
        if !self.chosen.names.contains(&node.id) || !is_taken(&node.name) {
            return Arc::clone(node);
        }
        let stem = stem(&node.name);
        let free = (2..)
            .map(|number| stem.numbered(number))
            .find(|name| !is_taken(name) && !self.own.contains(&(node.board, name.clone())));
        let Some(name) = free else { return Arc::clone(node) };
        self.notes.push(format!("{} is called {name} now: the name was taken meanwhile", node.name));
        self.own.insert((node.board, name.clone()));
        self.renamed.insert(node.id, (node.name.clone(), name.clone()));
        Arc::new(Node { name, ..Node::clone(node) })
    }

    fn renamed(&self, node: &Arc<Node>) -> Arc<Node> {
        match self.renamed.get(&node.id) {
            Some((old, new)) if *old == node.name => {
                Arc::new(Node { name: new.clone(), ..Node::clone(node) })
            }
            _ => Arc::clone(node),
        }
    }

    fn free_place(&mut self, id: NodeId, area: Placement) -> Placement {
        let Some(node) = self.state.node(id).filter(|_| self.chosen.places.contains(&id)) else {
            return area;
        };
        let room = (node.board, node.parent);
        if !layout::is_taken(&self.state, room, id, area) {
            return area;
        }
        let size = Size { w: area.w, h: area.h };
        let free = area.at(layout::free_place(&self.state, room, size, Some(area.origin())));
        self.notes.push(format!("{} stands elsewhere now: its place was taken meanwhile", node.name));
        self.moved.insert(id, (area, free));
        free
    }
}

/// The name without the number that made it free.
fn stem(name: &Name) -> Name {
    let text = name.as_str();
    let without = text.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('_');
    without.and_then(|stem| Name::parse(stem).ok()).unwrap_or_else(|| name.clone())
}
