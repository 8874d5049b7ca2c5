//! Resizing several nodes by the handles around all of them. Containers and notes scale with the frame, cards only move.
//! The content of a container moves with it, and no container gets smaller than its content.

use super::{
    GestureOutcome, PointerSample,
    resize::{MIN_NODE_HEIGHT, MIN_NODE_WIDTH, ResizeHandle},
    roots, snap,
};
use crate::{
    BoardScene, CanvasEvent,
    index::{BoardIndex, DrawnNodeKind},
    theme::size,
};
use egui::{CursorIcon, Modifiers, Pos2};
use shared_protocol::{Command, NodeId, NodeRef, Placement, command::PlaceNode};

const MAX_RESIZED_NODES: usize = 200;

/// Returns the area with handles, if several nodes are selected and one of them can be resized.
pub(crate) fn frame(scene: &BoardScene<'_>, index: &BoardIndex) -> Option<(Vec<NodeId>, Placement)> {
    if scene.read_only || scene.selection.len() < 2 || scene.selection.len() > MAX_RESIZED_NODES {
        return None;
    }
    let chosen = roots(scene, scene.selection);
    let areas = || chosen.iter().filter_map(|id| index.slot(*id));
    if chosen.len() < 2 || areas().all(|slot| slot.kind == DrawnNodeKind::Card) {
        return None;
    }
    let around = areas().map(|slot| slot.area).reduce(Placement::union)?;
    Some((chosen, around))
}

struct ResizeMember {
    id: NodeId,
    before: Placement,
    /// The place relative to its container.
    relative: Placement,
    /// The minimum size; `None` for a card, which keeps its size.
    least: Option<(i32, i32)>,
    /// Its content.
    within: Vec<(NodeId, Placement)>,
}

pub(crate) struct MultiResizeGesture {
    members: Vec<ResizeMember>,
    handle: ResizeHandle,
    start: Pos2,
    frame: Placement,
    now: Vec<Placement>,
}

impl MultiResizeGesture {
    pub(crate) fn start(
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        handle: ResizeHandle,
        at: Pos2,
    ) -> Option<Self> {
        let (chosen, _) = frame(scene, index)?;
        let members: Vec<ResizeMember> =
            chosen.into_iter().filter_map(|id| member(scene, index, id)).collect();
        let now: Vec<Placement> = members.iter().map(|member| member.before).collect();
        let frame = now.iter().copied().reduce(Placement::union)?;
        Some(Self { members, handle, start: at, frame, now })
    }

    pub(crate) fn step(&mut self, scene: &BoardScene<'_>, index: &mut BoardIndex, moment: PointerSample) {
        let moved = moment.at - self.start;
        let (x, y) = self.handle.sides();
        let sizes = |of: fn(&ResizeMember) -> Option<(i32, i32)>| self.members.iter().filter_map(of);
        let across = sizes(|member| Some((member.before.w, member.least?.0)));
        let along = sizes(|member| Some((member.before.h, member.least?.1)));
        let across = AxisScale::new(x, (self.frame.x, self.frame.w), moved.x, moment.modifiers, across);
        let along = AxisScale::new(y, (self.frame.y, self.frame.h), moved.y, moment.modifiers, along);
        self.now = self.members.iter().map(|member| member.scaled_placement(&across, &along)).collect();
        let shown = self.members.iter().zip(&self.now).flat_map(|(member, now)| {
            let (dx, dy) = (now.x - member.before.x, now.y - member.before.y);
            let within = member.within.iter().map(move |(id, place)| (*id, place.moved_by(dx, dy)));
            std::iter::once((member.id, *now)).chain(within)
        });
        index.set_preview(scene.snapshot, shown);
    }

    pub(crate) fn finish(self) -> GestureOutcome {
        let changed = self.members.iter().zip(&self.now).filter(|(member, now)| member.before != **now);
        let items: Vec<PlaceNode> = changed
            .map(|(member, now)| PlaceNode {
                node: NodeRef::Id(member.id),
                x: member.relative.x + now.x - member.before.x,
                y: member.relative.y + now.y - member.before.y,
                w: member.least.map(|_| now.w),
                h: member.least.map(|_| now.h),
            })
            .collect();
        if items.is_empty() {
            return GestureOutcome::Nothing;
        }
        GestureOutcome::Moved(CanvasEvent::Run(Command::Place { items }))
    }

    pub(crate) fn cursor(&self) -> CursorIcon {
        self.handle.cursor()
    }
}

fn member(scene: &BoardScene<'_>, index: &BoardIndex, id: NodeId) -> Option<ResizeMember> {
    let before = index.model_area(id)?;
    let within = scene.snapshot.subtree(id).into_iter().filter(|inner| *inner != id);
    let within: Vec<(NodeId, Placement)> =
        within.filter_map(|inner| Some((inner, index.model_area(inner)?))).collect();
    let content = within.iter().map(|(_, place)| *place).reduce(Placement::union);
    let least = (index.slot(id)?.kind != DrawnNodeKind::Card).then(|| {
        let held = content.map_or((0, 0), |content| {
            (content.right() - before.x + size::GRID, content.bottom() - before.y + size::GRID)
        });
        // A node that is already smaller than the minimum does not have to grow.
        (held.0.max(MIN_NODE_WIDTH).min(before.w), held.1.max(MIN_NODE_HEIGHT).min(before.h))
    });
    Some(ResizeMember { id, before, relative: scene.snapshot.placement(id)?, least, within })
}

impl ResizeMember {
    fn scaled_placement(&self, across: &AxisScale, along: &AxisScale) -> Placement {
        let resizes = self.least.is_some();
        let (x, w) = across.apply(self.before.x, self.before.w, resizes);
        let (y, h) = along.apply(self.before.y, self.before.h, resizes);
        Placement { x, y, w, h }
    }
}

/// The scaling along one axis: the fixed side and the factor.
struct AxisScale {
    fixed: i32,
    factor: f64,
}

impl AxisScale {
    /// `side`: the dragged side of the frame. `sizes`: current and minimum sizes of the resized nodes.
    fn new(
        side: i8,
        (start, length): (i32, i32),
        by: f32,
        modifiers: Modifiers,
        sizes: impl Iterator<Item = (i32, i32)>,
    ) -> Self {
        let end = start.saturating_add(length);
        let length = f64::from(length.max(1));
        let (fixed, wanted) = match side {
            1 => (start, snap(end as f32 + by, modifiers) - start),
            -1 => (end, end - snap(start as f32 + by, modifiers)),
            _ => return Self { fixed: start, factor: 1.0 },
        };
        let smallest =
            sizes.map(|(now, least)| f64::from(least) / f64::from(now.max(1))).fold(0.05, f64::max);
        Self { fixed, factor: (f64::from(wanted) / length).max(smallest) }
    }

    fn apply(&self, at: i32, length: i32, resizes: bool) -> (i32, i32) {
        let moved = |at: f64| f64::from(self.fixed) + (at - f64::from(self.fixed)) * self.factor;
        if resizes {
            let (start, end) = (moved(f64::from(at)), moved(f64::from(at) + f64::from(length)));
            let start = start.round() as i32;
            return (start, (end.round() as i32 - start).max(1));
        }
        // A node that keeps its size moves with its middle.
        let half = f64::from(length) / 2.0;
        ((moved(f64::from(at) + half) - half).round() as i32, length)
    }
}
