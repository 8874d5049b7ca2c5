//! The overlay of a gesture: handles, the marquee, a loose connection, ghosts of copies, and the reason of a refusal.

use super::{BoardPainter, DrawCache, edge};
use crate::{
    gesture::{Gesture, guides::SnapGuide, resize},
    theme::size,
};
use egui::{Align2, FontId, Pos2, Rect, Stroke, StrokeKind, text::LayoutJob, text::TextFormat, vec2};
use shared_protocol::Refusal;
use shared_protocol::text::capitalize;

pub(crate) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, gesture: &Gesture, pointer: Option<Pos2>) {
    let theme = pen.scene.theme;
    draw_guides(pen, gesture.guides());
    match gesture {
        Gesture::Idle | Gesture::Cancelled | Gesture::Pan(_) => draw_handles(pen),
        Gesture::Resize(_) | Gesture::ResizeMany(_) => draw_handles(pen),
        Gesture::Marquee(marquee) => {
            let rect = pen.place(marquee.rect());
            let line = Stroke::new(1.0, theme.accent);
            pen.painter.rect(rect, 2.0, theme.accent.gamma_multiply(0.10), line, StrokeKind::Inside);
        }
        Gesture::Move(moving) => {
            for ghost in moving.ghosts() {
                let rect = pen.camera.rect_to_screen(ghost);
                let line = Stroke::new(1.5, theme.accent);
                let radius = size::CARD_RADIUS * pen.camera.zoom();
                pen.painter.rect(rect, radius, theme.accent.gamma_multiply(0.12), line, StrokeKind::Inside);
            }
            if let (Some(refusal), Some(at)) = (moving.refusal(), pointer) {
                draw_refusal(pen, refusal, at);
            }
        }
        Gesture::Connect(connecting) => {
            let (route, allowed) = connecting.preview_route();
            let colour = match allowed {
                Some(true) => theme.success,
                Some(false) => theme.danger,
                None => theme.accent,
            };
            edge::draw_loose(pen, store, &route, colour);
            if let Some(slot) = connecting.hovered_node().and_then(|id| pen.index.slot(id)) {
                let rect = pen.camera.rect_to_screen(slot.area).expand(2.0);
                let radius = size::CARD_RADIUS * pen.camera.zoom() + 2.0;
                pen.painter.rect_stroke(rect, radius, Stroke::new(2.0, colour), StrokeKind::Middle);
            }
            if let (Some(refusal), Some(at)) = (connecting.refusal(), pointer) {
                draw_refusal(pen, refusal, at);
            }
        }
    }
}

/// Draws alignment guides and the measured gaps.
fn draw_guides(pen: &BoardPainter<'_>, guides: &[SnapGuide]) {
    let theme = pen.scene.theme;
    let line = Stroke::new(1.0, theme.accent);
    let at = |guide: &SnapGuide, along: i32| {
        let point = if guide.level { (along, guide.at) } else { (guide.at, along) };
        pen.camera.to_screen(egui::pos2(point.0 as f32, point.1 as f32))
    };
    for guide in guides {
        let (from, to) = (at(guide, guide.from), at(guide, guide.to));
        pen.painter.line_segment([from, to], line);
        if !guide.is_gap {
            continue;
        }
        let tick = if guide.level { vec2(0.0, 4.0) } else { vec2(4.0, 0.0) };
        for end in [from, to] {
            pen.painter.line_segment([end - tick, end + tick], line);
        }
        let font = FontId::proportional(11.0);
        let galley = pen.painter.layout_no_wrap((guide.to - guide.from).to_string(), font, theme.accent_text);
        let pill = Rect::from_center_size(from + (to - from) / 2.0, galley.size() + vec2(8.0, 2.0));
        pen.painter.rect_filled(pill, pill.height() / 2.0, theme.accent);
        pen.painter.galley(pill.center() - galley.size() / 2.0, galley, theme.accent_text);
    }
}

fn draw_handles(pen: &BoardPainter<'_>) {
    let Some(area) = resize::area(pen.scene, pen.index) else { return };
    if pen.scene.selection.len() > 1 {
        let line = Stroke::new(1.0, pen.scene.theme.accent.gamma_multiply(0.6));
        pen.painter.rect_stroke(pen.camera.rect_to_screen(area), 0.0, line, StrokeKind::Middle);
    }
    let theme = pen.scene.theme;
    for (_, rect) in resize::handles(&pen.camera, area) {
        pen.painter.rect(rect, 2.0, theme.surface_card, Stroke::new(1.5, theme.accent), StrokeKind::Inside);
    }
}

/// Shows beside the pointer why a gesture is refused.
fn draw_refusal(pen: &BoardPainter<'_>, refusal: &Refusal, at: Pos2) {
    let theme = pen.scene.theme;
    let mut job = LayoutJob::default();
    job.wrap.max_width = 280.0;
    let format = |size, colour| TextFormat::simple(FontId::proportional(size), colour);
    job.append(&capitalize(&refusal.message), 0.0, format(13.0, theme.text));
    if let Some(hint) = refusal.hints.first() {
        job.append("\n", 0.0, format(4.0, theme.text));
        job.append(&capitalize(hint), 0.0, format(12.0, theme.text_muted));
    }
    let galley = pen.painter.layout_job(job);
    let padding = vec2(10.0, 8.0);
    let bubble = galley.size() + padding * 2.0 + vec2(22.0, 0.0);
    let view = pen.camera.view().shrink(6.0);
    let mut rect = Rect::from_min_size(at + vec2(16.0, 18.0), bubble);
    if rect.right() > view.right() {
        rect = rect.translate(vec2(-(bubble.x + 28.0), 0.0));
    }
    if rect.bottom() > view.bottom() {
        rect = rect.translate(vec2(0.0, -(bubble.y + 32.0)));
    }
    let painter = pen.painter;
    let shadow = egui::Shadow { offset: [0, 4], blur: 14, spread: 0, color: theme.shadow };
    painter.add(shadow.as_shape(rect, 8.0));
    painter.rect(rect, 8.0, theme.surface_raised, Stroke::new(1.0, theme.danger), StrokeKind::Inside);
    let sign = rect.left_top() + padding + vec2(6.0, 8.0);
    painter.circle_stroke(sign, 6.5, Stroke::new(1.5, theme.danger));
    painter.line_segment([sign + vec2(-4.2, -4.2), sign + vec2(4.2, 4.2)], Stroke::new(1.5, theme.danger));
    painter.galley(rect.min + padding + vec2(22.0, 0.0), galley, theme.text);
}

pub(crate) fn draw_empty_hint(pen: &BoardPainter<'_>) {
    let theme = pen.scene.theme;
    let middle = pen.camera.view().center();
    let text = |offset: f32, words: &str, size: f32, colour| {
        pen.painter.text(
            middle + vec2(0.0, offset),
            Align2::CENTER_CENTER,
            words,
            FontId::proportional(size),
            colour,
        );
    };
    text(-12.0, "This board is empty", 17.0, theme.text_muted);
    let how = if pen.scene.read_only {
        "This board is read-only"
    } else {
        "Drag an element from the palette, or press Tab"
    };
    text(14.0, how, 13.5, theme.text_subtle);
}
