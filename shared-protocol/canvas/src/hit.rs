//! Hit testing. It uses the index and sizes of the drawing, so that clicks match the picture.

use crate::{
    BoardScene, Camera,
    camera::{enclosing_placement, rect_of},
    draw::node_layout,
    index::{BoardIndex, DrawnNodeKind, IndexedNode, ports},
    lod::DetailLevel,
    theme::size,
};
use egui::{Pos2, Rect, vec2};
use shared_protocol::{BoardPoint, EdgeId, ElementId, NodeId, PortId, registry::PortDirection};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CanvasHit {
    Port { node: NodeId, port: PortId, direction: PortDirection },
    Node { id: NodeId, part: HitNodePart },
    Edge(EdgeId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitNodePart {
    Body,
    /// The label, which a double click edits.
    Label,
    /// The inside of a container: a click selects it, but a drag draws a marquee.
    Inside,
}

impl CanvasHit {
    pub(crate) fn node(&self) -> Option<NodeId> {
        match self {
            Self::Port { node, .. } => Some(*node),
            Self::Node { id, .. } => Some(*id),
            Self::Edge(_) => None,
        }
    }

    pub(crate) fn element(&self) -> ElementId {
        match self {
            Self::Port { node, .. } => ElementId::Node(*node),
            Self::Node { id, .. } => ElementId::Node(*id),
            Self::Edge(id) => ElementId::Edge(*id),
        }
    }
}

/// Returns the topmost element at a screen point: ports, then cards and notes, then edges, then containers.
pub(crate) fn hit_test(
    scene: &BoardScene<'_>,
    index: &BoardIndex,
    camera: &Camera,
    at: Pos2,
) -> Option<CanvasHit> {
    topmost(scene, index, camera.to_board(at), camera.zoom(), true)
}

/// Returns the topmost node or port at a board point; edges are ignored.
pub(crate) fn node_at(
    scene: &BoardScene<'_>,
    index: &BoardIndex,
    board: Pos2,
    zoom: f32,
) -> Option<CanvasHit> {
    topmost(scene, index, board, zoom, false)
}

fn topmost(
    scene: &BoardScene<'_>,
    index: &BoardIndex,
    board: Pos2,
    zoom: f32,
    edges: bool,
) -> Option<CanvasHit> {
    let reach = size::PORT_REACH / zoom;
    let near = enclosing_placement(Rect::from_center_size(board, vec2(reach, reach) * 2.0));
    let mut found = Vec::new();
    index.nodes_in(near, &mut found);
    let topmost_first = || found.iter().rev().map(|&place| index.node(place));

    if DetailLevel::for_zoom(zoom) == DetailLevel::Full
        && let Some(port) = topmost_first().find_map(|slot| port_at(scene, slot, board, reach))
    {
        return Some(port);
    }
    let card = topmost_first()
        .find(|slot| slot.kind != DrawnNodeKind::Container && rect_of(slot.area).contains(board));
    if let Some(slot) = card {
        let label = match slot.kind {
            DrawnNodeKind::Note => true,
            _ => node_layout::card_face(slot.area).label.contains(board),
        };
        return Some(CanvasHit::Node {
            id: slot.id,
            part: if label { HitNodePart::Label } else { HitNodePart::Body },
        });
    }
    if edges && let Some(edge) = edge_at(index, board, zoom) {
        return Some(CanvasHit::Edge(edge));
    }
    let container = topmost_first()
        .find(|slot| slot.kind == DrawnNodeKind::Container && rect_of(slot.area).contains(board))?;
    Some(CanvasHit::Node { id: container.id, part: container_part(container, board, zoom) })
}

fn port_at(scene: &BoardScene<'_>, slot: &IndexedNode, board: Pos2, reach: f32) -> Option<CanvasHit> {
    let def = scene.snapshot.type_of(scene.snapshot.node(slot.id)?)?;
    // On a small card the ports must leave room to grab the card.
    let reach = reach.min(slot.area.h.min(slot.area.w) as f32 / 4.0);
    ports::ports(def, slot.area)
        .filter(|(_, at, _)| at.distance(board) <= reach)
        .min_by(|a, b| a.1.distance_sq(board).total_cmp(&b.1.distance_sq(board)))
        .map(|(port, ..)| CanvasHit::Port { node: slot.id, port: port.id.clone(), direction: port.direction })
}

fn edge_at(index: &BoardIndex, board: Pos2, zoom: f32) -> Option<EdgeId> {
    let reach = size::EDGE_REACH / zoom;
    let mut found = Vec::new();
    index.edges_in(enclosing_placement(Rect::from_center_size(board, vec2(reach, reach) * 2.0)), &mut found);
    found
        .iter()
        .map(|&place| index.edge(place))
        .map(|slot| (slot.route.distance_to(board), slot.id))
        .filter(|(distance, _)| *distance <= reach)
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .map(|(_, id)| id)
}

fn container_part(slot: &IndexedNode, board: Pos2, zoom: f32) -> HitNodePart {
    let border = (4.0 / zoom).min(slot.area.w.min(slot.area.h) as f32 / 4.0);
    if node_layout::header(slot.area).text.contains(board) {
        HitNodePart::Label
    } else if node_layout::header_strip(slot.area).contains(board)
        || !rect_of(slot.area).shrink(border).contains(board)
    {
        HitNodePart::Body
    } else {
        HitNodePart::Inside
    }
}

pub(crate) fn container_at(index: &BoardIndex, at: BoardPoint) -> Option<NodeId> {
    index.container_at(egui::pos2(at.x as f32, at.y as f32), |_| false)
}
