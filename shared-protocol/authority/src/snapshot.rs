//! One state of the workspace. Cloning is cheap, so readers keep their snapshot while the writer continues. Indexes
//! make the cost of a query proportional to its result.

use crate::{ApplyError, TypeRegistry, occupancy::OccupancyGrid, overrides::ReboundOverrides};
use imbl::{OrdMap, OrdSet};
use shared_protocol::{
    Board, BoardId, BoardName, BoardPoint, Change, Edge, EdgeId, ElementId, GraphDocument, Node, NodeId,
    NodeName, Override, OverrideKey, Placement, Provenance, Revision, SourcePath, TypeDef,
};
use std::{
    ops::Bound,
    sync::{Arc, OnceLock},
};

#[derive(Clone, Default)]
pub struct Snapshot {
    pub(crate) revision: Revision,
    pub(crate) registry: Arc<TypeRegistry>,
    pub(crate) boards: OrdMap<BoardId, Arc<Board>>,
    pub(crate) nodes: OrdMap<NodeId, Arc<Node>>,
    pub(crate) edges: OrdMap<EdgeId, Arc<Edge>>,
    pub(crate) layout: OrdMap<NodeId, Placement>,
    pub(crate) sources: OrdMap<SourcePath, Arc<str>>,
    pub(crate) overrides: OrdMap<OverrideKey, Arc<Override>>,
    /// Only of elements that operations have touched; all others date from the start of the journal.
    provenance: OrdMap<ElementId, Provenance>,
    // Indexes, maintained by `apply` only.
    pub(crate) board_names: OrdMap<BoardName, BoardId>,
    pub(crate) names: OrdMap<(BoardId, NodeName), NodeId>,
    pub(crate) children: OrdSet<(BoardId, Option<NodeId>, NodeId)>,
    pub(crate) incident: OrdSet<(NodeId, EdgeId)>,
    /// (target, source) of every reference.
    pub(crate) referrers: OrdSet<(NodeId, NodeId)>,
    pub(crate) occupancy: OccupancyGrid,
    /// Overrides bound to another instance than their key names, by that instance. Computed on first use.
    pub(crate) rebound: Arc<OnceLock<ReboundOverrides>>,
}

impl Snapshot {
    /// Whether both are the same state by identity, not only by content. Compares pointers, so it is cheap.
    pub fn is_same(&self, other: &Self) -> bool {
        self.revision == other.revision
            && Arc::ptr_eq(&self.registry, &other.registry)
            && self.boards.ptr_eq(&other.boards)
            && self.nodes.ptr_eq(&other.nodes)
            && self.edges.ptr_eq(&other.edges)
            && self.layout.ptr_eq(&other.layout)
            && self.sources.ptr_eq(&other.sources)
    }
}

/// Compares content only; indexes are derived, and the registry is not part of the content.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
            && self.boards == other.boards
            && self.nodes == other.nodes
            && self.edges == other.edges
            && self.layout == other.layout
            && self.sources == other.sources
            && self.overrides == other.overrides
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("revision", &self.revision)
            .field("boards", &self.boards.len())
            .field("nodes", &self.nodes.len())
            .field("edges", &self.edges.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// An empty workspace with these types.
    pub fn new(registry: Arc<TypeRegistry>) -> Self {
        Self { registry, ..Self::default() }
    }

    /// Builds a state from flat lists, with all checks of `apply`.
    pub fn from_document(
        mut document: GraphDocument,
        registry: Arc<TypeRegistry>,
    ) -> Result<Self, ApplyError> {
        let (revision, provenance) = (document.revision, std::mem::take(&mut document.provenance));
        let mut snapshot = Self::new(registry);
        for change in crate::board_diff::additions(document)? {
            snapshot.apply_change(&change)?;
        }
        snapshot.revision = revision;
        // Provenance of missing elements is dropped because it would only accumulate.
        let known = provenance.into_iter().filter(|(element, _)| snapshot.has(*element));
        snapshot.provenance = known.collect();
        Ok(snapshot)
    }

    pub fn to_document(&self) -> GraphDocument {
        GraphDocument {
            revision: self.revision,
            boards: self.boards.values().map(|board| Board::clone(board)).collect(),
            nodes: self.nodes.values().map(|node| Node::clone(node)).collect(),
            edges: self.edges.values().map(|edge| Edge::clone(edge)).collect(),
            layout: self.layout.iter().map(|(id, placement)| (*id, *placement)).collect(),
            sources: self.sources.iter().map(|(path, text)| (path.clone(), Arc::clone(text))).collect(),
            provenance: self.provenance.iter().map(|(element, from)| (*element, *from)).collect(),
            overrides: self.overrides().map(|(key, over)| (key.clone(), Override::clone(over))).collect(),
        }
    }

    /// Returns one board with its content.
    pub fn board_document(&self, board: BoardId) -> GraphDocument {
        let nodes: Vec<Node> = self.nodes_on(board).map(|node| Node::clone(node)).collect();
        GraphDocument {
            revision: self.revision,
            boards: self.board(board).cloned().into_iter().collect(),
            layout: nodes.iter().filter_map(|node| Some((node.id, self.placement(node.id)?))).collect(),
            edges: self.edges_on(board).map(|edge| Edge::clone(edge)).collect(),
            nodes,
            sources: Vec::new(),
            // A file has no history.
            provenance: Vec::new(),
            overrides: Vec::new(),
        }
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }

    pub fn registry(&self) -> &Arc<TypeRegistry> {
        &self.registry
    }

    /// Returns the same content as the start of a new history, without provenance.
    #[must_use]
    pub fn as_start(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self.provenance = OrdMap::new();
        self
    }

    /// Returns the same state with another registry.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<TypeRegistry>) -> Self {
        self.registry = registry;
        self.rebound = Arc::default();
        self
    }

    pub fn has(&self, element: ElementId) -> bool {
        match element {
            ElementId::Board(id) => self.boards.contains_key(&id),
            ElementId::Node(id) => self.nodes.contains_key(&id),
            ElementId::Edge(id) => self.edges.contains_key(&id),
        }
    }

    /// Returns the operations that created and last changed an element.
    pub fn provenance(&self, element: ElementId) -> Provenance {
        self.provenance.get(&element).copied().unwrap_or_default()
    }

    pub fn boards(&self) -> impl Iterator<Item = &Arc<Board>> {
        self.boards.values()
    }

    pub fn board(&self, id: BoardId) -> Option<&Board> {
        self.boards.get(&id).map(Arc::as_ref)
    }

    pub fn board_named(&self, name: &BoardName) -> Option<&Board> {
        self.board(*self.board_names.get(name)?)
    }

    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(&id).map(Arc::as_ref)
    }

    pub fn edge(&self, id: EdgeId) -> Option<&Edge> {
        self.edges.get(&id).map(Arc::as_ref)
    }

    pub fn node_named(&self, board: BoardId, name: &NodeName) -> Option<&Node> {
        self.node(*self.names.get(&(board, name.clone()))?)
    }

    pub fn type_of(&self, node: &Node) -> Option<&TypeDef> {
        self.registry.get(&node.type_id)
    }

    /// Returns the place of a node relative to the top left of its container.
    pub fn placement(&self, node: NodeId) -> Option<Placement> {
        self.layout.get(&node).copied()
    }

    /// Returns the place of a node relative to the origin of the board.
    pub fn absolute_placement(&self, node: NodeId) -> Option<Placement> {
        let placement = self.placement(node)?;
        let offset = self.origin_of(self.node(node)?.parent);
        Some(placement.moved_by(offset.x, offset.y))
    }

    /// Returns the top left of a container (or of the board) relative to the origin of the board.
    pub fn origin_of(&self, container: Option<NodeId>) -> BoardPoint {
        self.ancestors(container).fold(BoardPoint::default(), |sum, node| {
            let origin = self.placement(node.id).map(Placement::origin).unwrap_or_default();
            BoardPoint { x: sum.x + origin.x, y: sum.y + origin.y }
        })
    }

    /// Iterates over a node, its container, and so on outwards.
    pub fn ancestors(&self, from: Option<NodeId>) -> impl Iterator<Item = &Node> {
        std::iter::successors(from.and_then(|id| self.node(id)), |node| {
            node.parent.and_then(|id| self.node(id))
        })
    }

    pub fn children(&self, board: BoardId, parent: Option<NodeId>) -> impl Iterator<Item = NodeId> {
        self.children
            .range((board, parent, NodeId::MIN)..=(board, parent, NodeId::MAX))
            .map(|(_, _, child)| *child)
    }

    /// Returns a node and all of its content, containers before their content.
    pub fn subtree(&self, node: NodeId) -> Vec<NodeId> {
        let mut found = vec![node];
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            if let Some(node) = self.node(id) {
                found.extend(self.children(node.board, Some(id)));
            }
            next += 1;
        }
        found
    }

    pub fn edges_of(&self, node: NodeId) -> impl Iterator<Item = &Edge> {
        self.incident
            .range((node, EdgeId::MIN)..=(node, EdgeId::MAX))
            .filter_map(|(_, edge)| self.edge(*edge))
    }

    /// Iterates over the nodes that reference this one.
    pub fn referrers(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.referrers.range((node, NodeId::MIN)..=(node, NodeId::MAX)).map(|(_, source)| *source)
    }

    pub fn nodes_on(&self, board: BoardId) -> impl Iterator<Item = &Arc<Node>> {
        let from = (board, None, NodeId::MIN);
        let until = (board, Some(NodeId::MAX), NodeId::MAX);
        self.children
            .range((Bound::Included(from), Bound::Included(until)))
            .filter_map(|(_, _, child)| self.nodes.get(child))
    }

    pub fn edges_on(&self, board: BoardId) -> impl Iterator<Item = &Arc<Edge>> {
        self.edges.values().filter(move |edge| edge.board == board)
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.nodes.values()
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Returns the text of a source file that is part of the state.
    pub fn source(&self, path: &SourcePath) -> Option<&Arc<str>> {
        self.sources.get(path)
    }

    pub fn sources(&self) -> impl Iterator<Item = (&SourcePath, &Arc<str>)> {
        self.sources.iter()
    }

    /// Iterates over the source files under a folder.
    pub fn sources_in<'s>(
        &'s self,
        folder: &SourcePath,
    ) -> impl Iterator<Item = (&'s SourcePath, &'s Arc<str>)> + use<'s> {
        let (folder, within) = (folder.clone(), format!("{folder}/"));
        self.sources
            .range(folder.clone()..)
            .take_while(move |(path, _)| path.as_str().starts_with(folder.as_str()))
            .filter(move |(path, _)| path.as_str().starts_with(&within))
    }

    /// Applies an accepted operation. Each change must match the current state; on an error nothing changes.
    pub fn apply(&mut self, revision: Revision, changes: &[Change]) -> Result<(), ApplyError> {
        if revision != self.revision.next() {
            return Err(ApplyError::RevisionGap { expected: self.revision.next(), found: revision });
        }
        let mut next = self.clone();
        for change in changes {
            let element = change.element();
            let known = element.is_some_and(|element| next.has(element));
            next.apply_change(change)?;
            if let Some(element) = element {
                next.record_provenance(element, known, revision);
            }
        }
        next.revision = revision;
        *self = next;
        Ok(())
    }

    /// Records the operation that created, changed or removed an element.
    fn record_provenance(&mut self, element: ElementId, known: bool, revision: Revision) {
        if !self.has(element) {
            self.provenance.remove(&element);
            return;
        }
        let created = if known { self.provenance(element).created } else { revision };
        self.provenance.insert(element, Provenance { created, changed: revision });
    }
}
