//! Moving and resizing nodes, and moving them into other containers.

use super::{CommandDraft, references};
use crate::{layout, rules};
use shared_protocol::{
    BoardPoint, Change, NodeId, NodeRef, Placement, Refusal, RefusalCode,
    command::PlaceNode,
    limits::{MAX_COORDINATE, MAX_NODE_SIDE, MIN_NODE_SIDE},
    registry::NodeSize,
    text::count_noun,
};

pub(super) fn place(draft: &mut CommandDraft, items: &[PlaceNode]) -> Result<String, Refusal> {
    let mut moved = Vec::with_capacity(items.len());
    let mut resized = 0;
    for item in items {
        let id = draft.resolve_node(&item.node)?;
        let before = current(draft, id)?;
        let (w, h) = (item.w.unwrap_or(before.w), item.h.unwrap_or(before.h));
        check_point(BoardPoint { x: item.x, y: item.y })?;
        check_size(w, h)?;
        let (least_w, least_h) = layout::min_content_size(&draft.state, id);
        let at = layout::clamp_to_content(draft.node(id)?.parent, BoardPoint { x: item.x, y: item.y });
        let after = Placement { x: at.x, y: at.y, w: w.max(least_w), h: h.max(least_h) };
        resized += usize::from((after.w, after.h) != (before.w, before.h));
        draft.place(id, after)?;
        moved.push(id);
    }
    layout::make_room(draft, &moved)?;
    let verb = if resized > 0 { "Resize" } else { "Move" };
    match moved[..] {
        [node] => Ok(format!("{verb} {}", draft.node(node)?.name)),
        _ => Ok(format!("{verb} {}", count_noun(moved.len(), "node"))),
    }
}

fn current(draft: &CommandDraft, id: NodeId) -> Result<Placement, Refusal> {
    match draft.state.placement(id) {
        Some(placement) => Ok(placement),
        None => {
            let size = draft.type_of(draft.node(id)?)?.default_size();
            Ok(Placement { x: 0, y: 0, w: size.w, h: size.h })
        }
    }
}

/// Checks a position or an offset from a command.
pub(super) fn check_point(BoardPoint { x, y }: BoardPoint) -> Result<(), Refusal> {
    let near = -MAX_COORDINATE..=MAX_COORDINATE;
    if near.contains(&x) && near.contains(&y) {
        return Ok(());
    }
    let message = format!("the coordinates {x}, {y} are out of range (±{MAX_COORDINATE})");
    Err(Refusal::new(RefusalCode::LimitExceeded, message))
}

fn check_size(w: i32, h: i32) -> Result<(), Refusal> {
    let sides = MIN_NODE_SIDE..=MAX_NODE_SIDE;
    if sides.contains(&w) && sides.contains(&h) {
        return Ok(());
    }
    let message =
        format!("the size {w} × {h} is out of range: each side must be {MIN_NODE_SIDE} to {MAX_NODE_SIDE}");
    Err(Refusal::new(RefusalCode::LimitExceeded, message))
}

pub(super) fn reparent(
    draft: &mut CommandDraft,
    nodes: &[NodeRef],
    parent: Option<&NodeRef>,
    delta: BoardPoint,
) -> Result<String, Refusal> {
    let parent = parent.map(|parent| draft.resolve_node(parent)).transpose()?;
    let chosen = draft.resolve_nodes(nodes)?;
    let chosen = draft.outermost(&chosen);
    for id in &chosen {
        move_into(draft, *id, parent, delta)?;
    }
    layout::make_room(draft, &chosen)?;
    let into = match parent {
        Some(parent) => format!("into {}", draft.node(parent)?.name),
        None => "onto the board".to_owned(),
    };
    match chosen[..] {
        [node] => Ok(format!("Move {} {into}", draft.node(node)?.name)),
        _ => Ok(format!("Move {} {into}", count_noun(chosen.len(), "node"))),
    }
}

fn move_into(
    draft: &mut CommandDraft,
    id: NodeId,
    parent: Option<NodeId>,
    delta: BoardPoint,
) -> Result<(), Refusal> {
    let node = draft.node(id)?.clone();
    let def = draft.type_of(&node)?;
    if draft.state.ancestors(parent).any(|ancestor| ancestor.id == id) {
        let message = format!("{} cannot be moved into itself", node.label);
        return Err(Refusal::new(RefusalCode::ContainmentError, message).field("parent"));
    }
    let board = draft.resolve_board(&node.board.into())?;
    if parent != node.parent {
        rules::may_contain(&draft.state, &board, parent, &def)?;
    }
    let absolute = draft.state.absolute_placement(id).map_or(current(draft, id)?, |absolute| absolute);
    let origin = draft.state.origin_of(parent);
    check_point(delta)?;
    let to = BoardPoint { x: absolute.x + delta.x - origin.x, y: absolute.y + delta.y - origin.y };
    check_point(to)?;
    if parent != node.parent {
        draft.push(Change::Parent { node: id, before: node.parent, after: parent })?;
        references::sync_parent_reference(draft, id, &def)?;
    }
    draft.place(id, absolute.moved_to(layout::clamp_to_content(parent, to)))
}

pub(super) fn place_missing(draft: &mut CommandDraft, changes: &[Change]) -> Result<(), Refusal> {
    let mut placed = Vec::new();
    for change in changes {
        let Change::Node { id, after: Some(_), .. } = change else { continue };
        let Some(node) = draft.state.node(*id) else { continue };
        if draft.state.placement(*id).is_some() {
            continue;
        }
        let room = (node.board, node.parent);
        let size = draft.state.type_of(node).map_or(NodeSize { w: 184, h: 64 }, |def| def.default_size());
        let at = layout::find_free_place(&draft.state, room, size, None);
        draft.place(*id, Placement { x: at.x, y: at.y, w: size.w, h: size.h })?;
        placed.push(*id);
    }
    layout::make_room(draft, &placed)
}
