//! A proposal in domain words: one line per element; changes of its place are folded into that line.

use super::risk::is_destructive;
use crate::Snapshot;
use shared_protocol::{
    Change, Edge, Node, NodeId, OverrideKey, Subject,
    proposal::{Kind, Line},
};
use std::collections::BTreeMap;

/// Returns one line per changed element: removals first, then in the order of the changes, moves last. `before` is the
/// state without the changes, `after` the state with them.
pub fn lines(before: &Snapshot, after: &Snapshot, changes: &[Change]) -> Vec<Line> {
    let mut order: Vec<Subject> = Vec::new();
    let mut by_subject: BTreeMap<Subject, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        let subject = Subject::of(change);
        let known = by_subject.entry(subject.clone()).or_default();
        if known.is_empty() {
            order.push(subject);
        }
        known.push(change);
    }
    let mut lines: Vec<Line> = order
        .into_iter()
        .map(|subject| {
            let changes = by_subject.remove(&subject).unwrap_or_default();
            let words = Words { before, after, changes: &changes };
            let (kind, text) = words.of(&subject);
            Line {
                subject,
                kind,
                text,
                destructive: changes.iter().any(|change| is_destructive(before, change)),
            }
        })
        .collect();
    lines.sort_by_key(|line| match line.kind {
        Kind::Removed => 0,
        Kind::Added | Kind::Changed => 1,
        Kind::Placed => 2,
    });
    lines
}

struct Words<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    changes: &'a [&'a Change],
}

impl Words<'_> {
    fn of(&self, subject: &Subject) -> (Kind, String) {
        match subject {
            Subject::Board(id) => match (self.before.board(*id), self.after.board(*id)) {
                (None, Some(board)) => (Kind::Added, format!("adds the board {}", board.title)),
                (Some(board), None) => (Kind::Removed, format!("removes the board {}", board.title)),
                (Some(before), Some(after)) if before.title != after.title => {
                    (Kind::Changed, format!("renames the board {} to {}", before.title, after.title))
                }
                _ => (Kind::Changed, "changes a board".to_owned()),
            },
            Subject::Node(id) => self.node(*id),
            Subject::Edge(id) => match (self.before.edge(*id), self.after.edge(*id)) {
                (None, Some(edge)) => (Kind::Added, format!("connects {}", ends(self.after, edge))),
                (Some(edge), None) => (Kind::Removed, format!("disconnects {}", ends(self.before, edge))),
                (_, Some(edge)) => (Kind::Changed, format!("changes the edge {}", ends(self.after, edge))),
                (None, None) => (Kind::Changed, "adds and removes an edge".to_owned()),
            },
            Subject::Source(path) => match (self.before.source(path), self.after.source(path)) {
                (None, _) => (Kind::Added, format!("adds {path}")),
                (_, None) => (Kind::Removed, format!("removes {path}")),
                _ => (Kind::Changed, format!("changes {path}")),
            },
            Subject::Override(key) => self.overriding(key),
            Subject::Act => (Kind::Changed, "requests an action".to_owned()),
        }
    }

    fn overriding(&self, key: &OverrideKey) -> (Kind, String) {
        let what = crate::overrides::words(self.after, key);
        match (self.before.override_at(key), self.after.override_at(key)) {
            (Some(before), None) => {
                (Kind::Removed, format!("clears {} from {what}", short(&before.value.to_string())))
            }
            (None, Some(after)) => {
                (Kind::Added, format!("overrides {what} with {}", short(&after.value.to_string())))
            }
            (Some(before), Some(after)) => {
                let (was, is) = (short(&before.value.to_string()), short(&after.value.to_string()));
                (Kind::Changed, format!("overrides {what}: {was} → {is}"))
            }
            (None, None) => (Kind::Changed, format!("overrides {what} and clears it again")),
        }
    }

    fn node(&self, id: NodeId) -> (Kind, String) {
        match (self.before.node(id), self.after.node(id)) {
            (None, Some(node)) => {
                let within = self.container(self.after, node.parent).map(|c| format!(" in {c}"));
                let text =
                    format!("adds {} {}{}", self.type_title(node), node.name, within.unwrap_or_default());
                (Kind::Added, text)
            }
            (Some(node), None) => (Kind::Removed, format!("removes {} {}", self.type_title(node), node.name)),
            (Some(before), Some(after)) => {
                let parts = self.parts(before, after);
                if parts.is_empty() {
                    (Kind::Placed, format!("moves or resizes {}", after.name))
                } else {
                    (Kind::Changed, parts.join("; "))
                }
            }
            (None, None) => (Kind::Changed, "adds and removes a node".to_owned()),
        }
    }

    fn parts(&self, before: &Node, after: &Node) -> Vec<String> {
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

fn ends(state: &Snapshot, edge: &Edge) -> String {
    let name = |id: NodeId| state.node(id).map_or_else(|| id.to_string(), |node| node.name.to_string());
    format!("{} to {}", name(edge.source.node), name(edge.target.node))
}

fn short(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST - 1).chain(['…']).collect()
    }
}
