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

enum Verdict {
    Write,
    /// The file holds it already.
    IsThere,
    Refuse(Refusal),
}

impl Workspace {
    /// Writes what is unsaved, and removes the files of boards that are gone; tells the revision that the files hold and
    /// the paths it touched. A board whose file was changed by somebody else is held and the first of them named in the
    /// refusal; the others are saved all the same.
    pub fn save(&mut self) -> Result<(Revision, Vec<String>), Refusal> {
        let (writings, refused) = self.to_write()?;
        let gone = self.gone()?;
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
        for path in gone {
            self.files.remove(&path).map_err(|error| storage_file(&error))?;
            self.forget(&path).map_err(|error| storage(&error))?;
            touched.push(path.to_string());
        }
        self.saved.retain(|board, _| self.snapshot.board(*board).is_some());
        self.unsaved.retain(|board| self.held.contains_key(board));
        touched.sort();
        match refused {
            Some(refusal) => Err(refusal),
            None => Ok((self.saved_revision(), touched)),
        }
    }

    /// The boards that differ from their file, and why one of them may not be written.
    fn to_write(&mut self) -> Result<(Vec<Writing>, Option<Refusal>), Refusal> {
        let boards: Vec<BoardId> =
            self.unsaved.iter().copied().filter(|board| !self.held.contains_key(board)).collect();
        let (mut writings, mut refused) = (Vec::new(), None);
        for board in boards {
            let Some(name) = self.snapshot.board(board).map(|board| board.name.clone()) else { continue };
            let path = WorkspacePath::board(&name);
            let text =
                write_board(&self.snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
            let writing = Writing { board, name, path, text };
            match self.judge(&writing)? {
                Verdict::Write => writings.push(writing),
                Verdict::IsThere => self.note_saved(writing),
                Verdict::Refuse(refusal) => drop(refused.get_or_insert(refusal)),
            }
        }
        Ok((writings, refused))
    }

    /// The file must be as we left it; if not, the board is held.
    fn judge(&mut self, Writing { board, name, path, text }: &Writing) -> Result<Verdict, Refusal> {
        self.settle_pending(path).map_err(|error| storage(&error))?;
        let known = self.journal.known(path).map_err(|error| storage(&error))?;
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(FileError::Missing { .. }) => return Ok(Verdict::Write),
            Err(error) => {
                self.hold(*board, HeldReason::Damaged, name, error.to_string());
                return Ok(Verdict::Refuse(storage_file(&error)));
            }
        };
        if known.is_ours(Digest::of(&bytes)) {
            return Ok(if bytes == text.as_bytes() { Verdict::IsThere } else { Verdict::Write });
        }
        let message = format!("{path} was changed by another program and is not overwritten");
        self.hold(*board, HeldReason::Conflict, name, message.clone());
        let refusal = Refusal::new(Code::Conflict, message);
        Ok(Verdict::Refuse(refusal.hint("Choose which version to keep, then save again.")))
    }

    fn write(&mut self, writing: Writing) -> Result<(), Refusal> {
        let Writing { board, name, path, text } = &writing;
        if self.empties_file(*board, name) {
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
        self.saved.insert(board, Saved { file: name, content: self.snapshot.clone() });
    }

    fn empties_file(&self, board: BoardId, name: &BoardName) -> bool {
        let is_empty = self.snapshot.children(board, None).next().is_none();
        is_empty
            && self.files.read(&WorkspacePath::board(name)).is_ok_and(|bytes| {
                let there = String::from_utf8(bytes).ok().and_then(|text| read_board(&text, name).ok());
                there.is_none_or(|there| !there.nodes.is_empty())
            })
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
