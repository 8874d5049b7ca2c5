//! Adding, labelling and removing edges.

use super::{CommandDraft, draft::check_label, references};
use crate::rules;
use shared_protocol::{
    Change, Edge, EdgeEndpointRef, EdgeId, ElementId, NodeId, PortId, PropKey, Refusal, RefusalCode,
    limits::MAX_REFERENCE_TARGETS,
};
use std::sync::Arc;

pub(super) fn connect(
    draft: &mut CommandDraft,
    source: &EdgeEndpointRef,
    target: &EdgeEndpointRef,
    label: &str,
) -> Result<String, Refusal> {
    let from = draft.resolve_node(&source.node)?;
    let to = draft.resolve_node(&target.node)?;
    let port = |end: &EdgeEndpointRef| end.port.as_ref().map(PortId::to_string);
    let found =
        rules::connection(&draft.state, (from, port(source).as_deref()), (to, port(target).as_deref()))?;
    let id = draft.new_edge_id();
    let edge = Edge {
        id,
        board: draft.node(from)?.board,
        source: found.source,
        target: found.target,
        label: check_label("label", label)?.to_owned(),
    };
    let stands_for = references::reference_of_edge(draft, &edge);
    draft.push(Change::Edge { id, before: None, after: Some(Arc::new(edge)) })?;
    if let Some((holder, key, other)) = stands_for {
        add_reference(draft, holder, &key, other)?;
    }
    draft.created.push(ElementId::Edge(id));
    Ok(format!("Connect {} to {}", draft.node(from)?.name, draft.node(to)?.name))
}

fn add_reference(
    draft: &mut CommandDraft,
    holder: NodeId,
    key: &PropKey,
    target: NodeId,
) -> Result<(), Refusal> {
    let node = draft.node(holder)?.clone();
    let def = draft.type_of(&node)?;
    let mut targets = node.references.get(key).cloned().unwrap_or_default();
    if targets.contains(&target) {
        return Ok(());
    }
    let many = def.prop(key.as_str()).is_some_and(|prop| prop.many);
    if !many && !targets.is_empty() {
        let message = format!("{} of {} already references another node", key, node.label);
        return Err(Refusal::new(RefusalCode::ConnectionError, message)
            .field(key)
            .hint("Remove that connection or clear the property first."));
    }
    if targets.len() >= MAX_REFERENCE_TARGETS {
        let message =
            format!("{key} of {} already has the maximum of {MAX_REFERENCE_TARGETS} targets", node.label);
        return Err(Refusal::new(RefusalCode::LimitExceeded, message).field(key));
    }
    targets.push(target);
    draft.set_references(holder, key, targets)
}

pub(super) fn relabel(draft: &mut CommandDraft, id: EdgeId, label: &str) -> Result<String, Refusal> {
    let before = edge(draft, id)?;
    let after = Edge { label: check_label("label", label)?.to_owned(), ..before.clone() };
    if after != before {
        draft.push(Change::Edge { id, before: Some(Arc::new(before)), after: Some(Arc::new(after)) })?;
    }
    Ok(format!("Label an edge {label:?}"))
}

pub(super) fn edge(draft: &CommandDraft, id: EdgeId) -> Result<Edge, Refusal> {
    draft
        .state
        .edge(id)
        .cloned()
        .ok_or_else(|| Refusal::new(RefusalCode::NotFound, format!("there is no edge `{id}`")).field("edge"))
}

/// Removes an edge, and the reference that it represents unless another edge represents it too.
pub(super) fn disconnect(draft: &mut CommandDraft, id: EdgeId) -> Result<(), Refusal> {
    let before = edge(draft, id)?;
    let stands_for = references::reference_of_edge(draft, &before);
    draft.push(Change::Edge { id, before: Some(Arc::new(before)), after: None })?;
    if let Some((holder, key, other)) = stands_for
        && references::edges_of_reference(draft, holder, &key, other).is_empty()
    {
        let targets = draft.node(holder)?.references.get(&key).cloned().unwrap_or_default();
        draft.set_references(
            holder,
            &key,
            targets.into_iter().filter(|target| *target != other).collect(),
        )?;
    }
    Ok(())
}
