//! Read models for the reviewer: a brief for the queue, and an opened proposal with everything that a decision needs.

use super::{
    dependencies::direct_dependencies,
    effects::effects,
    field_clashes::field_clashes,
    overlay::ProposalOverlay,
    queue::ReviewQueue,
    refit::refit,
    risk::{AddedNodes, risks, risks_of},
    submission::new_problems,
    summary_lines::lines,
};
use crate::{Snapshot, unified_diff};
use shared_protocol::{
    BoardId, Change, Node, NodeId, PropValue, Proposal, ProposalState, ProposalSubject, Refusal,
    proposal::{ElementChangeKind, ProposalSummaryLine, ProposedAction, Risk},
    review::{ElementCounts, FieldChange, FileLineCounts, ProposalBrief, ProposalDetails, ProposedElement},
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the brief of a proposal. `stamp` changes with every change of the proposal.
pub fn brief(queue: &ReviewQueue, snapshot: &Snapshot, proposal: &Proposal, stamp: u64) -> ProposalBrief {
    let mut risks = risks(snapshot, &proposal.changes);
    if proposal.act.as_ref().is_some_and(ProposedAction::is_high_risk) {
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
    queue: &ReviewQueue,
    snapshot: &Snapshot,
    proposal: &Proposal,
    stamp: u64,
) -> Result<ProposalDetails, Refusal> {
    let fitted = match proposal.state {
        // An open proposal is already rebased and is shown exactly as it would be accepted.
        ProposalState::Open => ProposalOverlay::rebase_strict(snapshot, &proposal.changes),
        _ => refit(snapshot, proposal).map(|fitted| fitted.overlay),
    };
    let (overlay, conflicts) = match fitted {
        Ok(overlay) => (Some(overlay), Vec::new()),
        Err(why) => (None, why),
    };
    let changes = overlay.as_ref().map_or(&proposal.changes, |overlay| &overlay.changes);
    let after = overlay.as_ref().map_or(snapshot, |overlay| &overlay.state);
    let shown = ElementComparison { before: snapshot, after };
    let mut elements = shown.elements(changes);
    if let Some(act) = &proposal.act {
        elements.insert(0, act_element(snapshot, act));
    }
    let checks = overlay.as_ref().map_or_else(Vec::new, |overlay| new_problems(snapshot, overlay));
    Ok(ProposalDetails {
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
        clashes: field_clashes(snapshot, proposal),
        plan: None,
    })
}

fn act_element(snapshot: &Snapshot, act: &ProposedAction) -> ProposedElement {
    let differences = match act {
        ProposedAction::Call { arguments, .. } => {
            vec![FieldChange { field: "arguments".to_owned(), before: None, after: Some(arguments.clone()) }]
        }
        _ => Vec::new(),
    };
    let files = match act {
        ProposedAction::Config { before, after } => file("draftboard.toml", Some(before), Some(after)),
        _ => None,
    };
    ProposedElement {
        subject: ProposalSubject::Act,
        kind: ElementChangeKind::Changed,
        text: describe_act(snapshot, act),
        board: if let ProposedAction::Run { board, .. } = act { Some(*board) } else { None },
        differences,
        files: files.into_iter().collect(),
        risks: act.is_high_risk().then_some(Risk::Destructive).into_iter().collect(),
        destructive: act.is_high_risk(),
        needs: Vec::new(),
        effect_of: Vec::new(),
    }
}

/// Returns the diff of a text, or `None` when it does not change.
fn file(path: &str, before: Option<&str>, after: Option<&str>) -> Option<FileLineCounts> {
    let text = unified_diff(path, before.unwrap_or_default(), after.unwrap_or_default());
    (!text.is_empty()).then(|| FileLineCounts::from_text(path, text))
}

/// Describes an act, with the name of the board instead of its id.
fn describe_act(snapshot: &Snapshot, act: &ProposedAction) -> String {
    match act {
        ProposedAction::Run { board, .. } => match snapshot.board(*board) {
            Some(known) => act.describe().replace(&board.to_string(), known.name.as_str()),
            None => act.describe(),
        },
        _ => act.describe(),
    }
}

/// Counts each element once, by its overall change.
fn counts(snapshot: &Snapshot, changes: &[Change]) -> ElementCounts {
    let mut kinds: BTreeMap<ProposalSubject, ElementChangeKind> = BTreeMap::new();
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
            (true, _) => ElementChangeKind::Added,
            (_, true) => ElementChangeKind::Removed,
            _ if change.is_layout() => ElementChangeKind::Placed,
            _ => ElementChangeKind::Changed,
        };
        let subject = ProposalSubject::of_change(change);
        let is_new = !exists(snapshot, &subject);
        match kinds.get(&subject) {
            // Added and removed again.
            Some(ElementChangeKind::Added) if kind == ElementChangeKind::Removed => {
                kinds.remove(&subject);
            }
            Some(ElementChangeKind::Added | ElementChangeKind::Removed) => {}
            Some(ElementChangeKind::Changed) if kind == ElementChangeKind::Placed => {}
            _ if is_new && kind == ElementChangeKind::Removed => {}
            _ => drop(kinds.insert(subject, kind)),
        }
    }
    let count = |wanted: ElementChangeKind| kinds.values().filter(|kind| **kind == wanted).count() as u64;
    ElementCounts {
        added: count(ElementChangeKind::Added),
        changed: count(ElementChangeKind::Changed),
        removed: count(ElementChangeKind::Removed),
        placed: count(ElementChangeKind::Placed),
    }
}

fn exists(snapshot: &Snapshot, subject: &ProposalSubject) -> bool {
    match subject {
        ProposalSubject::Board(id) => snapshot.board(*id).is_some(),
        ProposalSubject::Node(id) => snapshot.node(*id).is_some(),
        ProposalSubject::Edge(id) => snapshot.edge(*id).is_some(),
        ProposalSubject::Source(path) => snapshot.source(path).is_some(),
        ProposalSubject::Override(key) => snapshot.override_at(key).is_some(),
        ProposalSubject::Act => true,
    }
}

/// A value before and after.
type ValueBeforeAfter = (Option<String>, Option<String>);

struct ElementComparison<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl ElementComparison<'_> {
    fn elements(&self, changes: &[Change]) -> Vec<ProposedElement> {
        let mut needs = direct_dependencies(self.before, changes);
        let mut effects = effects(changes);
        let added = AddedNodes::from_changes(changes);
        let mut by_subject: BTreeMap<ProposalSubject, Vec<&Change>> = BTreeMap::new();
        for change in changes {
            by_subject.entry(ProposalSubject::of_change(change)).or_default().push(change);
        }
        let element = |line: ProposalSummaryLine| {
            let ProposalSummaryLine { subject, kind, text, destructive } = line;
            let own = by_subject.remove(&subject).unwrap_or_default();
            let risks: BTreeSet<Risk> =
                own.iter().flat_map(|change| risks_of(self.before, &added, change)).collect();
            ProposedElement {
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

    fn board_of(&self, subject: &ProposalSubject) -> Option<BoardId> {
        let node = |id: NodeId| self.after.node(id).or_else(|| self.before.node(id)).map(|node| node.board);
        match subject {
            ProposalSubject::Board(id) => Some(*id),
            ProposalSubject::Node(id) => node(*id),
            ProposalSubject::Edge(id) => {
                self.after.edge(*id).or_else(|| self.before.edge(*id)).map(|edge| edge.board)
            }
            ProposalSubject::Override(key) => node(crate::overrides::node_of(key)?),
            ProposalSubject::Source(_) | ProposalSubject::Act => None,
        }
    }

    fn differences(&self, subject: &ProposalSubject, changes: &[&Change]) -> Vec<FieldChange> {
        match subject {
            ProposalSubject::Node(id) => self.node_differences(*id, changes),
            ProposalSubject::Edge(id) => {
                let label = |state: &Snapshot| state.edge(*id).map(|edge| edge.label.clone());
                field_change("label", label(self.before), label(self.after)).into_iter().collect()
            }
            ProposalSubject::Board(id) => {
                let of = |state: &Snapshot| {
                    state.board(*id).map(|board| (board.title.clone(), board.name.to_string())).unzip()
                };
                let ((title, name), (new_title, new_name)) = (of(self.before), of(self.after));
                let title = field_change("title", title, new_title);
                title.into_iter().chain(field_change("name", name, new_name)).collect()
            }
            ProposalSubject::Override(key) => {
                let value = |state: &Snapshot| state.override_at(key).map(|over| text_of(&over.value));
                let (was, is) = (value(self.before), value(self.after));
                field_change(key.path.as_str(), was, is).into_iter().collect()
            }
            ProposalSubject::Source(_) | ProposalSubject::Act => Vec::new(),
        }
    }

    fn file(&self, subject: &ProposalSubject) -> Option<FileLineCounts> {
        let ProposalSubject::Source(path) = subject else { return None };
        let text = |state: &'_ Snapshot| state.source(path).cloned();
        let (before, after) = (text(self.before), text(self.after));
        file(path.as_str(), before.as_deref(), after.as_deref())
    }

    fn node_differences(&self, id: NodeId, changes: &[&Change]) -> Vec<FieldChange> {
        let (before, after) = (self.before.node(id), self.after.node(id));
        let of = |get: &dyn Fn(&Snapshot, &Node) -> Option<String>| {
            (before.and_then(|node| get(self.before, node)), after.and_then(|node| get(self.after, node)))
        };
        let mut fields: Vec<(String, ValueBeforeAfter)> = vec![
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
        fields.into_iter().filter_map(|(field, (was, is))| field_change(&field, was, is)).collect()
    }
}

fn field_change(field: &str, before: Option<String>, after: Option<String>) -> Option<FieldChange> {
    (before != after).then(|| FieldChange { field: field.to_owned(), before, after })
}

pub(super) fn name_of(state: &Snapshot, id: NodeId) -> String {
    state.node(id).map_or_else(|| id.to_string(), |node| node.name.to_string())
}

pub(super) fn text_of(value: &PropValue) -> String {
    match value {
        PropValue::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}
