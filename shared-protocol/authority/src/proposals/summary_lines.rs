//! A proposal in domain words: one line per element; changes of its place are folded into that line.

use super::risk::is_destructive;
use crate::Snapshot;
use shared_protocol::{
    Change, Edge, Node, NodeId, OverrideKey, ProposalSubject,
    proposal::{ElementChangeKind, ProposalSummaryLine},
};
use std::collections::BTreeMap;

/// Returns one line per changed element: removals first, then in the order of the changes, moves last. `before` is the
/// state without the changes, `after` the state with them.
pub fn lines(before: &Snapshot, after: &Snapshot, changes: &[Change]) -> Vec<ProposalSummaryLine> {
    let mut order: Vec<ProposalSubject> = Vec::new();
    let mut by_subject: BTreeMap<ProposalSubject, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        let subject = ProposalSubject::of_change(change);
        let known = by_subject.entry(subject.clone()).or_default();
        if known.is_empty() {
            order.push(subject);
        }
        known.push(change);
    }
    let mut lines: Vec<ProposalSummaryLine> = order
        .into_iter()
        .map(|subject| {
            let changes = by_subject.remove(&subject).unwrap_or_default();
            let words = ElementDescriber { before, after, changes: &changes };
            let (kind, text) = words.describe(&subject);
            ProposalSummaryLine {
                subject,
                kind,
                text,
                destructive: changes.iter().any(|change| is_destructive(before, change)),
            }
        })
        .collect();
    lines.sort_by_key(|line| match line.kind {
        ElementChangeKind::Removed => 0,
        ElementChangeKind::Added | ElementChangeKind::Changed => 1,
        ElementChangeKind::Placed => 2,
    });
    lines
}

struct ElementDescriber<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    changes: &'a [&'a Change],
}

impl ElementDescriber<'_> {
    fn describe(&self, subject: &ProposalSubject) -> (ElementChangeKind, String) {
        match subject {
            ProposalSubject::Board(id) => match (self.before.board(*id), self.after.board(*id)) {
                (None, Some(board)) => (ElementChangeKind::Added, format!("adds the board {}", board.title)),
                (Some(board), None) => {
                    (ElementChangeKind::Removed, format!("removes the board {}", board.title))
                }
                (Some(before), Some(after)) if before.title != after.title => (
                    ElementChangeKind::Changed,
                    format!("renames the board {} to {}", before.title, after.title),
                ),
                _ => (ElementChangeKind::Changed, "changes a board".to_owned()),
            },
            ProposalSubject::Node(id) => self.describe_node(*id),
            ProposalSubject::Edge(id) => match (self.before.edge(*id), self.after.edge(*id)) {
                (None, Some(edge)) => {
                    (ElementChangeKind::Added, format!("connects {}", describe_ends(self.after, edge)))
                }
                (Some(edge), None) => {
                    (ElementChangeKind::Removed, format!("disconnects {}", describe_ends(self.before, edge)))
                }
                (_, Some(edge)) => (
                    ElementChangeKind::Changed,
                    format!("changes the edge {}", describe_ends(self.after, edge)),
                ),
                (None, None) => (ElementChangeKind::Changed, "adds and removes an edge".to_owned()),
            },
            ProposalSubject::Source(path) => match (self.before.source(path), self.after.source(path)) {
                (None, _) => (ElementChangeKind::Added, format!("adds {path}")),
                (_, None) => (ElementChangeKind::Removed, format!("removes {path}")),
                _ => (ElementChangeKind::Changed, format!("changes {path}")),
            },
            ProposalSubject::Override(key) => self.describe_override(key),
            ProposalSubject::Act => (ElementChangeKind::Changed, "requests an action".to_owned()),
        }
    }

    fn describe_override(&self, key: &OverrideKey) -> (ElementChangeKind, String) {
        let what = crate::overrides::describe_key(self.after, key);
        match (self.before.override_at(key), self.after.override_at(key)) {
            (Some(before), None) => (
                ElementChangeKind::Removed,
                format!("clears {} from {what}", short(&before.value.to_string())),
            ),
            (None, Some(after)) => (
                ElementChangeKind::Added,
                format!("overrides {what} with {}", short(&after.value.to_string())),
            ),
            (Some(before), Some(after)) => {
                let (was, is) = (short(&before.value.to_string()), short(&after.value.to_string()));
                (ElementChangeKind::Changed, format!("overrides {what}: {was} → {is}"))
            }
            (None, None) => (ElementChangeKind::Changed, format!("overrides {what} and clears it again")),
        }
    }

    fn describe_node(&self, id: NodeId) -> (ElementChangeKind, String) {
        match (self.before.node(id), self.after.node(id)) {
            (None, Some(node)) => {
                let within = self.container(self.after, node.parent).map(|c| format!(" in {c}"));
                let text =
                    format!("adds {} {}{}", self.type_title(node), node.name, within.unwrap_or_default());
                (ElementChangeKind::Added, text)
            }
            (Some(node), None) => {
                (ElementChangeKind::Removed, format!("removes {} {}", self.type_title(node), node.name))
            }
            (Some(before), Some(after)) => {
                let parts = self.describe_node_changes(before, after);
                if parts.is_empty() {
                    (ElementChangeKind::Placed, format!("moves or resizes {}", after.name))
                } else {
                    (ElementChangeKind::Changed, parts.join("; "))
                }
            }
            (None, None) => (ElementChangeKind::Changed, "adds and removes a node".to_owned()),
        }
    }

    fn describe_node_changes(&self, before: &Node, after: &Node) -> Vec<String> {
        let mut parts = Vec::new();
        if before.name != after.name {
            parts.push(format!("renames {} to {}", before.name, after.name));
        }
        if before.label != after.label {
            parts.push(format!("labels {} “{}”", after.name, after.label));
        }
        if before.type_id != after.type_id {
            parts.push(format!("makes {} a {}", after.name, self.type_title(after)));
        }
        if before.parent != after.parent {
            parts.push(
                match (self.container(self.before, before.parent), self.container(self.after, after.parent)) {
                    (Some(from), None) => format!("moves {} out of {from}", after.name),
                    (None, Some(to)) => format!("moves {} into {to}", after.name),
                    (Some(from), Some(to)) => format!("moves {} from {from} into {to}", after.name),
                    (None, None) => format!("moves {}", after.name),
                },
            );
        }
        for change in self.changes {
            match change {
                Change::Prop { key, .. } => {
                    let is_secret = self
                        .after
                        .type_of(after)
                        .and_then(|def| def.prop(key.as_str()))
                        .is_some_and(|prop| prop.sensitive);
                    let shown = |node: &Node| match node.props.get(key) {
                        None => "not set".to_owned(),
                        Some(_) if is_secret => "••••••".to_owned(),
                        Some(value) => short(&value.to_string()),
                    };
                    parts.push(format!("{key} of {}: {} → {}", after.name, shown(before), shown(after)));
                }
                Change::Variable { key, after: true, .. } => {
                    parts.push(format!("makes {key} of {} a variable", after.name));
                }
                Change::Variable { key, after: false, .. } => {
                    parts.push(format!("makes {key} of {} a plain value", after.name));
                }
                Change::References { key, .. } => {
                    parts.push(format!("changes the targets of {key} of {}", after.name))
                }
                _ => {}
            }
        }
        parts.dedup();
        parts
    }

    fn container(&self, state: &Snapshot, parent: Option<NodeId>) -> Option<String> {
        state.node(parent?).map(|node| node.name.to_string())
    }

    fn type_title(&self, node: &Node) -> String {
        self.after.type_of(node).map_or_else(|| node.type_id.to_string(), |def| def.title.to_lowercase())
    }
}

fn describe_ends(state: &Snapshot, edge: &Edge) -> String {
    let name = |id: NodeId| state.node(id).map_or_else(|| id.to_string(), |node| node.name.to_string());
    format!("{} to {}", name(edge.source.node), name(edge.target.node))
}

fn short(text: &str) -> String {
    const MAX_VALUE_CHARS: usize = 60;
    shared_protocol::text::truncate_chars(text, MAX_VALUE_CHARS)
}
