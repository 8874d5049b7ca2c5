//! Saving: every board that differs from its file is written, all of it or nothing per file, and never over something that
//! somebody else put there.

use super::{
    About, Workspace,
    error::{storage, storage_file},
    saved::Saved,
};
use journal::{Digest, FileError, WorkspacePath, read_board, write_board};
use shared_protocol::{BoardId, BoardName, Code, Refusal, Revision, messages::HeldReason};

/// A board about to be written.
struct Writing {
    board: BoardId,
    name: BoardName,
    path: WorkspacePath,
    text: String,
}

impl Workspace {
    /// Writes what is unsaved, and removes the files of boards that are gone; tells the revision that the files hold and
    /// the paths it touched. A board whose file was changed by somebody else is held and the first of them named in the
    /// refusal; the others are saved all the same.
    pub fn save(&mut self) -> Result<(Revision, Vec<String>), Refusal> {
        if self.files.is_read_only() {
            return Err(self.read_only());
        }
        self.ensure_storage()?;
        let sources = self.save_sources();
        self.save_overrides();
        let (writings, refused) = self.writings()?;
        let pending: Vec<(WorkspacePath, Digest)> = writings
            .iter()
            .map(|writing| (writing.path.clone(), Digest::of(writing.text.as_bytes())))
            .collect();
        self.journal.record_pending(&pending).map_err(|error| storage(&error))?;
        let mut touched = Vec::new();
        for writing in writings {
            touched.push(writing.path.to_string());
            self.write(writing)?;
        }
        for path in self.gone()? {
            self.files.remove(&path).map_err(|error| storage_file(&error))?;
            self.forget(&path).map_err(|error| storage(&error))?;
            self.saved.retain(|_, saved| Some(&saved.file) != path.as_board().as_ref());
            touched.push(path.to_string());
        }
        // A removed board whose file is not ours any more still has that file.
        self.unsaved.retain(|board| self.held.contains_key(board) || self.snapshot.board(*board).is_none());
        self.drop_what_is_gone();
        touched.sort();
        match refused {
            Some(refusal) => Err(refusal),
            None => sources.map(|()| (self.saved_revision(), touched)),
        }
    }

    /// The boards that differ from their file, and why one of them may not be written.
    fn writings(&mut self) -> Result<(Vec<Writing>, Option<Refusal>), Refusal> {
        let boards: Vec<BoardId> =
            self.unsaved.iter().copied().filter(|board| !self.held.contains_key(board)).collect();
        let (mut writings, mut refused) = (Vec::new(), None);
        for board in boards {
            let Some(name) = self.snapshot.board(board).map(|board| board.name.clone()) else { continue };
            let path = WorkspacePath::board(&name);
            let text =
                write_board(&self.snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
            let writing = Writing { board, name, path, text };
            match self.is_there(&writing) {
                Ok(true) => self.note_saved(writing),
                Ok(false) => writings.push(writing),
                Err(refusal) => drop(refused.get_or_insert(refusal)),
            }
        }
        Ok((writings, refused))
    }

    /// Whether the file holds the text already. Refused when it is not as we left it, or when the file that the board had
    /// before it was renamed is not.
    fn is_there(&mut self, Writing { board, name, text, .. }: &Writing) -> Result<bool, Refusal> {
        let before = self.saved.get(board).map(|saved| saved.file.clone()).filter(|file| file != name);
        if let Some(before) = before {
            self.read_ours(*board, &before)?;
        }
        let there = self.read_ours(*board, name)?;
        Ok(there.is_some_and(|bytes| bytes == text.as_bytes()))
    }

    /// What a file of ours holds, if there is one. A file that is not as we left it holds its board.
    fn read_ours(&mut self, board: BoardId, file: &BoardName) -> Result<Option<Vec<u8>>, Refusal> {
        let path = WorkspacePath::board(file);
        self.settle_pending(&path).map_err(|error| storage(&error))?;
        let known = self.journal.known(&path).map_err(|error| storage(&error))?;
        match self.files.read(&path) {
            Ok(bytes) if known.is_ours(Digest::of(&bytes)) => Ok(Some(bytes)),
            Ok(_) => Err(self.hold_foreign(board, file)),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(error) => {
                self.hold(board, HeldReason::Damaged, file, error.to_string());
                Err(storage_file(&error))
            }
        }
    }

    fn hold_foreign(&mut self, board: BoardId, file: &BoardName) -> Refusal {
        let message =
            format!("{} was changed by another program and is not overwritten", WorkspacePath::board(file));
        self.hold(board, HeldReason::Conflict, file, message.clone());
        Refusal::new(Code::Conflict, message).hint("Choose which version to keep, then save again.")
    }

    fn write(&mut self, writing: Writing) -> Result<(), Refusal> {
        let Writing { board, name, path, text } = &writing;
        let known = self.journal.known(path).map_err(|error| storage(&error))?;
        let there = self.files.read(path).ok();
        // Looked at once more: writing the boards before this one took its time.
        if there.as_ref().is_some_and(|bytes| !known.is_ours(Digest::of(bytes))) {
            return Err(self.hold_foreign(*board, name));
        }
        if self.is_empty(*board) && there.is_some_and(|bytes| !is_empty_board(name, bytes)) {
            // An emptied board is somebody's decision, but its last content is kept all the same.
            self.files.set_aside(path, "before-emptied").map_err(|error| storage_file(&error))?;
        }
        if let Err(error) = self.files.write_atomic(path, text.as_bytes()) {
            if let Err(error) = self.settle_pending(path) {
                tracing::warn!(%path, %error, "a failed save is settled by the next one");
            }
            return Err(storage_file(&error));
        }
        self.journal.confirm(std::slice::from_ref(path)).map_err(|error| storage(&error))?;
        self.remember(path, text);
        self.note_saved(writing);
        Ok(())
    }

    fn note_saved(&mut self, Writing { board, name, .. }: Writing) {
        self.in_order(&About::File(name.to_string()));
        self.saved.retain(|_, saved| saved.file != name);
        self.saved.insert(board, Saved { file: name, content: self.snapshot.clone() });
    }

    fn is_empty(&self, board: BoardId) -> bool {
        self.snapshot.children(board, None).next().is_none()
    }

    /// Files of boards that were removed or renamed, as long as they are ours. A board that is held was not written under
    /// its new name, so its old file stays.
    fn gone(&self) -> Result<Vec<WorkspacePath>, Refusal> {
        let mut known = self.journal.known_files().map_err(|error| storage(&error))?;
        known.retain(|(path, known)| {
            let Some(name) = path.as_board() else { return false };
            self.snapshot.board_named(&name).is_none()
                && self.saved_as(&name).is_none_or(|board| !self.held.contains_key(&board))
                && self.files.read(path).is_ok_and(|bytes| known.is_ours(Digest::of(&bytes)))
        });
        Ok(known.into_iter().map(|(path, _)| path).collect())
    }
}

fn is_empty_board(name: &BoardName, bytes: Vec<u8>) -> bool {
    let board = String::from_utf8(bytes).ok().and_then(|text| read_board(&text, name).ok());
    board.is_some_and(|board| board.nodes.is_empty())
}
