//! The whole board zoomed out: one mesh in board units, rebuilt when the board changes and transformed to the camera in
//! each frame.

use super::{BoardPainter, DrawCache, blocks};
use crate::{
    BoardScene,
    batch::quad,
    camera::rect_of,
    index::{BoardIndex, DrawnNodeKind},
};
use egui::{Color32, Mesh, Rect, Shape, Stroke, StrokeKind, epaint::Vertex, pos2, vec2};
use shared_protocol::{ElementId, NodeId};
use std::sync::Arc;

/// The maximum number of edges to draw; more would dominate the mesh and be thinner than a pixel.
const MAX_DRAWN_EDGES: usize = 6_000;
const MAX_OUTLINED_NODES: usize = 2_000;

#[derive(Default)]
pub(crate) struct ZoomedOutMesh {
    made_for: Option<(u64, Color32)>,
    board: Mesh,
    /// The outermost containers, whose names stay visible.
    landmarks: Vec<NodeId>,
    /// The mesh of the last frame; its memory is reused.
    mesh: Arc<Mesh>,
}

impl ZoomedOutMesh {
    fn update(&mut self, index: &BoardIndex, scene: &BoardScene<'_>) {
        let theme = scene.theme;
        let wanted = Some((index.version(), theme.surface_card));
        if self.made_for == wanted {
            return;
        }
        self.made_for = wanted;
        self.board.clear();
        let containers = blocks::containers(index);
        self.landmarks.clear();
        self.landmarks.extend(containers.iter().filter(|slot| slot.depth == 0).map(|slot| slot.id));
        for slot in containers {
            let rect = rect_of(slot.area);
            quad(&mut self.board, rect, blocks::container_line(theme, slot));
            quad(&mut self.board, rect.shrink(10.0), blocks::container_fill(theme, slot));
        }
        if index.edges().nth(MAX_DRAWN_EDGES).is_none() {
            let colour = theme.edge.gamma_multiply(0.55);
            for [a, b] in index.edges().flat_map(|slot| slot.route.segments().collect::<Vec<_>>()) {
                quad(&mut self.board, Rect::from_two_pos(a, b).expand(4.0), colour);
            }
        }
        for slot in index.nodes().filter(|slot| slot.kind != DrawnNodeKind::Container) {
            quad(&mut self.board, rect_of(slot.area), blocks::card_colour(scene, slot));
        }
    }

    /// Returns the mesh in screen coordinates.
    fn shape_at(&mut self, zoom: f32, translation: egui::Vec2) -> Shape {
        if Arc::get_mut(&mut self.mesh).is_none() {
            self.mesh = Arc::default();
        }
        let shown = Arc::make_mut(&mut self.mesh);
        shown.clear();
        shown.indices.extend_from_slice(&self.board.indices);
        shown.vertices.extend(self.board.vertices.iter().map(|vertex| Vertex {
            pos: pos2(vertex.pos.x * zoom + translation.x, vertex.pos.y * zoom + translation.y),
            ..*vertex
        }));
        Shape::Mesh(Arc::clone(&self.mesh))
    }
}

pub(super) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache) {
    let theme = pen.scene.theme;
    store.far.update(pen.index, pen.scene);
    pen.painter.add(store.far.shape_at(pen.zoom(), pen.camera.translation()));
    let selected = pen.scene.selection.iter().filter_map(|element| match element {
        ElementId::Node(id) => pen.index.slot(*id),
        _ => None,
    });
    for slot in selected.take(MAX_OUTLINED_NODES) {
        let rect = pen.camera.rect_to_screen(slot.area);
        let rect = Rect::from_center_size(rect.center(), rect.size().max(vec2(4.0, 4.0)));
        if rect.intersects(pen.camera.view()) {
            pen.painter.rect_stroke(
                rect.expand(1.0),
                1.0,
                Stroke::new(1.5, theme.accent),
                StrokeKind::Middle,
            );
        }
    }
    let landmarks = std::mem::take(&mut store.far.landmarks);
    for slot in landmarks.iter().filter_map(|id| pen.index.slot(*id)) {
        if pen.camera.rect_to_screen(slot.area).intersects(pen.camera.view()) {
            blocks::landmark(pen, store, slot);
        }
    }
    store.far.landmarks = landmarks;
}
