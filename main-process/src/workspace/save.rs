//! Saving: every board that differs from its file is written, all of it or nothing per file, and never over something that
//! somebody else put there.

use super::{Held, Saved, Workspace, error::{storage, storage_file}};
use journal::{Digest, FileError, WorkspacePath, write_board};
use shared_protocol::{
    BoardId, Code, Refusal, Revision,
    messages::HeldReason,
};

/// A board about to be written.
struct Writing {
    board: BoardId,
    path: WorkspacePath,
    text: String,
    digest: Digest,
}

impl Workspace {
    /// Writes what is unsaved; gives the paths that were written or removed.
    pub fn save(&mut self) -> Result<(Revision, Vec<String>), Refusal> {
        let writings = self.unsaved()?;
        let gone = self.gone()?;
        let pending: Vec<(WorkspacePath, Digest)> =
            writings.iter().map(|writing| (writing.path.clone(), writing.digest)).collect();
        self.journal.record_pending(&pending).map_err(|error| storage(&error))?;
        let mut touched = Vec::new();
        for writing in writings {
            self.write(&writing)?;
            touched.push(writing.path.to_string());
        }
        for path in gone {
            self.files.remove(&path).map_err(|error| storage_file(&error))?;
            self.journal.forget(&path).map_err(|error| storage(&error))?;
            touched.push(path.to_string());
        }
        let boards: Vec<BoardId> = self.dirty.iter().copied().collect();
        self.dirty.retain(|board| self.held.contains_key(board));
        self.saved.retain(|board, _| self.snapshot.board(*board).is_some() || !boards.contains(board));
        self.saved_revision = self.snapshot.revision();
        touched.sort();
        Ok((self.snapshot.revision(), touched))
    }

    fn unsaved(&mut self) -> Result<Vec<Writing>, Refusal> {
        let boards: Vec<BoardId> = self.dirty.iter().copied().filter(|board| !self.held.contains_key(board)).collect();
        let mut writings = Vec::new();
        for board in boards {
            let Some(name) = self.snapshot.board(board).map(|board| board.name.clone()) else { continue };
            let path = WorkspacePath::board(&name);
            let text = write_board(&self.snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
            let digest = Digest::of(text.as_bytes());
            if self.check_untouched(board, &path, digest)? {
                writings.push(Writing { board, path, text, digest });
            }
        }
        Ok(writings)
    }

    /// The file must be as we left it. `false` when it already holds what would be written.
    fn check_untouched(&mut self, board: BoardId, path: &WorkspacePath, ours: Digest) -> Result<bool, Refusal> {
        let known = self.journal.known(path).map_err(|error| storage(&error))?;
        let there = match self.files.read(path) {
            Ok(bytes) => Digest::of(&bytes),
            Err(FileError::Missing { .. }) => return Ok(true),
            Err(error) => return Err(storage_file(&error)),
        };
        if there == ours && known.is_ours(there) {
            self.saved.insert(board, Saved::At(self.snapshot.clone()));
            return Ok(false);
        }
        if known.is_ours(there) {
            return Ok(true);
        }
        let message = format!("{path} was changed by another program and is not overwritten");
        self.held.insert(board, Held { reason: HeldReason::Conflict, message: message.clone(), theirs: None });
        Err(Refusal::new(Code::Conflict, message).hint("Choose which version to keep, then save again."))
    }

    fn write(&mut self, writing: &Writing) -> Result<(), Refusal> {
        let Writing { board, path, text, .. } = writing;
        let is_empty = self.snapshot.children(*board, None).next().is_none();
        if is_empty && self.files.read(path).is_ok_and(|bytes| bytes.len() > text.len()) {
            // An emptied board is somebody's decision, but its last content is kept all the same.
            self.files.set_aside(path, "before-emptied").map_err(|error| storage_file(&error))?;
        }
        if let Err(error) = self.files.write_atomic(path, text.as_bytes()) {
            if let Ok(journal::Known { recorded: Some(recorded), .. }) = self.journal.known(path) {
                self.journal.record(&[(path.clone(), recorded)]).map_err(|error| storage(&error))?;
            }
            return Err(storage_file(&error));
        }
        self.journal.confirm(std::slice::from_ref(path)).map_err(|error| storage(&error))?;
        self.saved.insert(*board, Saved::At(self.snapshot.clone()));
        self.dirty.remove(board);
        Ok(())
    }

    /// Files of boards that were removed or renamed, as long as they are ours.
    fn gone(&self) -> Result<Vec<WorkspacePath>, Refusal> {
        let mut gone = Vec::new();
        for (path, known) in self.journal.known_files().map_err(|error| storage(&error))? {
            let Some(name) = path.as_board() else { continue };
            if self.snapshot.board_named(&name).is_some() {
                continue;
            }
            match self.files.read(&path) {
                Ok(bytes) if known.is_ours(Digest::of(&bytes)) => gone.push(path),
                Ok(_) | Err(FileError::Missing { .. }) => {}
                Err(error) => return Err(storage_file(&error)),
            }
        }
        Ok(gone)
    }
}
