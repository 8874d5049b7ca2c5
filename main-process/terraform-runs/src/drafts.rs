//! Generated files of boards, generated again only as far as something changed. Any thread may request them; two threads that
//! request the same board wait for each other, so that the work is done once.

use super::workspace_ground::WorkspaceInputs;
use shared_protocol::{Board, BoardId, Refusal};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use terraform::{GenerateInput, GeneratedHcl, HclGenerator, InfrastructureSettings};

/// A board as generated files, for one state.
pub(super) struct BoardDraft {
    pub(super) inputs: WorkspaceInputs,
    pub(super) board: Board,
    /// The settings of the board.
    pub(super) settings: InfrastructureSettings,
    pub(super) generated: GeneratedHcl,
}

#[derive(Default)]
pub(super) struct BoardDrafts {
    boards: Mutex<BTreeMap<BoardId, Arc<Mutex<DraftCache>>>>,
}

#[derive(Default)]
struct DraftCache {
    generator: HclGenerator,
    last: Option<Arc<BoardDraft>>,
}

impl BoardDrafts {
    pub(super) fn draft(&self, ground: &WorkspaceInputs, id: BoardId) -> Result<Arc<BoardDraft>, Refusal> {
        let board = ground.board(id)?.clone();
        let settings = ground.settings(&board)?;
        let kept = {
            let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
            if !boards.contains_key(&id) {
                // A removed board is not requested again.
                boards.retain(|known, _| ground.snapshot.board(*known).is_some());
            }
            Arc::clone(boards.entry(id).or_default())
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) =
            kept.last.as_ref().filter(|last| last.inputs.is_same(ground) && last.settings == settings)
        {
            return Ok(Arc::clone(last));
        }
        let input = GenerateInput { snapshot: &ground.snapshot, board: id, settings: &settings };
        let generated = kept.generator.generate(&input);
        let draft = Arc::new(BoardDraft { inputs: ground.clone(), board, settings, generated });
        kept.last = Some(Arc::clone(&draft));
        Ok(draft)
    }
}
