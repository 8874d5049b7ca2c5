//! Edits of board files by others: an editor, a git pull. What they changed since the file was last ours goes onto what is
//! here now, as an operation of its own. Where it meets unsaved work in the same place nothing is overwritten, and the board
//! waits for a person.

use super::{
    About, Held, Moment, Mutation, Workspace,
    board_file::{BoardFile, is_same_board},
    error::{storage, storage_file},
    saved::Saved,
};
use authority::{Snapshot, diff, place_missing, rebase};
use journal::{Digest, FileError, WorkspacePath};
use shared_protocol::{
    Actor, ActorKind, BoardId, BoardName, Change, Code, Document, Refusal,
    messages::{HeldReason, Patch},
};

type Taken = Result<Vec<Patch>, Refusal>;

impl Workspace {
    /// Looks at the file of a board and takes in what is new there.
    pub(super) fn look_at(&mut self, name: &BoardName, moment: Moment) -> Vec<Patch> {
        self.take_file(name, moment).unwrap_or_else(|refusal| {
            self.notice(About::File(name.to_string()), refusal.to_string());
            Vec::new()
        })
    }

    fn take_file(&mut self, name: &BoardName, moment: Moment) -> Taken {
        let path = WorkspacePath::board(name);
        let known = self.journal.known(&path).map_err(|error| storage(&error))?;
        let file = match self.files.read(&path) {
            Ok(bytes) if known.is_ours(Digest::of(&bytes)) => {
                self.in_order(&About::File(name.to_string()));
                self.held.retain(|_, held| held.file != *name);
                return Ok(Vec::new());
            }
            Ok(_) => self.read_board_file(name),
            Err(error) => Err(error),
        };
        match file {
            Ok(file) => self.take_edit(file, moment),
            Err(FileError::Missing { .. }) => self.take_removal(name, moment),
            Err(error) => self.hold_damaged(name, &error),
        }
    }

    fn take_edit(&mut self, file: BoardFile, moment: Moment) -> Taken {
        let saved = self.saved.get(&file.board).map(|saved| (saved.file.clone(), saved.content.clone()));
        let owner = self.owner_of(&file.name);
        let is_here = self.snapshot.board(file.board).is_some();
        if let Some(element) = file.clash(&self.snapshot) {
            let message = format!("{} holds {element}, which is on another board", file.path());
            return self.hold_or_leave_out(owner, &file, message);
        }
        match (is_here, saved) {
            (true, Some((name, base))) if name == file.name => self.merge(file, &base, moment),
            (true, Some((name, base))) if self.is_missing(&name) => {
                let patches = self.merge(file, &base, moment)?;
                if self.saved_as(&name).is_none() {
                    self.forget(&WorkspacePath::board(&name)).map_err(|error| storage(&error))?;
                }
                Ok(patches)
            }
            (true, Some((name, _))) => {
                let original = WorkspacePath::board(&name);
                let message = format!("{} holds the same board as {original}", file.path());
                self.hold_or_leave_out(owner.filter(|owner| *owner != file.board), &file, message)
            }
            (true, None) if is_same_board(&file.content, &self.snapshot, file.board) => {
                self.settle(file).map(|()| Vec::new())
            }
            (true, None) => {
                let message =
                    format!("{} is not what is here, and which is newer cannot be told", file.path());
                self.hold(file.board, HeldReason::Conflict, &file.name, message);
                Ok(Vec::new())
            }
            (false, _) => match owner {
                None => self.merge(file, &Snapshot::default(), moment),
                Some(owner) if self.unsaved.contains(&owner) => {
                    let message =
                        format!("{} holds another board now, and there is unsaved work here", file.path());
                    self.hold(owner, HeldReason::Conflict, &file.name, message);
                    Ok(Vec::new())
                }
                Some(owner) => self.replace(owner, file, moment),
            },
        }
    }

    fn is_missing(&self, name: &BoardName) -> bool {
        matches!(self.files.read(&WorkspacePath::board(name)), Err(FileError::Missing { .. }))
    }

    /// Puts what the file changed since `base` onto what is here now.
    fn merge(&mut self, file: BoardFile, base: &Snapshot, moment: Moment) -> Taken {
        if is_same_board(&file.content, &self.snapshot, file.board) {
            return self.settle(file).map(|()| Vec::new());
        }
        // Alone, so that nothing is compared with what other boards held back then.
        let base = Snapshot::from_document(base.board_document(file.board), self.snapshot.registry().clone());
        let changes = base.and_then(|base| diff(&base, file.board, &file.document())).map_err(conflict)?;
        let rebased = rebase(&self.snapshot, &changes);
        if let Some((_, error)) = rebased.conflicts.first() {
            let here = self.snapshot.board(file.board).map(|board| board.id);
            let message = match here {
                Some(_) => format!(
                    "{} was changed by another program where there is unsaved work: {error}",
                    file.path()
                ),
                None => format!("{} does not fit: {error}", file.path()),
            };
            return self.hold_or_leave_out(here, &file, message);
        }
        let patches = self.enter(format!("Edit of {}", file.path()), rebased.fitting, moment)?;
        self.settle(file)?;
        Ok(patches)
    }

    /// Puts what the file says in the place of a board, unsaved work and all.
    pub(super) fn replace(&mut self, board: BoardId, file: BoardFile, moment: Moment) -> Taken {
        let mut changes = Vec::new();
        let mut state = self.snapshot.clone();
        if board != file.board {
            changes = diff(&state, board, &Document::default()).map_err(conflict)?;
            state.apply(state.revision().next(), &changes).map_err(conflict)?;
        }
        changes.extend(diff(&state, file.board, &file.document()).map_err(conflict)?);
        let patches = self.enter(format!("Take {} as it is", file.path()), changes, moment)?;
        self.settle(file)?;
        Ok(patches)
    }

    fn enter(&mut self, summary: String, mut changes: Vec<Change>, moment: Moment) -> Taken {
        changes.extend(place_missing(&self.snapshot, &changes)?);
        let actor = Actor::new(ActorKind::External, "another program");
        let (_, patches) = self.execute(&Mutation::External { summary, changes }, &actor, moment)?;
        Ok(patches)
    }

    /// What the file holds has been taken in: it is ours now.
    fn settle(&mut self, file: BoardFile) -> Result<(), Refusal> {
        let path = file.path();
        let BoardFile { name, board, text, digest, content } = file;
        self.journal.record(&[(path.clone(), digest)]).map_err(|error| storage(&error))?;
        self.remember(&path, &text);
        self.own(board, name, content);
        Ok(())
    }

    /// From now on a board reads from this file, which holds `content`.
    pub(super) fn own(&mut self, board: BoardId, file: BoardName, content: Snapshot) {
        self.in_order(&About::File(file.to_string()));
        self.saved.retain(|_, saved| saved.file != file);
        self.held.retain(|held_board, held| *held_board != board && held.file != file);
        self.saved.insert(board, Saved { file, content });
        if self.is_as_saved(board) {
            // The same content with less in memory.
            let content = self.snapshot.clone();
            self.saved.entry(board).and_modify(|saved| saved.content = content);
            self.unsaved.remove(&board);
        } else {
            self.unsaved.insert(board);
        }
        self.drop_what_is_gone();
    }

    /// Boards that are neither here nor in a file are no matter any more.
    pub(super) fn drop_what_is_gone(&mut self) {
        let (snapshot, saved) = (&self.snapshot, &self.saved);
        self.held.retain(|board, _| snapshot.board(*board).is_some());
        self.unsaved.retain(|board| snapshot.board(*board).is_some() || saved.contains_key(board));
    }

    fn take_removal(&mut self, name: &BoardName, moment: Moment) -> Taken {
        let path = WorkspacePath::board(name);
        let saved = self.saved_as(name);
        if let Some(moved) = saved.and_then(|board| self.find_moved(board)) {
            return self.take_file(&moved, moment);
        }
        if self.snapshot.board_named(name).is_none() {
            self.in_order(&About::File(name.to_string()));
        }
        let mut patches = Vec::new();
        match saved.filter(|board| self.snapshot.board(*board).is_some()) {
            Some(board) if !self.unsaved.contains(&board) => {
                let gone = diff(&self.snapshot, board, &Document::default()).map_err(conflict)?;
                patches = self.enter(format!("Removal of {path}"), gone, moment)?;
            }
            Some(_) => {
                let message = format!("{path} was removed by another program; saving writes it again");
                self.notice(About::File(name.to_string()), message);
            }
            None => {}
        }
        if self.journal.known(&path).map_err(|error| storage(&error))? != journal::Known::default() {
            self.forget(&path).map_err(|error| storage(&error))?;
        }
        self.saved.retain(|_, saved| saved.file != *name);
        self.held.retain(|_, held| held.file != *name);
        self.drop_what_is_gone();
        Ok(patches)
    }

    /// The file that a board was moved to by another program: one that is nobody's yet.
    fn find_moved(&self, board: BoardId) -> Option<BoardName> {
        self.snapshot.board(board)?;
        let names = self.files.list_boards().ok()?.boards;
        names
            .into_iter()
            .filter(|name| self.saved_as(name).is_none())
            .find(|name| self.read_board_file(name).is_ok_and(|file| file.board == board))
    }

    pub(super) fn hold(&mut self, board: BoardId, reason: HeldReason, file: &BoardName, message: String) {
        self.in_order(&About::File(file.to_string()));
        self.held.insert(board, Held { reason, file: file.clone(), message });
    }

    pub(super) fn hold_damaged(&mut self, name: &BoardName, error: &FileError) -> Taken {
        let Some(board) = self.owner_of(name) else { return Err(storage_file(error)) };
        let message = format!("{error}. The last good state is shown");
        self.hold(board, HeldReason::Damaged, name, message);
        Ok(Vec::new())
    }

    fn hold_or_leave_out(&mut self, owner: Option<BoardId>, file: &BoardFile, message: String) -> Taken {
        match owner {
            Some(owner) => {
                self.hold(owner, HeldReason::Conflict, &file.name, message);
                Ok(Vec::new())
            }
            None => Err(Refusal::new(Code::Conflict, format!("{message}: it is left out"))
                .hint("Ids must be unique in a workspace: was the file copied? Remove it, or give what is in it ids of its own.")),
        }
    }
}

pub(super) fn conflict(error: authority::ApplyError) -> Refusal {
    Refusal::new(Code::Conflict, error.to_string())
}
