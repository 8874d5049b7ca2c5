//! Saving: every board that differs from its file is written, all of it or nothing per file, and never over an edit by
//! another program.

use super::{
    super::{
        error::{storage as storage_error, storage_file},
        notices::{NoticeTopic, WorkspaceNotices},
        storage::WorkspaceStorage,
    },
    BoardFiles, SavedBoardFile,
};
use authority::Snapshot;
use journal::{Digest, FileError, WorkspacePath, read_board, write_board};
use shared_protocol::{BoardId, BoardName, Refusal, RefusalCode, messages::HeldReason};

/// A board about to be written.
struct PendingBoardWrite {
    board: BoardId,
    name: BoardName,
    path: WorkspacePath,
    text: String,
}

/// One save of the boards.
pub(in super::super) struct BoardSave<'a> {
    pub(in super::super) boards: &'a mut BoardFiles,
    pub(in super::super) storage: &'a mut WorkspaceStorage,
    pub(in super::super) snapshot: &'a Snapshot,
    pub(in super::super) notices: &'a mut WorkspaceNotices,
}

impl BoardSave<'_> {
    /// Writes unsaved boards and removes the files of boards that are gone. Returns the paths it touched, and the refusal of
    /// the first board whose file another program changed: that board is held, and the others are saved all the same.
    pub(in super::super) fn run(mut self) -> Result<(Vec<String>, Option<Refusal>), Refusal> {
        let (writes, refused) = self.writes()?;
        let pending: Vec<(WorkspacePath, Digest)> =
            writes.iter().map(|write| (write.path.clone(), Digest::hash(write.text.as_bytes()))).collect();
        self.storage.journal.record_pending(&pending).map_err(|error| storage_error(&error))?;
        let mut touched = Vec::new();
        for write in writes {
            touched.push(write.path.to_string());
            self.write(write)?;
        }
        for path in self.removed_paths()? {
            self.storage.files.remove(&path).map_err(|error| storage_file(&error))?;
            self.storage.remove_record(&path).map_err(|error| storage_error(&error))?;
            self.boards.saved.retain(|_, saved| Some(&saved.file) != path.as_board().as_ref());
            touched.push(path.to_string());
        }
        let BoardFiles { unsaved, held, .. } = &mut *self.boards;
        // A removed board whose file is not ours any more still has that file.
        unsaved.retain(|board| held.contains_key(board) || self.snapshot.board(*board).is_none());
        self.boards.drop_removed(self.snapshot);
        touched.sort();
        Ok((touched, refused))
    }

    /// The boards that differ from their file, and the refusal of the first that may not be written.
    fn writes(&mut self) -> Result<(Vec<PendingBoardWrite>, Option<Refusal>), Refusal> {
        let boards: Vec<BoardId> =
            self.boards.unsaved.iter().copied().filter(|board| !self.boards.is_held(*board)).collect();
        let (mut writes, mut refused) = (Vec::new(), None);
        for board in boards {
            let Some(name) = self.snapshot.board(board).map(|board| board.name.clone()) else { continue };
            let path = WorkspacePath::board(&name);
            let text =
                write_board(&self.snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
            let write = PendingBoardWrite { board, name, path, text };
            match self.is_written(&write) {
                Ok(true) => self.note_saved(write),
                Ok(false) => writes.push(write),
                Err(refusal) => drop(refused.get_or_insert(refusal)),
            }
        }
        Ok((writes, refused))
    }

    /// Whether the file holds the text already. Refused when the file, or the one that the board had before it was renamed,
    /// is not as we left it.
    fn is_written(
        &mut self,
        PendingBoardWrite { board, name, text, .. }: &PendingBoardWrite,
    ) -> Result<bool, Refusal> {
        let before = self.boards.saved.get(board).map(|saved| saved.file.clone()).filter(|file| file != name);
        if let Some(before) = before {
            self.read_ours(*board, &before)?;
        }
        let there = self.read_ours(*board, name)?;
        Ok(there.is_some_and(|bytes| bytes == text.as_bytes()))
    }

    /// The content of a file of ours, if it exists. A file that is not as we left it holds its board.
    fn read_ours(&mut self, board: BoardId, file: &BoardName) -> Result<Option<Vec<u8>>, Refusal> {
        let path = WorkspacePath::board(file);
        self.storage.settle_pending(&path).map_err(|error| storage_error(&error))?;
        let known = self.storage.journal.file_record(&path).map_err(|error| storage_error(&error))?;
        match self.storage.files.read(&path) {
            Ok(bytes) if known.is_known(Digest::hash(&bytes)) => Ok(Some(bytes)),
            Ok(_) => Err(self.hold_foreign(board, file)),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(error) => {
                self.boards.hold(board, HeldReason::Damaged, file, error.to_string(), self.notices);
                Err(storage_file(&error))
            }
        }
    }

    fn hold_foreign(&mut self, board: BoardId, file: &BoardName) -> Refusal {
        let message =
            format!("{} was changed by another program and is not overwritten", WorkspacePath::board(file));
        self.boards.hold(board, HeldReason::Conflict, file, message.clone(), self.notices);
        Refusal::new(RefusalCode::Conflict, message).hint("Choose which version to keep, then save again.")
    }

    fn write(&mut self, write: PendingBoardWrite) -> Result<(), Refusal> {
        let PendingBoardWrite { board, name, path, text } = &write;
        let known = self.storage.journal.file_record(path).map_err(|error| storage_error(&error))?;
        let there = self.storage.files.read(path).ok();
        // Checked once more: writing the boards before this one took its time.
        if there.as_ref().is_some_and(|bytes| !known.is_known(Digest::hash(bytes))) {
            return Err(self.hold_foreign(*board, name));
        }
        let is_empty = self.snapshot.children(*board, None).next().is_none();
        if is_empty && there.is_some_and(|bytes| !is_empty_board(name, bytes)) {
            // A person may empty a board, but its last content is kept all the same.
            self.storage.files.set_aside(path, "before-emptied").map_err(|error| storage_file(&error))?;
        }
        if let Err(error) = self.storage.files.write_atomic(path, text.as_bytes()) {
            if let Err(error) = self.storage.settle_pending(path) {
                tracing::warn!(%path, %error, "a failed save is settled by the next one");
            }
            return Err(storage_file(&error));
        }
        let confirmed = self.storage.journal.confirm_pending(std::slice::from_ref(path));
        confirmed.map_err(|error| storage_error(&error))?;
        self.storage.record_text(path, text);
        self.note_saved(write);
        Ok(())
    }

    fn note_saved(&mut self, PendingBoardWrite { board, name, .. }: PendingBoardWrite) {
        self.notices.clear(&NoticeTopic::File(name.to_string()));
        self.boards.saved.retain(|_, saved| saved.file != name);
        self.boards.saved.insert(board, SavedBoardFile { file: name, content: self.snapshot.clone() });
    }

    /// Files of boards that were removed or renamed, as long as they are ours. A board that is held was not written under
    /// its new name, so its old file stays.
    fn removed_paths(&self) -> Result<Vec<WorkspacePath>, Refusal> {
        let mut known = self.storage.journal.file_records().map_err(|error| storage_error(&error))?;
        known.retain(|(path, known)| {
            let Some(name) = path.as_board() else { return false };
            self.snapshot.board_named(&name).is_none()
                && self.boards.saved_as(&name).is_none_or(|board| !self.boards.is_held(board))
                && self.storage.files.read(path).is_ok_and(|bytes| known.is_known(Digest::hash(&bytes)))
        });
        Ok(known.into_iter().map(|(path, _)| path).collect())
    }
}

fn is_empty_board(name: &BoardName, bytes: Vec<u8>) -> bool {
    let board = String::from_utf8(bytes).ok().and_then(|text| read_board(&text, name).ok());
    board.is_some_and(|board| board.nodes.is_empty())
}
