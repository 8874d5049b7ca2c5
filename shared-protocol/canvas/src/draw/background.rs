//! The background of a board: a colour and a grid of dots that makes movement visible.

use super::BoardPainter;
use crate::{batch::ShapeBatch, theme::size};
use egui::vec2;

const MIN_DOT_DISTANCE: f32 = 14.0;

pub(super) fn draw(pen: &BoardPainter<'_>, batch: &mut ShapeBatch) {
    let theme = pen.scene.theme;
    let view = pen.camera.view();
    pen.painter.rect_filled(view, 0.0, theme.canvas);
    let mut spacing = size::DOTS;
    while spacing * pen.zoom() < MIN_DOT_DISTANCE {
        spacing *= 4.0;
    }
    // Dots are on whole pixels; otherwise their size would vary across the board.
    let pixels = pen.painter.pixels_per_point();
    let side = (pen.zoom().clamp(0.7, 1.6) * 1.4 * pixels).round().max(1.0) / pixels;
    let snap = |at: f32| (at * pixels).floor() / pixels;
    let (first, last) = (pen.camera.to_board(view.min), pen.camera.to_board(view.max));
    let lines = |first: f32, last: f32| (first / spacing).floor() as i64..=(last / spacing).ceil() as i64;
    // The columns are the same in every row.
    let columns: Vec<f32> = lines(first.x, last.x)
        .map(|column| snap(pen.camera.x(column as f32 * spacing) - side / 2.0))
        .collect();
    batch.begin_frame(pen.painter.pixels_per_point());
    for row in lines(first.y, last.y) {
        let top = snap(pen.camera.y(row as f32 * spacing) - side / 2.0);
        batch.blocks(&columns, top, vec2(side, side), theme.canvas_dots);
    }
    pen.painter.add(batch.shape());
}
