//! The minimap: the whole board in a corner of the view, with the visible part marked. A click or drag moves the view.

use super::{BoardPainter, blocks};
use crate::{
    BoardScene,
    batch::quad,
    camera::rect_of,
    index::{BoardIndex, DrawnNodeKind},
};
use egui::{Color32, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};
use shared_protocol::Placement;
use std::{collections::HashSet, sync::Arc};

const MINIMAP_SIZE: Vec2 = vec2(208.0, 144.0);
const MARGIN: f32 = 12.0;
const PADDING: f32 = 8.0;
const MIN_VIEW_SIZE: Vec2 = vec2(560.0, 400.0);
/// Cards smaller than this share one dot per cell; a board with many nodes has larger dots.
const DOT_SIDE: f32 = 2.0;
const MANY_NODES: usize = 2_000;

/// The position of the minimap, and the mapping of the board into it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MinimapPlacement {
    pub(crate) rect: Rect,
    scale: f32,
    origin: Pos2,
}

impl MinimapPlacement {
    pub(crate) fn to_board(self, at: Pos2) -> Pos2 {
        let within = self.rect.clamp(at);
        ((within - self.origin) / self.scale).to_pos2()
    }

    fn rect(self, board: Rect) -> Rect {
        let at = |point: Pos2| self.origin + point.to_vec2() * self.scale;
        Rect::from_min_max(at(board.min), at(board.max))
    }
}

#[derive(Default)]
pub(crate) struct Minimap {
    made_for: Option<(u64, Color32, Rect)>,
    bounds: Option<Placement>,
    place: Option<MinimapPlacement>,
    mesh: Arc<Mesh>,
}

impl Minimap {
    /// Returns the position, or `None` when the whole board is in view or there is no room. It does not change while a
    /// gesture is active.
    pub(crate) fn place(
        &mut self,
        index: &BoardIndex,
        scene: &BoardScene<'_>,
        view: Rect,
        visible: Placement,
        steady: bool,
    ) -> Option<MinimapPlacement> {
        if view.width() < MIN_VIEW_SIZE.x || view.height() < MIN_VIEW_SIZE.y {
            return None;
        }
        let wanted = (index.version(), scene.theme.canvas, view);
        if self.made_for.is_none() || (steady && self.made_for != Some(wanted)) {
            self.made_for = Some(wanted);
            self.bounds = index.nodes().map(|slot| slot.area).reduce(Placement::union);
            self.place = self.bounds.map(|bounds| lay_out(bounds, view));
            self.mesh = self.place.map_or_else(Arc::default, |place| Arc::new(mesh(index, scene, place)));
        }
        let bounds = self.bounds?;
        let seen = visible.union(bounds) == visible;
        self.place.filter(|_| !seen)
    }

    pub(crate) fn draw(&self, pen: &BoardPainter<'_>, place: MinimapPlacement) {
        let theme = pen.scene.theme;
        let painter = pen.painter.with_clip_rect(place.rect);
        let frame = Stroke::new(1.0, theme.border);
        pen.painter.rect(place.rect, 8.0, theme.surface_panel, frame, StrokeKind::Outside);
        painter.add(Shape::Mesh(Arc::clone(&self.mesh)));
        let seen = place.rect(rect_of(pen.camera.visible_area())).intersect(place.rect);
        if seen.is_positive() {
            let seen = Rect::from_center_size(seen.center(), seen.size().max(vec2(6.0, 6.0)));
            painter.rect(
                seen,
                2.0,
                theme.accent.gamma_multiply(0.14),
                Stroke::new(1.5, theme.accent),
                StrokeKind::Inside,
            );
        }
    }
}

fn lay_out(bounds: Placement, view: Rect) -> MinimapPlacement {
    let rect = Rect::from_min_size(view.max - MINIMAP_SIZE - Vec2::splat(MARGIN), MINIMAP_SIZE);
    let board = rect_of(bounds);
    let room = rect.shrink(PADDING);
    let scale = (room.width() / board.width().max(1.0)).min(room.height() / board.height().max(1.0));
    let origin = room.center() - board.center().to_vec2() * scale;
    MinimapPlacement { rect, scale, origin }
}

fn mesh(index: &BoardIndex, scene: &BoardScene<'_>, place: MinimapPlacement) -> Mesh {
    let theme = scene.theme;
    let mut mesh = Mesh::default();
    for slot in blocks::containers(index) {
        let rect = place.rect(rect_of(slot.area));
        if rect.width().min(rect.height()) >= DOT_SIDE * 2.0 {
            quad(&mut mesh, rect, blocks::container_line(theme, slot));
            quad(&mut mesh, rect.shrink(0.75), blocks::container_fill(theme, slot));
        }
    }
    let dot = if index.nodes().nth(MANY_NODES).is_some() { DOT_SIDE * 2.0 } else { DOT_SIDE };
    let mut dots = HashSet::new();
    for slot in index.nodes().filter(|slot| slot.kind != DrawnNodeKind::Container) {
        let rect = place.rect(rect_of(slot.area));
        let colour = blocks::card_colour(scene, slot);
        if rect.width().min(rect.height()) >= dot {
            quad(&mut mesh, rect, colour);
            continue;
        }
        let cell = ((rect.center().x / dot) as i32, (rect.center().y / dot) as i32);
        if dots.insert(cell) {
            let corner = pos2(cell.0 as f32 * dot, cell.1 as f32 * dot);
            quad(&mut mesh, Rect::from_min_size(corner, Vec2::splat(dot - 0.5)), colour);
        }
    }
    mesh
}
