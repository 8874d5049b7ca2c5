//! Side effects of removals: changes that a proposal makes only because an element is removed. A side effect is
//! accepted together with its cause or not at all, so that an unselected removal leaves no trace.
//!
//! ```text
//! removes subnet `a`          the cause, confirmed once for everything below
//! ├ removes instance `web`    effect of `a`: it is inside `a`
//! │ └ removes edge web → db   effect of `web`, and of `db` if that is removed too: one cause is enough
//! └ `api` loses its subnet    effect of `a`; other changes of `api` are independent
//! ```
//!
//! Changes do not record why they were made. A change counts as a side effect if the removal alone would have made it,
//! even when the agent also requested it.

use shared_protocol::{BoardId, Change, EdgeId, NodeId, PropKey, ProposalSubject};
use std::collections::{BTreeMap, BTreeSet};

/// The targets of one reference before and after the whole proposal.
type NetReferenceTargets<'a> = (&'a [NodeId], &'a [NodeId]);

struct RemovalEffects<'a> {
    nodes: BTreeSet<NodeId>,
    boards: BTreeSet<BoardId>,
    /// The removed edges, by their ends in both directions.
    edges: BTreeMap<(NodeId, NodeId), BTreeSet<EdgeId>>,
    references: BTreeMap<(NodeId, &'a PropKey), NetReferenceTargets<'a>>,
}

impl<'a> RemovalEffects<'a> {
    fn from_changes(changes: &'a [Change]) -> Self {
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

    /// Returns the removals that cause a change; empty if the change is independent.
    fn causes(&self, change: &Change) -> BTreeSet<ProposalSubject> {
        let node = |id: NodeId| self.nodes.contains(&id).then_some(ProposalSubject::Node(id));
        match change {
            Change::Node { before: Some(gone), after: None, .. } => {
                let board =
                    || self.boards.contains(&gone.board).then_some(ProposalSubject::Board(gone.board));
                let inside = gone.parent.and_then(node);
                inside.or_else(|| board().filter(|_| gone.parent.is_none())).into_iter().collect()
            }
            Change::Edge { before: Some(edge), after: None, .. } => {
                [edge.source.node, edge.target.node].into_iter().filter_map(node).collect()
            }
            // The references of a removed node are removed with it.
            Change::References { node: holder, key, .. } if !self.nodes.contains(holder) => {
                let Some((before, after)) = self.references.get(&(*holder, key)) else {
                    return BTreeSet::new();
                };
                let lost = removed_nodes(before, after);
                let causes: Vec<BTreeSet<ProposalSubject>> =
                    lost.iter().map(|target| self.causes_of_loss(*holder, *target)).collect();
                let is_effect = after.iter().all(|target| before.contains(target))
                    && causes.iter().all(|causes| !causes.is_empty());
                if is_effect { causes.into_iter().flatten().collect() } else { BTreeSet::new() }
            }
            _ => BTreeSet::new(),
        }
    }

    /// Returns the removals that make a node lose a target: the target's, or that of the edge behind the reference.
    fn causes_of_loss(&self, holder: NodeId, target: NodeId) -> BTreeSet<ProposalSubject> {
        if self.nodes.contains(&target) {
            return BTreeSet::from([ProposalSubject::Node(target)]);
        }
        let edges = self.edges.get(&(holder, target)).into_iter().flatten();
        edges.map(|edge| ProposalSubject::Edge(*edge)).collect()
    }

    /// Returns the causes of each element that is only a side effect. Of a removed element, only the removal counts.
    fn causes_by_subject(&self, changes: &[Change]) -> BTreeMap<ProposalSubject, BTreeSet<ProposalSubject>> {
        let removed: BTreeSet<ProposalSubject> =
            changes.iter().filter(|change| is_removal(change)).map(ProposalSubject::of_change).collect();
        let counts = |change: &&Change| {
            !change.is_layout()
                && (is_removal(change) || !removed.contains(&ProposalSubject::of_change(change)))
        };
        let mut found: BTreeMap<ProposalSubject, BTreeSet<ProposalSubject>> = BTreeMap::new();
        let mut own: BTreeSet<ProposalSubject> = BTreeSet::new();
        for change in changes.iter().filter(counts) {
            let causes = self.causes(change);
            if causes.is_empty() {
                own.insert(ProposalSubject::of_change(change));
            }
            found.entry(ProposalSubject::of_change(change)).or_default().extend(causes);
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

fn removed_nodes(before: &[NodeId], after: &[NodeId]) -> Vec<NodeId> {
    before.iter().filter(|target| !after.contains(target)).copied().collect()
}

/// Returns the elements that are only side effects, with the removals that cause them. At least one cause must be
/// accepted with each.
pub fn effects(changes: &[Change]) -> BTreeMap<ProposalSubject, BTreeSet<ProposalSubject>> {
    RemovalEffects::from_changes(changes).causes_by_subject(changes)
}

/// Returns the selected elements that are side effects of unselected removals.
pub fn effects_without_cause(
    changes: &[Change],
    chosen: &BTreeSet<ProposalSubject>,
) -> BTreeMap<ProposalSubject, BTreeSet<ProposalSubject>> {
    let mut effects = effects(changes);
    effects.retain(|subject, causes| chosen.contains(subject) && causes.is_disjoint(chosen));
    effects
}

/// Splits a proposal by the selected elements into the accepted changes and the rest. A selected element keeps the
/// targets that it would lose only through an unselected removal.
pub(super) fn split(changes: &[Change], chosen: &BTreeSet<ProposalSubject>) -> (Vec<Change>, Vec<Change>) {
    let effects = RemovalEffects::from_changes(changes);
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    let mut settled: BTreeSet<(NodeId, &PropKey)> = BTreeSet::new();
    for change in changes {
        if !chosen.contains(&ProposalSubject::of_change(change)) {
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
        // All changes of one reference are merged at its first change.
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
