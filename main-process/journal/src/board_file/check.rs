//! Whether a board is whole in itself: nothing in the file points at what is not in the file.

use shared_protocol::{Document, ElementId, Node, NodeId, limits::MAX_NESTING};
use std::collections::BTreeMap;

/// The first element that points nowhere, and what about it is wrong. Nodes of the document are sorted by id.
pub(super) fn check_whole(document: &Document) -> Result<(), (ElementId, String)> {
    let nodes: BTreeMap<NodeId, &Node> = document.nodes.iter().map(|node| (node.id, node)).collect();
    let exists = |id: &NodeId| nodes.contains_key(id);
    for node in &document.nodes {
        let wrong = |problem: String| Err((ElementId::Node(node.id), problem));
        if let Some(parent) = node.parent.filter(|parent| !exists(parent)) {
            return wrong(format!("its parent {parent} is not in this file"));
        }
        if let Some(target) = node.references.values().flatten().find(|target| !exists(target)) {
            return wrong(format!("it refers to {target}, which is not in this file"));
        }
        let containers = std::iter::successors(node.parent, |id| nodes.get(id).and_then(|node| node.parent));
        if containers.take(MAX_NESTING).count() == MAX_NESTING {
            return wrong(format!("it stands inside itself, or {MAX_NESTING} containers deep or more"));
        }
    }
    for edge in &document.edges {
        if let Some(end) = [&edge.source, &edge.target].into_iter().find(|end| !exists(&end.node)) {
            let problem = format!("it ends at {}, which is not in this file", end.node);
            return Err((ElementId::Edge(edge.id), problem));
        }
    }
    match document.layout.iter().find(|(id, _)| !exists(id)) {
        Some((id, _)) => Err((ElementId::Node(*id), "it has a place but is not among the nodes".to_owned())),
        None => Ok(()),
    }
}
