//! The workspace goes on under what waits. A proposal whose elements were left alone moves along, which costs nothing: only
//! those that touch or build on a changed element, or want a name or a place that was taken, are looked at.

use super::{
    queue::{Queue, is_over},
    refit::{is_crowded, refit},
    words::lines,
};
use crate::{Snapshot, spatial::Room};
use imbl::{OrdMap, OrdSet};
use shared_protocol::{
    BoardName, Change, Name, Placement, Proposal, ProposalId, ProposalState, Subject, change::inverse,
    proposal::Step,
};
use std::{collections::BTreeSet, sync::Arc};

/// Reasons that are kept with a stale proposal.
const MOST_REASONS: usize = 20;

/// What can make a proposal look at itself again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Concern {
    Subject(Subject),
    /// It would take this away, so nobody may build on it.
    Gone(Subject),
    /// On whichever board.
    Name(Name),
    BoardName(BoardName),
    Room(Room),
}

/// The open proposals by what concerns them.
#[derive(Debug, Clone, Default)]
pub(super) struct Touching(OrdMap<Concern, OrdSet<ProposalId>>);

impl Touching {
    pub(super) fn replace(&mut self, before: Option<&Proposal>, after: &Proposal) {
        let before = before.filter(|before| before.state == ProposalState::Open);
        let after = Some(after).filter(|after| after.state == ProposalState::Open);
        if let (Some(before), Some(after)) = (before, after)
            && before.version == after.version
        {
            return;
        }
        for (proposal, is_there) in before.map(|p| (p, false)).into_iter().chain(after.map(|p| (p, true))) {
            for concern in concerns(proposal) {
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

    fn concerned(&self, concerns: impl IntoIterator<Item = Concern>) -> BTreeSet<ProposalId> {
        concerns.into_iter().filter_map(|concern| self.0.get(&concern)).flatten().copied().collect()
    }
}

fn concerns(proposal: &Proposal) -> BTreeSet<Concern> {
    let Proposal { changes, chosen, .. } = proposal;
    let touched = changes.iter().map(Subject::of).chain(changes.iter().flat_map(mentioned));
    let rooms = changes.iter().filter_map(|change| match change {
        Change::Node { id, before: None, after: Some(node) } if chosen.places.contains(id) => {
            Some(Concern::Room((node.board, node.parent)))
        }
        _ => None,
    });
    let gone =
        changes.iter().filter(|change| takes_away(change)).map(|change| Concern::Gone(Subject::of(change)));
    touched.map(Concern::Subject).chain(gone).chain(changes.iter().filter_map(claimed)).chain(rooms).collect()
}

fn takes_away(change: &Change) -> bool {
    matches!(change, Change::Node { before: Some(_), after: None, .. } | Change::Board { after: None, .. })
}

/// What somebody's change builds on. It matters to whoever would take that away, and a container that was put into another
/// one also to whoever moves either.
fn built_on(change: &Change) -> Vec<Concern> {
    let on = mentioned(change);
    let moved = matches!(change, Change::Parent { .. }).then(|| on.clone());
    let moved = moved.into_iter().flatten().map(Concern::Subject);
    on.into_iter().map(Concern::Gone).chain(moved).collect()
}

/// The name that a change takes.
fn claimed(change: &Change) -> Option<Concern> {
    match change {
        Change::Node { before: None, after: Some(node), .. } => Some(Concern::Name(node.name.clone())),
        Change::Name { after, .. } => Some(Concern::Name(after.clone())),
        Change::Board { after: Some(board), .. } => Some(Concern::BoardName(board.name.clone())),
        _ => None,
    }
}

impl Queue {
    /// The workspace went on to `snapshot` by somebody's changes. A proposal whose elements were left alone moves along; one
    /// whose elements were changed is stale until somebody looks again; one of which only a place, or a name that nobody
    /// had asked for, was taken gets along without it, as a new version. Gives those that are other than they were.
    pub fn moved(&mut self, snapshot: &Snapshot, changes: &[Change], by: &str) -> Vec<Arc<Proposal>> {
        self.revision = snapshot.revision();
        let step = Moved { snapshot, changes, by };
        let touched = changes.iter().map(|change| Concern::Subject(Subject::of(change)));
        let taken = changes.iter().filter_map(claimed).chain(changes.iter().flat_map(built_on));
        let mut hit = self.touching.concerned(touched.chain(taken));
        let added = step.added();
        let crowded = self.touching.concerned(added.iter().map(|(room, _)| Concern::Room(*room)));
        hit.extend(
            crowded.into_iter().filter(|id| self.get(*id).is_some_and(|known| is_crowded(known, &added))),
        );
        let meant: BTreeSet<Subject> =
            changes.iter().filter(|change| !change.is_layout()).map(Subject::of).collect();
        let mut others = Vec::new();
        for id in hit {
            let Some(known) = self.get(id) else { continue };
            if let Some(moved) = step.under(known, &meant) {
                others.push(self.put(moved));
            }
        }
        others
    }

    /// Ends what waited too long; what it would have changed is not kept.
    pub fn expire(&mut self, now: u64) -> Vec<Arc<Proposal>> {
        let over: Vec<Arc<Proposal>> =
            self.iter().filter(|p| !is_over(&p.state) && p.expires <= now).cloned().collect();
        let expired =
            |p: &Proposal| Proposal { state: ProposalState::Expired, changes: Vec::new(), ..p.clone() };
        over.iter().map(|p| self.put(expired(p))).collect()
    }
}

/// One step of the workspace.
struct Moved<'a> {
    snapshot: &'a Snapshot,
    changes: &'a [Change],
    by: &'a str,
}

impl Moved<'_> {
    /// What is new, with where it stands.
    fn added(&self) -> Vec<(Room, Placement)> {
        let added = self.changes.iter().filter_map(|change| match change {
            Change::Node { id, before: None, after: Some(node) } => {
                Some(((node.board, node.parent), self.snapshot.placement(*id)?))
            }
            _ => None,
        });
        added.collect()
    }

    /// A proposal after this step, which meant these elements and moved this and that; none when it is as it was.
    fn under(&self, proposal: &Proposal, meant: &BTreeSet<Subject>) -> Option<Proposal> {
        let base = self.snapshot.revision();
        let stale = |why: Vec<String>| {
            Some(Proposal { state: ProposalState::Stale { why: self.told(why) }, base, ..proposal.clone() })
        };
        let changed: BTreeSet<Subject> =
            proposal.subjects().into_iter().filter(|own| meant.contains(own)).collect();
        if !changed.is_empty() {
            return stale(self.in_words(&changed));
        }
        match refit(self.snapshot, proposal) {
            Err(why) => stale(why),
            Ok(fitted) if !fitted.differs => None,
            Ok(fitted) => {
                let mut next = Proposal { base, version: proposal.version + 1, ..proposal.clone() };
                next.changes = fitted.overlay.changes;
                next.steps.extend(fitted.notes.into_iter().map(chosen_again));
                Some(next)
            }
        }
    }

    /// What this step did to these elements, in domain words.
    fn in_words(&self, subjects: &BTreeSet<Subject>) -> Vec<String> {
        let own: Vec<Change> =
            self.changes.iter().filter(|change| subjects.contains(&Subject::of(change))).cloned().collect();
        let mut before = self.snapshot.clone();
        for change in inverse(self.changes) {
            // What cannot be taken back is told as it is now.
            let _ = before.apply_change(&change);
        }
        lines(&before, self.snapshot, &own).into_iter().map(|line| line.text).collect()
    }

    fn told(&self, why: Vec<String>) -> Vec<String> {
        let by = if self.by.is_empty() { "somebody" } else { self.by };
        let more = why.len().saturating_sub(MOST_REASONS);
        let first = why.into_iter().take(MOST_REASONS).map(|reason| format!("{by}: {reason}"));
        first.chain((more > 0).then(|| format!("and {more} more"))).collect()
    }
}

/// Told among the calls of the agent, so that agent and reviewer both read it.
pub(super) fn chosen_again(note: String) -> Step {
    Step { summary: note, by_reviewer: None }
}

/// The elements that a change depends on besides its own.
pub(super) fn mentioned(change: &Change) -> Vec<Subject> {
    match change {
        Change::Node { before, after, .. } => before
            .iter()
            .chain(after)
            .flat_map(|node| {
                let targets = node.references.values().flatten().copied();
                targets.chain(node.parent).map(Subject::Node).chain([Subject::Board(node.board)])
            })
            .collect(),
        Change::Parent { before, after, .. } => {
            before.iter().chain(after).map(|id| Subject::Node(*id)).collect()
        }
        Change::References { before, after, .. } => {
            before.iter().chain(after).map(|id| Subject::Node(*id)).collect()
        }
        Change::Edge { before, after, .. } => before
            .iter()
            .chain(after)
            .flat_map(|edge| [Subject::Node(edge.source.node), Subject::Node(edge.target.node)])
            .collect(),
        _ => Vec::new(),
    }
}
