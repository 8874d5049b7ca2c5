//! Free space for new nodes, containers that grow with their content, and neighbours that move out of the way.

use super::{GAP, HEADER, PADDING};
use crate::{
    Snapshot,
    decide::CommandDraft,
    occupancy::{self, ContainerScope},
};
use shared_protocol::{
    BoardPoint, NodeId, Placement, Refusal, RefusalCode,
    limits::{MAX_COORDINATE, MAX_NODE_SIDE},
    registry::NodeSize,
};
use std::collections::BTreeMap;

/// The number of rings to search around the wanted place; a ring is one node wide.
const MAX_SEARCH_RINGS: i32 = 24;
/// The maximum number of neighbours that one command may move.
const MAX_PUSHED_NODES: usize = 20_000;

/// Clamps a point to the content area of a container, or to the board.
pub(crate) fn clamp_to_content(parent: Option<NodeId>, at: BoardPoint) -> BoardPoint {
    let clamp = |c: i32| c.clamp(-MAX_COORDINATE, MAX_COORDINATE);
    let at = BoardPoint { x: clamp(at.x), y: clamp(at.y) };
    match parent {
        Some(_) => BoardPoint { x: at.x.max(PADDING), y: at.y.max(HEADER) },
        None => at,
    }
}

fn is_free(snapshot: &Snapshot, room: ContainerScope, area: Placement) -> bool {
    let wide = area.expand(GAP / 2);
    let mut near = snapshot.occupancy.candidates(room, wide).into_iter();
    !near.any(|node| snapshot.placement(node).is_some_and(|other| other.overlaps(wide)))
}

/// Whether another node overlaps the area.
pub(crate) fn is_occupied(snapshot: &Snapshot, room: ContainerScope, own: NodeId, area: Placement) -> bool {
    let mut near = snapshot.occupancy.candidates(room, area).into_iter().filter(|node| *node != own);
    near.any(|node| snapshot.placement(node).is_some_and(|other| other.overlaps(area)))
}

/// Finds free space of this size, as near as possible to the wanted place, else beside the newest content.
pub(crate) fn find_free_place(
    snapshot: &Snapshot,
    room: ContainerScope,
    size: NodeSize,
    wanted: Option<BoardPoint>,
) -> BoardPoint {
    let start = wanted.unwrap_or_else(|| beside_content(snapshot, room));
    let start = clamp_to_content(room.1, start);
    let area = |at: BoardPoint| Placement { x: at.x, y: at.y, w: size.w, h: size.h };
    let (step_x, step_y) = (size.w.min(400) + GAP, size.h.min(400) + GAP);
    // A huge node is compared with every other node, so only one place is tried.
    let rings = if occupancy::is_huge(area(start)) { 1 } else { MAX_SEARCH_RINGS };
    for ring in 0..rings {
        for (column, row) in ring_cells(ring) {
            let at = BoardPoint {
                x: start.x.saturating_add(column * step_x),
                y: start.y.saturating_add(row * step_y),
            };
            if clamp_to_content(room.1, at) == at && is_free(snapshot, room, area(at)) {
                return at;
            }
        }
    }
    below_content(snapshot, room)
}

/// Returns the cells at one distance in reading order: right and below first.
fn ring_cells(ring: i32) -> impl Iterator<Item = (i32, i32)> {
    let mut cells: Vec<(i32, i32)> = (-ring..=ring)
        .flat_map(|row| (-ring..=ring).map(move |column| (column, row)))
        .filter(|(column, row)| column.abs().max(row.abs()) == ring)
        .collect();
    cells.sort_by_key(|(column, row)| (*row < 0 || *column < 0, row.abs(), column.abs()));
    cells.into_iter()
}

fn beside_content(snapshot: &Snapshot, room: ContainerScope) -> BoardPoint {
    match snapshot.occupancy.rightmost_node(room).and_then(|node| snapshot.placement(node)) {
        Some(placement) => BoardPoint { x: placement.x, y: placement.bottom() + GAP },
        None => BoardPoint { x: PADDING, y: HEADER },
    }
}

fn below_content(snapshot: &Snapshot, room: ContainerScope) -> BoardPoint {
    let bottom = snapshot
        .children(room.0, room.1)
        .filter_map(|child| snapshot.placement(child))
        .map(Placement::bottom)
        .max()
        .unwrap_or(HEADER - GAP);
    clamp_to_content(room.1, BoardPoint { x: PADDING, y: bottom + GAP })
}

/// Returns the smallest size that holds the content, up to the maximum size.
pub(crate) fn min_content_size(snapshot: &Snapshot, container: NodeId) -> (i32, i32) {
    let Some(node) = snapshot.node(container) else { return (0, 0) };
    let content = snapshot
        .children(node.board, Some(container))
        .filter_map(|child| snapshot.placement(child))
        .reduce(Placement::union);
    let around = |end: i32| (end + PADDING).min(MAX_NODE_SIDE);
    content.map_or((0, 0), |content| (around(content.right()), around(content.bottom())))
}

/// Grows the containers of the placed nodes, and moves the neighbours that a grown container would cover.
pub(crate) fn make_room(draft: &mut CommandDraft, placed: &[NodeId]) -> Result<(), Refusal> {
    let parent_of = |draft: &CommandDraft, id: NodeId| draft.state.node(id).and_then(|node| node.parent);
    let depth = |draft: &CommandDraft, id: NodeId| draft.state.ancestors(Some(id)).count();
    let mut pending: BTreeMap<(usize, NodeId), Vec<NodeId>> = BTreeMap::new();
    for id in placed {
        if let Some(parent) = parent_of(draft, *id) {
            pending.entry((depth(draft, parent), parent)).or_default().push(*id);
        }
    }
    // Deepest first: a container that grew may make its own container grow.
    while let Some(((depth, container), content)) = pending.pop_last() {
        let grown = grow(draft, container, &content)?;
        if let Some(parent) = parent_of(draft, container)
            && !grown.is_empty()
        {
            pending.entry((depth - 1, parent)).or_default().extend(grown);
        }
    }
    Ok(())
}

/// Grows one container around its placed content; returns the siblings that moved or grew.
fn grow(draft: &mut CommandDraft, container: NodeId, content: &[NodeId]) -> Result<Vec<NodeId>, Refusal> {
    let Some(before) = draft.state.placement(container) else { return Ok(Vec::new()) };
    let needed = content.iter().filter_map(|id| draft.state.placement(*id)).fold(before, |size, child| {
        Placement { w: size.w.max(child.right() + PADDING), h: size.h.max(child.bottom() + PADDING), ..size }
    });
    if needed == before {
        return Ok(Vec::new());
    }
    draft.place(container, needed)?;
    push_neighbours(draft, container, before, needed)
}

fn push_neighbours(
    draft: &mut CommandDraft,
    grown: NodeId,
    before: Placement,
    after: Placement,
) -> Result<Vec<NodeId>, Refusal> {
    let Some(node) = draft.state.node(grown) else { return Ok(Vec::new()) };
    let room = (node.board, node.parent);
    let mut moved = vec![grown];
    let mut pending = vec![(grown, before, after)];
    while let Some((pusher, before, after)) = pending.pop() {
        for other in draft.state.occupancy.candidates(room, after.expand(GAP)) {
            let Some(placement) = draft.state.placement(other) else { continue };
            let was_clear = !placement.overlaps(before);
            if other == pusher || other == grown || !was_clear || !placement.overlaps(after) {
                continue;
            }
            let away = if placement.x >= before.right() {
                placement.moved_by(after.right() + GAP - placement.x, 0)
            } else if placement.y >= before.bottom() {
                placement.moved_by(0, after.bottom() + GAP - placement.y)
            } else {
                continue;
            };
            if moved.len() > MAX_PUSHED_NODES {
                return Err(Refusal::new(
                    RefusalCode::LimitExceeded,
                    "there is no free space: too many nodes would move",
                ));
            }
            draft.place(other, away)?;
            moved.push(other);
            pending.push((other, placement, away));
        }
    }
    Ok(moved)
}
