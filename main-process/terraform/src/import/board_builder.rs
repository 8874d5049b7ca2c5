//! A board under construction.

use super::{ImportError, ImportNote, ImportedBoard};
use crate::settings::TerraformProjectSettings;
use authority::{Snapshot, place_missing};
use shared_protocol::{
    Board, BoardId, BoardKind, BoardName, Change, Edge, EdgeEndpoint, EdgeId, Node, NodeId, NodeName,
    PropKey, PropValue, TypeDef, TypeId,
    registry::{ConnectionEnd, ConnectionRule},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

pub(super) struct BoardBuilder<'a> {
    pub(super) snapshot: &'a Snapshot,
    board: Board,
    pub(super) nodes: Vec<Node>,
    edges: Vec<Edge>,
    names: HashSet<NodeName>,
    index: HashMap<NodeId, usize>,
    pub(super) notes: Vec<ImportNote>,
    pub(super) settings: TerraformProjectSettings,
    /// The original containers of nodes that were moved to another container.
    original_containers: HashMap<NodeId, NodeId>,
    seed: u64,
}

impl<'a> BoardBuilder<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, name: BoardName, title: &str, seed: u64) -> Self {
        let mut drawing = Self {
            snapshot,
            board: Board { id: BoardId::MIN, kind: BoardKind::Infrastructure, name, title: title.to_owned() },
            nodes: Vec::new(),
            edges: Vec::new(),
            names: HashSet::new(),
            index: HashMap::new(),
            notes: Vec::new(),
            settings: TerraformProjectSettings::default(),
            original_containers: HashMap::new(),
            seed,
        };
        drawing.board.id = BoardId::from_bits(drawing.next_id_bits());
        drawing
    }

    /// Returns the next pseudo-random number (SplitMix64).
    fn next_id_bits(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn type_def(&self, type_id: &TypeId) -> Option<&'a TypeDef> {
        self.snapshot.registry().get(type_id)
    }

    /// Adds a node. Keeps the name where it is valid and free.
    pub(super) fn add_node(&mut self, type_id: TypeId, wanted: &str, label: &str) -> NodeId {
        let base =
            NodeName::parse(wanted).unwrap_or_else(|_| NodeName::from_words(wanted, &NodeName::fallback()));
        let mut name = base.clone();
        let mut number = 2;
        while self.names.contains(&name) {
            let suffix = format!("_{number}");
            let stem: String = base.as_str().chars().take(64 - suffix.len()).collect();
            name = NodeName::parse(format!("{stem}{suffix}")).unwrap_or_else(|_| NodeName::fallback());
            number += 1;
        }
        self.names.insert(name.clone());
        let id = NodeId::from_bits(self.next_id_bits());
        let differs = name.as_str() != wanted;
        self.index.insert(id, self.nodes.len());
        self.nodes.push(Node {
            id,
            board: self.board.id,
            type_id,
            label: label.chars().take(shared_protocol::limits::MAX_LABEL_CHARS).collect(),
            name,
            parent: None,
            props: BTreeMap::new(),
            references: BTreeMap::new(),
            variables: BTreeSet::new(),
        });
        // Existing resources keep their address.
        if differs && crate::hcl::is_identifier(wanted) {
            let keeps = self
                .node(id)
                .and_then(|node| self.type_def(&node.type_id))
                .is_some_and(|def| def.prop("terraform_name").is_some());
            if keeps {
                self.set_prop(id, "terraform_name", PropValue::text(wanted));
            }
        }
        id
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(*self.index.get(&id)?)
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(*self.index.get(&id)?)
    }

    pub(super) fn set_prop(&mut self, id: NodeId, key: &str, value: PropValue) {
        if let (Ok(key), Some(node)) = (PropKey::parse(key), self.node_mut(id)) {
            node.props.insert(key, value);
        }
    }

    pub(super) fn add_reference(&mut self, id: NodeId, key: &str, target: NodeId) {
        let Ok(key) = PropKey::parse(key) else { return };
        let many = self
            .node(id)
            .and_then(|node| self.type_def(&node.type_id)?.prop(key.as_str()).map(|prop| prop.many));
        if let Some(node) = self.node_mut(id) {
            let targets = node.references.entry(key).or_default();
            if many == Some(false) {
                targets.clear();
            }
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }

    /// Records the original container of a node.
    pub(super) fn record_original_container(&mut self, id: NodeId, container: NodeId) {
        self.original_containers.insert(id, container);
    }

    pub(super) fn original_container(&self, id: NodeId) -> Option<NodeId> {
        self.original_containers.get(&id).copied()
    }

    pub(super) fn add_note(&mut self, node: Option<NodeId>, message: impl Into<String>) {
        self.notes.push(ImportNote { node, message: message.into() });
    }

    pub(super) fn mark_as_variable(&mut self, id: NodeId, key: &str) {
        if let (Ok(key), Some(node)) = (PropKey::parse(key), self.node_mut(id)) {
            node.variables.insert(key);
        }
    }

    /// Returns whether the type of a node may be placed in another node.
    pub(super) fn may_stand_in(&self, child: NodeId, parent: NodeId) -> bool {
        let def = |id: NodeId| self.node(id).and_then(|node| self.type_def(&node.type_id));
        match (def(child), def(parent)) {
            (Some(child), Some(parent)) => child.is_allowed_in(parent),
            _ => false,
        }
    }

    /// Returns whether `inner` is `outer` or a descendant of it.
    pub(super) fn is_within(&self, inner: NodeId, outer: NodeId) -> bool {
        let mut at = Some(inner);
        let mut steps = 0;
        while let Some(id) = at {
            if id == outer {
                return true;
            }
            steps += 1;
            if steps > self.nodes.len() {
                return true;
            }
            at = self.node(id).and_then(|node| node.parent);
        }
        false
    }

    /// Connects two nodes by the first matching rule, and sets the reference that the rule defines. Returns false
    /// when there is no rule.
    pub(super) fn connect(&mut self, source: NodeId, target: NodeId, label: &str) -> bool {
        let (Some(from), Some(to)) = (self.node(source), self.node(target)) else { return false };
        let (Some(from_def), Some(to_def)) = (self.type_def(&from.type_id), self.type_def(&to.type_id))
        else {
            return false;
        };
        let rule = self.snapshot.registry().rules().iter().find(|rule| {
            rule.source.type_id.matches(&from.type_id)
                && rule.target.type_id.matches(&to.type_id)
                && from_def.port(rule.source.port.as_str()).is_some()
                && to_def.port(rule.target.port.as_str()).is_some()
        });
        let Some(rule) = rule.cloned() else { return false };
        if let Some(sets) = &rule.sets {
            let (holder, other) =
                if sets.on == ConnectionEnd::Source { (source, target) } else { (target, source) };
            self.add_reference(holder, sets.prop.as_str(), other);
        }
        self.add_edge(&rule, source, target, label)
    }

    /// Adds an edge unless a port is full or the edge exists.
    fn add_edge(&mut self, rule: &ConnectionRule, source: NodeId, target: NodeId, label: &str) -> bool {
        let from = EdgeEndpoint { node: source, port: rule.source.port.clone() };
        let to = EdgeEndpoint { node: target, port: rule.target.port.clone() };
        let is_full = |end: &EdgeEndpoint| {
            let port =
                self.node(end.node).and_then(|node| self.type_def(&node.type_id)?.port(end.port.as_str()));
            let most = port.and_then(|port| port.max_connections);
            let used = self.edges.iter().filter(|edge| edge.source == *end || edge.target == *end).count();
            most.is_some_and(|most| used >= most as usize)
        };
        let twin = self.edges.iter().any(|edge| edge.source == from && edge.target == to);
        if twin || is_full(&from) || is_full(&to) {
            return false;
        }
        let id = EdgeId::from_bits(self.next_id_bits());
        let edge = Edge { id, board: self.board.id, source: from, target: to, label: label.to_owned() };
        self.edges.push(edge);
        true
    }

    /// Adds edges for references that a connection rule represents, so that they are visible on the board.
    fn add_reference_edges(&mut self) {
        let rules: Vec<ConnectionRule> =
            self.snapshot.registry().rules().iter().filter(|rule| rule.sets.is_some()).cloned().collect();
        let mut by_key: HashMap<&str, Vec<&ConnectionRule>> = HashMap::new();
        for rule in &rules {
            if let Some(sets) = &rule.sets {
                by_key.entry(sets.prop.as_str()).or_default().push(rule);
            }
        }
        let types: HashMap<NodeId, TypeId> =
            self.nodes.iter().map(|node| (node.id, node.type_id.clone())).collect();
        let mut wanted = Vec::new();
        for node in &self.nodes {
            for (key, targets) in &node.references {
                for target in targets.iter().filter(|target| node.parent != Some(**target)) {
                    let Some(target_type) = types.get(target) else { continue };
                    let rule = by_key.get(key.as_str()).into_iter().flatten().find(|rule| {
                        let (source, end) = match rule.sets.as_ref().map(|sets| sets.on) {
                            Some(ConnectionEnd::Source) => (&node.type_id, target_type),
                            _ => (target_type, &node.type_id),
                        };
                        rule.source.type_id.matches(source) && rule.target.type_id.matches(end)
                    });
                    if let Some(rule) = rule {
                        let ends = match rule.sets.as_ref().map(|sets| sets.on) {
                            Some(ConnectionEnd::Source) => (node.id, *target),
                            _ => (*target, node.id),
                        };
                        wanted.push(((*rule).clone(), ends));
                    }
                }
            }
        }
        for (rule, (source, target)) in wanted {
            self.add_edge(&rule, source, target, "");
        }
    }

    /// Returns the changes that add the board: containers before their content, and a layout for every node.
    pub(super) fn finish(mut self) -> Result<ImportedBoard, ImportError> {
        self.add_reference_edges();
        let board = Arc::new(self.board.clone());
        let mut changes = vec![Change::Board { id: board.id, before: None, after: Some(board) }];
        let mut children: HashMap<Option<NodeId>, Vec<usize>> = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            children.entry(node.parent).or_default().push(index);
        }
        let mut order: Vec<usize> = children.remove(&None).unwrap_or_default();
        let mut next = 0;
        while let Some(&index) = order.get(next) {
            order.extend(children.remove(&Some(self.nodes[index].id)).unwrap_or_default());
            next += 1;
        }
        for &index in &order {
            let node = Node { references: BTreeMap::new(), ..self.nodes[index].clone() };
            changes.push(Change::Node { id: node.id, before: None, after: Some(Arc::new(node)) });
        }
        for &index in &order {
            let node = &self.nodes[index];
            for (key, targets) in node.references.iter().filter(|(_, targets)| !targets.is_empty()) {
                changes.push(Change::References {
                    node: node.id,
                    key: key.clone(),
                    before: Vec::new(),
                    after: targets.clone(),
                });
            }
        }
        for edge in self.edges {
            changes.push(Change::Edge { id: edge.id, before: None, after: Some(Arc::new(edge)) });
        }
        let places = place_missing(self.snapshot, &changes)
            .map_err(|refusal| ImportError::Drawing(refusal.message))?;
        changes.extend(places);
        Ok(ImportedBoard { changes, settings: self.settings, notes: self.notes })
    }
}
