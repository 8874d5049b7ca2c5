//! What the boards' files held when they were last ours: what is unsaved is judged by it, and it is the common ground on
//! which somebody else's edit meets unsaved work. Its text is kept in the journal, because after a restart the file
//! itself may hold the other edit.

use super::{
    Workspace,
    board_file::{BoardFile, is_same_board},
};
use authority::Snapshot;
use journal::{Digest, Journal, JournalError, Known, WorkspacePath, write_board};
use shared_protocol::{BoardId, BoardName, Revision};

const REVISION: &str = "saved-revision";

/// The file of a board as we know it.
pub(super) struct Saved {
    /// The file's name: that of the board, unless the board was renamed since.
    pub(super) file: BoardName,
    /// A state in which the board is as in the file. States share what is equal, so this is cheap to keep.
    pub(super) content: Snapshot,
}

impl Workspace {
    /// The newest revision whose content the files hold.
    pub fn saved_revision(&self) -> Revision {
        if self.is_saved() { self.snapshot.revision() } else { self.saved_revision }
    }

    fn is_saved(&self) -> bool {
        self.unsaved.is_empty() && self.unwritten.is_empty()
    }

    /// To be called before a change: from here on the files may be behind.
    pub(super) fn keep_saved_revision(&mut self) {
        if self.is_saved() && self.saved_revision != self.snapshot.revision() {
            self.saved_revision = self.snapshot.revision();
            if let Err(error) = self.journal.set_state(REVISION, &self.saved_revision) {
                tracing::warn!(%error, "the saved revision was not stored");
            }
        }
    }

    pub(super) fn recall_saved_revision(&mut self) {
        let stored = self.journal.get_state(REVISION).ok().flatten();
        self.saved_revision = stored.unwrap_or(Revision::START).min(self.snapshot.revision());
    }

    /// The board is as its file, or neither is there.
    pub(super) fn is_as_saved(&self, board: BoardId) -> bool {
        match self.saved.get(&board) {
            Some(saved) => is_same_board(&saved.content, &self.snapshot, board),
            None => self.snapshot.board(board).is_none(),
        }
    }

    /// The board, here or removed, that was last saved under a name.
    pub(super) fn saved_as(&self, file: &BoardName) -> Option<BoardId> {
        self.saved.iter().find(|(_, saved)| saved.file == *file).map(|(board, _)| *board)
    }

    /// The board that reads from this file, or would be written to it.
    pub(super) fn owner_of(&self, file: &BoardName) -> Option<BoardId> {
        let reads = self.saved_as(file).filter(|board| self.snapshot.board(*board).is_some());
        reads.or_else(|| self.snapshot.board_named(file).map(|board| board.id))
    }

    pub(super) fn remember(&mut self, path: &WorkspacePath, text: &str) {
        remember(&mut self.journal, path, text);
    }

    /// The file is no longer ours.
    pub(super) fn forget(&mut self, path: &WorkspacePath) -> Result<(), JournalError> {
        self.journal.forget(path)?;
        self.remember(path, "");
        Ok(())
    }

    /// After an interrupted or failed save: what the file has is on record.
    pub(super) fn settle_pending(&mut self, path: &WorkspacePath) -> Result<(), JournalError> {
        let Known { recorded, pending: Some(pending) } = self.journal.known(path)? else { return Ok(()) };
        let there = self.files.read(path).ok();
        match (there, recorded) {
            (Some(bytes), _) if Digest::of(&bytes) == pending => {
                self.journal.confirm(std::slice::from_ref(path))?;
                self.remember(path, &String::from_utf8_lossy(&bytes));
                Ok(())
            }
            (_, Some(recorded)) => self.journal.record(&[(path.clone(), recorded)]),
            (_, None) => self.forget(path),
        }
    }

    /// At the start: what each file held when it was last ours, and which boards differ from that.
    pub(super) fn recall_saved(&mut self) -> Result<(), JournalError> {
        for (path, _) in self.journal.known_files()? {
            let Some(name) = path.as_board() else { continue };
            if self.saved_as(&name).is_some() {
                // Read a moment ago, the first time that the folder was opened.
                continue;
            }
            self.settle_pending(&path)?;
            let Some((board, content)) = self.recall(&name, &path)? else { continue };
            let has_name =
                |file: &BoardName| self.snapshot.board(board).is_some_and(|board| board.name == *file);
            if let Some(other) = self.saved.get(&board) {
                // A save was interrupted between writing the new file and removing the old one.
                self.unsaved.insert(board);
                if has_name(&other.file) {
                    continue;
                }
            }
            self.saved.insert(board, Saved { file: name, content });
        }
        let boards: Vec<BoardId> =
            self.snapshot.boards().map(|board| board.id).chain(self.saved.keys().copied()).collect();
        for board in boards {
            if !self.is_as_saved(board) {
                self.unsaved.insert(board);
            }
        }
        Ok(())
    }

    fn recall(
        &self,
        name: &BoardName,
        path: &WorkspacePath,
    ) -> Result<Option<(BoardId, Snapshot)>, JournalError> {
        let known = self.journal.known(path)?;
        if let Some(board) = self.snapshot.board_named(name) {
            let text = write_board(&self.snapshot.board_document(board.id));
            if text.is_ok_and(|text| known.is_ours(Digest::of(text.as_bytes()))) {
                return Ok(Some((board.id, self.snapshot.clone())));
            }
        }
        let on_disk = self.files.read_text(path).ok();
        let kept = || self.journal.get_state::<String>(&key(path)).ok().flatten();
        let ours = |text: &String| known.is_ours(Digest::of(text.as_bytes()));
        let text = on_disk.filter(ours).or_else(|| kept().filter(ours));
        let file = text.and_then(|text| BoardFile::parse(name, text, self.snapshot.registry()).ok());
        Ok(file.map(|file| (file.board, file.content)))
    }
}

/// Keeps the text of a file that is now ours. Without it a later edit may be held as a conflict, and no more.
pub(super) fn remember(journal: &mut Journal, path: &WorkspacePath, text: &str) {
    if let Err(error) = journal.set_state(&key(path), text) {
        tracing::warn!(%path, %error, "the saved text was not stored");
    }
}

fn key(path: &WorkspacePath) -> String {
    format!("saved {path}")
}
