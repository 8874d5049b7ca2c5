//! The workspace with a proposal applied to it, computed from the replica with the code that main decides with. It is
//! only shown; nothing changes.

use crate::replica::Workspace;
use authority::{Problems, Snapshot, proposals::Overlay};
use canvas::ProposedBoard;
use shared_protocol::{BoardId, review::OpenedProposal};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug)]
pub(crate) struct ProposedState {
    pub(crate) after: Snapshot,
    pub(crate) problems: Problems,
    pub(crate) problem_counts: BTreeMap<BoardId, usize>,
    /// The touched elements of each board.
    boards: BTreeMap<BoardId, Arc<ProposedBoard>>,
}

impl ProposedState {
    /// Returns `None` when the changes do not apply to the workspace.
    pub(crate) fn of(workspace: &Workspace, proposal: &OpenedProposal, generation: u32) -> Option<Self> {
        let before = &workspace.snapshot;
        let after = applied(before, proposal)?;
        let mut problems = workspace.problems.clone();
        problems.update(&after, &proposal.changes);
        let touched: BTreeSet<BoardId> =
            proposal.elements.iter().filter_map(|element| element.board).collect();
        let drawn = |board: BoardId| {
            let proposed = ProposedBoard::of(before, &after, board, &proposal.elements, generation);
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

fn applied(before: &Snapshot, proposal: &OpenedProposal) -> Option<Snapshot> {
    let mut after = before.clone();
    match after.apply(before.revision().next(), &proposal.changes) {
        Ok(()) => Some(after),
        // The replica has moved on: draws the part that still applies.
        Err(_) => Overlay::over(before, &proposal.changes).ok().map(|overlay| overlay.state),
    }
}
