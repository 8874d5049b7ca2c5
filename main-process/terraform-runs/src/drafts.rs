//! The files of boards, made anew only as far as something changed. Any thread may ask; two that ask for the same board
//! wait for each other, so that the work is done once.

use super::ground::Ground;
use shared_protocol::{Board, BoardId, Refusal};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use terraform::{Generated, Generator, Input, Settings};

/// A board as files, at one moment.
pub(super) struct Draft {
    pub(super) ground: Ground,
    pub(super) board: Board,
    /// Those that hold for the board.
    pub(super) settings: Settings,
    pub(super) generated: Generated,
}

#[derive(Default)]
pub(super) struct Drafts {
    boards: Mutex<BTreeMap<BoardId, Arc<Mutex<Kept>>>>,
}

#[derive(Default)]
struct Kept {
    generator: Generator,
    last: Option<Arc<Draft>>,
}

impl Drafts {
    pub(super) fn of(&self, ground: &Ground, id: BoardId) -> Result<Arc<Draft>, Refusal> {
        let board = ground.board(id)?.clone();
        let settings = ground.settings(&board)?;
        let kept = {
            let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
            if !boards.contains_key(&id) {
                // A board that is gone is not asked for again.
                boards.retain(|known, _| ground.snapshot.board(*known).is_some());
            }
            Arc::clone(boards.entry(id).or_default())
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) =
            kept.last.as_ref().filter(|last| last.ground.is_same(ground) && last.settings == settings)
        {
            return Ok(Arc::clone(last));
        }
        let input = Input { snapshot: &ground.snapshot, board: id, settings: &settings };
        let generated = kept.generator.generate(&input);
        let draft = Arc::new(Draft { ground: ground.clone(), board, settings, generated });
        kept.last = Some(Arc::clone(&draft));
        Ok(draft)
    }
}
