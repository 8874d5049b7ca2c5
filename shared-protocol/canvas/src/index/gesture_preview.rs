//! The preview of a gesture: nodes at other places than the model's, and plain routes of their edges meanwhile. Clearing
//! it restores the index exactly.

use super::{BoardIndex, IndexedEdge, obstacle_routing};
use authority::Snapshot;
use egui::{Vec2, vec2};
use shared_protocol::{EdgeId, NodeId, Placement};
use std::collections::{BTreeSet, HashMap};

impl BoardIndex {
    /// Shows these nodes at other places until the preview ends; all other nodes are where the model has them.
    pub(crate) fn set_preview(
        &mut self,
        snapshot: &Snapshot,
        places: impl IntoIterator<Item = (NodeId, Placement)>,
    ) {
        let wanted: HashMap<NodeId, Placement> = places.into_iter().collect();
        if wanted.len() == self.preview.len()
            && wanted.iter().all(|(id, area)| self.slot(*id).is_none_or(|slot| slot.area == *area))
        {
            return;
        }
        let mut edges = BTreeSet::new();
        let gone: Vec<(NodeId, Placement)> = self
            .preview
            .iter()
            .filter(|(id, _)| !wanted.contains_key(id))
            .map(|(id, area)| (*id, *area))
            .collect();
        for (id, area) in gone {
            self.preview.remove(&id);
            self.move_slot(id, area);
            edges.extend(snapshot.edges_of(id).map(|edge| edge.id));
        }
        for (id, area) in wanted {
            if let Some(before) = self.move_slot(id, area) {
                self.preview.entry(id).or_insert(before);
                edges.extend(snapshot.edges_of(id).map(|edge| edge.id));
            }
        }
        for id in edges {
            self.update_edge_preview(snapshot, id);
        }
        self.version += 1;
    }

    pub(crate) fn clear_preview(&mut self, snapshot: &Snapshot) {
        if !self.preview.is_empty() {
            self.set_preview(snapshot, []);
        }
    }

    /// Returns the place of a node in the model, regardless of the preview.
    pub(crate) fn model_area(&self, id: NodeId) -> Option<Placement> {
        self.preview.get(&id).copied().or_else(|| self.slot(id).map(|slot| slot.area))
    }

    fn move_slot(&mut self, id: NodeId, area: Placement) -> Option<Placement> {
        let place = *self.node_slots.get(&id)?;
        let slot = &mut self.nodes[place as usize];
        let before = std::mem::replace(&mut slot.area, area);
        if before != area {
            self.node_grid.remove(place, before);
            self.node_grid.insert(place, area);
        }
        Some(before)
    }

    /// Updates the route of an edge to its previewed ends.
    fn update_edge_preview(&mut self, snapshot: &Snapshot, id: EdgeId) {
        let Some(now) = self.edge_slot(id) else { return };
        let (source, target) = (now.source, now.target);
        if !self.preview.contains_key(&source) && !self.preview.contains_key(&target) {
            if let Some(settled) = self.settled.remove(&id) {
                self.put_edge(settled);
            }
            return;
        }
        let settled = self.settled.get(&id).unwrap_or(now).clone();
        let (moved, other) = (self.move_offset(source), self.move_offset(target));
        let (route, window) = if moved.is_some() && moved == other {
            // Both ends move by the same distance, so the route is moved too.
            let by = moved.unwrap_or_default();
            let route = settled.route.moved_by(by);
            (route, route.area())
        } else {
            let ends = snapshot.edge(id).and_then(|edge| self.edge_ends(snapshot, edge));
            let Some(found) = ends.map(obstacle_routing::plain_routed_edge) else { return };
            (found.route, found.window)
        };
        let slot = IndexedEdge {
            route,
            base: route,
            shifts: Default::default(),
            area: route.area(),
            window,
            ..settled.clone()
        };
        self.settled.entry(id).or_insert(settled);
        self.put_edge(slot);
    }

    /// Returns the offset of a previewed node, or `None` if its size differs too.
    fn move_offset(&self, id: NodeId) -> Option<Vec2> {
        let (before, now) = (self.preview.get(&id)?, self.slot(id)?.area);
        let same_size = (before.w, before.h) == (now.w, now.h);
        same_size.then(|| vec2((now.x - before.x) as f32, (now.y - before.y) as f32))
    }
}
