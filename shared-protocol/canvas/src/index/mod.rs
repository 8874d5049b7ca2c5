//! The spatial index of one board: absolute places of nodes and routes of edges, in a grid. Updates cost only the
//! touched elements; a moved container moves its content.

mod edges;
mod gesture_preview;
mod grid;
mod lanes;
mod obstacle_routing;
pub(crate) mod ports;
pub(crate) mod route;
mod search;

use authority::{Snapshot, TypeRegistry};
use egui::Pos2;
use grid::SpatialGrid;
use route::EdgeRoute;
use search::RouteSearch;
use shared_protocol::{
    BoardId, Change, EdgeId, Node, NodeId, Placement, Revision,
    registry::{Accent, NodeShape, NodeSize},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// The maximum number of changes for an incremental update; beyond it a rebuild is cheaper.
const MAX_INCREMENTAL_CHANGES: usize = 4_000;
/// More than the nesting limit of the model; ends the walk of a cycle in a broken snapshot.
const MAX_WALK_DEPTH: u16 = 64;
/// The maximum number of edges to route around nodes at once; the others have a plain route for a few frames.
const MAX_ROUTES_AT_ONCE: usize = 1_500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrawnNodeKind {
    Card,
    Container,
    Note,
}

#[derive(Debug, Clone)]
pub(crate) struct IndexedNode {
    pub(crate) id: NodeId,
    pub(crate) parent: Option<NodeId>,
    /// The place from the origin of the board, as currently drawn.
    pub(crate) area: Placement,
    pub(crate) depth: u16,
    pub(crate) kind: DrawnNodeKind,
    pub(crate) accent: Accent,
    /// Incremented with every change of its texts.
    pub(crate) generation: u32,
    alive: bool,
}

impl IndexedNode {
    fn new(snapshot: &Snapshot, node: &Node, area: Placement, depth: u16, generation: u32) -> Self {
        let def = snapshot.type_of(node);
        let kind = match def {
            Some(def) if def.container => DrawnNodeKind::Container,
            Some(def) if def.shape == NodeShape::Note => DrawnNodeKind::Note,
            _ => DrawnNodeKind::Card,
        };
        let accent = def.map(|def| def.accent).unwrap_or_default();
        Self { id: node.id, parent: node.parent, area, depth, kind, accent, generation, alive: true }
    }

    /// Builds a slot without an index of its board.
    pub(crate) fn without_index(snapshot: &Snapshot, node: &Node, generation: u32) -> Self {
        let origin = snapshot.origin_of(node.parent);
        let area = place(snapshot, node, (origin.x, origin.y));
        Self::new(snapshot, node, area, depth_of(snapshot, node), generation)
    }

    pub(crate) fn is_container(&self) -> bool {
        self.kind == DrawnNodeKind::Container
    }
}

#[derive(Debug, Clone)]
pub(crate) struct IndexedEdge {
    pub(crate) id: EdgeId,
    pub(crate) source: NodeId,
    pub(crate) target: NodeId,
    pub(crate) route: EdgeRoute,
    /// The route before its stretches were shifted into lanes.
    base: EdgeRoute,
    /// The lane shift of each stretch.
    shifts: [f32; route::MAX_ROUTE_POINTS],
    /// Edges out of one port share a bundle and a lane.
    bundle: u64,
    pub(crate) area: Placement,
    /// The area that was searched for the route: only a change inside it can change the route.
    window: Placement,
    pub(crate) generation: u32,
    alive: bool,
}

#[derive(Default)]
pub(crate) struct BoardIndex {
    built: Option<(BoardId, Revision, Arc<TypeRegistry>)>,
    nodes: Vec<IndexedNode>,
    node_slots: HashMap<NodeId, u32>,
    free_nodes: Vec<u32>,
    edges: Vec<IndexedEdge>,
    edge_slots: HashMap<EdgeId, u32>,
    free_edges: Vec<u32>,
    node_grid: SpatialGrid,
    edge_grid: SpatialGrid,
    /// The model's places of the nodes that a gesture previews elsewhere.
    preview: HashMap<NodeId, Placement>,
    /// The edges of those nodes without the preview.
    settled: HashMap<EdgeId, IndexedEdge>,
    /// Edges with a plain route that are still to be routed around nodes.
    pending: BTreeSet<EdgeId>,
    search: RouteSearch,
    generations: u32,
    /// Incremented with every change; cached meshes compare it.
    version: u64,
}

impl BoardIndex {
    pub(crate) fn build(snapshot: &Snapshot, board: BoardId) -> Self {
        let mut index = Self::default();
        index.rebuild(snapshot, board);
        index.route_pending(snapshot, usize::MAX);
        index
    }

    /// Whether the index matches this state.
    pub(crate) fn is_current(&self, snapshot: &Snapshot, board: BoardId) -> bool {
        self.built.as_ref().is_some_and(|(built, revision, registry)| {
            *built == board && *revision == snapshot.revision() && Arc::ptr_eq(registry, snapshot.registry())
        })
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn rebuild(&mut self, snapshot: &Snapshot, board: BoardId) {
        self.nodes.clear();
        self.node_slots.clear();
        self.free_nodes.clear();
        self.edges.clear();
        self.edge_slots.clear();
        self.free_edges.clear();
        self.node_grid.clear();
        self.edge_grid.clear();
        self.preview.clear();
        self.settled.clear();
        self.pending.clear();
        self.built = Some((board, snapshot.revision(), Arc::clone(snapshot.registry())));
        let mut within: Vec<(Option<NodeId>, (i32, i32), u16)> = vec![(None, (0, 0), 0)];
        while let Some((parent, origin, depth)) = within.pop() {
            for id in snapshot.children(board, parent) {
                let Some(node) = snapshot.node(id) else { continue };
                let area = place(snapshot, node, origin);
                self.put_node(snapshot, node, area, depth);
                if depth < MAX_WALK_DEPTH {
                    within.push((Some(id), (area.x, area.y), depth + 1));
                }
            }
        }
        let edges: Vec<EdgeId> = snapshot.edges_on(board).map(|edge| edge.id).collect();
        self.route_all(snapshot, board, edges, MAX_ROUTES_AT_ONCE);
        self.version += 1;
    }

    /// Applies the changes that led to `snapshot`.
    pub(crate) fn update(&mut self, snapshot: &Snapshot, board: BoardId, changes: &[Change]) {
        let follows = self.built.as_ref().is_some_and(|(built, revision, registry)| {
            *built == board
                && revision.next() == snapshot.revision()
                && Arc::ptr_eq(registry, snapshot.registry())
        });
        if !follows || changes.len() > MAX_INCREMENTAL_CHANGES {
            return self.rebuild(snapshot, board);
        }
        self.clear_preview(snapshot);
        let (mut nodes, mut edges, mut disturbed) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for change in changes {
            match change {
                Change::Node { id, .. } => drop(nodes.insert(*id)),
                Change::Label { node, .. }
                | Change::Name { node, .. }
                | Change::Prop { node, .. }
                | Change::Parent { node, .. }
                | Change::Placement { node, .. } => drop(nodes.insert(*node)),
                Change::Edge { id, .. } => drop(edges.insert(*id)),
                Change::Board { .. }
                | Change::References { .. }
                | Change::Variable { .. }
                | Change::Source { .. }
                | Change::Override { .. } => {}
            }
        }
        for id in nodes {
            self.refresh_tree(snapshot, board, id, &mut edges, &mut disturbed);
        }
        let mut found = Vec::new();
        for area in disturbed {
            self.edge_grid.query(area, &mut found);
            let near = found.iter().map(|&place| &self.edges[place as usize]);
            edges.extend(near.filter(|slot| touches(slot.window, area)).map(|slot| slot.id));
        }
        self.route_all(snapshot, board, edges, MAX_ROUTES_AT_ONCE);
        self.built = Some((board, snapshot.revision(), Arc::clone(snapshot.registry())));
        self.version += 1;
    }

    /// Updates a node and, if its place changed, its content; adds their edges to `edges`.
    fn refresh_tree(
        &mut self,
        snapshot: &Snapshot,
        board: BoardId,
        id: NodeId,
        edges: &mut BTreeSet<EdgeId>,
        disturbed: &mut Vec<Placement>,
    ) {
        let Some(node) = snapshot.node(id).filter(|node| node.board == board) else {
            disturbed.extend(self.slot(id).map(|slot| slot.area));
            return self.remove_node(id);
        };
        let origin = snapshot.origin_of(node.parent);
        let depth = depth_of(snapshot, node);
        let area = place(snapshot, node, (origin.x, origin.y));
        let before = self.slot(id).map(|slot| (slot.area, slot.depth, slot.parent));
        self.put_node(snapshot, node, area, depth);
        if before == Some((area, depth, node.parent)) {
            return;
        }
        disturbed.extend(before.map(|(area, ..)| area).into_iter().chain([area]));
        edges.extend(snapshot.edges_of(id).map(|edge| edge.id));
        let mut within = vec![(id, (area.x, area.y), depth)];
        while let Some((parent, origin, depth)) = within.pop() {
            if depth >= MAX_WALK_DEPTH {
                continue;
            }
            for child in snapshot.children(board, Some(parent)) {
                let Some(node) = snapshot.node(child) else { continue };
                let area = place(snapshot, node, origin);
                disturbed.extend(self.slot(child).map(|slot| slot.area).into_iter().chain([area]));
                self.put_node(snapshot, node, area, depth + 1);
                edges.extend(snapshot.edges_of(child).map(|edge| edge.id));
                within.push((child, (area.x, area.y), depth + 1));
            }
        }
    }

    fn put_node(&mut self, snapshot: &Snapshot, node: &Node, area: Placement, depth: u16) {
        self.generations = self.generations.wrapping_add(1);
        let slot = IndexedNode::new(snapshot, node, area, depth, self.generations);
        match self.node_slots.get(&node.id) {
            Some(&place) => {
                let before = self.nodes[place as usize].area;
                if before != area {
                    self.node_grid.remove(place, before);
                    self.node_grid.insert(place, area);
                }
                self.nodes[place as usize] = slot;
            }
            None => {
                let place = claim(&mut self.nodes, &mut self.free_nodes, slot);
                self.node_slots.insert(node.id, place);
                self.node_grid.insert(place, area);
            }
        }
    }

    fn remove_node(&mut self, id: NodeId) {
        if let Some(place) = self.node_slots.remove(&id) {
            let slot = &mut self.nodes[place as usize];
            slot.alive = false;
            self.node_grid.remove(place, slot.area);
            self.free_nodes.push(place);
        }
    }
}

impl BoardIndex {
    // ---- queries ---------------------------------------------------------------------------------------------------

    pub(crate) fn slot(&self, id: NodeId) -> Option<&IndexedNode> {
        self.nodes.get(*self.node_slots.get(&id)? as usize)
    }

    pub(crate) fn edge_slot(&self, id: EdgeId) -> Option<&IndexedEdge> {
        self.edges.get(*self.edge_slots.get(&id)? as usize)
    }

    pub(crate) fn node(&self, place: u32) -> &IndexedNode {
        &self.nodes[place as usize]
    }

    pub(crate) fn edge(&self, place: u32) -> &IndexedEdge {
        &self.edges[place as usize]
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &IndexedNode> {
        self.nodes.iter().filter(|slot| slot.alive)
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = &IndexedEdge> {
        self.edges.iter().filter(|slot| slot.alive)
    }

    /// Collects the nodes that touch the area, in paint order.
    pub(crate) fn nodes_in(&self, area: Placement, found: &mut Vec<u32>) {
        self.node_grid.query(area, found);
        found.retain(|&place| touches(self.nodes[place as usize].area, area));
        found.sort_unstable_by_key(|&place| self.paint_order(place));
    }

    /// The paint order: containers by depth, then everything else by depth.
    fn paint_order(&self, place: u32) -> (bool, bool, u16, NodeId) {
        let slot = &self.nodes[place as usize];
        (slot.kind != DrawnNodeKind::Container, self.preview.contains_key(&slot.id), slot.depth, slot.id)
    }

    /// Collects the edges whose bounds touch the area, in no particular order.
    pub(crate) fn edges_in(&self, area: Placement, found: &mut Vec<u32>) {
        self.edge_grid.query(area, found);
        found.retain(|&place| touches(self.edges[place as usize].area, area));
    }

    /// Whether no card or note overlaps the area.
    pub(crate) fn is_free(&self, area: Placement, found: &mut Vec<u32>) -> bool {
        self.node_grid.query(area, found);
        !found.iter().any(|&place| {
            let slot = &self.nodes[place as usize];
            slot.kind != DrawnNodeKind::Container && slot.area.overlaps(area)
        })
    }

    /// Returns the innermost container at a point, without those that are left out.
    pub(crate) fn container_at(&self, at: Pos2, left_out: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut found = Vec::new();
        let point = crate::camera::rounded_point(at);
        self.nodes_in(Placement { x: point.x, y: point.y, w: 0, h: 0 }, &mut found);
        let containers = found.iter().rev().map(|&place| &self.nodes[place as usize]);
        containers
            .filter(|slot| {
                slot.kind == DrawnNodeKind::Container && crate::camera::rect_of(slot.area).contains(at)
            })
            .map(|slot| slot.id)
            .find(|id| !left_out(*id))
    }

    pub(crate) fn bounds(&self) -> Option<Placement> {
        let nodes = self.nodes().map(|slot| slot.area);
        nodes.chain(self.edges().map(|slot| slot.area)).reduce(Placement::union)
    }
}

/// Whether two areas touch; sharing a side counts.
fn touches(a: Placement, b: Placement) -> bool {
    a.x <= b.right() && b.x <= a.right() && a.y <= b.bottom() && b.y <= a.bottom()
}

fn claim<T>(slots: &mut Vec<T>, free: &mut Vec<u32>, slot: T) -> u32 {
    match free.pop() {
        Some(place) => {
            slots[place as usize] = slot;
            place
        }
        None => {
            slots.push(slot);
            (slots.len() - 1) as u32
        }
    }
}

/// Returns the absolute place of a node; one without a place is at the origin of its container.
fn place(snapshot: &Snapshot, node: &Node, origin: (i32, i32)) -> Placement {
    let placement = snapshot.placement(node.id).unwrap_or_else(|| {
        let size = snapshot.type_of(node).map_or(NodeSize { w: 184, h: 64 }, |def| def.default_size());
        Placement { x: 0, y: 0, w: size.w, h: size.h }
    });
    // Clamped so that sums cannot overflow, whatever the layout contains.
    let within = |value: i32| value.clamp(-32_000_000, 32_000_000);
    let side = |value: i32| value.clamp(1, 1_000_000);
    Placement {
        x: within(placement.x.saturating_add(origin.0)),
        y: within(placement.y.saturating_add(origin.1)),
        w: side(placement.w),
        h: side(placement.h),
    }
}

fn depth_of(snapshot: &Snapshot, node: &Node) -> u16 {
    snapshot.ancestors(node.parent).take(usize::from(MAX_WALK_DEPTH)).count() as u16
}

/// Returns the smallest rectangle around the whole board.
pub fn board_bounds(snapshot: &Snapshot, board: BoardId) -> Option<Placement> {
    BoardIndex::build(snapshot, board).bounds()
}

#[cfg(test)]
mod tests;
