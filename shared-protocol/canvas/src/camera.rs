//! Conversion between board and screen coordinates. The origin is kept in 64 bits, so that a board far from its origin
//! does not jitter, and snapped to whole pixels, so that panning does not make text shimmer.

use egui::{Pos2, Rect, Vec2, pos2, vec2};
use shared_protocol::{BoardPoint, Placement, messages::BoardViewport};

pub const MIN_ZOOM: f32 = 0.05;
pub const MAX_ZOOM: f32 = 4.0;

/// Larger than every coordinate that nested containers can reach.
const MAX_VIEW_COORDINATE: f32 = 64_000_000.0;

/// The zoom and screen position of a board.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    zoom: f32,
    /// The screen position of the board's origin, on a whole pixel.
    origin: (f64, f64),
    view: Rect,
}

impl Camera {
    /// Shows `viewport` in the rectangle `view` of the screen.
    pub fn new(viewport: BoardViewport, view: Rect, pixels_per_point: f32) -> Self {
        let BoardViewport { x, y, zoom } = sanitised(viewport);
        let view = if view.is_finite() { view } else { Rect::ZERO };
        let pixels = f64::from(if pixels_per_point.is_finite() { pixels_per_point.max(0.1) } else { 1.0 });
        let snap = |at: f64| (at * pixels).round() / pixels;
        let centre = view.center();
        let origin = (
            snap(f64::from(centre.x) - f64::from(x) * f64::from(zoom)),
            snap(f64::from(centre.y) - f64::from(y) * f64::from(zoom)),
        );
        Self { zoom, origin, view }
    }

    /// Shows all of `bounds` in `view`, at a zoom of at most 100 %.
    pub fn fit(bounds: Placement, view: Rect, padding: f32) -> Self {
        Self::new(fit_viewport(bounds, view, padding, 1.0), view, 1.0)
    }

    pub fn zoom(&self) -> f32 {
        self.zoom
    }

    pub fn view(&self) -> Rect {
        self.view
    }

    pub(crate) fn x(&self, x: f32) -> f32 {
        (f64::from(x) * f64::from(self.zoom) + self.origin.0) as f32
    }

    pub(crate) fn y(&self, y: f32) -> f32 {
        (f64::from(y) * f64::from(self.zoom) + self.origin.1) as f32
    }

    pub fn to_screen(&self, board: Pos2) -> Pos2 {
        pos2(self.x(board.x), self.y(board.y))
    }

    pub fn rect_to_screen(&self, placement: Placement) -> Rect {
        let Placement { x, y, w, h } = placement;
        let at =
            |coordinate: i32, origin: f64| (f64::from(coordinate) * f64::from(self.zoom) + origin) as f32;
        Rect::from_min_max(
            pos2(at(x, self.origin.0), at(y, self.origin.1)),
            pos2(at(x.saturating_add(w), self.origin.0), at(y.saturating_add(h), self.origin.1)),
        )
    }

    pub fn to_board(&self, screen: Pos2) -> Pos2 {
        let back = |at: f32, origin: f64| ((f64::from(at) - origin) / f64::from(self.zoom)) as f32;
        pos2(back(screen.x, self.origin.0), back(screen.y, self.origin.1))
    }

    /// Converts a screen point to the board in whole units.
    pub fn to_point(&self, screen: Pos2) -> BoardPoint {
        rounded_point(self.to_board(screen))
    }

    /// Returns the visible part of the board, rounded outwards.
    pub(crate) fn visible_area(&self) -> Placement {
        enclosing_placement(Rect::from_min_max(self.to_board(self.view.min), self.to_board(self.view.max)))
    }

    /// The translation for meshes in board units: screen = board × zoom + translation.
    pub(crate) fn translation(&self) -> Vec2 {
        vec2(self.origin.0 as f32, self.origin.1 as f32)
    }
}

pub(crate) fn rounded_point(at: Pos2) -> BoardPoint {
    let whole = |value: f32| {
        if value.is_finite() {
            value.round().clamp(-MAX_VIEW_COORDINATE, MAX_VIEW_COORDINATE) as i32
        } else {
            0
        }
    };
    BoardPoint { x: whole(at.x), y: whole(at.y) }
}

/// Returns the smallest whole placement around a rectangle of the board.
pub(crate) fn enclosing_placement(rect: Rect) -> Placement {
    let min = rounded_point(pos2(rect.min.x.floor(), rect.min.y.floor()));
    let max = rounded_point(pos2(rect.max.x.ceil(), rect.max.y.ceil()));
    Placement { x: min.x, y: min.y, w: max.x - min.x, h: max.y - min.y }
}

pub(crate) fn rect_of(placement: Placement) -> Rect {
    let Placement { x, y, w, h } = placement;
    Rect::from_min_size(pos2(x as f32, y as f32), vec2(w as f32, h as f32))
}

/// Returns a drawable viewport for any untrusted input.
pub(crate) fn sanitised(viewport: BoardViewport) -> BoardViewport {
    let within = |value: f32| {
        if value.is_finite() { value.clamp(-MAX_VIEW_COORDINATE, MAX_VIEW_COORDINATE) } else { 0.0 }
    };
    let zoom = if viewport.zoom.is_finite() && viewport.zoom > 0.0 { viewport.zoom } else { 1.0 };
    BoardViewport { x: within(viewport.x), y: within(viewport.y), zoom: zoom.clamp(MIN_ZOOM, MAX_ZOOM) }
}

/// Returns the viewport that shows all of `bounds` with `padding` screen points around it.
pub(crate) fn fit_viewport(bounds: Placement, view: Rect, padding: f32, most: f32) -> BoardViewport {
    let rect = rect_of(bounds);
    let padding = if padding.is_finite() { padding.max(0.0) } else { 0.0 };
    let room = (view.size() - Vec2::splat(2.0 * padding)).max(Vec2::splat(1.0));
    let zoom = (room.x / rect.width().max(1.0)).min(room.y / rect.height().max(1.0)).min(most);
    sanitised(BoardViewport { x: rect.center().x, y: rect.center().y, zoom })
}

/// Zooms by `factor` and keeps the board point under `cursor` in place.
pub(crate) fn zoomed_at(viewport: BoardViewport, factor: f32, cursor: Pos2, view: Rect) -> BoardViewport {
    let before = sanitised(viewport);
    let factor = if factor.is_finite() && factor > 0.0 { factor } else { 1.0 };
    let zoom = (before.zoom * factor).clamp(MIN_ZOOM, MAX_ZOOM);
    let away = cursor - view.center();
    let keep = 1.0 / before.zoom - 1.0 / zoom;
    sanitised(BoardViewport { x: before.x + away.x * keep, y: before.y + away.y * keep, zoom })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Rect = Rect { min: pos2(100.0, 50.0), max: pos2(900.0, 650.0) };

    #[test]
    fn zooming_keeps_the_point_under_the_cursor() {
        let mut viewport = BoardViewport { x: 10.0, y: -20.0, zoom: 1.0 };
        let cursor = pos2(333.0, 222.0);
        let before = Camera::new(viewport, VIEW, 1.0).to_board(cursor);
        for factor in [1.1, 1.3, 0.5, 0.25, 2.0, 8.0, 0.001] {
            viewport = zoomed_at(viewport, factor, cursor, VIEW);
            let camera = Camera::new(viewport, VIEW, 1.0);
            // The origin is snapped to a pixel: the error is at most half a pixel and does not accumulate.
            let drift = (camera.to_board(cursor) - before) * camera.zoom();
            assert!(drift.abs().max_elem() <= 0.75, "{factor}: {drift:?}");
        }
    }

    #[test]
    fn nonsense_becomes_a_view_that_can_be_drawn() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -3.0, 1e30] {
            let camera = Camera::new(BoardViewport { x: bad, y: bad, zoom: bad }, VIEW, bad);
            assert!(camera.to_screen(Pos2::ZERO).is_finite());
            assert!((MIN_ZOOM..=MAX_ZOOM).contains(&camera.zoom()));
        }
    }

    #[test]
    fn what_is_fitted_is_in_view() {
        let bounds = Placement { x: -500, y: 300, w: 5000, h: 100 };
        let camera = Camera::fit(bounds, VIEW, 20.0);
        assert!(VIEW.contains_rect(camera.rect_to_screen(bounds)));
    }
}
