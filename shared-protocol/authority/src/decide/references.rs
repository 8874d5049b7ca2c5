//! References: properties that point at other nodes. An edge may represent a reference; both are removed together.

use super::CommandDraft;
use crate::rules;
use shared_protocol::{
    Change, Edge, EdgeId, NodeId, NodeRef, PropKey, Refusal, RefusalCode, TypeDef,
    limits::MAX_REFERENCE_TARGETS,
    registry::{ConnectionEnd, ConnectionReference, PropKind},
};
use std::sync::Arc;

/// Replaces the targets of a reference and checks every rule except visibility, which depends on all other changes of
/// the same command: see `check_applies`.
pub(super) fn set(
    draft: &mut CommandDraft,
    id: NodeId,
    def: &TypeDef,
    key: &PropKey,
    targets: &[NodeRef],
) -> Result<(), Refusal> {
    let refuse = |message: String| Refusal::new(RefusalCode::ReferenceError, message).field(key);
    let prop = rules::require_editable(def, key)?;
    if prop.kind != PropKind::Reference {
        return Err(refuse(format!("{} of {} is not a reference", prop.label, def.title)));
    }
    if !prop.many && targets.len() > 1 {
        return Err(refuse(format!("{} of {} accepts only one target", prop.label, def.title)));
    }
    if targets.len() > MAX_REFERENCE_TARGETS {
        return Err(refuse(format!(
            "{} of {} accepts at most {MAX_REFERENCE_TARGETS} targets",
            prop.label, def.title
        )));
    }
    let mut found = Vec::with_capacity(targets.len());
    for target in targets {
        let target = draft.resolve_node(target)?;
        check_target(draft, id, def, key, target)?;
        if !found.contains(&target) {
            found.push(target);
        }
    }
    let dropped = draft.node(id)?.references.get(key).cloned().unwrap_or_default();
    for target in dropped.into_iter().filter(|target| !found.contains(target)) {
        for edge in edges_of_reference(draft, id, key, target) {
            let before = draft.state.edge(edge).cloned().map(Arc::new);
            draft.push(Change::Edge { id: edge, before, after: None })?;
        }
    }
    draft.set_references(id, key, found)
}

fn check_target(
    draft: &CommandDraft,
    id: NodeId,
    def: &TypeDef,
    key: &PropKey,
    target: NodeId,
) -> Result<(), Refusal> {
    let refuse = |message: String| Refusal::new(RefusalCode::ReferenceError, message).field(key);
    let Some(prop) = def.prop(key.as_str()) else { return Ok(()) };
    let (own, other) = (draft.node(id)?, draft.node(target)?);
    if id == target {
        return Err(refuse(format!("{} of {} cannot reference itself", prop.label, def.title)));
    }
    if own.board != other.board {
        return Err(refuse(format!("{} is on another board", other.label)));
    }
    if !prop.targets.iter().any(|pattern| pattern.matches(&other.type_id)) {
        let wanted: Vec<&str> = prop.targets.iter().map(|pattern| pattern.as_str()).collect();
        let message = format!("{} of {} cannot reference {}", prop.label, def.title, other.label);
        return Err(refuse(message).hint(format!("Allowed targets: {}.", wanted.join(" or "))));
    }
    Ok(())
}

/// Sets the reference that the type declares for its container, or clears it outside a container.
pub(super) fn sync_parent_reference(
    draft: &mut CommandDraft,
    id: NodeId,
    def: &TypeDef,
) -> Result<(), Refusal> {
    let Some(key) = &def.parent_reference else { return Ok(()) };
    let parent = draft.node(id)?.parent;
    let targets: Vec<NodeId> =
        parent.into_iter().filter(|parent| check_target(draft, id, def, key, *parent).is_ok()).collect();
    draft.set_references(id, key, targets)
}

/// Returns the reference that an edge represents: holder, key and target.
pub(super) fn reference_of_edge(draft: &CommandDraft, edge: &Edge) -> Option<(NodeId, PropKey, NodeId)> {
    let rule = rules::rule_for(&draft.state, &edge.source, &edge.target)?;
    let ConnectionReference { on, prop } = rule.sets.as_ref()?;
    let (holder, target) = match on {
        ConnectionEnd::Source => (edge.source.node, edge.target.node),
        ConnectionEnd::Target => (edge.target.node, edge.source.node),
    };
    Some((holder, prop.clone(), target))
}

/// Returns the edges that represent this reference.
pub(super) fn edges_of_reference(
    draft: &CommandDraft,
    id: NodeId,
    key: &PropKey,
    target: NodeId,
) -> Vec<EdgeId> {
    let stands_for = Some((id, key.clone(), target));
    let edges = draft.state.edges_of(id).filter(|edge| reference_of_edge(draft, edge) == stands_for);
    edges.map(|edge| edge.id).collect()
}
