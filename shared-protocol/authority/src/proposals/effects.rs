//! Side effects of removals: what a proposal changes only because something goes. A side effect is accepted together with
//! its cause or not at all, so that a removal nobody ticked leaves no trace.
//!
//! ```text
//! removes subnet `a`          the cause, confirmed once for all below
//! ├ removes instance `web`    effect of `a`: it stands in it
//! │ └ removes edge web → db   effect of `web`, and of `db` if that goes as well: one of them is enough
//! └ `api` loses its subnet    effect of `a`; what else the proposal changes of `api` stands on its own
//! ```
//!
//! Changes do not record why they were made. A change counts as a side effect if the removal alone would have made it;
//! whoever asked for both sees them go together.

use shared_protocol::{BoardId, Change, EdgeId, NodeId, PropKey, Subject};
use std::collections::{BTreeMap, BTreeSet};

/// The targets of one reference before the proposal and after all of it.
type NetTargets<'a> = (&'a [NodeId], &'a [NodeId]);

struct Effects<'a> {
    nodes: BTreeSet<NodeId>,
    boards: BTreeSet<BoardId>,
    /// Edges that go, by their ends in both directions.
    edges: BTreeMap<(NodeId, NodeId), BTreeSet<EdgeId>>,
    references: BTreeMap<(NodeId, &'a PropKey), NetTargets<'a>>,
}

impl<'a> Effects<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let mut effects = Self {
            nodes: BTreeSet::new(),
            boards: BTreeSet::new(),
            edges: BTreeMap::new(),
            references: BTreeMap::new(),
        };
        for change in changes {
            match change {
                Change::Node { id, before: Some(_), after: None } => drop(effects.nodes.insert(*id)),
                Change::Board { id, before: Some(_), after: None } => drop(effects.boards.insert(*id)),
                Change::Edge { id, before: Some(edge), after: None } => {
                    let (source, target) = (edge.source.node, edge.target.node);
                    for ends in [(source, target), (target, source)] {
                        effects.edges.entry(ends).or_default().insert(*id);
                    }
                }
                Change::References { node, key, before, after } => {
                    effects
                        .references
                        .entry((*node, key))
                        .or_insert((before.as_slice(), after.as_slice()))
                        .1 = after;
                }
                _ => {}
            }
        }
        effects
    }

    /// The removals that a change follows from; none if it was asked for in its own right.
    fn causes(&self, change: &Change) -> BTreeSet<Subject> {
        let node = |id: NodeId| self.nodes.contains(&id).then_some(Subject::Node(id));
        match change {
            Change::Node { before: Some(gone), after: None, .. } => {
                let board = || self.boards.contains(&gone.board).then_some(Subject::Board(gone.board));
                let inside = gone.parent.and_then(node);
                inside.or_else(|| board().filter(|_| gone.parent.is_none())).into_iter().collect()
            }
            Change::Edge { before: Some(edge), after: None, .. } => {
                [edge.source.node, edge.target.node].into_iter().filter_map(node).collect()
            }
            // A node that goes takes its own references along.
            Change::References { node: holder, key, .. } if !self.nodes.contains(holder) => {
                let Some((before, after)) = self.references.get(&(*holder, key)) else {
                    return BTreeSet::new();
                };
                let lost = lost(before, after);
                let causes: Vec<BTreeSet<Subject>> =
                    lost.iter().map(|target| self.causes_of_loss(*holder, *target)).collect();
                let is_effect = after.iter().all(|target| before.contains(target))
                    && causes.iter().all(|causes| !causes.is_empty());
                if is_effect { causes.into_iter().flatten().collect() } else { BTreeSet::new() }
            }
            _ => BTreeSet::new(),
        }
    }

    /// Why a node would lose a target: the target goes, or the edge that stands for the reference does.
    fn causes_of_loss(&self, holder: NodeId, target: NodeId) -> BTreeSet<Subject> {
        if self.nodes.contains(&target) {
            return BTreeSet::from([Subject::Node(target)]);
        }
        let edges = self.edges.get(&(holder, target)).into_iter().flatten();
        edges.map(|edge| Subject::Edge(*edge)).collect()
    }

    /// The causes of each element that is nothing but a side effect. Of an element that goes, only its removal counts.
    fn by_subject(&self, changes: &[Change]) -> BTreeMap<Subject, BTreeSet<Subject>> {
        let removed: BTreeSet<Subject> =
            changes.iter().filter(|change| is_removal(change)).map(Subject::of).collect();
        let counts = |change: &&Change| {
            !change.is_layout() && (is_removal(change) || !removed.contains(&Subject::of(change)))
        };
        let mut found: BTreeMap<Subject, BTreeSet<Subject>> = BTreeMap::new();
        let mut own: BTreeSet<Subject> = BTreeSet::new();
        for change in changes.iter().filter(counts) {
            let causes = self.causes(change);
            if causes.is_empty() {
                own.insert(Subject::of(change));
            }
            found.entry(Subject::of(change)).or_default().extend(causes);
        }
        found.retain(|subject, _| !own.contains(subject));
        found
    }
}

fn is_removal(change: &Change) -> bool {
    matches!(
        change,
        Change::Node { before: Some(_), after: None, .. } | Change::Edge { before: Some(_), after: None, .. }
    )
}

fn lost(before: &[NodeId], after: &[NodeId]) -> Vec<NodeId> {
    before.iter().filter(|target| !after.contains(target)).copied().collect()
}

/// The elements that are nothing but side effects, each with the removals that cause it: at least one of these is accepted
/// with it.
pub fn effects(changes: &[Change]) -> BTreeMap<Subject, BTreeSet<Subject>> {
    Effects::of(changes).by_subject(changes)
}

/// The chosen elements that are side effects of removals nobody chose.
pub fn effects_without_cause(
    changes: &[Change],
    chosen: &BTreeSet<Subject>,
) -> BTreeMap<Subject, BTreeSet<Subject>> {
    let mut effects = effects(changes);
    effects.retain(|subject, causes| chosen.contains(subject) && causes.is_disjoint(chosen));
    effects
}

/// Splits a proposal by the chosen elements: the changes that are taken, and those that stay proposed. A chosen element
/// keeps what it would have lost only through a removal that was not chosen.
pub(super) fn split(changes: &[Change], chosen: &BTreeSet<Subject>) -> (Vec<Change>, Vec<Change>) {
    let effects = Effects::of(changes);
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    let mut settled: BTreeSet<(NodeId, &PropKey)> = BTreeSet::new();
    for change in changes {
        if !chosen.contains(&Subject::of(change)) {
            left.push(change.clone());
            continue;
        }
        let causes = effects.causes(change);
        let Change::References { node, key, .. } = change else {
            taken.push(change.clone());
            continue;
        };
        if causes.is_subset(chosen) {
            taken.push(change.clone());
            continue;
        }
        // All changes of this reference are settled at its first one.
        let Some((before, after)) = effects.references.get(&(*node, key)) else { continue };
        if !settled.insert((*node, key)) {
            continue;
        }
        let stays = |target: &NodeId| effects.causes_of_loss(*node, *target).is_disjoint(chosen);
        let between: Vec<NodeId> =
            before.iter().filter(|target| after.contains(target) || stays(target)).copied().collect();
        let reference = |before: &[NodeId], after: &[NodeId]| {
            let (before, after) = (before.to_vec(), after.to_vec());
            Change::References { node: *node, key: key.clone(), before, after }
        };
        if between != *before {
            taken.push(reference(before, &between));
        }
        if between != *after {
            left.push(reference(&between, after));
        }
    }
    (taken, left)
}
