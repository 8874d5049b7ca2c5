//! Drawing a board, back to front: background, containers from the outside in, edges, cards and notes, then the overlay
//! of a gesture. One file per kind of element; the zoom determines the level of detail.

mod background;
mod blocks;
mod container;
pub(crate) mod deploy_signs;
pub(crate) mod edge;
mod far;
pub(crate) mod minimap;
mod node;
pub(crate) mod node_layout;
pub(crate) mod note;
pub(crate) mod overlay;
pub(crate) mod proposal;
pub(crate) mod rounded_frame;

use crate::{
    BoardScene, Camera, CanvasProposal,
    batch::ShapeBatch,
    deploy_status::BoardDeployStatus,
    hit::CanvasHit,
    icons::IconCache,
    index::{BoardIndex, DrawnNodeKind},
    lod::DetailLevel,
    text::TextCache,
};
use egui::{Painter, Pos2, Rect};
use shared_protocol::{EdgeId, NodeId, registry::TypeDef};

/// Caches and buffers that are reused, so that a frame hardly allocates.
#[derive(Default)]
pub(crate) struct DrawCache {
    pub(crate) texts: TextCache,
    icons: IconCache,
    nodes: Vec<u32>,
    edges: Vec<u32>,
    near: Vec<u32>,
    points: Vec<Pos2>,
    screen_points: Vec<Pos2>,
    blocks: ShapeBatch,
    lines: ShapeBatch,
    far: far::ZoomedOutMesh,
    pub(crate) minimap: minimap::Minimap,
    /// Whether the last frame drew an animated sign.
    pub(crate) is_turning: bool,
    pub(crate) proposed: proposal::ProposalDrawCache,
}

impl DrawCache {
    /// The nodes that the last frame drew one by one.
    pub(crate) fn drawn_nodes(&self) -> &[u32] {
        &self.nodes
    }

    pub(crate) fn drawn_edges(&self) -> &[u32] {
        &self.edges
    }
}

/// Highlights of elements: hover, drop targets, status.
#[derive(Default)]
pub(crate) struct ElementHighlights<'a> {
    pub(crate) hovered: Option<CanvasHit>,
    /// The container under the dragged nodes, and whether it accepts them.
    pub(crate) drop: Option<(NodeId, bool)>,
    /// The edge that the dragged node would be inserted into.
    pub(crate) into_edge: Option<EdgeId>,
    /// Whether a node may be the other end of the active connection; `None` for the node that it starts from.
    pub(crate) takes_connection: Option<&'a dyn Fn(NodeId) -> Option<bool>>,
    /// The node whose label is being edited, and therefore not drawn.
    pub(crate) renamed: Option<NodeId>,
    /// The deployment status of the nodes, if there is any.
    pub(crate) standings: Option<&'a BoardDeployStatus>,
    pub(crate) shown_page: Option<NodeId>,
    pub(crate) turn: f32,
}

pub(crate) struct BoardPainter<'a> {
    pub(crate) painter: &'a Painter,
    /// The painter for elements that are dimmed.
    pub(crate) faint: Painter,
    pub(crate) camera: Camera,
    pub(crate) scene: &'a BoardScene<'a>,
    pub(crate) index: &'a BoardIndex,
    pub(crate) marks: &'a ElementHighlights<'a>,
    pub(crate) detail: DetailLevel,
    /// Whether there is no later frame, so that everything must be drawn now.
    is_patient: bool,
}

impl<'a> BoardPainter<'a> {
    pub(crate) fn new(
        painter: &'a Painter,
        camera: Camera,
        scene: &'a BoardScene<'a>,
        index: &'a BoardIndex,
        marks: &'a ElementHighlights<'a>,
    ) -> Self {
        let mut faint = painter.clone();
        faint.multiply_opacity(0.32);
        Self {
            painter,
            faint,
            camera,
            scene,
            index,
            marks,
            detail: DetailLevel::for_zoom(camera.zoom()),
            is_patient: false,
        }
    }

    fn zoom(&self) -> f32 {
        self.camera.zoom()
    }

    /// Converts a board rectangle to the screen.
    fn place(&self, rect: Rect) -> Rect {
        Rect::from_min_max(self.camera.to_screen(rect.min), self.camera.to_screen(rect.max))
    }

    fn def_of(&self, id: NodeId) -> Option<&'a TypeDef> {
        let snapshot = self.scene.snapshot;
        snapshot.node(id).and_then(|node| snapshot.type_of(node))
    }

    fn is_hovered(&self, id: NodeId) -> bool {
        self.marks.hovered.as_ref().and_then(CanvasHit::node) == Some(id)
    }

    fn is_faint(&self, id: NodeId) -> bool {
        self.marks.takes_connection.is_some_and(|takes| takes(id) == Some(false))
    }
}

pub(crate) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache) {
    background::draw(pen, &mut store.blocks);
    store.nodes.clear();
    store.edges.clear();
    store.is_turning = false;
    store.texts.begin_frame(pen.painter, pen.zoom(), pen.is_patient);
    if pen.detail == DetailLevel::Far {
        far::draw(pen, store);
        return;
    }
    // A margin around the view, because shadows, ports and badges extend beyond a node.
    let area = pen.camera.visible_area().expand((12.0 / pen.zoom()) as i32 + 1);
    let (mut nodes, mut edges) = (std::mem::take(&mut store.nodes), std::mem::take(&mut store.edges));
    pen.index.nodes_in(area, &mut nodes);
    pen.index.edges_in(area, &mut edges);
    if pen.detail == DetailLevel::Blocks {
        blocks::draw(pen, store, &nodes, &edges);
    } else {
        let first_card =
            nodes.partition_point(|&place| pen.index.node(place).kind == DrawnNodeKind::Container);
        for &place in &nodes[..first_card] {
            container::draw(pen, store, pen.index.node(place));
        }
        edge::draw_all(pen, store, &edges);
        for &place in &nodes[first_card..] {
            let slot = pen.index.node(place);
            match slot.kind {
                DrawnNodeKind::Note => note::draw(pen, store, slot),
                _ => node::draw(pen, store, slot),
            }
        }
        // Last, so that a container's own ports are not under its content.
        for &place in &nodes[..first_card] {
            node::draw_ports(pen, pen.index.node(place));
        }
        edge::draw_labels(pen, store, &edges);
    }
    (store.nodes, store.edges) = (nodes, edges);
}

/// Draws a board without a window or interaction, for export as a picture.
pub fn draw_board(
    painter: &Painter,
    scene: &BoardScene<'_>,
    camera: Camera,
    proposal: Option<&CanvasProposal>,
) {
    let index = BoardIndex::build(scene.snapshot, scene.board);
    let marks = ElementHighlights::default();
    let painter = painter.with_clip_rect(painter.clip_rect().intersect(camera.view()));
    let pen = BoardPainter { is_patient: true, ..BoardPainter::new(&painter, camera, scene, &index, &marks) };
    let mut store = DrawCache::default();
    draw(&pen, &mut store);
    if let Some(proposal) = proposal {
        proposal::draw(&pen, &mut store, proposal);
    }
}
