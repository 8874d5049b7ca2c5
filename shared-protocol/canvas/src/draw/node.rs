//! Cards, the shape of most nodes: an icon in the colour of the family, a label, the type below it, ports on the sides.

use super::{BoardPainter, DrawCache, deploy_signs, node_layout, rounded_frame};
use crate::{
    hit::CanvasHit,
    index::{IndexedNode, ports},
    lod::{DetailLevel, icon_opacity, label_opacity},
    text::{TextRole, TextSpec},
    theme::{mix, size},
};
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, epaint::Shadow, pos2, vec2};
use shared_protocol::{
    messages::{BoardProblem, ProblemSeverity},
    registry::{PortDirection, PortSide},
};

pub(super) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode) {
    let theme = pen.scene.theme;
    let painter = if pen.is_faint(slot.id) { &pen.faint } else { pen.painter };
    let rect = pen.camera.rect_to_screen(slot.area);
    let radius = size::CARD_RADIUS * pen.zoom();
    shadow(pen, painter, rect, radius);
    let takes = pen.marks.takes_connection.is_some_and(|takes| takes(slot.id) == Some(true));
    let ring = pen.deploy_status(slot.id).and_then(|known| deploy_signs::ring(theme, known));
    let line = match ring {
        _ if takes => Stroke::new(1.5, theme.success),
        Some(colour) => Stroke::new(1.5, colour),
        None if pen.is_hovered(slot.id) => Stroke::new(1.0, theme.border_strong),
        None => Stroke::new(1.0, theme.border),
    };
    rounded_frame::draw(painter, rect, radius, theme.surface_card, line);
    content(pen, store, slot, painter);
    draw_selection(pen, slot, rect, radius);
    draw_ports(pen, slot);
    draw_badge(pen, slot, rect);
    deploy_signs::draw(pen, store, slot, rect);
}

pub(super) fn shadow(pen: &BoardPainter<'_>, painter: &Painter, rect: Rect, radius: f32) {
    // A shadow is not visible on a dark background.
    if pen.detail != DetailLevel::Full || pen.scene.theme.dark {
        return;
    }
    let zoom = pen.zoom().min(2.0);
    let shadow = Shadow {
        offset: [0, (2.0 * zoom).round() as i8],
        blur: (6.0 * zoom).round() as u8,
        spread: 0,
        color: pen.scene.theme.shadow,
    };
    painter.add(shadow.as_shape(rect, radius));
}

/// Draws one larger text instead of two lines, which stays readable longer when zooming out.
pub(super) fn title(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode, painter: &Painter) {
    let Some(node) = pen.scene.snapshot.node(slot.id) else { return };
    let opacity = label_opacity(pen.zoom());
    if opacity <= 0.0 {
        return;
    }
    let place = node_layout::card_face(slot.area).label;
    let words =
        TextSpec::line(slot.id.bits(), TextRole::Label, slot.generation, &node.label, 17.0, place.width());
    let Some(galley) = store.texts.lay_out(painter, pen.zoom(), &TextSpec { rows: 2, ..words }) else {
        return;
    };
    let middle = pen.camera.rect_to_screen(slot.area).center().y;
    let at = pos2(pen.place(place).left(), middle - galley.size().y / 2.0);
    painter.galley(at, galley, pen.scene.theme.text.gamma_multiply(opacity));
}

pub(super) fn content(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode, painter: &Painter) {
    let theme = pen.scene.theme;
    let Some(node) = pen.scene.snapshot.node(slot.id) else { return };
    let def = pen.scene.snapshot.type_of(node);
    let face = node_layout::card_face(slot.area);
    if let Some(tile) = face.tile {
        let screen = pen.place(tile);
        let icon = Rect::from_center_size(screen.center(), screen.size() * (size::TILE_ICON / size::TILE));
        let opacity = icon_opacity(pen.zoom());
        // When the icon is hidden, the tile's colour identifies the family.
        let tile = mix(theme.block(slot.accent), theme.tile(slot.accent), opacity);
        rounded_frame::draw(painter, screen, size::TILE_RADIUS * pen.zoom(), tile, Stroke::NONE);
        if opacity > 0.0 {
            let word = def.map_or("", |def| def.icon.as_str());
            store.icons.paint(painter, word, icon, theme.accent(slot.accent).gamma_multiply(opacity));
        }
    }
    if pen.marks.renamed == Some(slot.id) {
        return;
    }
    let key = slot.id.bits();
    let kind = def.map_or(node.type_id.as_str(), |def| def.kind_label(node));
    if pen.detail != DetailLevel::Full {
        return title(pen, store, slot, painter);
    }
    let label =
        TextSpec::line(key, TextRole::Label, slot.generation, &node.label, size::LABEL, face.label.width());
    line(pen, store, painter, (face.label, theme.text), &label);
    if let Some(place) = face.kind {
        let second = if kind == node.label { node.name.as_str() } else { kind };
        let words = TextSpec::line(key, TextRole::Kind, slot.generation, second, size::SMALL, place.width());
        line(pen, store, painter, (place, theme.text_muted), &words);
    }
}

fn line(
    pen: &BoardPainter<'_>,
    store: &mut DrawCache,
    painter: &Painter,
    (place, colour): (Rect, Color32),
    words: &TextSpec<'_>,
) {
    let Some(galley) = store.texts.lay_out(painter, pen.zoom(), words) else { return };
    let place = pen.place(place);
    painter.galley(pos2(place.left(), place.center().y - galley.size().y / 2.0), galley, colour);
}

pub(super) fn draw_selection(pen: &BoardPainter<'_>, slot: &IndexedNode, rect: Rect, radius: f32) {
    if pen.scene.is_selected(slot.id) {
        let line = Stroke::new(2.0, pen.scene.theme.accent);
        pen.painter.rect_stroke(rect.expand(1.0), radius + 1.0, line, StrokeKind::Middle);
    }
}

/// Draws the ports where they can be grabbed.
pub(super) fn draw_ports(pen: &BoardPainter<'_>, slot: &IndexedNode) {
    if pen.detail != DetailLevel::Full || pen.is_faint(slot.id) {
        return;
    }
    let Some(def) = pen.def_of(slot.id) else { return };
    let theme = pen.scene.theme;
    let painter = pen.painter;
    let hovered = match &pen.marks.hovered {
        Some(CanvasHit::Port { node, port, .. }) if *node == slot.id => Some(port),
        _ => None,
    };
    for (port, at, side) in ports::ports(def, slot.area) {
        let centre = pen.camera.to_screen(at);
        let radius = size::PORT_RADIUS * pen.zoom();
        if hovered == Some(&port.id) {
            painter.circle_filled(centre, radius + 3.5, theme.surface_card);
            painter.circle_filled(centre, radius + 2.0, theme.accent);
            port_label(pen, centre, radius + 2.5, side, &port.label);
        } else {
            let line = if port.direction == PortDirection::Out {
                theme.accent(slot.accent)
            } else {
                theme.border_strong
            };
            // Two discs instead of a ring: a disc is one textured quad, a ring a mesh of a hundred corners.
            painter.circle_filled(centre, radius + 0.75, line);
            painter.circle_filled(centre, radius - 0.75, theme.surface_card);
        }
    }
}

fn port_label(pen: &BoardPainter<'_>, centre: Pos2, radius: f32, side: PortSide, label: &str) {
    let theme = pen.scene.theme;
    let font = egui::FontId::proportional(size::SMALL);
    let text: String = label.chars().take(48).collect();
    let galley = pen.painter.layout_no_wrap(text, font, theme.text);
    let pill = galley.size() + vec2(12.0, 6.0);
    let away = radius + 6.0;
    let middle = match side {
        PortSide::Left => centre - vec2(away + pill.x / 2.0, 0.0),
        PortSide::Right => centre + vec2(away + pill.x / 2.0, 0.0),
        PortSide::Top => centre - vec2(0.0, away + pill.y / 2.0),
        PortSide::Bottom => centre + vec2(0.0, away + pill.y / 2.0),
    };
    let rect = Rect::from_center_size(middle, pill);
    pen.painter.rect(rect, 6.0, theme.surface_raised, Stroke::new(1.0, theme.border), StrokeKind::Inside);
    pen.painter.galley(rect.min + vec2(6.0, 3.0), galley, theme.text);
}

pub(crate) fn highest_severity(problems: &[BoardProblem]) -> Option<ProblemSeverity> {
    problems.iter().map(|problem| problem.severity).min()
}

/// Draws the problem badge of a node: a disc with a cross for errors, a triangle for warnings.
pub(super) fn draw_badge(pen: &BoardPainter<'_>, slot: &IndexedNode, rect: Rect) {
    let told = pen.deploy_status(slot.id).and_then(|known| known.finding);
    let found = highest_severity(pen.scene.problems.of_node(slot.id)).into_iter().chain(told).min();
    let Some(severity) = found else { return };
    let theme = pen.scene.theme;
    let radius = (size::BADGE_RADIUS * pen.zoom()).clamp(4.0, 16.0);
    let centre = rect.right_top() + vec2(-radius * 0.5, radius * 0.5);
    let painter = pen.painter;
    let glyph = Stroke::new((radius * 0.22).max(1.0), theme.status_text);
    match severity {
        ProblemSeverity::Error => {
            painter.circle_filled(centre, radius + 1.5, theme.surface_card);
            painter.circle_filled(centre, radius, theme.danger);
            let reach = radius * 0.38;
            painter.line_segment([centre + vec2(-reach, -reach), centre + vec2(reach, reach)], glyph);
            painter.line_segment([centre + vec2(-reach, reach), centre + vec2(reach, -reach)], glyph);
        }
        ProblemSeverity::Warning => {
            let triangle = |reach: f32| {
                vec![
                    centre + vec2(0.0, -reach),
                    centre + vec2(reach, reach * 0.8),
                    centre + vec2(-reach, reach * 0.8),
                ]
            };
            painter.add(Shape::convex_polygon(triangle(radius + 2.5), theme.surface_card, Stroke::NONE));
            painter.add(Shape::convex_polygon(triangle(radius), theme.warning, Stroke::NONE));
            painter
                .line_segment([centre + vec2(0.0, -radius * 0.45), centre + vec2(0.0, radius * 0.2)], glyph);
            painter.circle_filled(centre + vec2(0.0, radius * 0.52), glyph.width * 0.6, theme.status_text);
        }
    }
}
