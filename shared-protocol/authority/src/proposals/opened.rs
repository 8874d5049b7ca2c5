//! Read models for the reviewer: a brief for the queue, and an opened proposal with everything that a decision needs.

use super::{
    clashes::clashes,
    drafting::problems_brought,
    effects::effects,
    needs::direct,
    overlay::Overlay,
    queue::Queue,
    refit::refit,
    risk::{Added, risks, risks_of},
    words::lines,
};
use crate::{Snapshot, unified_diff};
use shared_protocol::{
    BoardId, Change, Node, NodeId, Proposal, ProposalState, Refusal, Subject, Value,
    proposal::{Act, Kind, Line, Risk},
    review::{Counts, Difference, Element, FileDelta, OpenedProposal, ProposalBrief},
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the brief of a proposal. `stamp` changes with every change of the proposal.
pub fn brief(queue: &Queue, snapshot: &Snapshot, proposal: &Proposal, stamp: u64) -> ProposalBrief {
    let mut risks = risks(snapshot, &proposal.changes);
    if proposal.act.as_ref().is_some_and(Act::is_grave) {
        risks.insert(Risk::Destructive);
    }
    ProposalBrief {
        id: proposal.id,
        number: proposal.number,
        title: proposal.title.clone(),
        proposer: proposal.proposer.clone(),
        state: proposal.state.clone(),
        act: proposal.act.clone(),
        risks: risks.into_iter().collect(),
        counts: counts(snapshot, &proposal.changes),
        version: proposal.version,
        stamp,
        base: queue.base(proposal),
        comments: proposal.comments.len() as u64,
        created: proposal.created,
        expires: proposal.expires,
        decided: proposal.decisions.last().cloned(),
        revisions: proposal.decisions.iter().filter_map(|decided| decided.revision).collect(),
    }
}

/// Returns the opened proposal over the current state.
pub fn open(
    queue: &Queue,
    snapshot: &Snapshot,
    proposal: &Proposal,
    stamp: u64,
) -> Result<OpenedProposal, Refusal> {
    let fitted = match proposal.state {
        // An open proposal is already rebased and is shown exactly as it would be accepted.
        ProposalState::Open => Overlay::over(snapshot, &proposal.changes),
        _ => refit(snapshot, proposal).map(|fitted| fitted.overlay),
    };
    let (overlay, conflicts) = match fitted {
        Ok(overlay) => (Some(overlay), Vec::new()),
        Err(why) => (None, why),
    };
    let changes = overlay.as_ref().map_or(&proposal.changes, |overlay| &overlay.changes);
    let after = overlay.as_ref().map_or(snapshot, |overlay| &overlay.state);
    let shown = Shown { before: snapshot, after };
    let mut elements = shown.elements(changes);
    if let Some(act) = &proposal.act {
        elements.insert(0, act_element(snapshot, act));
    }
    let checks = overlay.as_ref().map_or_else(Vec::new, |overlay| problems_brought(snapshot, overlay));
    Ok(OpenedProposal {
        brief: brief(queue, snapshot, proposal, stamp),
        hash: proposal.content_hash()?,
        rationale: proposal.rationale.clone(),
        steps: proposal.steps.clone(),
        comments: proposal.comments.clone(),
        decisions: proposal.decisions.clone(),
        elements,
        changes: changes.iter().filter(|change| !matches!(change, Change::Source { .. })).cloned().collect(),
        checks,
        conflicts,
        clashes: clashes(snapshot, proposal),
        plan: None,
    })
}

fn act_element(snapshot: &Snapshot, act: &Act) -> Element {
    let differences = match act {
        Act::Call { arguments, .. } => {
            vec![Difference { field: "arguments".to_owned(), before: None, after: Some(arguments.clone()) }]
        }
        _ => Vec::new(),
    };
    let files = match act {
        Act::Config { before, after } => file("draftboard.toml", Some(before), Some(after)),
        _ => None,
    };
    Element {
        subject: Subject::Act,
        kind: Kind::Changed,
        text: words_of_act(snapshot, act),
        board: if let Act::Run { board, .. } = act { Some(*board) } else { None },
        differences,
        files: files.into_iter().collect(),
        risks: act.is_grave().then_some(Risk::Destructive).into_iter().collect(),
        destructive: act.is_grave(),
        needs: Vec::new(),
        effect_of: Vec::new(),
    }
}

/// Returns the diff of a text, or `None` when it does not change.
fn file(path: &str, before: Option<&str>, after: Option<&str>) -> Option<FileDelta> {
    let text = unified_diff(path, before.unwrap_or_default(), after.unwrap_or_default());
    (!text.is_empty()).then(|| FileDelta::of(path, text))
}

/// Describes an act, with the name of the board instead of its id.
fn words_of_act(snapshot: &Snapshot, act: &Act) -> String {
    match act {
        Act::Run { board, .. } => match snapshot.board(*board) {
            Some(known) => act.words().replace(&board.to_string(), known.name.as_str()),
            None => act.words(),
        },
        _ => act.words(),
    }
}

/// Counts each element once, by its overall change.
fn counts(snapshot: &Snapshot, changes: &[Change]) -> Counts {
    let mut kinds: BTreeMap<Subject, Kind> = BTreeMap::new();
    for change in changes {
        let (came, went) = match change {
            Change::Board { before, after, .. } => (before.is_none(), after.is_none()),
            Change::Node { before, after, .. } => (before.is_none(), after.is_none()),
            Change::Edge { before, after, .. } => (before.is_none(), after.is_none()),
            Change::Source { before, after, .. } => (before.is_none(), after.is_none()),
            Change::Override { before, after, .. } => (before.is_none(), after.is_none()),
            _ => (false, false),
        };
        let kind = match (came, went) {
            (true, _) => Kind::Added,
            (_, true) => Kind::Removed,
            _ if change.is_layout() => Kind::Placed,
            _ => Kind::Changed,
        };
        let subject = Subject::of(change);
        let is_new = !is_there(snapshot, &subject);
        match kinds.get(&subject) {
            // Added and removed again.
            Some(Kind::Added) if kind == Kind::Removed => drop(kinds.remove(&subject)),
            Some(Kind::Added | Kind::Removed) => {}
            Some(Kind::Changed) if kind == Kind::Placed => {}
            _ if is_new && kind == Kind::Removed => {}
            _ => drop(kinds.insert(subject, kind)),
        }
    }
    let count = |wanted: Kind| kinds.values().filter(|kind| **kind == wanted).count() as u64;
    Counts {
        added: count(Kind::Added),
        changed: count(Kind::Changed),
        removed: count(Kind::Removed),
        placed: count(Kind::Placed),
    }
}

fn is_there(snapshot: &Snapshot, subject: &Subject) -> bool {
    match subject {
        Subject::Board(id) => snapshot.board(*id).is_some(),
        Subject::Node(id) => snapshot.node(*id).is_some(),
        Subject::Edge(id) => snapshot.edge(*id).is_some(),
        Subject::Source(path) => snapshot.source(path).is_some(),
        Subject::Override(key) => snapshot.override_at(key).is_some(),
        Subject::Act => true,
    }
}

/// A value before and after.
type Both = (Option<String>, Option<String>);

struct Shown<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl Shown<'_> {
    fn elements(&self, changes: &[Change]) -> Vec<Element> {
        let mut needs = direct(self.before, changes);
        let mut effects = effects(changes);
        let added = Added::of(changes);
        let mut by_subject: BTreeMap<Subject, Vec<&Change>> = BTreeMap::new();
        for change in changes {
            by_subject.entry(Subject::of(change)).or_default().push(change);
        }
        let element = |line: Line| {
            let Line { subject, kind, text, destructive } = line;
            let own = by_subject.remove(&subject).unwrap_or_default();
            let risks: BTreeSet<Risk> =
                own.iter().flat_map(|change| risks_of(self.before, &added, change)).collect();
            Element {
                board: self.board_of(&subject),
                differences: self.differences(&subject, &own),
                files: self.file(&subject).into_iter().collect(),
                risks: risks.into_iter().collect(),
                needs: needs.remove(&subject).unwrap_or_default().into_iter().collect(),
                effect_of: effects.remove(&subject).unwrap_or_default().into_iter().collect(),
                subject,
                kind,
                text,
                destructive,
            }
        };
        lines(self.before, self.after, changes).into_iter().map(element).collect()
    }

    fn board_of(&self, subject: &Subject) -> Option<BoardId> {
        let node = |id: NodeId| self.after.node(id).or_else(|| self.before.node(id)).map(|node| node.board);
        match subject {
            Subject::Board(id) => Some(*id),
            Subject::Node(id) => node(*id),
            Subject::Edge(id) => {
                self.after.edge(*id).or_else(|| self.before.edge(*id)).map(|edge| edge.board)
            }
            Subject::Override(key) => node(crate::overrides::node_of(key)?),
            Subject::Source(_) | Subject::Act => None,
        }
    }

    fn differences(&self, subject: &Subject, changes: &[&Change]) -> Vec<Difference> {
        match subject {
            Subject::Node(id) => self.of_node(*id, changes),
            Subject::Edge(id) => {
                let label = |state: &Snapshot| state.edge(*id).map(|edge| edge.label.clone());
                differing("label", label(self.before), label(self.after)).into_iter().collect()
            }
            Subject::Board(id) => {
                let of = |state: &Snapshot| {
                    state.board(*id).map(|board| (board.title.clone(), board.name.to_string())).unzip()
                };
                let ((title, name), (new_title, new_name)) = (of(self.before), of(self.after));
                let title = differing("title", title, new_title);
                title.into_iter().chain(differing("name", name, new_name)).collect()
            }
            Subject::Override(key) => {
                let value = |state: &Snapshot| state.override_at(key).map(|over| text_of(&over.value));
                let (was, is) = (value(self.before), value(self.after));
                differing(key.path.as_str(), was, is).into_iter().collect()
            }
            Subject::Source(_) | Subject::Act => Vec::new(),
        }
    }

    fn file(&self, subject: &Subject) -> Option<FileDelta> {
        let Subject::Source(path) = subject else { return None };
        let text = |state: &'_ Snapshot| state.source(path).cloned();
        let (before, after) = (text(self.before), text(self.after));
        file(path.as_str(), before.as_deref(), after.as_deref())
    }

    fn of_node(&self, id: NodeId, changes: &[&Change]) -> Vec<Difference> {
        let (before, after) = (self.before.node(id), self.after.node(id));
        let of = |get: &dyn Fn(&Snapshot, &Node) -> Option<String>| {
            (before.and_then(|node| get(self.before, node)), after.and_then(|node| get(self.after, node)))
        };
        let mut fields: Vec<(String, Both)> = vec![
            ("name".to_owned(), of(&|_, node| Some(node.name.to_string()))),
            ("label".to_owned(), of(&|_, node| Some(node.label.clone()))),
            ("type".to_owned(), of(&|_, node| Some(node.type_id.to_string()))),
            ("container".to_owned(), of(&|state, node| Some(name_of(state, node.parent?)))),
        ];
        let keys: BTreeSet<_> = before
            .iter()
            .chain(&after)
            .flat_map(|node| node.props.keys().chain(node.references.keys()))
            .collect();
        for key in keys {
            let value = |state: &Snapshot, node: &Node| {
                let sensitive = state
                    .type_of(node)
                    .and_then(|def| def.prop(key.as_str()))
                    .is_some_and(|prop| prop.sensitive);
                match (node.props.get(key), node.references.get(key)) {
                    (Some(_), _) if sensitive => Some("••••••".to_owned()),
                    (Some(value), _) => Some(text_of(value)),
                    (None, Some(targets)) => {
                        let names = targets.iter().map(|target| name_of(state, *target));
                        Some(names.collect::<Vec<_>>().join(", "))
                    }
                    (None, None) => None,
                }
            };
            let (was, is) = of(&value);
            let touched = changes
                .iter()
                .any(|change| matches!(change, Change::Prop { key: touched, .. } if touched == key));
            match (was, is) {
                // Both values of a secret are masked, so a change must be marked.
                (Some(was), Some(is)) if was == is && touched => {
                    fields.push((key.to_string(), (Some(was), Some(format!("{is} (changed)")))));
                }
                both => fields.push((key.to_string(), both)),
            }
        }
        let place = |state: &Snapshot| {
            state.placement(id).map(|at| format!("{}, {}  {} × {}", at.x, at.y, at.w, at.h))
        };
        fields.push(("place".to_owned(), (place(self.before), place(self.after))));
        fields.into_iter().filter_map(|(field, (was, is))| differing(&field, was, is)).collect()
    }
}

fn differing(field: &str, before: Option<String>, after: Option<String>) -> Option<Difference> {
    (before != after).then(|| Difference { field: field.to_owned(), before, after })
}

pub(super) fn name_of(state: &Snapshot, id: NodeId) -> String {
    state.node(id).map_or_else(|| id.to_string(), |node| node.name.to_string())
}

pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}
