//! Applying one primitive change. It succeeds only when the state matches the change's `before` and the graph stays
//! consistent: no dangling edge, reference or parent, no duplicate name, no container inside itself.

use crate::Snapshot;
use shared_protocol::{
    Board, BoardId, Change, Edge, EdgeId, Node, NodeId, NodeName, Override, OverrideKey, Placement, PropKey,
    PropValue, Revision, SourcePath,
    limits::{
        MAX_BOARDS, MAX_CONTAINER_DEPTH, MAX_COORDINATE, MAX_EDGES, MAX_NODE_SIDE, MAX_NODES,
        MAX_SOURCE_BYTES, MAX_SOURCE_FILES, MAX_VALUE_BYTES, MIN_NODE_SIDE,
    },
    overrides::{MAX_INSTANCE_ID_BYTES, MAX_LOCATOR_BYTES, MAX_OVERRIDES, MAX_PATH_BYTES},
};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    #[error("expected revision {expected}, found {found}")]
    RevisionGap { expected: Revision, found: Revision },
    #[error("{what} has changed in the meantime")]
    Changed { what: String },
    #[error("{what} does not exist")]
    Missing { what: String },
    #[error("{what} is still used by {by}")]
    InUse { what: String, by: String },
    #[error("{what} is already taken")]
    NameTaken { what: String },
    #[error("{node} would contain itself or exceed the nesting limit")]
    Nesting { node: NodeId },
    #[error("limit exceeded: {what}")]
    LimitExceeded { what: String },
    #[error("the change does not match the element that it names: {what}")]
    ElementMismatch { what: String },
}

fn changed_error(what: impl ToString) -> ApplyError {
    ApplyError::Changed { what: what.to_string() }
}

fn missing_error(what: impl ToString) -> ApplyError {
    ApplyError::Missing { what: what.to_string() }
}

type ApplyResult = Result<(), ApplyError>;

impl Snapshot {
    pub(crate) fn apply_change(&mut self, change: &Change) -> ApplyResult {
        self.rebound = Arc::default();
        match change {
            Change::Board { id, before, after } => self.apply_board(*id, before.as_deref(), after.as_deref()),
            Change::Node { id, before, after } => self.apply_node(*id, before.as_deref(), after.as_ref()),
            Change::Name { node, before, after } => self.apply_name(*node, before, after),
            Change::Label { node, before, after } => self.edit(*node, |edited| {
                if edited.label != *before {
                    return Err(changed_error(format!("the label of {node}")));
                }
                edited.label.clone_from(after);
                Ok(())
            }),
            Change::Parent { node, before, after } => self.apply_parent(*node, *before, *after),
            Change::Prop { node, key, before, after } => {
                self.apply_prop(*node, key, before.as_ref(), after.as_ref())
            }
            Change::References { node, key, before, after } => {
                self.apply_references(*node, key, before, after)
            }
            Change::Variable { node, key, before, after } => self.apply_variable(*node, key, *before, *after),
            Change::Edge { id, before, after } => self.apply_edge(*id, before.as_deref(), after.as_ref()),
            Change::Placement { node, before, after } => self.apply_placement(*node, *before, *after),
            Change::Source { path, before, after } => {
                self.apply_source(path, before.as_ref(), after.as_ref())
            }
            Change::Override { key, before, after } => {
                self.apply_override(key, before.as_ref(), after.as_ref())
            }
        }
    }

    /// Edits a node in place; its id, board and index entries stay.
    fn edit(&mut self, node: NodeId, edit: impl FnOnce(&mut Node) -> ApplyResult) -> ApplyResult {
        let shared = self.nodes.get_mut(&node).ok_or_else(|| missing_error(node))?;
        edit(Arc::make_mut(shared))
    }

    fn apply_board(&mut self, id: BoardId, before: Option<&Board>, after: Option<&Board>) -> ApplyResult {
        if self.board(id) != before {
            return Err(changed_error(id));
        }
        match after {
            None => {
                if let Some(node) = self.nodes_on(id).next() {
                    return Err(ApplyError::InUse { what: id.to_string(), by: node.id.to_string() });
                }
                self.boards.remove(&id);
            }
            Some(board) => {
                if board.id != id {
                    return Err(ApplyError::ElementMismatch { what: id.to_string() });
                }
                if self.board_names.get(&board.name).is_some_and(|holder| *holder != id) {
                    return Err(ApplyError::NameTaken { what: format!("the board name {}", board.name) });
                }
                if before.is_none() && self.boards.len() >= MAX_BOARDS {
                    return Err(ApplyError::LimitExceeded { what: format!("more than {MAX_BOARDS} boards") });
                }
                self.boards.insert(id, Arc::new(board.clone()));
            }
        }
        if let Some(before) = before {
            self.board_names.remove(&before.name);
        }
        if let Some(after) = after {
            self.board_names.insert(after.name.clone(), id);
        }
        Ok(())
    }

    fn apply_node(&mut self, id: NodeId, before: Option<&Node>, after: Option<&Arc<Node>>) -> ApplyResult {
        if self.node(id) != before {
            return Err(changed_error(id));
        }
        match (before, after) {
            (None, Some(node)) => self.insert_node(id, node),
            (Some(node), None) => self.remove_node(node),
            (Some(before), Some(after)) => self.retype_node(before, after),
            (None, None) => Ok(()),
        }
    }

    fn insert_node(&mut self, id: NodeId, node: &Arc<Node>) -> ApplyResult {
        if node.id != id {
            return Err(ApplyError::ElementMismatch { what: id.to_string() });
        }
        if self.nodes.len() >= MAX_NODES {
            return Err(ApplyError::LimitExceeded { what: format!("more than {MAX_NODES} nodes") });
        }
        self.board(node.board).ok_or_else(|| missing_error(node.board))?;
        self.check_parent(id, node.board, node.parent)?;
        self.check_targets(node.references.values().flatten())?;
        self.claim_name(id, node.board, &node.name)?;
        self.children.insert((node.board, node.parent, id));
        for target in node.references.values().flatten() {
            self.referrers.insert((*target, id));
        }
        self.nodes.insert(id, Arc::clone(node));
        Ok(())
    }

    /// Changes only the type of a node; no index depends on it.
    fn retype_node(&mut self, before: &Node, after: &Node) -> ApplyResult {
        let retyped = Node { type_id: after.type_id.clone(), ..before.clone() };
        if retyped != *after {
            return Err(ApplyError::ElementMismatch { what: before.id.to_string() });
        }
        self.nodes.insert(before.id, Arc::new(retyped));
        Ok(())
    }

    fn remove_node(&mut self, node: &Node) -> ApplyResult {
        let id = node.id;
        let in_use = |by: String| ApplyError::InUse { what: id.to_string(), by };
        if let Some(child) = self.children(node.board, Some(id)).next() {
            return Err(in_use(child.to_string()));
        }
        if let Some(edge) = self.edges_of(id).next() {
            return Err(in_use(edge.id.to_string()));
        }
        if let Some(referrer) = self.referrers(id).find(|referrer| *referrer != id) {
            return Err(in_use(referrer.to_string()));
        }
        if self.layout.contains_key(&id) {
            return Err(in_use("its placement".to_owned()));
        }
        self.nodes.remove(&id);
        self.names.remove(&(node.board, node.name.clone()));
        self.children.remove(&(node.board, node.parent, id));
        for target in node.references.values().flatten() {
            self.referrers.remove(&(*target, id));
        }
        Ok(())
    }

    fn apply_name(&mut self, id: NodeId, before: &NodeName, after: &NodeName) -> ApplyResult {
        let node = self.node(id).ok_or_else(|| missing_error(id))?;
        if node.name != *before {
            return Err(changed_error(format!("the name of {id}")));
        }
        let board = node.board;
        self.claim_name(id, board, after)?;
        if before != after {
            self.names.remove(&(board, before.clone()));
        }
        self.edit(id, |node| {
            node.name = after.clone();
            Ok(())
        })
    }

    fn claim_name(&mut self, id: NodeId, board: BoardId, name: &NodeName) -> ApplyResult {
        let key = (board, name.clone());
        if self.names.get(&key).is_some_and(|holder| *holder != id) {
            return Err(ApplyError::NameTaken { what: format!("the name {name}") });
        }
        self.names.insert(key, id);
        Ok(())
    }

    fn apply_parent(&mut self, id: NodeId, before: Option<NodeId>, after: Option<NodeId>) -> ApplyResult {
        let node = self.node(id).ok_or_else(|| missing_error(id))?;
        if node.parent != before {
            return Err(changed_error(format!("the container of {id}")));
        }
        let board = node.board;
        self.check_parent(id, board, after)?;
        let placement = self.placement(id);
        if let Some(placement) = placement {
            self.occupancy.remove((board, before), id, placement);
            self.occupancy.insert((board, after), id, placement);
        }
        self.children.remove(&(board, before, id));
        self.children.insert((board, after, id));
        self.edit(id, |node| {
            node.parent = after;
            Ok(())
        })
    }

    fn check_parent(&self, id: NodeId, board: BoardId, parent: Option<NodeId>) -> ApplyResult {
        let Some(parent) = parent else { return Ok(()) };
        let container = self.node(parent).ok_or_else(|| missing_error(parent))?;
        if container.board != board {
            return Err(ApplyError::ElementMismatch {
                what: format!("{parent} is on another board than {id}"),
            });
        }
        let outside = self
            .ancestors(Some(parent))
            .take(MAX_CONTAINER_DEPTH + 1)
            .take_while(|node| node.id != id)
            .count();
        let inside_itself =
            self.ancestors(Some(parent)).take(MAX_CONTAINER_DEPTH + 1).any(|node| node.id == id);
        if inside_itself || outside + self.height(id, board) > MAX_CONTAINER_DEPTH {
            return Err(ApplyError::Nesting { node: id });
        }
        Ok(())
    }

    /// Returns the number of nesting levels from this node downwards.
    fn height(&self, id: NodeId, board: BoardId) -> usize {
        let mut level = vec![id];
        let mut height = 0;
        while !level.is_empty() && height <= MAX_CONTAINER_DEPTH {
            height += 1;
            level = level.iter().flat_map(|node| self.children(board, Some(*node))).collect();
        }
        height
    }

    fn apply_prop(
        &mut self,
        id: NodeId,
        key: &PropKey,
        before: Option<&PropValue>,
        after: Option<&PropValue>,
    ) -> ApplyResult {
        self.edit(id, |node| {
            if node.props.get(key) != before {
                return Err(changed_error(format!("{key} of {id}")));
            }
            match after {
                Some(value) => drop(node.props.insert(key.clone(), value.clone())),
                None => drop(node.props.remove(key)),
            }
            Ok(())
        })
    }

    fn apply_variable(&mut self, id: NodeId, key: &PropKey, before: bool, after: bool) -> ApplyResult {
        self.edit(id, |node| {
            if node.variables.contains(key) != before {
                return Err(changed_error(format!("{key} of {id}")));
            }
            if after {
                node.variables.insert(key.clone());
            } else {
                node.variables.remove(key);
            }
            Ok(())
        })
    }

    fn apply_references(
        &mut self,
        id: NodeId,
        key: &PropKey,
        before: &[NodeId],
        after: &[NodeId],
    ) -> ApplyResult {
        let node = self.node(id).ok_or_else(|| missing_error(id))?;
        if node.references.get(key).map_or(&[][..], Vec::as_slice) != before {
            return Err(changed_error(format!("{key} of {id}")));
        }
        self.check_targets(after)?;
        self.edit(id, |node| {
            if after.is_empty() {
                node.references.remove(key);
            } else {
                node.references.insert(key.clone(), after.to_vec());
            }
            Ok(())
        })?;
        // Another property may reference the same target, so the index is derived from the node's current references.
        let node = self.node(id).ok_or_else(|| missing_error(id))?;
        let still: Vec<NodeId> = node.references.values().flatten().copied().collect();
        for target in before.iter().filter(|target| !still.contains(target)) {
            self.referrers.remove(&(*target, id));
        }
        for target in after {
            self.referrers.insert((*target, id));
        }
        Ok(())
    }

    fn check_targets<'a>(&self, targets: impl IntoIterator<Item = &'a NodeId>) -> ApplyResult {
        match targets.into_iter().find(|target| !self.nodes.contains_key(*target)) {
            Some(target) => Err(missing_error(target)),
            None => Ok(()),
        }
    }

    fn apply_edge(&mut self, id: EdgeId, before: Option<&Edge>, after: Option<&Arc<Edge>>) -> ApplyResult {
        if self.edge(id) != before {
            return Err(changed_error(id));
        }
        if let Some(edge) = after {
            if edge.id != id {
                return Err(ApplyError::ElementMismatch { what: id.to_string() });
            }
            for end in [&edge.source, &edge.target] {
                let node = self.node(end.node).ok_or_else(|| missing_error(end.node))?;
                if node.board != edge.board {
                    return Err(ApplyError::ElementMismatch {
                        what: format!("{} is on another board than {id}", end.node),
                    });
                }
            }
            if before.is_none() && self.edges.len() >= MAX_EDGES {
                return Err(ApplyError::LimitExceeded { what: format!("more than {MAX_EDGES} edges") });
            }
        }
        if let Some(edge) = before {
            self.incident.remove(&(edge.source.node, id));
            self.incident.remove(&(edge.target.node, id));
            self.edges.remove(&id);
        }
        if let Some(edge) = after {
            self.incident.insert((edge.source.node, id));
            self.incident.insert((edge.target.node, id));
            self.edges.insert(id, Arc::clone(edge));
        }
        Ok(())
    }

    fn apply_placement(
        &mut self,
        id: NodeId,
        before: Option<Placement>,
        after: Option<Placement>,
    ) -> ApplyResult {
        let node = self.node(id).ok_or_else(|| missing_error(id))?;
        if self.placement(id) != before {
            return Err(changed_error(format!("the place of {id}")));
        }
        if after.is_some_and(|placement| !is_in_bounds(placement)) {
            return Err(ApplyError::LimitExceeded { what: format!("the place of {id} is out of range") });
        }
        let room = (node.board, node.parent);
        if let Some(placement) = before {
            self.occupancy.remove(room, id, placement);
            self.layout.remove(&id);
        }
        if let Some(placement) = after {
            self.occupancy.insert(room, id, placement);
            self.layout.insert(id, placement);
        }
        Ok(())
    }

    fn apply_source(
        &mut self,
        path: &SourcePath,
        before: Option<&Arc<str>>,
        after: Option<&Arc<str>>,
    ) -> ApplyResult {
        if self.source(path) != before {
            return Err(changed_error(path));
        }
        match after {
            None => drop(self.sources.remove(path)),
            Some(text) if text.len() > MAX_SOURCE_BYTES => {
                return Err(ApplyError::LimitExceeded {
                    what: format!("{path} is larger than {MAX_SOURCE_BYTES} bytes"),
                });
            }
            Some(_) if before.is_none() && self.sources.len() >= MAX_SOURCE_FILES => {
                return Err(ApplyError::LimitExceeded {
                    what: format!("more than {MAX_SOURCE_FILES} source files"),
                });
            }
            Some(text) => drop(self.sources.insert(path.clone(), Arc::clone(text))),
        }
        Ok(())
    }

    fn apply_override(
        &mut self,
        key: &OverrideKey,
        before: Option<&Arc<Override>>,
        after: Option<&Arc<Override>>,
    ) -> ApplyResult {
        if self.overrides.get(key) != before {
            return Err(changed_error(format!("the override {key}")));
        }
        match after {
            None => drop(self.overrides.remove(key)),
            Some(over) if !is_within_size_limits(key, over) => {
                return Err(ApplyError::LimitExceeded { what: "the override is too large".to_owned() });
            }
            Some(_) if before.is_none() && self.overrides.len() >= MAX_OVERRIDES => {
                return Err(ApplyError::LimitExceeded {
                    what: format!("more than {MAX_OVERRIDES} overrides"),
                });
            }
            Some(over) => drop(self.overrides.insert(key.clone(), Arc::clone(over))),
        }
        Ok(())
    }
}

/// Whether an override is within the size limits.
pub(crate) fn is_within_size_limits(key: &OverrideKey, over: &Override) -> bool {
    let locator = over.locator.as_ref().map_or(0, |locator| locator.to_json().len());
    key.instance.len() <= MAX_INSTANCE_ID_BYTES
        && key.path.as_str().len() <= MAX_PATH_BYTES
        && over.component.as_ref().is_none_or(|component| component.len() <= MAX_INSTANCE_ID_BYTES)
        && locator <= MAX_LOCATOR_BYTES
        && over.value.to_json().len() <= MAX_VALUE_BYTES
}

pub(crate) fn is_in_bounds(placement: Placement) -> bool {
    let on_board = -MAX_COORDINATE..=MAX_COORDINATE;
    let sizes = MIN_NODE_SIDE..=MAX_NODE_SIDE;
    on_board.contains(&placement.x)
        && on_board.contains(&placement.y)
        && sizes.contains(&placement.w)
        && sizes.contains(&placement.h)
}
