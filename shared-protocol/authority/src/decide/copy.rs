//! Duplicating and pasting: copies get new ids and free names.

use super::{CommandDraft, place};
use crate::{layout, rules};
use shared_protocol::{
    Board, BoardPoint, Change, Edge, EdgeEndpoint, EdgeEndpointRef, EdgeId, ElementId, GraphDocument,
    GraphFragment, Node, NodeId, NodeRef, Placement, Refusal, RefusalCode, command::BoardRef,
    text::count_noun,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(super) fn duplicate(
    draft: &mut CommandDraft,
    nodes: &[NodeRef],
    offset: BoardPoint,
) -> Result<String, Refusal> {
    place::check_point(offset)?;
    let chosen = draft.resolve_nodes(nodes)?;
    let roots = draft.outermost(&chosen);
    let mut by_parent: BTreeMap<_, Vec<NodeId>> = BTreeMap::new();
    for root in &roots {
        let node = draft.node(*root)?;
        by_parent.entry((node.board, node.parent)).or_default().push(*root);
    }
    for ((board, parent), roots) in by_parent {
        let board = draft.resolve_board(&board.into())?;
        let fragment = draft.state.copy_fragment(&roots);
        insert(draft, &board, parent, &fragment, PastePosition::By(offset))?;
    }
    match roots[..] {
        [root] => Ok(format!("Duplicate {}", draft.node(root)?.name)),
        _ => Ok(format!("Duplicate {}", count_noun(roots.len(), "node"))),
    }
}

impl crate::Snapshot {
    /// Copies the nodes, their content and the edges between them, as the clipboard does.
    pub fn copy_fragment(&self, roots: &[NodeId]) -> GraphDocument {
        let nodes: BTreeSet<NodeId> = roots.iter().flat_map(|root| self.subtree(*root)).collect();
        let edges: BTreeSet<EdgeId> = nodes
            .iter()
            .flat_map(|node| self.edges_of(*node))
            .filter(|edge| nodes.contains(&edge.source.node) && nodes.contains(&edge.target.node))
            .map(|edge| edge.id)
            .collect();
        GraphDocument {
            revision: self.revision(),
            boards: Vec::new(),
            layout: nodes.iter().filter_map(|id| Some((*id, self.placement(*id)?))).collect(),
            nodes: nodes.iter().filter_map(|id| self.node(*id).cloned()).collect(),
            edges: edges.iter().filter_map(|id| self.edge(*id).cloned()).collect(),
            sources: Vec::new(),
            provenance: Vec::new(),
            overrides: Vec::new(),
        }
    }
}

pub(super) fn paste(
    draft: &mut CommandDraft,
    board: &BoardRef,
    parent: Option<&NodeRef>,
    fragment: &GraphFragment,
    at: Option<BoardPoint>,
) -> Result<String, Refusal> {
    let board = draft.resolve_board(board)?;
    let parent = parent.map(|parent| draft.resolve_node(parent)).transpose()?;
    if fragment.0.nodes.is_empty() {
        return Err(Refusal::new(RefusalCode::BadRequest, "there is nothing to paste").field("fragment"));
    }
    at.map_or(Ok(()), place::check_point)?;
    check_fragment(draft, &fragment.0)?;
    insert(draft, &board, parent, &fragment.0, PastePosition::To(at))?;
    Ok(format!("Paste {}", count_noun(fragment.0.nodes.len(), "node")))
}

/// A fragment is untrusted input: its values are checked like typed ones.
fn check_fragment(draft: &CommandDraft, fragment: &GraphDocument) -> Result<(), Refusal> {
    let registry = draft.state.registry();
    for node in &fragment.nodes {
        let def = registry.require(&node.type_id)?;
        super::draft::check_label("label", &node.label)?;
        for (key, value) in &node.props {
            rules::check_prop(registry, def, key, value)?;
        }
        node.variables.iter().try_for_each(|key| rules::may_vary(def, key))?;
    }
    let ids: BTreeSet<NodeId> = fragment.nodes.iter().map(|node| node.id).collect();
    if ids.len() != fragment.nodes.len() {
        return Err(
            Refusal::new(RefusalCode::BadRequest, "the fragment contains a duplicate id").field("fragment")
        );
    }
    Ok(())
}

/// The position of the copies.
#[derive(Clone, Copy)]
enum PastePosition {
    By(BoardPoint),
    /// Puts the top left of all copies at the point, or into free space when there is none.
    To(Option<BoardPoint>),
}

fn insert(
    draft: &mut CommandDraft,
    board: &Board,
    parent: Option<NodeId>,
    fragment: &GraphDocument,
    shift: PastePosition,
) -> Result<(), Refusal> {
    let copies: BTreeMap<NodeId, NodeId> =
        fragment.nodes.iter().map(|node| node.id).map(|id| (id, draft.new_node_id())).collect();
    let sizes: BTreeMap<NodeId, Placement> = fragment.layout.iter().copied().collect();
    let order = parents_first(fragment)?;
    let roots: Vec<&Node> = order
        .iter()
        .copied()
        .filter(|node| !node.parent.is_some_and(|id| copies.contains_key(&id)))
        .collect();
    let placed = |draft: &CommandDraft, node: &Node| -> Placement {
        let size = draft.state.registry().get(&node.type_id).map(|def| def.default_size());
        let (w, h) = size.map_or((184, 64), |size| (size.w, size.h));
        sizes.get(&node.id).copied().filter(|p| crate::apply::is_in_bounds(*p)).unwrap_or(Placement {
            x: 0,
            y: 0,
            w,
            h,
        })
    };
    let extent = roots.iter().map(|node| placed(draft, node)).reduce(Placement::union);
    let delta = delta(draft, (board.id, parent), extent, shift);

    for node in &order {
        let is_root = !node.parent.is_some_and(|id| copies.contains_key(&id));
        let to = if is_root { parent } else { node.parent.and_then(|id| copies.get(&id)).copied() };
        let def = draft.state.registry().require(&node.type_id)?.clone();
        rules::may_contain(&draft.state, board, to, &def)?;
        let id = copies[&node.id];
        let name = draft.free_name(board.id, &node.name);
        let copy =
            Node { id, board: board.id, name, parent: to, references: BTreeMap::new(), ..Node::clone(node) };
        let placement = placed(draft, node);
        draft.push(Change::Node { id, before: None, after: Some(Arc::new(copy)) })?;
        let placement = if is_root {
            let moved = placement.moved_by(delta.x, delta.y);
            moved.moved_to(layout::clamp_to_content(parent, moved.origin()))
        } else {
            placement
        };
        draft.place(id, placement)?;
        draft.assignments.names.insert(id);
        if is_root {
            draft.created.push(ElementId::Node(id));
        }
    }
    copy_references(draft, board, &order, &copies)?;
    copy_edges(draft, &fragment.edges, &copies)?;
    let new_roots: Vec<NodeId> = roots.iter().map(|node| copies[&node.id]).collect();
    layout::make_room(draft, &new_roots)
}

fn delta(
    draft: &CommandDraft,
    room: crate::occupancy::ContainerScope,
    extent: Option<Placement>,
    shift: PastePosition,
) -> BoardPoint {
    let extent = extent.unwrap_or(Placement { x: 0, y: 0, w: 16, h: 16 });
    let to = match shift {
        PastePosition::By(offset) => return offset,
        PastePosition::To(Some(at)) => at,
        PastePosition::To(None) => {
            let size = shared_protocol::registry::NodeSize { w: extent.w, h: extent.h };
            layout::find_free_place(&draft.state, room, size, Some(extent.origin()))
        }
    };
    BoardPoint { x: to.x - extent.x, y: to.y - extent.y }
}

fn parents_first(fragment: &GraphDocument) -> Result<Vec<&Node>, Refusal> {
    crate::board_diff::parents_first(&fragment.nodes).ok_or_else(|| {
        Refusal::new(RefusalCode::ContainmentError, "a node of the fragment contains itself")
            .field("fragment")
    })
}

fn copy_references(
    draft: &mut CommandDraft,
    board: &Board,
    order: &[&Node],
    copies: &BTreeMap<NodeId, NodeId>,
) -> Result<(), Refusal> {
    for node in order {
        let id = copies[&node.id];
        let def = draft.type_of(draft.node(id)?)?;
        for (key, targets) in &node.references {
            let is_here =
                |target: &NodeId| draft.state.node(*target).is_some_and(|node| node.board == board.id);
            let kept: Vec<NodeRef> = targets
                .iter()
                .filter_map(|target| copies.get(target).copied().or_else(|| Some(*target).filter(is_here)))
                .map(NodeRef::Id)
                .collect();
            if def.parent_reference.as_ref() != Some(key) && !kept.is_empty() {
                super::references::set(draft, id, &def, key, &kept)?;
            }
        }
        super::references::sync_parent_reference(draft, id, &def)?;
    }
    Ok(())
}

fn copy_edges(
    draft: &mut CommandDraft,
    edges: &[Edge],
    copies: &BTreeMap<NodeId, NodeId>,
) -> Result<(), Refusal> {
    let made = draft.created.len();
    for edge in edges {
        let (Some(source), Some(target)) = (copies.get(&edge.source.node), copies.get(&edge.target.node))
        else {
            continue;
        };
        let end = |node: &NodeId, end: &EdgeEndpoint| EdgeEndpointRef {
            node: (*node).into(),
            port: Some(end.port.clone()),
        };
        super::connect::connect(draft, &end(source, &edge.source), &end(target, &edge.target), &edge.label)?;
    }
    // The result lists only the pasted nodes, not their edges.
    draft.created.truncate(made);
    Ok(())
}
