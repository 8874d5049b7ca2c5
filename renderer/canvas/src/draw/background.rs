//! The ground of a board: a colour and a field of dots that tells how far one has moved.

use super::Pen;
use crate::{batch::Batch, theme::size};
use egui::{Rect, pos2, vec2};

/// Dots closer than this on the screen would be a grey haze.
const CLOSEST: f32 = 14.0;

pub(super) fn draw(pen: &Pen<'_>, batch: &mut Batch) {
    let theme = pen.scene.theme;
    let view = pen.camera.view();
    pen.painter.rect_filled(view, 0.0, theme.canvas);
    let mut spacing = size::DOTS;
    while spacing * pen.zoom() < CLOSEST {
        spacing *= 4.0;
    }
    // Whole pixels: a dot between two of them would come and go across the board.
    let pixels = pen.painter.pixels_per_point();
    let side = (pen.zoom().clamp(0.7, 1.6) * 1.4 * pixels).round().max(1.0) / pixels;
    let snap = |at: f32| (at * pixels).floor() / pixels;
    let (first, last) = (pen.camera.to_board(view.min), pen.camera.to_board(view.max));
    let columns = (first.x / spacing).floor() as i64..=(last.x / spacing).ceil() as i64;
    let rows = (first.y / spacing).floor() as i64..=(last.y / spacing).ceil() as i64;
    batch.start(pen.painter.pixels_per_point());
    for row in rows {
        for column in columns.clone() {
            let at = pen.camera.to_screen(pos2(column as f32 * spacing, row as f32 * spacing));
            let corner = pos2(snap(at.x - side / 2.0), snap(at.y - side / 2.0));
            batch.block(Rect::from_min_size(corner, vec2(side, side)), theme.canvas_dots);
        }
    }
    pen.painter.add(batch.shape());
}
