//! Removing: nodes with all they contain, edges that lose an end, references that lose their target.

use super::{Draft, connect::disconnect, draft::counted};
use shared_protocol::{Change, EdgeId, NodeId, NodeRef, Refusal};
use std::collections::BTreeSet;

pub(super) fn remove(draft: &mut Draft, nodes: &[NodeRef], edges: &[EdgeId]) -> Result<String, Refusal> {
    let chosen = draft.find_all(nodes)?;
    for edge in edges {
        super::connect::edge(draft, *edge)?;
    }
    let summary = match (&chosen[..], edges) {
        ([node], []) => format!("Remove {}", draft.node(*node)?.name),
        ([], edges) => format!("Remove {}", counted(edges.len(), "edge")),
        (nodes, []) => format!("Remove {}", counted(nodes.len(), "node")),
        (nodes, edges) => {
            format!("Remove {} and {}", counted(nodes.len(), "node"), counted(edges.len(), "edge"))
        }
    };
    let going: Vec<NodeId> =
        draft.outermost(&chosen).iter().flat_map(|root| draft.state.subtree(*root)).collect();
    let mut losing: BTreeSet<EdgeId> = edges.iter().copied().collect();
    losing.extend(going.iter().flat_map(|node| draft.state.edges_of(*node)).map(|edge| edge.id));
    for edge in losing {
        disconnect(draft, edge)?;
    }
    for node in &going {
        forget(draft, *node)?;
    }
    for node in going.iter().rev() {
        let before = draft.state.placement(*node);
        if before.is_some() {
            draft.push(Change::Placement { node: *node, before, after: None })?;
        }
        let before = draft.state.nodes.get(node).cloned();
        draft.push(Change::Node { id: *node, before, after: None })?;
    }
    Ok(summary)
}

/// Drops every reference to a node.
fn forget(draft: &mut Draft, gone: NodeId) -> Result<(), Refusal> {
    let referrers: Vec<NodeId> = draft.state.referrers(gone).collect();
    for referrer in referrers {
        let references = draft.node(referrer)?.references.clone();
        for (key, targets) in references.into_iter().filter(|(_, targets)| targets.contains(&gone)) {
            draft.set_references(
                referrer,
                &key,
                targets.into_iter().filter(|target| *target != gone).collect(),
            )?;
        }
    }
    Ok(())
}
