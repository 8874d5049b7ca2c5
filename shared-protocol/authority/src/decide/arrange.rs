//! Align, distribute and tidy: these commands change the layout only.

use super::CommandDraft;
use crate::layout;
use shared_protocol::{
    NodeId, NodeRef, Placement, Refusal, RefusalCode,
    command::{DistributeAxis, NodeAlignment},
    text::count_noun,
};
use std::collections::BTreeMap;

/// Resolves the given nodes, without those inside another given node, to their absolute places.
fn resolve_placed(
    draft: &CommandDraft,
    nodes: &[NodeRef],
    least: usize,
    what: &str,
) -> Result<Vec<(NodeId, Placement)>, Refusal> {
    let found = draft.resolve_nodes(nodes)?;
    let placed: Vec<(NodeId, Placement)> = draft
        .outermost(&found)
        .into_iter()
        .filter_map(|id| Some((id, draft.state.absolute_placement(id)?)))
        .collect();
    if placed.len() < least {
        let message = format!("{what} needs at least {least} nodes, none of them inside another");
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("nodes"));
    }
    Ok(placed)
}

/// Moves each node by its delta and makes room for it in its container.
fn apply_moves(draft: &mut CommandDraft, moved: Vec<(NodeId, i32, i32)>) -> Result<(), Refusal> {
    let mut touched = Vec::with_capacity(moved.len());
    for (id, dx, dy) in moved {
        let Some(before) = draft.state.placement(id) else { continue };
        let after = before.moved_by(dx, dy);
        let parent = draft.node(id)?.parent;
        draft.place(id, after.moved_to(layout::clamp_to_content(parent, after.origin())))?;
        touched.push(id);
    }
    layout::make_room(draft, &touched)
}

pub(super) fn align(
    draft: &mut CommandDraft,
    nodes: &[NodeRef],
    to: NodeAlignment,
) -> Result<String, Refusal> {
    let placed = resolve_placed(draft, nodes, 2, "aligning")?;
    let Some(all) = placed.iter().map(|(_, placement)| *placement).reduce(Placement::union) else {
        return Ok("Align nothing".to_owned());
    };
    let delta = |p: &Placement| match to {
        NodeAlignment::Left => (all.x - p.x, 0),
        NodeAlignment::Centre => (all.x + all.w / 2 - (p.x + p.w / 2), 0),
        NodeAlignment::Right => (all.right() - p.right(), 0),
        NodeAlignment::Top => (0, all.y - p.y),
        NodeAlignment::Middle => (0, all.y + all.h / 2 - (p.y + p.h / 2)),
        NodeAlignment::Bottom => (0, all.bottom() - p.bottom()),
    };
    let moved = placed.iter().map(|(id, placement)| (*id, delta(placement).0, delta(placement).1)).collect();
    apply_moves(draft, moved)?;
    Ok(format!("Align {}", count_noun(placed.len(), "node")))
}

pub(super) fn distribute(
    draft: &mut CommandDraft,
    nodes: &[NodeRef],
    along: DistributeAxis,
) -> Result<String, Refusal> {
    let mut placed = resolve_placed(draft, nodes, 3, "distributing")?;
    let start = |p: &Placement| i64::from(if along == DistributeAxis::Horizontal { p.x } else { p.y });
    let length = |p: &Placement| i64::from(if along == DistributeAxis::Horizontal { p.w } else { p.h });
    placed.sort_by_key(|(id, p)| (start(p), *id));
    let (Some((_, first)), Some((_, last))) = (placed.first(), placed.last()) else {
        return Ok("Distribute nothing".to_owned());
    };
    let span = start(last) + length(last) - start(first);
    let filled: i64 = placed.iter().map(|(_, p)| length(p)).sum();
    let gaps = placed.len() as i64 - 1;
    let spare = span - filled;
    let mut moved = Vec::with_capacity(placed.len());
    let mut before = 0;
    let origin = start(first);
    for (index, (id, p)) in placed.iter().enumerate() {
        // Computed from the whole span each time, so that rounding errors do not accumulate.
        let to = origin + before + spare * index as i64 / gaps;
        let delta = (to - start(p)).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        moved.push(if along == DistributeAxis::Horizontal { (*id, delta, 0) } else { (*id, 0, delta) });
        before += length(p);
    }
    apply_moves(draft, moved)?;
    Ok(format!("Distribute {}", count_noun(placed.len(), "node")))
}

pub(super) fn tidy(draft: &mut CommandDraft, nodes: &[NodeRef]) -> Result<String, Refusal> {
    let placed = resolve_placed(draft, nodes, 2, "tidying")?;
    let mut rooms: BTreeMap<_, Vec<(NodeId, Placement)>> = BTreeMap::new();
    for (id, _) in &placed {
        let node = draft.node(*id)?;
        let Some(placement) = draft.state.placement(*id) else { continue };
        rooms.entry((node.board, node.parent)).or_default().push((*id, placement));
    }
    let mut touched = Vec::with_capacity(placed.len());
    for (_, siblings) in rooms {
        for (id, placement) in layout::layered_layout(&draft.state, &siblings) {
            let parent = draft.node(id)?.parent;
            draft.place(id, placement.moved_to(layout::clamp_to_content(parent, placement.origin())))?;
            touched.push(id);
        }
    }
    layout::make_room(draft, &touched)?;
    Ok(format!("Tidy {}", count_noun(placed.len(), "node")))
}
