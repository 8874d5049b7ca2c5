//! The workspace with a proposal applied.

use super::{field_clashes::describe_conflict, rebase_queue::mentioned_subjects};
use crate::{ApplyError, Snapshot, decide::refusal_for_apply_error, rebase};
use shared_protocol::{Change, ProposalSubject, Refusal, RefusalCode};
use std::collections::BTreeSet;

/// The current state with a proposal's changes applied.
#[derive(Debug, Clone)]
pub struct ProposalOverlay {
    pub state: Snapshot,
    /// The changes, rebased onto the current state.
    pub changes: Vec<Change>,
}

impl ProposalOverlay {
    /// Rebases changes onto a state; `Err` describes the conflicts.
    pub fn rebase_strict(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Vec<String>> {
        Self::rebase_with(snapshot, changes, |_| false)
    }

    /// As [`Self::rebase_strict`], but a node that was moved or resized in the meantime keeps its place, unless the changes are
    /// layout only.
    pub fn rebase_keeping_places(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Vec<String>> {
        let only_places = changes.iter().all(Change::is_layout);
        Self::rebase_with(snapshot, changes, |change| {
            !only_places && matches!(change, Change::Placement { after: Some(_), .. })
        })
    }

    fn rebase_with(
        snapshot: &Snapshot,
        changes: &[Change],
        may_go: impl Fn(&Change) -> bool,
    ) -> Result<Self, Vec<String>> {
        let rebased = rebase(snapshot, changes);
        let serious: Vec<&(Change, ApplyError)> =
            rebased.conflicts.iter().filter(|(change, _)| !may_go(change)).collect();
        if !serious.is_empty() {
            return Err(describe_conflicts(snapshot, &serious));
        }
        let mut state = snapshot.clone();
        let applied: Result<(), ApplyError> =
            rebased.fitting.iter().try_for_each(|change| state.apply_change(change));
        match applied {
            Ok(()) => Ok(Self { state, changes: rebased.fitting }),
            Err(error) => Err(vec![error.to_string()]),
        }
    }

    /// As [`Self::rebase_strict`], with a refusal for the reviewer.
    pub(super) fn rebase_or_refuse(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Refusal> {
        Self::rebase_strict(snapshot, changes).map_err(stale_refusal)
    }

    /// Adds changes that were decided on this state.
    pub(super) fn add(&mut self, changes: &[Change]) -> Result<(), Refusal> {
        let mut state = self.state.clone();
        for change in changes {
            state.apply_change(change).map_err(refusal_for_apply_error)?;
        }
        self.state = state;
        self.changes.extend_from_slice(changes);
        Ok(())
    }
}

/// Describes the conflicts. A node that cannot be added hides the conflicts that only follow from it.
fn describe_conflicts(snapshot: &Snapshot, conflicts: &[&(Change, ApplyError)]) -> Vec<String> {
    let is_addition = |change: &Change| matches!(change, Change::Node { before: None, .. });
    let missing: BTreeSet<ProposalSubject> = conflicts
        .iter()
        .filter(|(change, _)| is_addition(change))
        .map(|(change, _)| ProposalSubject::of_change(change))
        .collect();
    let follows = |change: &Change| {
        (!is_addition(change) && missing.contains(&ProposalSubject::of_change(change)))
            || mentioned_subjects(change).iter().any(|subject| missing.contains(subject))
    };
    let words = |(change, error): &&(Change, ApplyError)| describe_conflict(snapshot, change, error);
    let mut told: Vec<String> = conflicts.iter().filter(|(change, _)| !follows(change)).map(words).collect();
    if told.is_empty() {
        told = conflicts.iter().map(words).collect();
    }
    told.dedup();
    told
}

/// The refusal for a proposal that conflicts with the current state.
pub(super) fn stale_refusal(why: Vec<String>) -> Refusal {
    let shown = why.iter().take(5).cloned().collect::<Vec<_>>().join("; ");
    Refusal::new(
        RefusalCode::Stale,
        format!("the workspace has changed since this proposal was made: {shown}"),
    )
    .hint("Withdraw it and start again from the current state.")
}
