//! The accessibility tree of a board, for assistive technology and tests: visible nodes, ports and edges by name. These
//! widgets only describe; pointer input goes to the board below and its hit test.

use crate::{
    BoardScene, Camera, CanvasEvent,
    deploy_status::BoardDeployStatus,
    draw::node_layout,
    index::{BoardIndex, DrawnNodeKind, IndexedNode, ports},
    lod::DetailLevel,
    proposed_board::CanvasProposal,
    theme::size,
};
use egui::{Rect, Role, Sense, Ui, Vec2, WidgetInfo, accesskit::Action};
use shared_protocol::{
    EdgeEndpoint, EdgeId, ElementId, Node,
    registry::{PortDef, PortDirection},
};
use std::collections::BTreeSet;

/// Below this zoom labels are unreadable, and nodes are not listed.
const MIN_DESCRIBED_ZOOM: f32 = 0.4;

/// The maximum numbers of listed ports and edges; more would be of no use to a reader.
const MAX_DESCRIBED_PORTS: usize = 240;
const MAX_DESCRIBED_EDGES: usize = 160;

/// Describes the visible elements; a click requested by assistive technology selects the element.
pub(crate) fn describe(
    ui: &Ui,
    scene: &BoardScene<'_>,
    index: &BoardIndex,
    camera: &Camera,
    (drawn, drawn_edges): (&[u32], &[u32]),
    hovered_edge: Option<EdgeId>,
    standings: Option<&BoardDeployStatus>,
) -> Option<CanvasEvent> {
    // Skipped when no assistive technology is active.
    let is_read = ui.ctx().accesskit_node_builder(egui::accesskit_root_id(), |_| ()).is_some();
    if camera.zoom() < MIN_DESCRIBED_ZOOM || !is_read {
        return None;
    }
    let mut wanted = None;
    for slot in drawn.iter().map(|&place| index.node(place)) {
        let Some(rect) = visible_rect(slot, camera) else { continue };
        let element = ElementId::Node(slot.id);
        let selected = scene.selection.contains(&element);
        if describe_element(ui, rect, element, selected, || node_name(scene, slot, standings)) {
            wanted = Some(element);
        }
    }
    let selected = scene.selection.iter().filter_map(|element| match element {
        ElementId::Edge(id) => Some(*id),
        _ => None,
    });
    let mut edges: BTreeSet<EdgeId> = selected.chain(hovered_edge).collect();
    if DetailLevel::for_zoom(camera.zoom()) == DetailLevel::Full {
        describe_ports(ui, scene, index, camera, drawn);
        edges.extend(drawn_edges.iter().take(MAX_DESCRIBED_EDGES).map(|&place| index.edge(place).id));
    }
    for slot in edges.iter().filter_map(|id| index.edge_slot(*id)) {
        let rect = camera.rect_to_screen(slot.area).intersect(camera.view());
        let element = ElementId::Edge(slot.id);
        let selected = scene.selection.contains(&element);
        if rect.is_positive() && describe_element(ui, rect, element, selected, || edge_name(scene, slot.id)) {
            wanted = Some(element);
        }
    }
    wanted.map(|element| CanvasEvent::Select([element].into()))
}

/// Describes the visible elements of a proposal; a requested click focuses the element.
pub(crate) fn describe_proposal(ui: &Ui, proposal: &CanvasProposal, camera: &Camera) -> Option<CanvasEvent> {
    let is_read = ui.ctx().accesskit_node_builder(egui::accesskit_root_id(), |_| ()).is_some();
    if camera.zoom() < MIN_DESCRIBED_ZOOM || !is_read {
        return None;
    }
    let (board, layer) = (&proposal.board, proposal.layer);
    let nodes = board.nodes.iter().filter(|node| layer.includes(node.sign));
    let nodes = nodes.map(|node| (&node.subject, &node.text, node.slot.area));
    let edges = board.edges.iter().filter(|edge| layer.includes(edge.sign));
    let edges = edges.map(|edge| (&edge.subject, &edge.text, edge.route.area()));
    let mut wanted = None;
    for (subject, text, area) in nodes.chain(edges) {
        let rect = camera.rect_to_screen(area).intersect(camera.view());
        if !rect.is_positive() {
            continue;
        }
        let id = ui.make_persistent_id(("proposed", subject));
        let response = ui.interact(rect, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::GraphicsObject, true, format!("Proposed, {text}")));
        ui.accesskit_node_builder(id, |node| node.add_action(Action::Click));
        if ui.input(|input| input.has_accesskit_action_request(id, Action::Click)) {
            wanted = Some(subject.clone());
        }
    }
    wanted.map(CanvasEvent::Proposed)
}

/// Returns the visible part of a node that takes clicks: of a container its title, since its middle belongs to its
/// content.
fn visible_rect(slot: &IndexedNode, camera: &Camera) -> Option<Rect> {
    let whole = camera.rect_to_screen(slot.area);
    let rect = match slot.kind {
        DrawnNodeKind::Container => {
            let strip = node_layout::header_strip(slot.area);
            Rect::from_min_max(camera.to_screen(strip.min), camera.to_screen(strip.max))
        }
        _ => whole,
    };
    let seen = rect.intersect(camera.view());
    seen.is_positive().then_some(seen)
}

fn describe_element(
    ui: &Ui,
    rect: Rect,
    element: ElementId,
    selected: bool,
    name: impl Fn() -> String,
) -> bool {
    let id = ui.make_persistent_id(element);
    let response = ui.interact(rect, id, Sense::hover());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name()));
    ui.accesskit_node_builder(id, |node| {
        node.set_selected(selected);
        node.add_action(Action::Click);
    });
    ui.input(|input| input.has_accesskit_action_request(id, Action::Click))
}

fn describe_ports(ui: &Ui, scene: &BoardScene<'_>, index: &BoardIndex, camera: &Camera, drawn: &[u32]) {
    let mut left = MAX_DESCRIBED_PORTS;
    for slot in drawn.iter().map(|&place| index.node(place)) {
        let Some(node) = scene.snapshot.node(slot.id) else { continue };
        let Some(def) = scene.snapshot.type_of(node) else { continue };
        for (port, at, _) in ports::ports(def, slot.area) {
            let rect = Rect::from_center_size(camera.to_screen(at), Vec2::splat(size::PORT_REACH));
            if left == 0 || !camera.view().intersects(rect) {
                continue;
            }
            left -= 1;
            let id = ui.make_persistent_id((slot.id, port.id.as_str()));
            ui.interact(rect.intersect(camera.view()), id, Sense::hover());
            ui.accesskit_node_builder(id, |described| {
                let state = connected(scene, node, port);
                described.set_role(Role::GraphicsSymbol);
                described.set_label(format!("{}, port {}, {state}", node.label, port.label));
                described.set_value(state);
            });
        }
    }
}

/// Describes the connections of a port: "not connected", "connected to Orders", "3 connections".
fn connected(scene: &BoardScene<'_>, node: &Node, port: &PortDef) -> String {
    let label = |id| scene.snapshot.node(id).map_or("?", |node| node.label.as_str());
    let others = scene.snapshot.edges_of(node.id).filter_map(|edge| {
        let at = |end: &EdgeEndpoint| end.node == node.id && end.port == port.id;
        match port.direction {
            PortDirection::Out => at(&edge.source).then_some(edge.target.node),
            PortDirection::In => at(&edge.target).then_some(edge.source.node),
        }
    });
    let others: Vec<_> = others.collect();
    match others[..] {
        [] => "not connected".to_owned(),
        [one] => format!("connected to {}", label(one)),
        _ => format!("{} connections", others.len()),
    }
}

/// Describes a node: "EC2 instance Web server, 2 problems, will be created".
fn node_name(scene: &BoardScene<'_>, slot: &IndexedNode, standings: Option<&BoardDeployStatus>) -> String {
    let Some(node) = scene.snapshot.node(slot.id) else { return slot.id.to_string() };
    let kind = scene.snapshot.type_of(node).map_or(node.type_id.as_str(), |def| def.kind_label(node));
    let name = if node.label == kind { node.label.clone() } else { format!("{kind} {}", node.label) };
    let name = match scene.problems.of_node(slot.id).len() {
        0 => name,
        count => format!("{name}, {}", shared_protocol::text::count_noun(count, "problem")),
    };
    match standings.and_then(|standings| standings.get(slot.id)) {
        Some(standing) => format!("{name}, {}", standing.describe()),
        None => name,
    }
}

fn edge_name(scene: &BoardScene<'_>, id: EdgeId) -> String {
    let Some(edge) = scene.snapshot.edge(id) else { return id.to_string() };
    let label = |node| scene.snapshot.node(node).map_or("?", |node| node.label.as_str());
    let name = format!("Connection from {} to {}", label(edge.source.node), label(edge.target.node));
    if edge.label.is_empty() { name } else { format!("{name}, {}", edge.label) }
}
