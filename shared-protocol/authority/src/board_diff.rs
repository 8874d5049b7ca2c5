//! The changes that turn the current board into the content of a file, in an order in which every step leaves the
//! graph consistent.

use crate::{ApplyError, Snapshot};
use shared_protocol::{
    Board, BoardId, Change, Edge, EdgeId, GraphDocument, Node, NodeId, NodeName, Placement, PropKey,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// Sorts parents before their content; returns `None` when a node contains itself.
pub(crate) fn parents_first(nodes: &[Node]) -> Option<Vec<&Node>> {
    Some(parent_first_order(nodes)?.into_iter().map(|index| &nodes[index]).collect())
}

fn parent_first_order(nodes: &[Node]) -> Option<Vec<usize>> {
    let known: HashMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.id, index)).collect();
    let mut within: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        match node.parent.and_then(|parent| known.get(&parent)) {
            Some(parent) => within[*parent].push(index),
            None => order.push(index),
        }
    }
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        order.append(&mut within[index]);
        next += 1;
    }
    (order.len() == nodes.len()).then_some(order)
}

/// Returns the changes that build a document from an empty state.
pub(crate) fn additions(document: GraphDocument) -> Result<Vec<Change>, ApplyError> {
    let GraphDocument { boards, nodes, edges, layout, sources, overrides, .. } = document;
    let order = parent_first_order(&nodes).ok_or_else(|| inside_itself(&nodes))?;
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut changes = Vec::with_capacity(nodes.len() * 3 + edges.len());
    let mut references = Vec::new();
    for board in boards {
        changes.push(Change::Board { id: board.id, before: None, after: Some(Arc::new(board)) });
    }
    for index in order {
        let Some(mut node) = nodes[index].take() else { continue };
        let id = node.id;
        for (key, after) in std::mem::take(&mut node.references) {
            references.push(Change::References { node: id, key, before: Vec::new(), after });
        }
        changes.push(Change::Node { id, before: None, after: Some(Arc::new(node)) });
    }
    for (node, placement) in layout {
        changes.push(Change::Placement { node, before: None, after: Some(placement) });
    }
    changes.append(&mut references);
    for edge in edges {
        changes.push(Change::Edge { id: edge.id, before: None, after: Some(Arc::new(edge)) });
    }
    for (path, text) in sources {
        changes.push(Change::Source { path, before: None, after: Some(text) });
    }
    for (key, over) in overrides {
        changes.push(Change::Override { key, before: None, after: Some(Arc::new(over)) });
    }
    Ok(changes)
}

fn inside_itself(nodes: &[Node]) -> ApplyError {
    let node = nodes.iter().find(|node| node.parent.is_some()).map_or(NodeId::MIN, |node| node.id);
    ApplyError::Nesting { node }
}

/// Returns the changes that turn one board of `from` into `to` (a document of that board, or an empty one when the
/// board was removed).
pub fn diff(from: &Snapshot, board: BoardId, to: &GraphDocument) -> Result<Vec<Change>, ApplyError> {
    let mut walk = BoardDiff { state: from.clone(), changes: Vec::new() };
    let wanted: BTreeMap<NodeId, &Node> = to.nodes.iter().map(|node| (node.id, node)).collect();
    let edges: BTreeMap<EdgeId, &Edge> = to.edges.iter().map(|edge| (edge.id, edge)).collect();
    let layout: BTreeMap<NodeId, Placement> = to.layout.iter().copied().collect();
    let gone: BTreeSet<NodeId> =
        from.nodes_on(board).map(|node| node.id).filter(|id| !wanted.contains_key(id)).collect();

    if let Some(after) = to.boards.first() {
        walk.board(after)?;
    }
    walk.drop_edges(board, &edges)?;
    walk.drop_references(&wanted, &gone)?;
    walk.move_out_of_removed(&wanted, &gone)?;
    walk.remove(&gone)?;
    walk.rename(&wanted)?;
    let order = parents_first(&to.nodes).ok_or_else(|| inside_itself(&to.nodes))?;
    for node in &order {
        walk.node(node, layout.get(&node.id).copied())?;
    }
    for node in &order {
        for (key, targets) in &node.references {
            walk.references(node.id, key, targets.clone())?;
        }
    }
    for edge in edges.values() {
        walk.edge(edge)?;
    }
    if to.boards.is_empty()
        && let Some(gone) = from.board(board)
    {
        walk.push(Change::Board { id: board, before: Some(Arc::new(gone.clone())), after: None })?;
    }
    Ok(walk.changes)
}

/// The working copy of a diff and its changes so far.
struct BoardDiff {
    state: Snapshot,
    changes: Vec<Change>,
}

type DiffResult = Result<(), ApplyError>;

impl BoardDiff {
    fn push(&mut self, change: Change) -> DiffResult {
        self.state.apply_change(&change)?;
        self.changes.push(change);
        Ok(())
    }

    fn board(&mut self, after: &Board) -> DiffResult {
        let before = self.state.board(after.id).cloned();
        if before.as_ref() == Some(after) {
            return Ok(());
        }
        let before = before.map(Arc::new);
        self.push(Change::Board { id: after.id, before, after: Some(Arc::new(after.clone())) })
    }

    /// Drops the edges that are missing or have other ends in the target; a changed label is edited in place later.
    fn drop_edges(&mut self, board: BoardId, wanted: &BTreeMap<EdgeId, &Edge>) -> DiffResult {
        let same_ends = |edge: &Edge| {
            wanted
                .get(&edge.id)
                .is_some_and(|after| after.source == edge.source && after.target == edge.target)
        };
        let going: Vec<Edge> = self
            .state
            .edges_on(board)
            .filter(|edge| !same_ends(edge))
            .map(|edge| Edge::clone(edge))
            .collect();
        for edge in going {
            self.push(Change::Edge { id: edge.id, before: Some(Arc::new(edge)), after: None })?;
        }
        Ok(())
    }

    fn edge(&mut self, after: &Edge) -> DiffResult {
        let before = self.state.edge(after.id).cloned();
        if before.as_ref() == Some(after) {
            return Ok(());
        }
        let before = before.map(Arc::new);
        self.push(Change::Edge { id: after.id, before, after: Some(Arc::new(after.clone())) })
    }

    fn references(&mut self, node: NodeId, key: &PropKey, after: Vec<NodeId>) -> DiffResult {
        let before =
            self.state.node(node).and_then(|node| node.references.get(key)).cloned().unwrap_or_default();
        if before == after {
            return Ok(());
        }
        self.push(Change::References { node, key: key.clone(), before, after })
    }

    /// Drops the references that are missing in the target or point at a removed node.
    fn drop_references(&mut self, wanted: &BTreeMap<NodeId, &Node>, gone: &BTreeSet<NodeId>) -> DiffResult {
        let holders: BTreeSet<NodeId> = wanted
            .keys()
            .chain(gone)
            .copied()
            .chain(gone.iter().flat_map(|id| self.state.referrers(*id)).collect::<Vec<_>>())
            .collect();
        for holder in holders {
            let Some(node) = self.state.node(holder) else { continue };
            let kept: Vec<(PropKey, Vec<NodeId>)> = node
                .references
                .iter()
                .map(|(key, targets)| {
                    let keep = |target: &NodeId| match wanted.get(&holder) {
                        Some(after) => after.references.get(key).is_some_and(|after| after.contains(target)),
                        None => !gone.contains(target) && !gone.contains(&holder),
                    };
                    (key.clone(), targets.iter().copied().filter(keep).collect())
                })
                .collect();
            for (key, targets) in kept {
                self.references(holder, &key, targets)?;
            }
        }
        Ok(())
    }

    /// Moves nodes that stay out of containers that are removed.
    fn move_out_of_removed(
        &mut self,
        wanted: &BTreeMap<NodeId, &Node>,
        gone: &BTreeSet<NodeId>,
    ) -> DiffResult {
        for id in wanted.keys() {
            let Some(parent) = self.state.node(*id).and_then(|node| node.parent) else { continue };
            if gone.contains(&parent) {
                self.push(Change::Parent { node: *id, before: Some(parent), after: None })?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, gone: &BTreeSet<NodeId>) -> DiffResult {
        let roots: Vec<NodeId> = gone
            .iter()
            .copied()
            .filter(|id| {
                !self.state.node(*id).and_then(|node| node.parent).is_some_and(|p| gone.contains(&p))
            })
            .collect();
        for root in roots {
            for id in self.state.subtree(root).into_iter().rev() {
                if let Some(placement) = self.state.placement(id) {
                    self.push(Change::Placement { node: id, before: Some(placement), after: None })?;
                }
                let before = self.state.node(id).cloned().map(Arc::new);
                self.push(Change::Node { id, before, after: None })?;
            }
        }
        Ok(())
    }

    /// Renames through a temporary name when the new name is taken, because two nodes may have swapped names.
    fn rename(&mut self, wanted: &BTreeMap<NodeId, &Node>) -> DiffResult {
        let renamed: Vec<(NodeId, NodeName)> = wanted
            .values()
            .filter(|after| self.state.node(after.id).is_some_and(|before| before.name != after.name))
            .map(|after| (after.id, after.name.clone()))
            .collect();
        for (id, name) in &renamed {
            let Some(node) = self.state.node(*id) else { continue };
            if self.state.node_named(node.board, name).is_some() {
                let before = node.name.clone();
                let after = NodeName::from_words(&format!("moving {:x}", id.bits()), &before);
                self.push(Change::Name { node: *id, before, after })?;
            }
        }
        for (node, after) in renamed {
            let Some(before) = self.state.node(node).map(|node| node.name.clone()) else { continue };
            self.push(Change::Name { node, before, after })?;
        }
        Ok(())
    }

    fn node(&mut self, after: &Node, placement: Option<Placement>) -> DiffResult {
        let id = after.id;
        match self.state.node(id).cloned() {
            None => {
                let bare = Node { references: BTreeMap::new(), ..after.clone() };
                self.push(Change::Node { id, before: None, after: Some(Arc::new(bare)) })?;
            }
            Some(before) => self.edit(&before, after)?,
        }
        let before = self.state.placement(id);
        if before != placement && placement.is_some() {
            self.push(Change::Placement { node: id, before, after: placement })?;
        }
        Ok(())
    }

    fn edit(&mut self, before: &Node, after: &Node) -> DiffResult {
        let node = after.id;
        if before.type_id != after.type_id {
            let retyped = Node { type_id: after.type_id.clone(), ..before.clone() };
            let before = Some(Arc::new(before.clone()));
            self.push(Change::Node { id: node, before, after: Some(Arc::new(retyped)) })?;
        }
        if before.label != after.label {
            self.push(Change::Label { node, before: before.label.clone(), after: after.label.clone() })?;
        }
        if before.parent != after.parent {
            self.push(Change::Parent { node, before: before.parent, after: after.parent })?;
        }
        let keys: BTreeSet<&PropKey> = before.props.keys().chain(after.props.keys()).collect();
        for key in keys {
            let (old, new) = (before.props.get(key).cloned(), after.props.get(key).cloned());
            if old != new {
                self.push(Change::Prop { node, key: key.clone(), before: old, after: new })?;
            }
        }
        for key in before.variables.symmetric_difference(&after.variables) {
            let variable = after.variables.contains(key);
            self.push(Change::Variable { node, key: key.clone(), before: !variable, after: variable })?;
        }
        Ok(())
    }
}
