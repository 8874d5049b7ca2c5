//! Rebase of the review queue: keeps open proposals valid while the workspace changes.
//!
//! People keep working while proposals are open, and each operation can invalidate any of them. Rebasing all of them on
//! each operation would be too slow, so [`RefitTriggerIndex`] indexes the open proposals by their triggers ([`RefitTrigger`]), the few
//! things that can invalidate them: an element that they touch or mention, an element that they remove, a name that they
//! take, a container in which the workbench chose a place for them. [`ReviewQueue::rebase_after`] looks up the triggers of the
//! operation and visits only the proposals that it finds. All others move along at no cost: the queue stores one
//! revision for all open proposals, not one for each.
//!
//! # Example
//!
//! Revision r7 has a VPC `net` with `cidr_block` 10.1.0.0/16. Three proposals are open, all at version 1:
//!
//! ```text
//! #1  adds a bucket; name (`s3_bucket`) and place are left to the workbench
//!       triggers: the new node, the board, the name s3_bucket, new content on the board
//! #2  sets cidr_block of `net` to 10.2.0.0/16
//!       triggers: the node net
//! #3  adds a bucket named `logs` at a given place
//!       triggers: the new node, the board, the name logs
//! ```
//!
//! A person continues to work:
//!
//! 1. r8 adds a bucket, which gets the free name `s3_bucket` and the place that #1 has. The name finds #1. Refit (see
//!    `refit.rs`) chooses another name and place, notes both among its steps, and makes version 2. #2 and #3 are not
//!    visited.
//! 2. r9 moves `net`. The node finds #2. The operation is layout only and #2 still applies: it stays as it is.
//! 3. r10 sets cidr_block of `net` to 10.9.0.0/16. The node finds #2. The content of its element changed, so #2 becomes
//!    stale, with the reason "cidr_block of net: …". It is not rebased silently, even if its changes still apply: the
//!    reviewer must see the change first.
//!
//! ```text
//! workspace  r7 ───────── r8 ───────── r9 ───────── r10
//!                         add bucket   move net     set cidr_block of net
//! #1         v1 ────────► v2 ─────────────────────────►  open: s3_bucket_2, at another place
//! #2         v1 ──────────────────────────────────► ✕    stale
//! #3         v1 ──────────────────────────────────────►  open, never visited
//! ```
//!
//! Afterwards:
//!
//! - A verdict on version 1 of #1 is refused: the reviewer saw another name.
//! - A verdict on #3 that was given at r9 is refused as well: a verdict names the revision it was given on, which is r10
//!   by now. The content hash of #3 is unchanged, so a second look is enough.
//! - #2 stays stale until [`ReviewQueue::rebase_stale`]. Here that is refused too: `before` is 10.1.0.0/16 and the state has
//!   10.9.0.0/16. If r10 had changed only the label of `net`, #2 would become version 2, open.

use super::{
    queue::{ReviewQueue, is_decided},
    refit::{overlaps_auto_place, refit},
    summary_lines::lines,
};
use crate::{Snapshot, occupancy::ContainerScope};
use imbl::{OrdMap, OrdSet};
use shared_protocol::{
    BoardName, Change, NodeName, Placement, Proposal, ProposalId, ProposalState, ProposalSubject,
    change::inverse, proposal::ProposalStep,
};
use std::{collections::BTreeSet, sync::Arc};

/// The maximum number of reasons to store with a stale proposal.
const MAX_STALE_REASONS: usize = 20;

/// A trigger for a refit: a key under which a change of the workspace can invalidate a proposal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RefitTrigger {
    Element(ProposalSubject),
    /// The proposal removes this element, so a change that depends on the element conflicts.
    RemovedElement(ProposalSubject),
    /// A node name, on any board.
    Name(NodeName),
    BoardName(BoardName),
    NewContent(ContainerScope),
}

/// The open proposals by their triggers.
#[derive(Debug, Clone, Default)]
pub(super) struct RefitTriggerIndex(OrdMap<RefitTrigger, OrdSet<ProposalId>>);

impl RefitTriggerIndex {
    pub(super) fn replace(&mut self, before: Option<&Proposal>, after: &Proposal) {
        let before = before.filter(|before| before.state == ProposalState::Open);
        let after = Some(after).filter(|after| after.state == ProposalState::Open);
        if let (Some(before), Some(after)) = (before, after)
            && before.version == after.version
        {
            return;
        }
        for (proposal, is_there) in before.map(|p| (p, false)).into_iter().chain(after.map(|p| (p, true))) {
            for concern in triggers_of(proposal) {
                let mut ids = self.0.remove(&concern).unwrap_or_default();
                if is_there {
                    ids.insert(proposal.id);
                } else {
                    ids.remove(&proposal.id);
                }
                if !ids.is_empty() {
                    self.0.insert(concern, ids);
                }
            }
        }
    }

    fn find(&self, concerns: impl IntoIterator<Item = RefitTrigger>) -> BTreeSet<ProposalId> {
        concerns.into_iter().filter_map(|concern| self.0.get(&concern)).flatten().copied().collect()
    }
}

fn triggers_of(proposal: &Proposal) -> BTreeSet<RefitTrigger> {
    let Proposal { changes, chosen, .. } = proposal;
    let touched =
        changes.iter().map(ProposalSubject::of_change).chain(changes.iter().flat_map(mentioned_subjects));
    let rooms = changes.iter().filter_map(|change| match change {
        Change::Node { id, before: None, after: Some(node) } if chosen.places.contains(id) => {
            Some(RefitTrigger::NewContent((node.board, node.parent)))
        }
        _ => None,
    });
    let gone = changes
        .iter()
        .filter(|change| removes_node_or_board(change))
        .map(|change| RefitTrigger::RemovedElement(ProposalSubject::of_change(change)));
    touched
        .map(RefitTrigger::Element)
        .chain(gone)
        .chain(changes.iter().filter_map(claimed_name))
        .chain(rooms)
        .collect()
}

fn removes_node_or_board(change: &Change) -> bool {
    matches!(change, Change::Node { before: Some(_), after: None, .. } | Change::Board { after: None, .. })
}

/// Returns the triggers of the elements that a change depends on: they find proposals that remove these elements and,
/// for a move into another container, proposals that move either node.
fn dependency_triggers(change: &Change) -> Vec<RefitTrigger> {
    let on = mentioned_subjects(change);
    let moved = matches!(change, Change::Parent { .. }).then(|| on.clone());
    let moved = moved.into_iter().flatten().map(RefitTrigger::Element);
    on.into_iter().map(RefitTrigger::RemovedElement).chain(moved).collect()
}

/// Returns the name that a change takes.
fn claimed_name(change: &Change) -> Option<RefitTrigger> {
    match change {
        Change::Node { before: None, after: Some(node), .. } => Some(RefitTrigger::Name(node.name.clone())),
        Change::Name { after, .. } => Some(RefitTrigger::Name(after.clone())),
        Change::Board { after: Some(board), .. } => Some(RefitTrigger::BoardName(board.name.clone())),
        _ => None,
    }
}

impl ReviewQueue {
    /// Rebases the open proposals after `changes` by `by` led to `snapshot`. A proposal whose elements changed becomes
    /// stale. One that only lost a place, or a name that the workbench had chosen, gets another and a new version. All
    /// others stay. Returns the proposals that differ. The module documentation has an example.
    pub fn rebase_after(&mut self, snapshot: &Snapshot, changes: &[Change], by: &str) -> Vec<Arc<Proposal>> {
        self.revision = snapshot.revision();
        let step = WorkspaceOperationStep { snapshot, changes, by };
        let touched = changes.iter().map(|change| RefitTrigger::Element(ProposalSubject::of_change(change)));
        let taken =
            changes.iter().filter_map(claimed_name).chain(changes.iter().flat_map(dependency_triggers));
        let mut hit = self.triggers.find(touched.chain(taken));
        let added = step.added_places();
        let crowded = self.triggers.find(added.iter().map(|(room, _)| RefitTrigger::NewContent(*room)));
        hit.extend(
            crowded
                .into_iter()
                .filter(|id| self.get(*id).is_some_and(|known| overlaps_auto_place(known, &added))),
        );
        let meant: BTreeSet<ProposalSubject> =
            changes.iter().filter(|change| !change.is_layout()).map(ProposalSubject::of_change).collect();
        let mut others = Vec::new();
        for id in hit {
            let Some(known) = self.get(id) else { continue };
            if let Some(moved) = step.rebase_proposal(known, &meant) {
                others.push(self.store(moved));
            }
        }
        others
    }

    /// Expires undecided proposals past their lifetime and drops their changes.
    pub fn expire(&mut self, now: u64) -> Vec<Arc<Proposal>> {
        let over: Vec<Arc<Proposal>> =
            self.iter().filter(|p| !is_decided(&p.state) && p.expires <= now).cloned().collect();
        let expired =
            |p: &Proposal| Proposal { state: ProposalState::Expired, changes: Vec::new(), ..p.clone() };
        over.iter().map(|p| self.store(expired(p))).collect()
    }
}

/// One operation of the workspace, from the view of the proposals.
struct WorkspaceOperationStep<'a> {
    snapshot: &'a Snapshot,
    changes: &'a [Change],
    by: &'a str,
}

impl WorkspaceOperationStep<'_> {
    /// Returns the places of the added nodes.
    fn added_places(&self) -> Vec<(ContainerScope, Placement)> {
        let added = self.changes.iter().filter_map(|change| match change {
            Change::Node { id, before: None, after: Some(node) } => {
                Some(((node.board, node.parent), self.snapshot.placement(*id)?))
            }
            _ => None,
        });
        added.collect()
    }

    /// Returns the proposal rebased onto this step, or `None` when it does not differ. `meant` holds the elements that
    /// changed in more than their place.
    fn rebase_proposal(&self, proposal: &Proposal, meant: &BTreeSet<ProposalSubject>) -> Option<Proposal> {
        let base = self.snapshot.revision();
        let stale = |why: Vec<String>| {
            Some(Proposal {
                state: ProposalState::Stale { why: self.describe_reasons(why) },
                base,
                ..proposal.clone()
            })
        };
        let changed: BTreeSet<ProposalSubject> =
            proposal.subjects().into_iter().filter(|own| meant.contains(own)).collect();
        if !changed.is_empty() {
            return stale(self.describe_changes(&changed));
        }
        match refit(self.snapshot, proposal) {
            Err(why) => stale(why),
            Ok(fitted) if !fitted.differs => None,
            Ok(fitted) => {
                let mut next = Proposal { base, version: proposal.version + 1, ..proposal.clone() };
                next.changes = fitted.overlay.changes;
                next.steps.extend(fitted.notes.into_iter().map(note_step));
                Some(next)
            }
        }
    }

    /// Describes the changes of this step to these elements.
    fn describe_changes(&self, subjects: &BTreeSet<ProposalSubject>) -> Vec<String> {
        let own: Vec<Change> = self
            .changes
            .iter()
            .filter(|change| subjects.contains(&ProposalSubject::of_change(change)))
            .cloned()
            .collect();
        let mut before = self.snapshot.clone();
        for change in inverse(self.changes) {
            // A change that cannot be inverted is described by the current state.
            let _ = before.apply_change(&change);
        }
        lines(&before, self.snapshot, &own).into_iter().map(|line| line.text).collect()
    }

    fn describe_reasons(&self, why: Vec<String>) -> Vec<String> {
        let by = if self.by.is_empty() { "someone" } else { self.by };
        let more = why.len().saturating_sub(MAX_STALE_REASONS);
        let first = why.into_iter().take(MAX_STALE_REASONS).map(|reason| format!("{by}: {reason}"));
        first.chain((more > 0).then(|| format!("and {more} more"))).collect()
    }
}

/// Wraps a note as a step of the proposal, so that both agent and reviewer see it.
pub(super) fn note_step(note: String) -> ProposalStep {
    ProposalStep { summary: note, by_reviewer: None }
}

/// Returns the elements that a change depends on besides its own.
pub(super) fn mentioned_subjects(change: &Change) -> Vec<ProposalSubject> {
    match change {
        Change::Node { before, after, .. } => before
            .iter()
            .chain(after)
            .flat_map(|node| {
                let targets = node.references.values().flatten().copied();
                targets
                    .chain(node.parent)
                    .map(ProposalSubject::Node)
                    .chain([ProposalSubject::Board(node.board)])
            })
            .collect(),
        Change::Parent { before, after, .. } => {
            before.iter().chain(after).map(|id| ProposalSubject::Node(*id)).collect()
        }
        Change::References { before, after, .. } => {
            before.iter().chain(after).map(|id| ProposalSubject::Node(*id)).collect()
        }
        Change::Edge { before, after, .. } => before
            .iter()
            .chain(after)
            .flat_map(|edge| {
                [ProposalSubject::Node(edge.source.node), ProposalSubject::Node(edge.target.node)]
            })
            .collect(),
        _ => Vec::new(),
    }
}
