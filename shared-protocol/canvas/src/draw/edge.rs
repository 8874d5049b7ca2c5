//! Edges: one mesh for all visible edges, then their labels on pills that avoid nodes.

use super::{BoardPainter, DrawCache};
use crate::{
    batch::{ShapeBatch, rounded},
    hit::CanvasHit,
    index::{IndexedEdge, route::EdgeRoute},
    lod::DetailLevel,
    text::{TextRole, TextSpec},
    theme::{mix, size},
};
use egui::{Color32, Pos2, Rect, Stroke, StrokeKind, vec2};
use shared_protocol::{Edge, EdgeId, ElementId};

const MIN_LABEL_ZOOM: f32 = 0.65;
/// The gap between an arrow and the middle of its port.
pub(crate) const ARROW_GAP: f32 = size::PORT_RADIUS + 1.0;

pub(super) fn draw_all(pen: &BoardPainter<'_>, store: &mut DrawCache, edges: &[u32]) {
    let mut lines = std::mem::take(&mut store.lines);
    lines.begin_frame(pen.painter.pixels_per_point());
    // Emphasised edges are drawn over the others.
    for emphasised in [false, true] {
        for &place in edges {
            let slot = pen.index.edge(place);
            let (colour, width, over) = edge_style(pen, slot.id);
            if over == emphasised {
                screen_points(pen, &slot.route, store);
                add_line(pen, &mut lines, &mut store.screen_points, width, colour);
            }
        }
    }
    if !lines.is_empty() {
        pen.painter.add(lines.shape());
    }
    store.lines = lines;
}

/// Returns the colour and width of an edge, and whether it is emphasised.
fn edge_style(pen: &BoardPainter<'_>, id: EdgeId) -> (Color32, f32, bool) {
    let theme = pen.scene.theme;
    if pen.marks.into_edge == Some(id) {
        return (theme.success, 3.5, true);
    }
    if pen.scene.selection.contains(&ElementId::Edge(id)) {
        return (theme.accent, 2.5, true);
    }
    if matches!(pen.marks.hovered, Some(CanvasHit::Edge(hovered)) if hovered == id) {
        return (theme.text_muted, 2.25, true);
    }
    let faint = pen.marks.takes_connection.is_some();
    if faint {
        return (theme.edge.gamma_multiply(0.4), size::EDGE_WIDTH, false);
    }
    if !pen.scene.selection.is_empty()
        && let Some(edge) = pen.scene.snapshot.edge(id)
        && (pen.scene.is_selected(edge.source.node) || pen.scene.is_selected(edge.target.node))
    {
        return (mix(theme.edge, theme.accent, 0.75), size::EDGE_WIDTH, true);
    }
    (theme.edge, size::EDGE_WIDTH, false)
}

fn screen_points(pen: &BoardPainter<'_>, route: &EdgeRoute, store: &mut DrawCache) {
    store.points.clear();
    store.points.extend(route.points().iter().map(|&point| pen.camera.to_screen(point)));
    rounded(&store.points, size::EDGE_RADIUS * pen.zoom(), &mut store.screen_points);
}

fn add_line(
    pen: &BoardPainter<'_>,
    lines: &mut ShapeBatch,
    points: &mut [Pos2],
    width: f32,
    colour: Color32,
) {
    arrow(pen, lines, points, colour);
    lines.line(points, width * pen.zoom().clamp(0.75, 1.6), colour);
}

/// Draws the arrow and shortens the line to its base.
pub(super) fn arrow(pen: &BoardPainter<'_>, lines: &mut ShapeBatch, points: &mut [Pos2], colour: Color32) {
    let zoom = pen.zoom();
    let [.., before, tip] = points else { return };
    let along = (*tip - *before).normalized();
    let length = size::ARROW * zoom.max(0.5);
    let gap = if pen.detail == DetailLevel::Full { ARROW_GAP * zoom } else { 0.0 };
    let point = *tip - along * gap;
    let base = point - along * length;
    let across = vec2(-along.y, along.x) * (length * 0.45);
    *tip = base + along;
    lines.triangle([point, base + across, base - across], colour);
}

/// Draws the connection of an active gesture.
pub(super) fn draw_loose(pen: &BoardPainter<'_>, store: &mut DrawCache, route: &EdgeRoute, colour: Color32) {
    let mut lines = std::mem::take(&mut store.lines);
    // A separate mesh: the painter already holds the mesh of the edges.
    lines.begin_frame(pen.painter.pixels_per_point());
    screen_points(pen, route, store);
    add_line(pen, &mut lines, &mut store.screen_points, 2.0, colour);
    pen.painter.add(lines.shape());
    store.lines = lines;
}

pub(super) fn draw_labels(pen: &BoardPainter<'_>, store: &mut DrawCache, edges: &[u32]) {
    if pen.zoom() < MIN_LABEL_ZOOM {
        return;
    }
    for &place in edges {
        let slot = pen.index.edge(place);
        let Some(edge) = pen.scene.snapshot.edge(slot.id).filter(|edge| !edge.label.is_empty()) else {
            continue;
        };
        draw_label(pen, store, slot, edge);
    }
}

fn draw_label(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedEdge, edge: &Edge) {
    let theme = pen.scene.theme;
    let zoom = pen.zoom();
    let words = TextSpec::line(
        edge.id.bits(),
        TextRole::EdgeLabel,
        slot.generation,
        &edge.label,
        size::EDGE_LABEL,
        160.0,
    );
    let Some(galley) = store.texts.lay_out(pen.painter, zoom, &words) else { return };
    let pill = galley.size() + vec2(10.0, 4.0) * zoom;
    let Some(middle) = label_place(pen.index, slot, pill / zoom, &mut store.near) else { return };
    let rect = Rect::from_center_size(pen.camera.to_screen(middle), pill);
    let selected = pen.scene.selection.contains(&ElementId::Edge(slot.id));
    let line = Stroke::new(1.0, if selected { theme.accent } else { theme.border });
    pen.painter.rect(rect, pill.y / 2.0, theme.surface_card, line, StrokeKind::Inside);
    pen.painter.galley(rect.center() - galley.size() / 2.0, galley, theme.text_muted);
}

/// Returns the position of a label on the longest stretch that has room: the middle or a quarter, where it covers no node
/// and no corner of another edge, which would hide that edge's route. Returns `None` rather than a position on a node.
pub(crate) fn label_place(
    index: &crate::index::BoardIndex,
    slot: &IndexedEdge,
    pill: egui::Vec2,
    near: &mut Vec<u32>,
) -> Option<Pos2> {
    let mut stretches: Vec<[Pos2; 2]> = slot.route.segments().collect();
    stretches.sort_by(|a, b| b[0].distance_sq(b[1]).total_cmp(&a[0].distance_sq(a[1])));
    let places = |[a, b]: [Pos2; 2]| [0.5, 0.25, 0.75].map(|share| a + (b - a) * share);
    let covered = |middle: Pos2| Rect::from_center_size(middle, pill).expand(2.0);
    let mut second_best = None;
    for middle in stretches.into_iter().flat_map(places) {
        let area = crate::camera::enclosing_placement(covered(middle));
        if !index.is_free(area, near) {
            continue;
        }
        index.edges_in(area, near);
        let others = near.iter().map(|&place| index.edge(place)).filter(|other| other.id != slot.id);
        let hides_corner = |other: &IndexedEdge| {
            let corners = other.route.points();
            let inner = corners.get(1..corners.len().saturating_sub(1)).unwrap_or_default();
            inner.iter().any(|corner| covered(middle).contains(*corner))
        };
        if !others.into_iter().any(hides_corner) {
            return Some(middle);
        }
        second_best = second_best.or(Some(middle));
    }
    second_best
}
