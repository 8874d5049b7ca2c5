//! The interface boards as a v0 project graph: pages are routes, and the nodes on them are uses of component types.
//! Instances belong to previews.

use authority::Snapshot;
use serde_json::{Value, json};
use shared_protocol::{
    BoardKind, Node, NodeId, TypeId,
    v0::{ComponentTypeId, GraphEdge, GraphNode, GraphSnapshot, RouteId, SchemaVersion},
};
use std::collections::BTreeSet;

const ROUTE: &str = "ui.route";

pub(super) fn graph(snapshot: &Snapshot) -> Value {
    let mut routes = Vec::new();
    let (mut used, mut edges) = (BTreeSet::new(), BTreeSet::new());
    for board in snapshot.boards().filter(|board| board.kind == BoardKind::Interface) {
        for node in snapshot.nodes_on(board.id) {
            if is_route(node) {
                routes.push(route(snapshot, node));
                continue;
            }
            used.insert(node.type_id.clone());
            edges.extend(use_of(snapshot, node));
        }
    }
    let types = used.iter().map(|id| GraphNode::ComponentType {
        id: component(id),
        display_name: snapshot.registry().get(id).map_or_else(|| id.to_string(), |def| def.title.clone()),
        source: None,
    });
    let graph = GraphSnapshot {
        schema_version: SchemaVersion::V0,
        revision: snapshot.revision().0,
        nodes: routes.into_iter().chain(types).collect(),
        edges: edges.into_iter().collect(),
    };
    crate::shown::shown_json(json!(graph))
}

fn is_route(node: &Node) -> bool {
    node.type_id.as_str() == ROUTE
}

fn component(id: &TypeId) -> ComponentTypeId {
    ComponentTypeId::new(id.as_str())
}

fn route_id(node: NodeId) -> RouteId {
    RouteId::new(format!("routeId:{node}"))
}

fn route(snapshot: &Snapshot, node: &Node) -> GraphNode {
    let path = "path".parse().ok().and_then(|key| snapshot.effective_prop(node, &key).cloned());
    let path = path.as_ref().and_then(|path| path.as_text()).unwrap_or("/").to_owned();
    GraphNode::Route { id: route_id(node.id), path, source: None }
}

/// Returns the uses of a node's type: by its parent, and by the page around it.
fn use_of(snapshot: &Snapshot, node: &Node) -> Vec<GraphEdge> {
    let to = component(&node.type_id);
    let mut uses = Vec::new();
    if let Some(parent) = node.parent.and_then(|id| snapshot.node(id)).filter(|parent| !is_route(parent)) {
        uses.push(GraphEdge::ComponentTypeUsesComponentType {
            from: component(&parent.type_id),
            to: to.clone(),
        });
    }
    if let Some(page) = snapshot.ancestors(node.parent).find(|ancestor| is_route(ancestor)) {
        uses.push(GraphEdge::RouteUsesComponentType { route_id: route_id(page.id), component_type_id: to });
    }
    uses
}
