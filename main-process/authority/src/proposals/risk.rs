//! How much a proposal asks for, judged by the authority and never by the agent.

use crate::Snapshot;

use shared_protocol::{Change, Node, PropKey, Subject, TypeDef, Value, proposal::Risk};
use std::collections::BTreeSet;

/// More elements than this are a wide change.
const WIDE: usize = 25;
/// Addresses that mean everybody.
const EVERYBODY: [&str; 2] = ["0.0.0.0/0", "::/0"];
/// Words in a type or property that mean access.
const ACCESS: [&str; 8] = ["iam", "role", "policy", "security", "secret", "key_vault", "kms", "firewall"];

/// The labels of these changes over a state.
pub fn risks(snapshot: &Snapshot, changes: &[Change]) -> BTreeSet<Risk> {
    let mut found = BTreeSet::new();
    if changes.iter().any(is_destructive) {
        found.insert(Risk::Destructive);
    }
    if changes.iter().any(|change| is_about_access(snapshot, change)) {
        found.insert(Risk::Security);
    }
    let subjects: BTreeSet<Subject> =
        changes.iter().filter(|change| !change.is_layout()).map(Subject::of).collect();
    if subjects.len() > WIDE || crate::boards_touched(snapshot, changes).len() > 1 {
        found.insert(Risk::Wide);
    }
    let is_cosmetic = |change: &Change| change.is_layout() || matches!(change, Change::Label { .. });
    if !changes.is_empty() && changes.iter().all(is_cosmetic) {
        found.insert(Risk::Cosmetic);
    }
    found
}

/// Whether a change takes something away that was there.
pub(super) fn is_destructive(change: &Change) -> bool {
    match change {
        Change::Board { before: Some(_), after: None, .. }
        | Change::Node { before: Some(_), .. }
        | Change::Source { before: Some(_), after: None, .. } => true,
        Change::Edge { before: Some(_), after, .. } => after.is_none(),
        _ => false,
    }
}

fn is_about_access(snapshot: &Snapshot, change: &Change) -> bool {
    let known = |id: &shared_protocol::NodeId| snapshot.node(*id);
    match change {
        Change::Node { before, after, .. } => before.iter().chain(after).any(|node| {
            names_access(node.type_id.as_str())
                || node.props.iter().any(|(key, value)| opens(snapshot.type_of(node), key, value))
        }),
        Change::Prop { node, key, after, .. } => {
            let node = known(node);
            node.is_some_and(|node| is_guard(node) || is_secret(snapshot.type_of(node), key))
                || after
                    .as_ref()
                    .is_some_and(|value| opens(node.and_then(|node| snapshot.type_of(node)), key, value))
        }
        Change::Variable { node, key, .. } => {
            known(node).is_some_and(|node| is_guard(node) || is_secret(snapshot.type_of(node), key))
        }
        Change::References { node, .. } | Change::Parent { node, .. } => known(node).is_some_and(is_guard),
        _ => false,
    }
}

fn is_guard(node: &Node) -> bool {
    names_access(node.type_id.as_str())
}

fn names_access(name: &str) -> bool {
    ACCESS.iter().any(|word| name.contains(word))
}

fn is_secret(def: Option<&TypeDef>, key: &PropKey) -> bool {
    def.and_then(|def| def.prop(key.as_str())).is_some_and(|prop| prop.sensitive)
}

/// A value that lets the world in, or a secret.
fn opens(def: Option<&TypeDef>, key: &PropKey, value: &Value) -> bool {
    let is_public = key.as_str().contains("public") && matches!(value, Value::Bool(true));
    is_public || is_secret(def, key) || mentions_everybody(value)
}

fn mentions_everybody(value: &Value) -> bool {
    let text = value.to_string();
    EVERYBODY.iter().any(|address| text.contains(address))
}
