//! Sticky notes and free text.

use super::{BoardPainter, DrawCache, node};
use crate::{
    index::IndexedNode,
    lod::label_opacity,
    text::{TextRole, TextSpec},
    theme::size,
};
use authority::Snapshot;
use egui::{Align, Color32, CornerRadius, Rect, Shape, Stroke, StrokeKind, pos2};
use shared_protocol::{Node, PropKey, PropValue};

pub(crate) const PADDING: f32 = 12.0;
const ROW: f32 = 1.25;

/// The content and style of a note; a type without a tone is text without paper.
pub(crate) struct NoteParts<'a> {
    pub(crate) text: &'a str,
    /// Whether there is no text yet, so that the label is shown instead.
    pub(crate) is_empty: bool,
    pub(crate) tone: Option<&'a str>,
    pub(crate) size: f32,
    pub(crate) align: Align,
}

pub(crate) fn face<'a>(snapshot: &'a Snapshot, node: &'a Node) -> NoteParts<'a> {
    let prop = |key: &str| {
        let key = PropKey::parse(key).ok()?;
        snapshot.effective_prop(node, &key).and_then(PropValue::as_text).filter(|text| !text.is_empty())
    };
    let has_tone = snapshot.type_of(node).is_none_or(|def| def.prop("tone").is_some());
    let size = match prop("size") {
        Some("small") => 12.0,
        Some("large") => 24.0,
        Some(_) => 16.0,
        None => size::NOTE_TEXT,
    };
    let align = match prop("align") {
        Some("centre") => Align::Center,
        Some("right") => Align::RIGHT,
        _ => Align::LEFT,
    };
    let text = prop("text");
    NoteParts {
        text: text.unwrap_or(&node.label),
        is_empty: text.is_none(),
        tone: has_tone.then(|| prop("tone").unwrap_or("yellow")),
        size,
        align,
    }
}

pub(crate) fn rows(height: f32, text_size: f32) -> usize {
    ((height - PADDING * 2.0 + 4.0) / (text_size * ROW)).floor().max(1.0) as usize
}

pub(super) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode) {
    let theme = pen.scene.theme;
    let painter = if pen.is_faint(slot.id) { &pen.faint } else { pen.painter };
    let Some(node) = pen.scene.snapshot.node(slot.id) else { return };
    let face = face(pen.scene.snapshot, node);
    let rect = pen.camera.rect_to_screen(slot.area);
    let radius = 4.0 * pen.zoom();
    let ink = match face.tone {
        Some(tone) => {
            let (paper, ink) = theme.note_colours(tone);
            node::shadow(pen, painter, rect, radius);
            let fold = 14.0 * pen.zoom();
            let corner = CornerRadius { se: fold.min(255.0) as u8, ..CornerRadius::from(radius) };
            painter.rect_filled(rect, corner, paper);
            draw_fold(painter, rect, fold, crate::theme::mix(paper, ink, 0.18));
            ink
        }
        None => theme.text,
    };
    if pen.is_hovered(slot.id) && !pen.scene.is_selected(slot.id) {
        painter.rect_stroke(rect, radius, Stroke::new(1.0, theme.border_strong), StrokeKind::Inside);
    }
    draw_text(pen, store, slot, &face, ink);
    node::draw_selection(pen, slot, rect, radius);
    node::draw_ports(pen, slot);
    node::draw_badge(pen, slot, rect);
}

fn draw_fold(painter: &egui::Painter, rect: Rect, fold: f32, colour: Color32) {
    if fold >= 3.0 {
        let (x, y) = (rect.right(), rect.bottom());
        let corners = vec![pos2(x - fold, y), pos2(x - fold, y - fold), pos2(x, y - fold)];
        painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
    }
}

fn draw_text(
    pen: &BoardPainter<'_>,
    store: &mut DrawCache,
    slot: &IndexedNode,
    face: &NoteParts<'_>,
    ink: Color32,
) {
    let opacity = if face.size * pen.zoom() >= 7.0 { 1.0 } else { label_opacity(pen.zoom()) };
    if opacity <= 0.0 || pen.marks.renamed == Some(slot.id) {
        return;
    }
    let area = crate::camera::rect_of(slot.area);
    let padding = if face.tone.is_some() { PADDING } else { 4.0 };
    let inner = area.shrink(padding.min(area.width().min(area.height()) / 4.0));
    let words = TextSpec {
        key: slot.id.bits(),
        part: TextRole::Note,
        generation: slot.generation,
        text: face.text,
        size: face.size,
        width: inner.width(),
        rows: rows(inner.height() + PADDING * 2.0, face.size),
        align: face.align,
    };
    let Some(galley) = store.texts.lay_out(pen.painter, pen.zoom(), &words) else { return };
    let place = pen.place(inner);
    let x = match face.align {
        Align::Min => place.left(),
        Align::Center => place.center().x,
        Align::Max => place.right(),
    };
    let y = if face.tone.is_some() { place.top() } else { place.center().y - galley.size().y / 2.0 };
    let opacity = if face.is_empty { opacity * 0.7 } else { opacity };
    let painter = if pen.is_faint(slot.id) { &pen.faint } else { pen.painter };
    painter.galley(pos2(x, y), galley, ink.gamma_multiply(opacity));
}
