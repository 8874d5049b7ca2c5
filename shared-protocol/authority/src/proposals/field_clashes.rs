//! Conflicts between a proposal and the workspace: each field with its value before, now and as proposed, in domain
//! words.

use super::details::{name_of, text_of};
use crate::{ApplyError, Snapshot};
use shared_protocol::{
    Board, Change, Edge, Node, NodeId, PropKey, PropValue, Proposal, ProposalSubject,
    review::{FieldClash, MAX_CLASHES},
};
use std::collections::{BTreeMap, BTreeSet};

/// The placeholder for a secret value.
const MASK: &str = "••••••";

/// Returns the fields that the proposal changes and whose current value differs from its base. The caller adds who
/// changed them.
pub fn field_clashes(snapshot: &Snapshot, proposal: &Proposal) -> Vec<FieldClash> {
    let mut fields: BTreeMap<(ProposalSubject, String), ThreeWayField> = BTreeMap::new();
    let mut added: BTreeSet<ProposalSubject> = BTreeSet::new();
    let told = ConflictDescriber { snapshot };
    for change in &proposal.changes {
        let subject = ProposalSubject::of_change(change);
        // The workspace has no value for a field of an element that the proposal itself adds.
        if adds_element(change) {
            added.insert(subject.clone());
        }
        if added.contains(&subject) {
            continue;
        }
        for (field, found) in told.fields(change) {
            let known = fields.entry((subject.clone(), field));
            // A later change of the same field starts from the proposal's own value, so only `proposed` is updated.
            known.and_modify(|known| known.proposed.clone_from(&found.proposed)).or_insert(found);
        }
    }
    let clash = |((subject, field), found): ((ProposalSubject, String), ThreeWayField)| {
        let name = told.name(&subject);
        let ThreeWayField { before, now, proposed, .. } = found;
        FieldClash { subject, name, field, before, now, proposed, by: None }
    };
    fields.into_iter().filter(|(_, field)| field.clashes).take(MAX_CLASHES).map(clash).collect()
}

fn adds_element(change: &Change) -> bool {
    matches!(
        change,
        Change::Node { before: None, .. }
            | Change::Edge { before: None, .. }
            | Change::Board { before: None, .. }
    )
}

/// Describes why a change conflicts, with names instead of ids.
pub(crate) fn describe_conflict(snapshot: &Snapshot, change: &Change, error: &ApplyError) -> String {
    let told = ConflictDescriber { snapshot };
    let subject = ProposalSubject::of_change(change);
    let name = told.name(&subject);
    let is_gone = match &subject {
        ProposalSubject::Node(id) => snapshot.node(*id).is_none(),
        ProposalSubject::Edge(id) => snapshot.edge(*id).is_none(),
        ProposalSubject::Board(id) => snapshot.board(*id).is_none(),
        _ => false,
    };
    match error {
        ApplyError::Changed { .. } if is_gone => format!("{name} no longer exists"),
        ApplyError::Changed { .. } => {
            let fields: Vec<String> = told
                .fields(change)
                .into_iter()
                .filter(|(_, field)| field.clashes)
                .map(|(name, _)| name)
                .collect();
            match fields.is_empty() {
                true => format!("{name} was changed in the meantime"),
                false => format!("{} of {name} was changed in the meantime", fields.join(", ")),
            }
        }
        ApplyError::Missing { what } if is_gone && *what == subject.to_string() => {
            format!("{name} no longer exists")
        }
        ApplyError::Missing { what } => {
            format!("{name} needs {}, which no longer exists", told.resolve_name(what))
        }
        ApplyError::InUse { by, .. } => format!("{name} is now used by {}", told.resolve_name(by)),
        ApplyError::NameTaken { what } => format!("{what} is taken by another element"),
        ApplyError::Nesting { .. } => format!("{name} would contain itself or exceed the nesting limit"),
        ApplyError::RevisionGap { .. }
        | ApplyError::LimitExceeded { .. }
        | ApplyError::ElementMismatch { .. } => error.to_string(),
    }
}

/// One field with its three values.
struct ThreeWayField {
    before: Option<String>,
    now: Option<String>,
    proposed: Option<String>,
    clashes: bool,
}

impl ThreeWayField {
    fn new<T: PartialEq>(
        (before, now, proposed): (Option<T>, Option<T>, Option<T>),
        words: impl Fn(&T) -> String,
    ) -> Self {
        let clashes = before != now && now != proposed;
        let words = |value: &Option<T>| value.as_ref().map(&words);
        Self { before: words(&before), now: words(&now), proposed: words(&proposed), clashes }
    }
}

struct ConflictDescriber<'a> {
    snapshot: &'a Snapshot,
}

impl ConflictDescriber<'_> {
    fn fields(&self, change: &Change) -> Vec<(String, ThreeWayField)> {
        let node = |id: &NodeId| self.snapshot.node(*id);
        let one = |field: &str, found: ThreeWayField| vec![(field.to_owned(), found)];
        match change {
            Change::Name { node: id, before, after } => {
                let now = node(id).map(|node| node.name.clone());
                one(
                    "name",
                    ThreeWayField::new((Some(before.clone()), now, Some(after.clone())), ToString::to_string),
                )
            }
            Change::Label { node: id, before, after } => {
                let now = node(id).map(|node| node.label.clone());
                one(
                    "label",
                    ThreeWayField::new((Some(before.clone()), now, Some(after.clone())), Clone::clone),
                )
            }
            Change::Parent { node: id, before, after } => {
                let now = node(id).map(|node| node.parent);
                let words = |parent: &Option<NodeId>| match parent {
                    Some(parent) => name_of(self.snapshot, *parent),
                    None => "the board".to_owned(),
                };
                one("container", ThreeWayField::new((Some(*before), now, Some(*after)), words))
            }
            Change::Prop { node: id, key, before, after } => {
                let now = node(id).and_then(|node| node.props.get(key).cloned());
                let words = |value: &PropValue| self.value(*id, key, value);
                one(key.as_str(), ThreeWayField::new((before.clone(), now, after.clone()), words))
            }
            Change::References { node: id, key, before, after } => {
                let now = node(id).map(|node| node.references.get(key).cloned().unwrap_or_default());
                let words = |targets: &Vec<NodeId>| {
                    let names: Vec<String> = targets.iter().map(|id| name_of(self.snapshot, *id)).collect();
                    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                };
                one(key.as_str(), ThreeWayField::new((Some(before.clone()), now, Some(after.clone())), words))
            }
            Change::Variable { node: id, key, before, after } => {
                let now = node(id).map(|node| node.variables.contains(key));
                let words = |is: &bool| if *is { "a variable" } else { "a plain value" }.to_owned();
                one(
                    &format!("{key} as a variable"),
                    ThreeWayField::new((Some(*before), now, Some(*after)), words),
                )
            }
            Change::Node { id, before: Some(before), after } => {
                self.whole_node(*id, before, after.as_deref())
            }
            Change::Edge { id, before: Some(before), after } => {
                let label = |edge: &Edge| edge.label.clone();
                let now = self.snapshot.edge(*id).map(label);
                let both = (Some(label(before)), now, after.as_deref().map(label));
                one("label", ThreeWayField::new(both, Clone::clone))
            }
            Change::Board { id, before: Some(before), after } => {
                let title = |board: &Board| board.title.clone();
                let now = self.snapshot.board(*id).map(title);
                one(
                    "title",
                    ThreeWayField::new((Some(title(before)), now, after.as_deref().map(title)), Clone::clone),
                )
            }
            Change::Source { path, before, after } => {
                let now = self.snapshot.source(path).cloned();
                let words = |text: &std::sync::Arc<str>| format!("{} lines", text.lines().count());
                one("text", ThreeWayField::new((before.clone(), now, after.clone()), words))
            }
            Change::Override { key, before, after } => {
                let value = |over: &shared_protocol::Override| over.value.clone();
                let now = self.snapshot.override_at(key).map(value);
                let three = (before.as_deref().map(value), now, after.as_deref().map(value));
                one(key.path.as_str(), ThreeWayField::new(three, text_of))
            }
            // An addition has no previous value, and a conflict of places is ignored.
            Change::Node { .. } | Change::Edge { .. } | Change::Board { .. } | Change::Placement { .. } => {
                Vec::new()
            }
        }
    }

    /// Compares every field of a node that is removed or changes its type.
    fn whole_node(&self, id: NodeId, before: &Node, after: Option<&Node>) -> Vec<(String, ThreeWayField)> {
        let now = self.snapshot.node(id);
        let all = |get: &dyn Fn(&Node) -> Option<String>| {
            let (before, now, proposed) = (get(before), now.and_then(get), after.and_then(get));
            let clashes = before != now;
            ThreeWayField { before, now, proposed, clashes }
        };
        let mut fields = vec![
            ("name".to_owned(), all(&|node| Some(node.name.to_string()))),
            ("label".to_owned(), all(&|node| Some(node.label.clone()))),
            ("container".to_owned(), all(&|node| Some(name_of(self.snapshot, node.parent?)))),
        ];
        let keys = before.props.keys().chain(now.iter().flat_map(|node| node.props.keys()));
        for key in keys.collect::<BTreeSet<_>>() {
            let value = |node: &Node| node.props.get(key).cloned();
            let three = (value(before), now.and_then(value), after.and_then(value));
            let clashes = three.0 != three.1;
            let found = ThreeWayField::new(three, |value: &PropValue| self.value(id, key, value));
            fields.push((key.to_string(), ThreeWayField { clashes, ..found }));
        }
        fields
    }

    fn value(&self, id: NodeId, key: &PropKey, value: &PropValue) -> String {
        let def = self.snapshot.node(id).and_then(|node| self.snapshot.type_of(node));
        // The type of a removed node is unknown, so all of its values are masked.
        match def.map(|def| def.prop(key.as_str()).is_some_and(|prop| prop.sensitive)) {
            Some(false) => text_of(value),
            _ => MASK.to_owned(),
        }
    }

    fn name(&self, subject: &ProposalSubject) -> String {
        match subject {
            ProposalSubject::Board(id) => {
                self.snapshot.board(*id).map_or_else(|| id.to_string(), |board| board.name.to_string())
            }
            ProposalSubject::Node(id) => name_of(self.snapshot, *id),
            ProposalSubject::Edge(id) => match self.snapshot.edge(*id) {
                Some(edge) => {
                    let end = |node: NodeId| name_of(self.snapshot, node);
                    format!("the edge {} to {}", end(edge.source.node), end(edge.target.node))
                }
                None => id.to_string(),
            },
            ProposalSubject::Source(path) => path.to_string(),
            ProposalSubject::Override(key) => crate::overrides::describe_key(self.snapshot, key),
            ProposalSubject::Act => subject.to_string(),
        }
    }

    /// Returns the name of the node or board with this id, or the text itself.
    fn resolve_name(&self, what: &str) -> String {
        let node = what.parse().ok().and_then(|id| self.snapshot.node(id)).map(|node| node.name.to_string());
        let board =
            || what.parse().ok().and_then(|id| self.snapshot.board(id)).map(|board| board.name.to_string());
        node.or_else(board).unwrap_or_else(|| what.to_owned())
    }
}
