//! Zoomed out, a node is a block and an edge a line: one mesh for all of them.

use super::{BoardPainter, DrawCache, deploy_signs, node, note};
use crate::{
    BoardScene,
    index::{BoardIndex, DrawnNodeKind, IndexedNode},
    text::{TextRole, TextSpec},
    theme::{WorkbenchTheme, mix, size},
};
use egui::{Color32, Rect, Stroke, StrokeKind, vec2};
use shared_protocol::ElementId;

/// The minimum screen width of a container that keeps its name as a landmark.
const LANDMARK_WIDTH: f32 = 72.0;

pub(super) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, nodes: &[u32], edges: &[u32]) {
    let theme = pen.scene.theme;
    let first_card = nodes.partition_point(|&place| pen.index.node(place).kind == DrawnNodeKind::Container);
    let batch = &mut store.lines;
    batch.begin_frame(pen.painter.pixels_per_point());
    for &place in &nodes[..first_card] {
        let slot = pen.index.node(place);
        let rect = pen.camera.rect_to_screen(slot.area);
        batch.block(rect, container_line(theme, slot));
        batch.block(rect.shrink(1.0), container_fill(theme, slot));
    }
    let width = (size::EDGE_WIDTH * pen.zoom()).max(0.8);
    for &place in edges {
        let slot = pen.index.edge(place);
        store.points.clear();
        store.points.extend(slot.route.points().iter().map(|&point| pen.camera.to_screen(point)));
        let selected = pen.scene.selection.contains(&ElementId::Edge(slot.id));
        batch.line(
            &store.points,
            width,
            if selected { theme.accent } else { theme.edge.gamma_multiply(0.8) },
        );
    }
    for &place in &nodes[first_card..] {
        let slot = pen.index.node(place);
        let rect = pen.camera.rect_to_screen(slot.area);
        batch.block(rect, fill(pen, slot));
        if let Some(colour) = pen.deploy_status(slot.id).and_then(|known| deploy_signs::ring(theme, known)) {
            let width = (rect.width() * 0.08).clamp(2.0, 5.0);
            batch.block(rect.with_max_x(rect.left() + width), colour);
        }
        if node::highest_severity(pen.scene.problems.of_node(slot.id)).is_some() {
            let side = (rect.height() * 0.3).clamp(2.5, 6.0);
            batch.block(
                Rect::from_min_size(rect.right_top() - vec2(side, 0.0), vec2(side, side)),
                theme.danger,
            );
        }
    }
    pen.painter.add(batch.shape());
    for &place in nodes {
        let slot = pen.index.node(place);
        if pen.scene.is_selected(slot.id) {
            let rect = pen.camera.rect_to_screen(slot.area).expand(1.5);
            pen.painter.rect_stroke(rect, 2.0, Stroke::new(1.5, theme.accent), StrokeKind::Middle);
        }
    }
    for &place in &nodes[..first_card] {
        landmark(pen, store, pen.index.node(place));
    }
}

pub(super) fn container_line(theme: &WorkbenchTheme, slot: &IndexedNode) -> Color32 {
    mix(theme.border, theme.accent(slot.accent), 0.3)
}

pub(super) fn container_fill(theme: &WorkbenchTheme, slot: &IndexedNode) -> Color32 {
    mix(theme.container_fill(usize::from(slot.depth)), theme.accent(slot.accent), 0.05)
}

fn fill(pen: &BoardPainter<'_>, slot: &IndexedNode) -> Color32 {
    let colour = card_colour(pen.scene, slot);
    if pen.is_faint(slot.id) { mix(pen.scene.theme.canvas, colour, 0.35) } else { colour }
}

/// Returns the containers of a board from the outside in.
pub(super) fn containers(index: &BoardIndex) -> Vec<&IndexedNode> {
    let mut containers: Vec<_> = index.nodes().filter(|slot| slot.kind == DrawnNodeKind::Container).collect();
    containers.sort_unstable_by_key(|slot| (slot.depth, slot.id));
    containers
}

pub(super) fn card_colour(scene: &BoardScene<'_>, slot: &IndexedNode) -> Color32 {
    match slot.kind {
        DrawnNodeKind::Note => note_colour(scene, slot),
        _ => scene.theme.block(slot.accent),
    }
}

/// Returns the paper colour of a note; free text has none and is light grey.
fn note_colour(scene: &BoardScene<'_>, slot: &IndexedNode) -> Color32 {
    let tone = scene.snapshot.node(slot.id).and_then(|node| note::face(scene.snapshot, node).tone);
    tone.map_or_else(
        || mix(scene.theme.canvas, scene.theme.text, 0.12),
        |tone| scene.theme.note_colours(tone).0,
    )
}

/// Draws the name of an outermost container above it at a readable size, because its own title strip is too small.
pub(super) fn landmark(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode) {
    let rect = pen.camera.rect_to_screen(slot.area);
    if slot.depth > 0 || rect.width() < LANDMARK_WIDTH {
        return;
    }
    let Some(node) = pen.scene.snapshot.node(slot.id) else { return };
    // Laid out in screen units, independent of the zoom.
    let words =
        TextSpec::line(slot.id.bits(), TextRole::Landmark, slot.generation, &node.label, 12.0, rect.width());
    let Some(galley) = store.texts.lay_out(pen.painter, 1.0, &words) else { return };
    let at = rect.left_top() - vec2(0.0, galley.size().y + 2.0);
    pen.painter.galley(at, galley, pen.scene.theme.text_muted);
}
