//! The workspace with a proposal applied to it, computed from the replica with the code that main decides with. It is
//! only shown; nothing changes.

use crate::replica::ReplicatedWorkspace;
use authority::{ProblemIndex, Snapshot, proposals::ProposalOverlay};
use canvas::ProposedBoard;
use shared_protocol::{BoardId, review::ProposalDetails};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug)]
pub(crate) struct ProposedWorkspace {
    pub(crate) after: Snapshot,
    pub(crate) problems: ProblemIndex,
    pub(crate) problem_counts: BTreeMap<BoardId, usize>,
    /// The touched elements of each board.
    boards: BTreeMap<BoardId, Arc<ProposedBoard>>,
}

impl ProposedWorkspace {
    /// Returns `None` when the changes do not apply to the workspace.
    pub(crate) fn build(
        workspace: &ReplicatedWorkspace,
        proposal: &ProposalDetails,
        generation: u32,
    ) -> Option<Self> {
        let before = &workspace.snapshot;
        let after = apply_proposal(before, proposal)?;
        let mut problems = workspace.problems.clone();
        problems.update(&after, &proposal.changes);
        let touched: BTreeSet<BoardId> =
            proposal.elements.iter().filter_map(|element| element.board).collect();
        let drawn = |board: BoardId| {
            let proposed = ProposedBoard::build(before, &after, board, &proposal.elements, generation);
            (board, Arc::new(proposed))
        };
        let boards = touched.into_iter().map(drawn).collect();
        let problem_counts = crate::replica::count(&problems);
        Some(Self { after, problems, problem_counts, boards })
    }

    pub(crate) fn board(&self, board: BoardId) -> Option<&Arc<ProposedBoard>> {
        self.boards.get(&board)
    }
}

fn apply_proposal(before: &Snapshot, proposal: &ProposalDetails) -> Option<Snapshot> {
    let mut after = before.clone();
    match after.apply(before.revision().next(), &proposal.changes) {
        Ok(()) => Some(after),
        // The replica has moved on: draws the part that still applies.
        Err(_) => ProposalOverlay::rebase_strict(before, &proposal.changes).ok().map(|overlay| overlay.state),
    }
}
