//! The interface boards as a v0 project graph: pages are routes, and the nodes on them are uses of component types.
//! Instances belong to previews.

use authority::Snapshot;
use serde::Serialize;
use serde_json::{Value, json};
use shared_protocol::{BoardKind, Node, NodeId, TypeId};
use std::collections::BTreeSet;

const ROUTE: &str = "ui.route";

/// An edge of the graph; the order is the one of the answer.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum GraphEdge {
    RouteUsesComponentType { route_id: String, component_type_id: TypeId },
    ComponentTypeUsesComponentType { from: TypeId, to: TypeId },
}

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
            edges.extend(component_uses(snapshot, node));
        }
    }
    let types = used.iter().map(|id| {
        let title = snapshot.registry().get(id).map_or_else(|| id.to_string(), |def| def.title.clone());
        json!({ "kind": "componentType", "id": id, "displayName": title })
    });
    let nodes: Vec<Value> = routes.into_iter().chain(types).collect();
    let revision = snapshot.revision().0;
    let graph = json!({ "schemaVersion": "v0", "revision": revision, "nodes": nodes, "edges": edges });
    crate::escape::escape_hidden_json(graph)
}

fn is_route(node: &Node) -> bool {
    node.type_id.as_str() == ROUTE
}

fn route_id(node: NodeId) -> String {
    format!("routeId:{node}")
}

fn route(snapshot: &Snapshot, node: &Node) -> Value {
    let path = "path".parse().ok().and_then(|key| snapshot.effective_prop(node, &key).cloned());
    let path = path.as_ref().and_then(|path| path.as_text()).unwrap_or("/");
    json!({ "kind": "route", "id": route_id(node.id), "path": path })
}

/// Returns the uses of a node's type: by its parent, and by the page around it.
fn component_uses(snapshot: &Snapshot, node: &Node) -> Vec<GraphEdge> {
    let to = node.type_id.clone();
    let mut uses = Vec::new();
    if let Some(parent) = node.parent.and_then(|id| snapshot.node(id)).filter(|parent| !is_route(parent)) {
        uses.push(GraphEdge::ComponentTypeUsesComponentType { from: parent.type_id.clone(), to: to.clone() });
    }
    if let Some(page) = snapshot.ancestors(node.parent).find(|ancestor| is_route(ancestor)) {
        uses.push(GraphEdge::RouteUsesComponentType { route_id: route_id(page.id), component_type_id: to });
    }
    uses
}
