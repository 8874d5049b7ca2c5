//! The working copy for deciding a command.

use super::CommandDecision;
use crate::{ApplyError, Snapshot};
use shared_protocol::{
    Board, BoardId, Change, EdgeId, ElementId, Node, NodeId, NodeName, NodeRef, Placement, Refusal,
    RefusalCode, TypeDef,
    command::BoardRef,
    limits::{MAX_LABEL_CHARS, MAX_SUGGESTIONS},
    proposal::AutoAssignments,
};
use std::sync::Arc;

pub(crate) struct CommandDraft {
    pub(crate) state: Snapshot,
    pub(crate) changes: Vec<Change>,
    pub(crate) created: Vec<ElementId>,
    pub(super) assignments: AutoAssignments,
    entropy: u64,
}

impl CommandDraft {
    pub(crate) fn new(snapshot: &Snapshot, seed: u64) -> Self {
        let (changes, created, chosen) = (Vec::new(), Vec::new(), AutoAssignments::default());
        Self { state: snapshot.clone(), changes, created, assignments: chosen, entropy: seed }
    }

    pub(super) fn finish(self, summary: String) -> CommandDecision {
        CommandDecision {
            summary,
            changes: self.changes,
            created: self.created,
            assignments: self.assignments,
        }
    }

    /// Applies and records a change; a change that breaks the graph refuses the whole command.
    pub(crate) fn push(&mut self, change: Change) -> Result<(), Refusal> {
        self.state.apply_change(&change).map_err(refusal_for_apply_error)?;
        self.changes.push(change);
        Ok(())
    }

    pub(crate) fn place(&mut self, node: NodeId, after: Placement) -> Result<(), Refusal> {
        let before = self.state.placement(node);
        if before == Some(after) {
            return Ok(());
        }
        self.push(Change::Placement { node, before, after: Some(after) })
    }

    pub(super) fn set_references(
        &mut self,
        node: NodeId,
        key: &shared_protocol::PropKey,
        after: Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let before = self.node(node)?.references.get(key).cloned().unwrap_or_default();
        if before == after {
            return Ok(());
        }
        self.push(Change::References { node, key: key.clone(), before, after })
    }

    /// SplitMix64: each seed gives a different, well-spread sequence.
    fn random(&mut self) -> u64 {
        self.entropy = self.entropy.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.entropy;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(super) fn new_board_id(&mut self) -> BoardId {
        loop {
            let id = BoardId::from_bits(self.random());
            if self.state.board(id).is_none() {
                return id;
            }
        }
    }

    pub(super) fn new_node_id(&mut self) -> NodeId {
        loop {
            let id = NodeId::from_bits(self.random());
            if self.state.node(id).is_none() {
                return id;
            }
        }
    }

    pub(super) fn new_edge_id(&mut self) -> EdgeId {
        loop {
            let id = EdgeId::from_bits(self.random());
            if self.state.edge(id).is_none() {
                return id;
            }
        }
    }

    pub(super) fn resolve_board(&self, reference: &BoardRef) -> Result<Arc<Board>, Refusal> {
        let id = match reference {
            BoardRef::Id(id) => Some(*id),
            BoardRef::Name(name) => self.state.board_named(name).map(|board| board.id),
        };
        id.and_then(|id| self.state.boards.get(&id)).cloned().ok_or_else(|| {
            let known = || self.state.boards().map(|board| board.name.as_str());
            let refusal = Refusal::new(RefusalCode::NotFound, format!("there is no board `{reference}`"))
                .field("board")
                .suggest(crate::rules::similar(&reference.to_string(), known()));
            let some: Vec<&str> = known().take(MAX_SUGGESTIONS).collect();
            match (refusal.suggestions.is_empty(), some.is_empty()) {
                (true, false) => refusal.hint(format!("Available boards: {}.", some.join(", "))),
                (true, true) => refusal.hint("The workspace has no boards yet. Add one with addBoard."),
                _ => refusal,
            }
        })
    }

    pub(super) fn node(&self, id: NodeId) -> Result<&Node, Refusal> {
        self.state.node(id).ok_or_else(|| node_not_found(&id.to_string()))
    }

    /// Resolves a node reference; a plain name must be unique across all boards.
    pub(super) fn resolve_node(&self, reference: &NodeRef) -> Result<NodeId, Refusal> {
        let path = match reference {
            NodeRef::Id(id) => return self.node(*id).map(|node| node.id),
            NodeRef::Name(path) => path,
        };
        if let Some(name) = &path.board {
            let board = self.resolve_board(&BoardRef::Name(name.clone()))?;
            return self
                .state
                .node_named(board.id, &path.name)
                .map(|node| node.id)
                .ok_or_else(|| self.suggest_names(&path.name, reference));
        }
        let found: Vec<&Node> =
            self.state.boards().filter_map(|board| self.state.node_named(board.id, &path.name)).collect();
        match found[..] {
            [node] => Ok(node.id),
            [] => Err(self.suggest_names(&path.name, reference)),
            _ => {
                let paths = found
                    .iter()
                    .filter_map(|node| Some(format!("{}/{}", self.state.board(node.board)?.name, node.name)));
                Err(Refusal::new(RefusalCode::BadRequest, format!("`{reference}` exists on several boards"))
                    .suggest(paths))
            }
        }
    }

    fn suggest_names(&self, name: &NodeName, reference: &NodeRef) -> Refusal {
        let known = self.state.names.keys().map(|(_, name)| name.as_str());
        node_not_found(&reference.to_string()).suggest(crate::rules::similar(name.as_str(), known))
    }

    /// Resolves node references, sorted and without duplicates.
    pub(super) fn resolve_nodes(&self, references: &[NodeRef]) -> Result<Vec<NodeId>, Refusal> {
        let found: Result<Vec<NodeId>, Refusal> =
            references.iter().map(|node| self.resolve_node(node)).collect();
        let mut found = found?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Drops the nodes inside another given node: a change to a container includes its content.
    pub(super) fn outermost(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let chosen: std::collections::BTreeSet<NodeId> = nodes.iter().copied().collect();
        let within = |id: &NodeId| {
            let parent = self.state.node(*id).and_then(|node| node.parent);
            self.state.ancestors(parent).any(|ancestor| chosen.contains(&ancestor.id))
        };
        chosen.iter().copied().filter(|id| !within(id)).collect()
    }

    pub(super) fn type_of(&self, node: &Node) -> Result<Arc<TypeDef>, Refusal> {
        self.state.registry().require(&node.type_id).cloned()
    }

    /// Returns the wanted name if it is free on the board, else the name with a free number.
    pub(super) fn free_name(&self, board: BoardId, wanted: &NodeName) -> NodeName {
        let is_free = |name: &NodeName| self.state.node_named(board, name).is_none();
        if is_free(wanted) {
            return wanted.clone();
        }
        // Exponential, then binary search: a linear scan is too slow with thousands of nodes of one type.
        let taken = |number: u32| !is_free(&wanted.numbered(number));
        let mut upper = 2;
        while taken(upper) && upper < 1 << 24 {
            upper *= 2;
        }
        let mut lower = upper / 2;
        while upper - lower > 1 {
            let middle = lower + (upper - lower) / 2;
            if taken(middle) { lower = middle } else { upper = middle }
        }
        wanted.numbered(upper)
    }
}

fn node_not_found(reference: &str) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("there is no node `{reference}`")).field("node")
}

pub(crate) fn refusal_for_apply_error(error: ApplyError) -> Refusal {
    let code = match &error {
        ApplyError::RevisionGap { .. } | ApplyError::Changed { .. } | ApplyError::InUse { .. } => {
            RefusalCode::Conflict
        }
        ApplyError::Missing { .. } => RefusalCode::NotFound,
        ApplyError::NameTaken { .. } | ApplyError::ElementMismatch { .. } => RefusalCode::ValidationError,
        ApplyError::Nesting { .. } => RefusalCode::ContainmentError,
        ApplyError::LimitExceeded { .. } => RefusalCode::LimitExceeded,
    };
    Refusal::new(code, error.to_string())
}

pub(super) fn check_label<'a>(field: &str, label: &'a str) -> Result<&'a str, Refusal> {
    if let Some(control) = label.chars().find(|c| c.is_control()) {
        let message = format!("the {field} contains a control character: {control:?}");
        return Err(Refusal::new(RefusalCode::ValidationError, message)
            .field(field)
            .hint("Use a single line of text."));
    }
    if label.chars().count() > MAX_LABEL_CHARS {
        let message = format!("the {field} is longer than {MAX_LABEL_CHARS} characters");
        return Err(Refusal::new(RefusalCode::LimitExceeded, message).field(field));
    }
    Ok(label)
}
