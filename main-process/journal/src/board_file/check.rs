//! Checks that a board file is self-contained: every id that it refers to is in the file.

use shared_protocol::{ElementId, GraphDocument, Node, NodeId, limits::MAX_CONTAINER_DEPTH};
use std::collections::BTreeMap;

/// Returns the first element with a dangling reference, and the problem. Expects nodes sorted by id.
pub(super) fn check_whole(document: &GraphDocument) -> Result<(), (ElementId, String)> {
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
        if containers.take(MAX_CONTAINER_DEPTH).count() == MAX_CONTAINER_DEPTH {
            return wrong(format!("it is nested in itself, or in {MAX_CONTAINER_DEPTH} or more containers"));
        }
    }
    for edge in &document.edges {
        if let Some(end) = [&edge.source, &edge.target].into_iter().find(|end| !exists(&end.node)) {
            let problem = format!("it ends at {}, which is not in this file", end.node);
            return Err((ElementId::Edge(edge.id), problem));
        }
    }
    match document.layout.iter().find(|(id, _)| !exists(id)) {
        Some((id, _)) => {
            Err((ElementId::Node(*id), "it has a `layout` entry but is not in `nodes`".to_owned()))
        }
        None => Ok(()),
    }
}
