//! Copy and paste as text, so that it works between windows and can be read in an editor.

use authority::Snapshot;
use shared_protocol::{Document, Fragment, Node, NodeId};
use std::collections::BTreeSet;

/// The selected nodes with all they contain, the edges between them, and where they stand. Nodes that stand in others
/// of the selection come along anyway; the outermost ones stand on no container.
pub(crate) fn fragment(snapshot: &Snapshot, nodes: &[NodeId]) -> Option<Fragment> {
    let ids: BTreeSet<NodeId> = nodes.iter().flat_map(|&id| snapshot.subtree(id)).collect();
    let mut document = Document { revision: snapshot.revision(), ..Document::default() };
    for &id in &ids {
        let Some(node) = snapshot.node(id) else { continue };
        let outermost = node.parent.is_none_or(|parent| !ids.contains(&parent));
        let place = if outermost { snapshot.absolute(id) } else { snapshot.placement(id) };
        document.layout.extend(place.map(|place| (id, place)));
        document.nodes.push(Node { parent: node.parent.filter(|_| !outermost), ..node.clone() });
    }
    let inside = |id: &NodeId| ids.contains(id);
    let mut edges: Vec<_> = ids
        .iter()
        .flat_map(|&id| snapshot.edges_of(id))
        .filter(|edge| inside(&edge.source.node) && inside(&edge.target.node))
        .cloned()
        .collect();
    edges.sort_by_key(|edge| edge.id);
    edges.dedup_by_key(|edge| edge.id);
    document.edges = edges;
    (!document.nodes.is_empty()).then_some(Fragment(document))
}

pub(crate) fn to_text(fragment: &Fragment) -> Option<String> {
    serde_json::to_string_pretty(fragment).ok()
}

/// What the clipboard holds, if it was copied from a board.
pub(crate) fn from_text(text: &str) -> Option<Fragment> {
    serde_json::from_str::<Fragment>(text).ok().filter(|fragment| !fragment.0.nodes.is_empty())
}
