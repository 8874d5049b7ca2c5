//! Generated files of boards, generated again only as far as something changed. Any thread may request them; two threads that
//! request the same board wait for each other, so that the work is done once.

use super::workspace_inputs::TerraformWorkspaceInputs;
use shared_protocol::{Board, BoardId, Refusal};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use terraform::{GenerateInput, GeneratedHcl, HclGenerator, TerraformProjectSettings};

/// A board as generated files, for one state.
pub(super) struct GeneratedBoard {
    pub(super) inputs: TerraformWorkspaceInputs,
    pub(super) board: Board,
    /// The settings of the board.
    pub(super) settings: TerraformProjectSettings,
    pub(super) generated: GeneratedHcl,
}

#[derive(Default)]
pub(super) struct GeneratedBoards {
    boards: Mutex<BTreeMap<BoardId, Arc<Mutex<GeneratedBoardCache>>>>,
}

#[derive(Default)]
struct GeneratedBoardCache {
    generator: HclGenerator,
    last: Option<Arc<GeneratedBoard>>,
}

impl GeneratedBoards {
    pub(super) fn draft(
        &self,
        ground: &TerraformWorkspaceInputs,
        id: BoardId,
    ) -> Result<Arc<GeneratedBoard>, Refusal> {
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
        let draft = Arc::new(GeneratedBoard { inputs: ground.clone(), board, settings, generated });
        kept.last = Some(Arc::clone(&draft));
        Ok(draft)
    }
}
