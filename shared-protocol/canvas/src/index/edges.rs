//! The cached routes of edges: an edge is routed again when one of its ends or a node near its route changes.

use super::{
    BoardIndex, IndexedEdge, claim,
    obstacle_routing::{self, EdgeEnds},
    ports,
    route::RouteEnd,
};
use authority::Snapshot;
use shared_protocol::{BoardId, Edge, EdgeId, NodeId, registry::PortDirection};
use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

impl BoardIndex {
    /// Routes these edges; after `searches` searches the rest stays pending for [`Self::route_pending`].
    pub(super) fn route_all(
        &mut self,
        snapshot: &Snapshot,
        board: BoardId,
        edges: impl IntoIterator<Item = EdgeId>,
        mut searches: usize,
    ) {
        let mut routed = BTreeSet::new();
        // Edges that shared a line with a rerouted edge need new lanes too.
        let mut beside = BTreeSet::new();
        for id in edges {
            self.neighbours(id, &mut beside);
            self.pending.remove(&id);
            let Some(edge) = snapshot.edge(id).filter(|edge| edge.board == board) else {
                self.remove_edge(id);
                continue;
            };
            let Some(ends) = self.edge_ends(snapshot, edge) else {
                self.remove_edge(id);
                continue;
            };
            let found = if searches == 0 {
                self.pending.insert(id);
                obstacle_routing::plain_routed_edge(ends)
            } else {
                let mut search = std::mem::take(&mut self.search);
                let found = obstacle_routing::route_around_nodes(self, &mut search, ends);
                self.search = search;
                searches -= usize::from(found.searched);
                found
            };
            self.generations = self.generations.wrapping_add(1);
            self.put_edge(IndexedEdge {
                id,
                source: edge.source.node,
                target: edge.target.node,
                area: found.route.area().expand(super::lanes::MAX_LANE_OFFSET_UNITS),
                route: found.route,
                base: found.route,
                shifts: Default::default(),
                bundle: bundle(edge),
                window: found.window,
                generation: self.generations,
                alive: true,
            });
            routed.insert(id);
        }
        routed.append(&mut beside);
        self.assign_lanes(routed);
    }

    /// Whether edges are pending a route around nodes.
    pub(crate) fn has_pending_routes(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Routes up to `most` pending edges around nodes.
    pub(crate) fn route_pending(&mut self, snapshot: &Snapshot, most: usize) {
        let Some(board) = self.built.as_ref().map(|(board, ..)| *board) else { return };
        if self.pending.is_empty() || !self.preview.is_empty() {
            return;
        }
        let edges: Vec<EdgeId> = self.pending.iter().copied().take(most).collect();
        self.route_all(snapshot, board, edges, most);
        self.version += 1;
    }

    pub(super) fn put_edge(&mut self, slot: IndexedEdge) {
        let window = slot.window.union(slot.area);
        let slot = IndexedEdge { window, ..slot };
        match self.edge_slots.get(&slot.id) {
            Some(&place) => {
                let before = self.edges[place as usize].window;
                if before != window {
                    self.edge_grid.remove(place, before);
                    self.edge_grid.insert(place, window);
                }
                self.edges[place as usize] = slot;
            }
            None => {
                let id = slot.id;
                let place = claim(&mut self.edges, &mut self.free_edges, slot);
                self.edge_slots.insert(id, place);
                self.edge_grid.insert(place, window);
            }
        }
    }

    pub(super) fn remove_edge(&mut self, id: EdgeId) {
        self.pending.remove(&id);
        if let Some(place) = self.edge_slots.remove(&id) {
            let slot = &mut self.edges[place as usize];
            slot.alive = false;
            self.edge_grid.remove(place, slot.window);
            self.free_edges.push(place);
        }
    }

    pub(super) fn edge_ends(&self, snapshot: &Snapshot, edge: &Edge) -> Option<EdgeEnds> {
        let end = |id: NodeId, port: &str, direction| {
            let area = self.slot(id)?.area;
            let def = snapshot.node(id).and_then(|node| snapshot.type_of(node));
            let (at, side) = ports::anchor(def, area, port, direction);
            Some((id, RouteEnd { at, side, node: area }))
        };
        Some(EdgeEnds {
            source: end(edge.source.node, edge.source.port.as_str(), PortDirection::Out)?,
            target: end(edge.target.node, edge.target.port.as_str(), PortDirection::In)?,
        })
    }
}

fn bundle(edge: &Edge) -> u64 {
    let mut hasher = DefaultHasher::new();
    (edge.source.node, edge.source.port.as_str()).hash(&mut hasher);
    hasher.finish()
}
