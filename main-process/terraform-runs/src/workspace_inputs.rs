//! The workspace as the writer published it last.

use authority::Snapshot;
use journal::{FileError, WorkspaceFiles, WorkspacePath};
use shared_protocol::{Board, BoardId, BoardKind, Refusal, RefusalCode};
use std::{path::PathBuf, sync::Arc};
use terraform::{TerraformProjectSettings, write::folder_of};

#[derive(Clone)]
pub(super) struct TerraformWorkspaceInputs {
    pub(super) files: Arc<WorkspaceFiles>,
    pub(super) snapshot: Snapshot,
}

impl TerraformWorkspaceInputs {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        // The state itself and not its revision: a draft's state has the revision that it is a draft over.
        self.is_same_workspace(other) && self.snapshot.is_same(&other.snapshot)
    }

    pub(super) fn is_same_workspace(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.files, &other.files)
    }

    /// An infrastructure board.
    pub(super) fn board(&self, id: BoardId) -> Result<&Board, Refusal> {
        let board = self.snapshot.board(id).ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("There is no board {id}.")).field("board")
        })?;
        if board.kind != BoardKind::Infrastructure {
            let message = format!("{} is not an infrastructure board, so it has no Terraform.", board.name);
            return Err(Refusal::new(RefusalCode::BadRequest, message).field("board"));
        }
        Ok(board)
    }

    pub(super) fn boards(&self) -> impl Iterator<Item = &Arc<Board>> {
        self.snapshot.boards().filter(|board| board.kind == BoardKind::Infrastructure)
    }

    /// The settings of the board, as they are in the file now.
    pub(super) fn settings(&self, board: &Board) -> Result<TerraformProjectSettings, Refusal> {
        let text = match self.files.read_text(&WorkspacePath::config()) {
            Ok(text) => text,
            Err(FileError::Missing { .. }) => String::new(),
            Err(error) => return Err(storage(&error)),
        };
        let settings = TerraformProjectSettings::read(&text).map_err(|error| {
            Refusal::new(RefusalCode::ValidationError, error.to_string())
                .hint("Correct draftboard.toml, then try again.")
        })?;
        Ok(settings.for_board(board.name.as_str()))
    }

    /// The folder of a board's files.
    pub(super) fn folder(&self, board: &Board) -> PathBuf {
        self.files.root().join(folder_of(&board.name))
    }
}

pub(super) fn storage(error: &FileError) -> Refusal {
    Refusal::new(RefusalCode::StorageError, error.to_string())
}
