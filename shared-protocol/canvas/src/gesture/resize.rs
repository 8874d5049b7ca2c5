//! Resizing a container or a note by its eight handles. The content of a container keeps its place on the board, and the
//! container never shrinks past it.

use super::{
    GestureOutcome, PointerSample,
    guides::{SnapGuide, SnapNeighbours},
    resize_many, snap,
};
use crate::{BoardScene, Camera, CanvasEvent, index::BoardIndex, index::DrawnNodeKind, theme::size};
use egui::{CursorIcon, Pos2, Rect, vec2};
use shared_protocol::{Command, ElementId, NodeId, NodeRef, Placement, command::PlaceNode};

pub(crate) const MIN_NODE_WIDTH: i32 = 48;
pub(crate) const MIN_NODE_HEIGHT: i32 = 40;

/// The sides that a handle moves: -1 left or top, 1 right or bottom, 0 neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResizeHandle {
    x: i8,
    y: i8,
}

const HANDLES: [ResizeHandle; 8] = [
    ResizeHandle { x: -1, y: -1 },
    ResizeHandle { x: 1, y: -1 },
    ResizeHandle { x: -1, y: 1 },
    ResizeHandle { x: 1, y: 1 },
    ResizeHandle { x: 0, y: -1 },
    ResizeHandle { x: 0, y: 1 },
    ResizeHandle { x: -1, y: 0 },
    ResizeHandle { x: 1, y: 0 },
];

impl ResizeHandle {
    /// Returns the moved sides, horizontal and vertical.
    pub(crate) fn sides(self) -> (i8, i8) {
        (self.x, self.y)
    }

    pub(crate) fn cursor(self) -> CursorIcon {
        match (self.x, self.y) {
            (0, _) => CursorIcon::ResizeVertical,
            (_, 0) => CursorIcon::ResizeHorizontal,
            (x, y) if x == y => CursorIcon::ResizeNwSe,
            _ => CursorIcon::ResizeNeSw,
        }
    }
}

/// Returns the selected node if it is the only one and can be resized.
fn resizable(scene: &BoardScene<'_>, index: &BoardIndex) -> Option<(NodeId, Placement)> {
    let mut selected = scene.selection.iter();
    let (Some(ElementId::Node(id)), None) = (selected.next(), selected.next()) else { return None };
    let slot = index.slot(*id)?;
    (slot.kind != DrawnNodeKind::Card && !scene.read_only).then_some((*id, slot.area))
}

/// Returns the handles in screen coordinates; side handles only if there is room between the corners.
pub(crate) fn handles(camera: &Camera, area: Placement) -> impl Iterator<Item = (ResizeHandle, Rect)> {
    let rect = camera.rect_to_screen(area);
    let roomy = vec2(rect.width(), rect.height()) / (size::HANDLE * 4.0);
    HANDLES
        .into_iter()
        .filter(move |handle| match (handle.x, handle.y) {
            (0, _) => roomy.x >= 1.0,
            (_, 0) => roomy.y >= 1.0,
            _ => true,
        })
        .map(move |handle| {
            let at = rect.center() + vec2(f32::from(handle.x), f32::from(handle.y)) * rect.size() / 2.0;
            (handle, Rect::from_center_size(at, vec2(size::HANDLE, size::HANDLE)))
        })
}

/// Returns the area with handles: of the one resizable node, or around several nodes.
pub(crate) fn area(scene: &BoardScene<'_>, index: &BoardIndex) -> Option<Placement> {
    let one = resizable(scene, index).map(|(_, area)| area);
    one.or_else(|| resize_many::frame(scene, index).map(|(_, area)| area))
}

pub(crate) fn handle_at(
    scene: &BoardScene<'_>,
    index: &BoardIndex,
    camera: &Camera,
    at: Pos2,
) -> Option<ResizeHandle> {
    let reach = size::HANDLE_REACH - size::HANDLE / 2.0;
    let area = area(scene, index)?;
    let (handle, _) = handles(camera, area).find(|(_, rect)| rect.expand(reach).contains(at))?;
    Some(handle)
}

pub(crate) struct ResizeGesture {
    node: NodeId,
    handle: ResizeHandle,
    start: Pos2,
    before: Placement,
    now: Placement,
    /// The place relative to its container.
    relative: Placement,
    /// The content with its relative places, and the smallest area around it.
    content: Vec<(NodeId, Placement)>,
    least: Option<Placement>,
    guides: Vec<SnapGuide>,
}

impl ResizeGesture {
    pub(crate) fn start(
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        handle: ResizeHandle,
        at: Pos2,
    ) -> Option<Self> {
        let (node, _) = resizable(scene, index)?;
        let before = index.model_area(node)?;
        let relative = scene.snapshot.placement(node)?;
        let content: Vec<(NodeId, Placement)> = scene
            .snapshot
            .children(scene.board, Some(node))
            .filter_map(|id| Some((id, scene.snapshot.placement(id)?)))
            .collect();
        let held = content.iter().map(|(_, place)| place.moved_by(before.x, before.y));
        let least =
            held.reduce(Placement::union).map(|content| content.expand(size::GRID)).filter(|content| {
                before.x <= content.x
                    && before.y <= content.y
                    && content.right() <= before.right()
                    && content.bottom() <= before.bottom()
            });
        let guides = Vec::new();
        Some(Self { node, handle, start: at, before, now: before, relative, content, least, guides })
    }

    pub(crate) fn step(&mut self, scene: &BoardScene<'_>, index: &mut BoardIndex, moment: PointerSample) {
        let moved = moment.at - self.start;
        let (before, least) = (self.before, self.least);
        let free = moment.modifiers.command;
        let parent = index.slot(self.node).and_then(|slot| slot.parent);
        let near = SnapNeighbours::collect(index, self.now, parent, moment.zoom, |id| id == self.node);
        let side = |at: i32, by: f32, level: bool| {
            let exact = crate::camera::rounded_point(egui::pos2(at as f32 + by, 0.0)).x;
            let pulled = near.side_snap_distance(exact, level).filter(|_| !free).map(|way| exact + way);
            pulled.unwrap_or_else(|| snap(at as f32 + by, moment.modifiers))
        };
        let (mut left, mut top, mut right, mut bottom) =
            (before.x, before.y, before.right(), before.bottom());
        match self.handle.x {
            -1 => {
                left =
                    side(left, moved.x, true).min(least.map_or(i32::MAX, |l| l.x)).min(right - MIN_NODE_WIDTH)
            }
            1 => {
                right = side(right, moved.x, true)
                    .max(least.map_or(i32::MIN, |l| l.right()))
                    .max(left + MIN_NODE_WIDTH)
            }
            _ => {}
        }
        match self.handle.y {
            -1 => {
                top = side(top, moved.y, false)
                    .min(least.map_or(i32::MAX, |l| l.y))
                    .min(bottom - MIN_NODE_HEIGHT)
            }
            1 => {
                bottom = side(bottom, moved.y, false)
                    .max(least.map_or(i32::MIN, |l| l.bottom()))
                    .max(top + MIN_NODE_HEIGHT)
            }
            _ => {}
        }
        self.now = Placement { x: left, y: top, w: right - left, h: bottom - top };
        self.guides = if free || self.now == before { Vec::new() } else { near.guides(self.now) };
        index.set_preview(scene.snapshot, [(self.node, self.now)]);
    }

    pub(crate) fn finish(self) -> GestureOutcome {
        if self.now == self.before {
            return GestureOutcome::Nothing;
        }
        let (dx, dy) = (self.now.x - self.before.x, self.now.y - self.before.y);
        let place =
            Placement { x: self.relative.x + dx, y: self.relative.y + dy, w: self.now.w, h: self.now.h };
        let mut items = vec![PlaceNode::new(self.node, place)];
        if (dx, dy) != (0, 0) {
            items.extend(self.content.iter().map(|&(id, place)| PlaceNode {
                node: NodeRef::Id(id),
                x: place.x - dx,
                y: place.y - dy,
                w: None,
                h: None,
            }));
        }
        GestureOutcome::Moved(CanvasEvent::Run(Command::Place { items }))
    }

    pub(crate) fn guides(&self) -> &[SnapGuide] {
        &self.guides
    }

    pub(crate) fn cursor(&self) -> CursorIcon {
        self.handle.cursor()
    }
}
