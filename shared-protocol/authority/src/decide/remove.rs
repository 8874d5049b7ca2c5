//! Removing nodes with their content, and with it the edges and references that would dangle.

use super::{CommandDraft, connect::disconnect};
use shared_protocol::{Change, EdgeId, NodeId, NodeRef, Refusal, text::count_noun};
use std::collections::BTreeSet;

pub(super) fn remove(
    draft: &mut CommandDraft,
    nodes: &[NodeRef],
    edges: &[EdgeId],
) -> Result<String, Refusal> {
    let chosen = draft.resolve_nodes(nodes)?;
    for edge in edges {
        super::connect::edge(draft, *edge)?;
    }
    let summary = match (&chosen[..], edges) {
        ([node], []) => format!("Remove {}", draft.node(*node)?.name),
        ([], edges) => format!("Remove {}", count_noun(edges.len(), "edge")),
        (nodes, []) => format!("Remove {}", count_noun(nodes.len(), "node")),
        (nodes, edges) => {
            format!("Remove {} and {}", count_noun(nodes.len(), "node"), count_noun(edges.len(), "edge"))
        }
    };
    let going: Vec<NodeId> =
        draft.outermost(&chosen).iter().flat_map(|root| draft.state.subtree(*root)).collect();
    let mut losing: BTreeSet<EdgeId> = edges.iter().copied().collect();
    losing.extend(going.iter().flat_map(|node| draft.state.edges_of(*node)).map(|edge| edge.id));
    for edge in losing {
        disconnect(draft, edge)?;
    }
    drop_references_to(draft, &going)?;
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

/// Drops every reference to the removed nodes.
fn drop_references_to(draft: &mut CommandDraft, going: &[NodeId]) -> Result<(), Refusal> {
    let gone: BTreeSet<NodeId> = going.iter().copied().collect();
    let referrers: BTreeSet<NodeId> = going.iter().flat_map(|node| draft.state.referrers(*node)).collect();
    for referrer in referrers {
        for (key, targets) in draft.node(referrer)?.references.clone() {
            let kept = targets.into_iter().filter(|target| !gone.contains(target)).collect();
            draft.set_references(referrer, &key, kept)?;
        }
    }
    Ok(())
}
