//! A person chooses between a held board and its file. The version that is not kept is set aside, never thrown away.

use super::{
    super::{
        error::{storage as storage_error, storage_file},
        notices::WorkspaceNotices,
        storage::WorkspaceStorage,
    },
    BoardFile, BoardFiles, EnteringBoard,
};
use authority::Snapshot;
use journal::{Digest, FileError, WorkspacePath, write_board};
use shared_protocol::{BoardId, Refusal, RefusalCode};

impl BoardFiles {
    pub(in super::super) fn held_file(&self, board: BoardId) -> Result<WorkspacePath, Refusal> {
        let held = self.held.get(&board);
        held.map(|held| WorkspacePath::board(&held.file)).ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, "this board is not held, so there is no version to choose")
        })
    }

    pub(in super::super) fn release(&mut self, board: BoardId) {
        self.held.remove(&board);
    }

    /// Keeps the board: the file counts as ours from now on, so that the next save replaces it.
    pub(in super::super) fn keep_mine(
        &mut self,
        board: BoardId,
        path: &WorkspacePath,
        storage: &mut WorkspaceStorage,
        snapshot: &Snapshot,
        notices: &mut WorkspaceNotices,
    ) -> Result<&'static str, Refusal> {
        let bytes = match storage.files.read(path) {
            Ok(bytes) => bytes,
            Err(FileError::Missing { .. }) => {
                self.release(board);
                return Ok("Kept the version in Draftboard; the file no longer exists");
            }
            Err(error) => return Err(storage_file(&error)),
        };
        storage.files.set_aside_bytes(path, "theirs", &bytes).map_err(|error| storage_file(&error))?;
        let record = [(path.clone(), Digest::hash(&bytes))];
        storage.journal.record_content(&record).map_err(|error| storage_error(&error))?;
        storage.record_text(path, &String::from_utf8_lossy(&bytes));
        let text = String::from_utf8(bytes).ok();
        let theirs = path.as_board().zip(text).and_then(|(name, text)| {
            BoardFile::parse(&name, text, snapshot.registry()).ok().filter(|theirs| theirs.board == board)
        });
        match theirs {
            Some(theirs) => self.assign_file(board, theirs.name, theirs.content, snapshot, notices),
            None => {
                self.saved.retain(|_, saved| Some(&saved.file) != path.as_board().as_ref());
                self.release(board);
            }
        }
        self.unsaved.insert(board);
        Ok("Kept the version in Draftboard; the file's version is in .draftboard/aside")
    }

    /// Keeps the file: returns how it takes the place of the board, whose own content is set aside.
    pub(in super::super) fn keep_theirs(
        board: BoardId,
        path: &WorkspacePath,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Result<EnteringBoard, Refusal> {
        let unreadable = |error: FileError| {
            Refusal::new(RefusalCode::BadRequest, format!("the file cannot be loaded: {error}"))
                .hint("Keep the version in Draftboard, or correct the file.")
        };
        let name = path
            .as_board()
            .ok_or_else(|| Refusal::new(RefusalCode::Internal, format!("{path} is not a board file")))?;
        let theirs = BoardFile::read(&storage.files, &name, snapshot.registry()).map_err(unreadable)?;
        let is_another = theirs.board != board && snapshot.board(theirs.board).is_some();
        let elsewhere = theirs.clash(snapshot).or_else(|| is_another.then(|| theirs.board.to_string()));
        if let Some(element) = elsewhere {
            let message = format!("{path} contains {element}, which is already on another board");
            return Err(Refusal::new(RefusalCode::Conflict, message)
                .hint("Keep the version in Draftboard, or correct the file."));
        }
        let ours = write_board(&snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
        storage.files.set_aside_bytes(path, "mine", ours.as_bytes()).map_err(|error| storage_file(&error))?;
        EnteringBoard::from_replacement(board, theirs, snapshot)
    }
}
