//! Containers: titled frames behind their content, with a fill that varies with the depth.

use super::{BoardPainter, DrawCache, deploy_signs, node, node_layout, rounded_frame};
use crate::{
    index::IndexedNode,
    lod::DetailLevel,
    text::{TextRole, TextSpec},
    theme::{mix, size},
};
use egui::{Rect, Shape, Stroke, vec2};

pub(super) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode) {
    let theme = pen.scene.theme;
    let painter = if pen.is_faint(slot.id) { &pen.faint } else { pen.painter };
    let rect = pen.camera.rect_to_screen(slot.area);
    let radius = size::CONTAINER_RADIUS * pen.zoom();
    let accent = theme.accent(slot.accent);
    let fill = mix(theme.container_fill(usize::from(slot.depth)), accent, 0.03);
    let ring = pen.deploy_status(slot.id).and_then(|known| deploy_signs::ring(theme, known));
    let drop = pen.marks.drop.filter(|(target, _)| *target == slot.id);
    let (line, fill) = match (drop, ring) {
        (Some((_, true)), _) => (Stroke::new(2.0, theme.success), mix(fill, theme.success, 0.08)),
        (Some((_, false)), _) => (Stroke::new(2.0, theme.danger), mix(fill, theme.danger, 0.08)),
        (None, Some(colour)) => (Stroke::new(1.5, colour), fill),
        (None, None) if pen.marks.shown_page == Some(slot.id) => (Stroke::new(1.5, theme.accent), fill),
        (None, None) if pen.is_hovered(slot.id) => (Stroke::new(1.0, theme.border_strong), fill),
        (None, None) => (Stroke::new(1.0, mix(theme.border, accent, 0.22)), fill),
    };
    rounded_frame::draw(painter, rect, radius, fill, line);
    title(pen, store, slot, painter);
    node::draw_selection(pen, slot, rect, radius);
    node::draw_badge(pen, slot, rect);
    if pen.marks.shown_page == Some(slot.id) {
        draw_fold_sign(pen, rect);
    }
    deploy_signs::draw(pen, store, slot, rect);
}

/// Draws the sign of the previewed page: a triangle on a disc at the lower right corner.
fn draw_fold_sign(pen: &BoardPainter<'_>, rect: Rect) {
    let (theme, painter) = (pen.scene.theme, pen.painter);
    let radius = (size::BADGE_RADIUS * pen.zoom()).clamp(4.0, 16.0);
    let centre = rect.right_bottom() - vec2(radius * 0.5, radius * 0.5);
    painter.circle_filled(centre, radius + 1.5, theme.surface_card);
    painter.circle_filled(centre, radius, theme.accent);
    let reach = radius * 0.5;
    let triangle = vec![
        centre + vec2(-reach * 0.6, -reach),
        centre + vec2(reach, 0.0),
        centre + vec2(-reach * 0.6, reach),
    ];
    painter.add(Shape::convex_polygon(triangle, theme.accent_text, Stroke::NONE));
}

pub(super) fn title(
    pen: &BoardPainter<'_>,
    store: &mut DrawCache,
    slot: &IndexedNode,
    painter: &egui::Painter,
) {
    let theme = pen.scene.theme;
    let Some(node) = pen.scene.snapshot.node(slot.id) else { return };
    let def = pen.scene.snapshot.type_of(node);
    let face = node_layout::header(slot.area);
    let icon = pen.place(face.icon);
    if icon.width() >= 6.5 {
        store.icons.paint(painter, def.map_or("", |def| def.icon.as_str()), icon, theme.accent(slot.accent));
    }
    if pen.marks.renamed == Some(slot.id) {
        return;
    }
    // Titles are enlarged when zoomed out, as far as their strip allows.
    let full = pen.detail == DetailLevel::Full;
    let text_size = if full { size::LABEL } else { size::LABEL * 1.5 };
    let text = pen.place(face.text);
    let key = slot.id.bits();
    let words =
        TextSpec::line(key, TextRole::Label, slot.generation, &node.label, text_size, face.text.width());
    let Some(label) = store.texts.lay_out(painter, pen.zoom(), &words) else { return };
    let used = label.size().x;
    let at = |height: f32| text.left_center() - vec2(0.0, height / 2.0);
    painter.galley(at(label.size().y), label, theme.text);

    let kind = def.map_or(node.type_id.as_str(), |def| def.kind_label(node));
    let left = (text.width() - used) / pen.zoom() - size::GAP;
    if full && left >= 40.0 && kind != node.label {
        let words = TextSpec::line(key, TextRole::Kind, slot.generation, kind, size::SMALL, left);
        let Some(galley) = store.texts.lay_out(painter, pen.zoom(), &words) else { return };
        let place = at(galley.size().y) + vec2(used + size::GAP * pen.zoom(), 0.5 * pen.zoom());
        painter.galley(place, galley, theme.text_subtle);
    }
}
