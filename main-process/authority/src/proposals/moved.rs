//! The workspace goes on under what waits. A proposal whose elements were left alone moves along, which costs nothing: only
//! those that touch or build on a changed element are looked at.

use super::{
    overlay::Overlay,
    queue::{Queue, is_over},
};
use crate::Snapshot;
use imbl::{OrdMap, OrdSet};
use shared_protocol::{Change, Proposal, ProposalId, ProposalState, Subject};
use std::{collections::BTreeSet, sync::Arc};

/// The open proposals by the elements that they touch or build on.
#[derive(Debug, Clone, Default)]
pub(super) struct Touching(OrdMap<Subject, OrdSet<ProposalId>>);

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
            for subject in concerned(proposal) {
                let mut ids = self.0.remove(&subject).unwrap_or_default();
                if is_there {
                    ids.insert(proposal.id);
                } else {
                    ids.remove(&proposal.id);
                }
                if !ids.is_empty() {
                    self.0.insert(subject, ids);
                }
            }
        }
    }

    fn concerned(&self, subjects: impl IntoIterator<Item = Subject>) -> BTreeSet<ProposalId> {
        subjects.into_iter().filter_map(|subject| self.0.get(&subject)).flatten().copied().collect()
    }
}

fn concerned(proposal: &Proposal) -> BTreeSet<Subject> {
    let changes = &proposal.changes;
    changes.iter().map(Subject::of).chain(changes.iter().flat_map(mentioned)).collect()
}

impl Queue {
    /// The workspace went on to `snapshot`. A proposal whose elements were left alone moves along; one whose elements were
    /// changed is stale until somebody looks again; one of which only a place was taken leaves that place as it is, as a
    /// new version. Gives those that are other than they were.
    pub fn moved(&mut self, snapshot: &Snapshot, changes: &[Change]) -> Vec<Arc<Proposal>> {
        self.revision = snapshot.revision();
        let meant: BTreeSet<Subject> =
            changes.iter().filter(|change| !change.is_layout()).map(Subject::of).collect();
        let hit = self.touching.concerned(changes.iter().map(Subject::of));
        let mut others = Vec::new();
        for id in hit {
            let Some(known) = self.get(id) else { continue };
            if let Some(moved) = moved(known, snapshot, &meant) {
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

/// A proposal after others changed what is in `meant` and moved this and that; none when it is as it was.
fn moved(proposal: &Proposal, snapshot: &Snapshot, meant: &BTreeSet<Subject>) -> Option<Proposal> {
    let stale = |why: Vec<String>| {
        let base = snapshot.revision();
        Some(Proposal { state: ProposalState::Stale { why }, base, ..proposal.clone() })
    };
    if let Some(subject) = proposal.subjects().into_iter().find(|own| meant.contains(own)) {
        return stale(vec![format!("{subject} was changed since")]);
    }
    match Overlay::lenient(snapshot, &proposal.changes) {
        Err(why) => stale(why),
        Ok(overlay) if overlay.changes.len() == proposal.changes.len() => None,
        Ok(overlay) => {
            let (base, version) = (snapshot.revision(), proposal.version + 1);
            Some(Proposal { changes: overlay.changes, base, version, ..proposal.clone() })
        }
    }
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
