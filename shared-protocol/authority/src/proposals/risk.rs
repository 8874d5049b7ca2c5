//! Risk labels of a proposal, computed by the authority and never by the agent.

use crate::Snapshot;

use shared_protocol::{Change, Node, NodeId, PropKey, PropValue, ProposalSubject, TypeDef, proposal::Risk};
use std::collections::{BTreeMap, BTreeSet};

/// A change of more elements than this is wide.
const MAX_NARROW_ELEMENTS: usize = 25;
/// Address ranges that include every host.
const PUBLIC_RANGES: [&str; 2] = ["0.0.0.0/0", "::/0"];
/// Words in a type id that indicate access control.
const ACCESS_WORDS: [&str; 8] =
    ["iam", "role", "policy", "security", "secret", "key_vault", "kms", "firewall"];

/// Returns the risk labels of these changes over a state.
pub fn risks(snapshot: &Snapshot, changes: &[Change]) -> BTreeSet<Risk> {
    let added = AddedNodes::from_changes(changes);
    let mut found: BTreeSet<Risk> =
        changes.iter().flat_map(|change| risks_of(snapshot, &added, change)).collect();
    let subjects: BTreeSet<ProposalSubject> =
        changes.iter().filter(|change| !change.is_layout()).map(ProposalSubject::of_change).collect();
    if subjects.len() > MAX_NARROW_ELEMENTS || crate::boards_touched(snapshot, changes).len() > 1 {
        found.insert(Risk::Wide);
    }
    let is_cosmetic = |change: &Change| change.is_layout() || matches!(change, Change::Label { .. });
    if !changes.is_empty() && changes.iter().all(is_cosmetic) {
        found.insert(Risk::Cosmetic);
    }
    found
}

/// Returns the risk labels of one change.
pub(super) fn risks_of<'a>(
    snapshot: &'a Snapshot,
    added: &'a AddedNodes<'a>,
    change: &'a Change,
) -> impl Iterator<Item = Risk> + 'a {
    let destructive = is_destructive(snapshot, change).then_some(Risk::Destructive);
    destructive.into_iter().chain(touches_access(snapshot, added, change).then_some(Risk::Security))
}

/// The nodes that these changes add; their properties are judged by their type too.
pub(super) struct AddedNodes<'a>(BTreeMap<NodeId, &'a Node>);

impl<'a> AddedNodes<'a> {
    pub(super) fn from_changes(changes: &'a [Change]) -> Self {
        let added = changes.iter().filter_map(|change| match change {
            Change::Node { id, after: Some(node), .. } => Some((*id, &**node)),
            _ => None,
        });
        Self(added.collect())
    }
}

/// Whether a change removes an existing element; a proposal may remove its own additions.
pub(super) fn is_destructive(snapshot: &Snapshot, change: &Change) -> bool {
    match change {
        Change::Board { id, before: Some(_), after: None } => snapshot.board(*id).is_some(),
        Change::Node { id, before: Some(_), .. } => snapshot.node(*id).is_some(),
        Change::Source { path, before: Some(_), after: None } => snapshot.source(path).is_some(),
        Change::Override { key, before: Some(_), after: None } => snapshot.override_at(key).is_some(),
        Change::Edge { id, before: Some(_), after: None } => snapshot.edge(*id).is_some(),
        _ => false,
    }
}

fn touches_access(snapshot: &Snapshot, added: &AddedNodes<'_>, change: &Change) -> bool {
    let known = |id: &NodeId| snapshot.node(*id).or_else(|| added.0.get(id).copied());
    match change {
        Change::Node { before, after, .. } => before.iter().chain(after).any(|node| {
            names_access(node.type_id.as_str())
                || node.props.iter().any(|(key, value)| grants_access(snapshot.type_of(node), key, value))
        }),
        Change::Prop { node, key, after, .. } => {
            let node = known(node);
            node.is_some_and(|node| is_access_control(node) || is_secret(snapshot.type_of(node), key))
                || after.as_ref().is_some_and(|value| {
                    grants_access(node.and_then(|node| snapshot.type_of(node)), key, value)
                })
        }
        Change::Variable { node, key, .. } => {
            known(node).is_some_and(|node| is_access_control(node) || is_secret(snapshot.type_of(node), key))
        }
        Change::References { node, .. } | Change::Parent { node, .. } => {
            known(node).is_some_and(is_access_control)
        }
        _ => false,
    }
}

fn is_access_control(node: &Node) -> bool {
    names_access(node.type_id.as_str())
}

fn names_access(name: &str) -> bool {
    ACCESS_WORDS.iter().any(|word| name.contains(word))
}

fn is_secret(def: Option<&TypeDef>, key: &PropKey) -> bool {
    def.and_then(|def| def.prop(key.as_str())).is_some_and(|prop| prop.sensitive)
}

/// Whether a value grants public access or is a secret.
fn grants_access(def: Option<&TypeDef>, key: &PropKey, value: &PropValue) -> bool {
    let is_public = key.as_str().contains("public") && matches!(value, PropValue::Bool(true));
    is_public || is_secret(def, key) || mentions_public_range(value)
}

fn mentions_public_range(value: &PropValue) -> bool {
    let text = value.to_string();
    PUBLIC_RANGES.iter().any(|address| text.contains(address))
}
