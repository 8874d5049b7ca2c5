//! The application icon, drawn in theme colours: three connected cards on a board.

use canvas::theme::WorkbenchTheme;
use egui::{Color32, CornerRadius, IconData, Painter, Rect, pos2};

const ICON_SIDE_PIXELS: u32 = 64;

pub(crate) fn window_icon() -> IconData {
    let theme = WorkbenchTheme::light();
    let mut rgba = Vec::with_capacity((ICON_SIDE_PIXELS * ICON_SIDE_PIXELS * 4) as usize);
    for y in 0..ICON_SIDE_PIXELS {
        for x in 0..ICON_SIDE_PIXELS {
            let color = colour_at(&theme, x as f32 + 0.5, y as f32 + 0.5);
            rgba.extend_from_slice(&color.to_srgba_unmultiplied());
        }
    }
    IconData { rgba, width: ICON_SIDE_PIXELS, height: ICON_SIDE_PIXELS }
}

/// Cards and the wires between them, each as left, top, right and bottom.
const CARDS: [(f32, f32, f32, f32); 3] =
    [(12.0, 14.0, 26.0, 28.0), (38.0, 14.0, 52.0, 28.0), (25.0, 38.0, 39.0, 52.0)];
const WIRES: [(f32, f32, f32, f32); 3] =
    [(18.0, 28.0, 20.0, 46.0), (44.0, 28.0, 46.0, 46.0), (18.0, 44.0, 46.0, 46.0)];
const CORNER_RADIUS: f32 = 13.0;

/// Paints the application icon inside the window.
pub(crate) fn paint_mark(painter: &Painter, rect: Rect, theme: &WorkbenchTheme) {
    let scale = rect.width() / ICON_SIDE_PIXELS as f32;
    painter.rect_filled(rect, CornerRadius::same((CORNER_RADIUS * scale) as u8), theme.accent);
    for (left, top, right, bottom) in CARDS.into_iter().chain(WIRES) {
        let corner = |x: f32, y: f32| rect.min + pos2(x, y).to_vec2() * scale;
        painter.rect_filled(
            Rect::from_min_max(corner(left, top), corner(right, bottom)),
            CornerRadius::ZERO,
            theme.accent_text,
        );
    }
}

fn colour_at(theme: &WorkbenchTheme, x: f32, y: f32) -> Color32 {
    let within =
        |(left, top, right, bottom): (f32, f32, f32, f32)| x >= left && x < right && y >= top && y < bottom;
    if !rounded(x, y, CORNER_RADIUS) {
        Color32::TRANSPARENT
    } else if CARDS.into_iter().chain(WIRES).any(within) {
        theme.accent_text
    } else {
        theme.accent
    }
}

/// Returns whether a point lies inside the rounded square.
fn rounded(x: f32, y: f32, radius: f32) -> bool {
    let beyond = |v: f32| (radius - v).max(v - (ICON_SIDE_PIXELS as f32 - radius)).max(0.0);
    beyond(x).hypot(beyond(y)) <= radius
}
