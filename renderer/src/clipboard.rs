//! Copies and pastes nodes as JSON text, which works between windows and is readable in an editor.

use authority::Snapshot;
use shared_protocol::{GraphDocument, GraphFragment, Node, NodeId};
use std::collections::BTreeSet;

/// Returns the selected nodes with their descendants, the edges between them and their positions. The outermost nodes
/// have no parent in the fragment.
pub(crate) fn fragment(snapshot: &Snapshot, nodes: &[NodeId]) -> Option<GraphFragment> {
    let ids: BTreeSet<NodeId> = nodes.iter().flat_map(|&id| snapshot.subtree(id)).collect();
    let mut document = GraphDocument { revision: snapshot.revision(), ..GraphDocument::default() };
    for &id in &ids {
        let Some(node) = snapshot.node(id) else { continue };
        let outermost = node.parent.is_none_or(|parent| !ids.contains(&parent));
        let place = if outermost { snapshot.absolute_placement(id) } else { snapshot.placement(id) };
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
    (!document.nodes.is_empty()).then_some(GraphFragment(document))
}

pub(crate) fn to_text(fragment: &GraphFragment) -> Option<String> {
    serde_json::to_string_pretty(fragment).ok()
}

/// Parses clipboard text. Returns `None` when the text was not copied from a board.
pub(crate) fn from_text(text: &str) -> Option<GraphFragment> {
    serde_json::from_str::<GraphFragment>(text).ok().filter(|fragment| !fragment.0.nodes.is_empty())
}
