//! A working copy of the state on which a map is drawn step by step, and the changes that lead to it.

use authority::{Snapshot, decide, place_missing};
use shared_protocol::{
    BoardId, BoardKind, BoardName, Change, Command, Edge, EdgeEndpoint, EdgeId, ElementId, Node, NodeId,
    NodeName, NodeRef, PortId, PropKey, PropValue, Refusal, RefusalCode, TypeId, bundle::EntityRef,
};
use std::{collections::BTreeMap, sync::Arc};

/// The type of a node that stands for an entity.
pub(super) const TYPE: &str = "spec/entity";
const OUT: &str = "out";
const IN: &str = "in";

pub(super) struct MapSketch {
    pub(super) state: Snapshot,
    pub(super) changes: Vec<Change>,
    seed: u64,
}

impl MapSketch {
    pub(super) fn new(state: &Snapshot, seed: u64) -> Self {
        Self { state: state.clone(), changes: Vec::new(), seed }
    }

    fn apply(&mut self, changes: Vec<Change>) -> Result<(), Refusal> {
        let next = self.state.revision().next();
        self.state
            .apply(next, &changes)
            .map_err(|error| Refusal::new(RefusalCode::Conflict, error.to_string()))?;
        self.changes.extend(changes);
        Ok(())
    }

    fn run(&mut self, command: &Command) -> Result<Vec<ElementId>, Refusal> {
        let seed = self.next();
        let decision = decide(&self.state, command, seed)?;
        self.apply(decision.changes)?;
        Ok(decision.created)
    }

    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.seed ^ (self.seed >> 29)
    }

    /// The board of this name, and whether it was added. A board of another kind keeps its name.
    pub(super) fn board(&mut self, name: &BoardName, title: &str) -> Result<(BoardId, bool), Refusal> {
        let numbered = (2..1_000).map(|number| name.numbered(number));
        for name in std::iter::once(name.clone()).chain(numbered) {
            match self.state.board_named(&name) {
                Some(board) if board.kind == BoardKind::Spec => return Ok((board.id, false)),
                Some(_) => continue,
                None => {
                    let title: String = title.chars().filter(|c| !c.is_control()).take(100).collect();
                    let command = Command::AddBoard { kind: BoardKind::Spec, title, name: Some(name) };
                    let created = self.run(&command)?;
                    let board = created.iter().find_map(|element| match element {
                        ElementId::Board(id) => Some(*id),
                        _ => None,
                    });
                    let missing = || Refusal::new(RefusalCode::Internal, "the board was not made");
                    return board.map(|board| (board, true)).ok_or_else(missing);
                }
            }
        }
        Err(Refusal::new(RefusalCode::LimitExceeded, format!("too many boards have names like {name}")))
    }

    /// Adds a node for an entity. The reference to the entity is read-only, so no command could set it.
    pub(super) fn add(&mut self, board: BoardId, entity: &EntityRef, label: &str) -> Result<(), Refusal> {
        let mut id = NodeId::from_bits(self.next());
        while self.state.node(id).is_some() {
            id = NodeId::from_bits(self.next());
        }
        let prop = |key: &str, text: &str| Some((PropKey::parse(key).ok()?, PropValue::Text(text.into())));
        let props = [
            prop("bundle", &entity.bundle),
            prop("entityType", &entity.entity_type),
            prop("entityId", &entity.id),
        ];
        let node = Node {
            id,
            board,
            type_id: type_id()?,
            name: self.name(board, &entity.id),
            label: label.to_owned(),
            parent: None,
            props: props.into_iter().flatten().collect(),
            references: BTreeMap::new(),
            variables: Default::default(),
        };
        let mut changes = vec![Change::Node { id, before: None, after: Some(Arc::new(node)) }];
        changes.extend(place_missing(&self.state, &changes)?);
        self.apply(changes)
    }

    fn name(&self, board: BoardId, id: &str) -> NodeName {
        let name = NodeName::from_words(id, &NodeName::fallback());
        let is_free = |name: &NodeName| self.state.node_named(board, name).is_none();
        let numbered = (2..u32::MAX).map(|number| name.numbered(number));
        std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
    }

    pub(super) fn relabel(&mut self, node: NodeId, label: &str) -> Result<(), Refusal> {
        match self.state.node(node).map(|node| node.label.clone()) {
            Some(before) if before != label => {
                self.apply(vec![Change::Label { node, before, after: label.to_owned() }])
            }
            _ => Ok(()),
        }
    }

    /// Removes nodes with their edges and the references to them.
    pub(super) fn remove(&mut self, nodes: &[NodeId]) -> Result<(), Refusal> {
        if nodes.is_empty() {
            return Ok(());
        }
        let nodes: Vec<NodeRef> = nodes.iter().copied().map(NodeRef::from).collect();
        self.run(&Command::Remove { nodes, edges: Vec::new() }).map(drop)
    }

    pub(super) fn connect(&mut self, from: NodeId, to: NodeId, label: &str) -> Result<(), Refusal> {
        let Some(board) = self.state.node(from).map(|node| node.board) else { return Ok(()) };
        let mut id = EdgeId::from_bits(self.next());
        while self.state.edge(id).is_some() {
            id = EdgeId::from_bits(self.next());
        }
        let (source, target) = (end(from, OUT)?, end(to, IN)?);
        let edge = Edge { id, board, source, target, label: label.to_owned() };
        self.apply(vec![Change::Edge { id, before: None, after: Some(Arc::new(edge)) }])
    }

    pub(super) fn relabel_edge(&mut self, edge: &Edge, label: &str) -> Result<(), Refusal> {
        if edge.label == label {
            return Ok(());
        }
        let after = Edge { label: label.to_owned(), ..edge.clone() };
        let (before, after) = (Some(Arc::new(edge.clone())), Some(Arc::new(after)));
        self.apply(vec![Change::Edge { id: edge.id, before, after }])
    }

    pub(super) fn disconnect(&mut self, edge: &Edge) -> Result<(), Refusal> {
        self.apply(vec![Change::Edge { id: edge.id, before: Some(Arc::new(edge.clone())), after: None }])
    }

    /// Lays out these nodes in layers.
    pub(super) fn arrange(&mut self, nodes: impl Iterator<Item = NodeId>) -> Result<(), Refusal> {
        let nodes: Vec<NodeRef> = nodes.map(NodeRef::from).collect();
        if nodes.len() < 2 {
            return Ok(());
        }
        self.run(&Command::Tidy { nodes }).map(drop)
    }
}

fn type_id() -> Result<TypeId, Refusal> {
    TypeId::parse(TYPE).map_err(malformed)
}

fn end(node: NodeId, port: &str) -> Result<EdgeEndpoint, Refusal> {
    Ok(EdgeEndpoint { node, port: PortId::parse(port).map_err(malformed)? })
}

fn malformed(error: shared_protocol::NameError) -> Refusal {
    Refusal::new(RefusalCode::Internal, error.to_string())
}
