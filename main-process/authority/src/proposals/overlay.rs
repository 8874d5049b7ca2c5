//! What the workspace would be with a proposal in it.

use crate::{ApplyError, Decision, Snapshot, decide, decide::refusal, rebase};
use shared_protocol::{Change, Code, Command, Refusal};

/// The present state with a proposal's changes over it.
#[derive(Debug, Clone)]
pub struct Overlay {
    pub state: Snapshot,
    /// The changes as they fit on the present state.
    pub changes: Vec<Change>,
}

impl Overlay {
    /// Puts changes over a state; what does not fit any more is named.
    pub fn over(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Vec<String>> {
        Self::fit(snapshot, changes, |_| false)
    }

    /// As [`Self::over`]; something that was moved or resized since stays where later work put it, unless places are all
    /// there is.
    pub fn lenient(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Vec<String>> {
        let only_places = changes.iter().all(Change::is_layout);
        Self::fit(snapshot, changes, |change| {
            !only_places && matches!(change, Change::Placement { after: Some(_), .. })
        })
    }

    fn fit(
        snapshot: &Snapshot,
        changes: &[Change],
        may_go: impl Fn(&Change) -> bool,
    ) -> Result<Self, Vec<String>> {
        let rebased = rebase(snapshot, changes);
        let conflicts: Vec<String> = rebased
            .conflicts
            .iter()
            .filter(|(change, _)| !may_go(change))
            .map(|(_, error)| error.to_string())
            .collect();
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        let mut state = snapshot.clone();
        let applied: Result<(), ApplyError> =
            rebased.fitting.iter().try_for_each(|change| state.apply_change(change));
        match applied {
            Ok(()) => Ok(Self { state, changes: rebased.fitting }),
            Err(error) => Err(vec![error.to_string()]),
        }
    }

    /// As [`Self::over`], with a refusal that says what to do.
    pub(super) fn or_stale(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Refusal> {
        Self::over(snapshot, changes).map_err(stale)
    }

    pub(super) fn lenient_or_stale(snapshot: &Snapshot, changes: &[Change]) -> Result<Self, Refusal> {
        Self::lenient(snapshot, changes).map_err(stale)
    }

    /// Decides a command on the overlay and adds what it does.
    pub(super) fn run(&mut self, command: &Command, seed: u64) -> Result<Decision, Refusal> {
        let decision = decide(&self.state, command, seed)?;
        self.add(&decision.changes)?;
        Ok(decision)
    }

    pub(super) fn add(&mut self, changes: &[Change]) -> Result<(), Refusal> {
        let mut state = self.state.clone();
        for change in changes {
            state.apply_change(change).map_err(refusal)?;
        }
        self.state = state;
        self.changes.extend_from_slice(changes);
        Ok(())
    }
}

fn stale(why: Vec<String>) -> Refusal {
    let shown = why.iter().take(5).cloned().collect::<Vec<_>>().join("; ");
    Refusal::new(Code::Stale, format!("the workspace changed under this proposal: {shown}"))
        .hint("Withdraw it and start again from what is there now.")
}
