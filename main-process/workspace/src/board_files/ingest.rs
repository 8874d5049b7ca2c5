//! Edits of board files by other programs: an editor, a git pull. The difference since the file was last ours is rebased onto
//! the present state and enters as an operation of its own. Where it conflicts with unsaved work nothing is overwritten, and
//! the board waits for a person.
//!
//! [`BoardFiles::examine`] decides how a file enters and changes nothing; the workspace runs the operation and then has the
//! file settled.

use super::{
    super::{
        error::{storage as storage_error, storage_file},
        notices::{NoticeTopic, WorkspaceNotices},
        storage::WorkspaceStorage,
    },
    BoardFile, BoardFiles, is_same_board,
};
use authority::{Snapshot, diff, rebase};
use journal::{Digest, FileError, WorkspacePath};
use shared_protocol::{
    BoardId, BoardName, Change, GraphDocument, Refusal, RefusalCode, messages::HeldReason,
};

/// The way in which the present content of a board file enters the workspace.
pub(in super::super) enum ForeignBoardEdit {
    /// The file is as it was left.
    Unchanged,
    Enter(Box<EnteringBoard>),
    /// The file was removed.
    Removed {
        /// The removal of its board, unless the board has unsaved work or is gone already.
        changes: Option<Vec<Change>>,
        has_unsaved_work: bool,
    },
    /// The board waits for a person.
    Hold {
        board: BoardId,
        reason: HeldReason,
        file: BoardName,
        message: String,
    },
}

pub(in super::super) struct EnteringBoard {
    pub(in super::super) summary: String,
    /// `None` when the file holds what is here already.
    pub(in super::super) changes: Option<Vec<Change>>,
    pub(in super::super) file: BoardFile,
    /// The file that the board had before another program moved it.
    pub(in super::super) moved_from: Option<BoardName>,
}

impl BoardFiles {
    pub(in super::super) fn examine(
        &self,
        name: &BoardName,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Result<ForeignBoardEdit, Refusal> {
        let path = WorkspacePath::board(name);
        let known = storage.journal.file_record(&path).map_err(|error| storage_error(&error))?;
        let file = match storage.files.read(&path) {
            Ok(bytes) if known.is_known(Digest::hash(&bytes)) => return Ok(ForeignBoardEdit::Unchanged),
            Ok(_) => BoardFile::read(&storage.files, name, snapshot.registry()),
            Err(error) => Err(error),
        };
        match file {
            Ok(file) => self.examine_edit(file, storage, snapshot),
            Err(FileError::Missing { .. }) => self.examine_removal(name, storage, snapshot),
            Err(error) => match self.owner_of(name, snapshot) {
                Some(board) => {
                    let message = format!("{error}. The last valid version is shown");
                    let (reason, file) = (HeldReason::Damaged, name.clone());
                    Ok(ForeignBoardEdit::Hold { board, reason, file, message })
                }
                None => Err(storage_file(&error)),
            },
        }
    }

    fn examine_edit(
        &self,
        file: BoardFile,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Result<ForeignBoardEdit, Refusal> {
        let saved = self.saved.get(&file.board);
        let owner = self.owner_of(&file.name, snapshot);
        let is_here = snapshot.board(file.board).is_some();
        if let Some(element) = file.clash(snapshot) {
            let message = format!("{} contains {element}, which is on another board", file.path());
            return hold_or_leave_out(owner, file, message);
        }
        match (is_here, saved) {
            (true, Some(saved)) if saved.file == file.name => merge(file, &saved.content, snapshot, None),
            (true, Some(saved)) if is_missing(&saved.file, storage) => {
                merge(file, &saved.content, snapshot, Some(saved.file.clone()))
            }
            (true, Some(saved)) => {
                let original = WorkspacePath::board(&saved.file);
                let message = format!("{} contains the same board as {original}", file.path());
                hold_or_leave_out(owner.filter(|owner| *owner != file.board), file, message)
            }
            (true, None) if is_same_board(&file.content, snapshot, file.board) => {
                Ok(enter(String::new(), None, file))
            }
            (true, None) => {
                let message = format!(
                    "{} differs from the version in Draftboard, and it is unclear which is newer",
                    file.path()
                );
                Ok(conflict_of(file.board, file, message))
            }
            (false, _) => match owner {
                None => merge(file, &Snapshot::default(), snapshot, None),
                Some(owner) if self.unsaved.contains(&owner) => {
                    let message = format!(
                        "{} now contains another board, and this board has unsaved changes",
                        file.path()
                    );
                    Ok(conflict_of(owner, file, message))
                }
                Some(owner) => Ok(ForeignBoardEdit::Enter(Box::new(EnteringBoard::from_replacement(
                    owner, file, snapshot,
                )?))),
            },
        }
    }

    fn examine_removal(
        &self,
        name: &BoardName,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Result<ForeignBoardEdit, Refusal> {
        let saved = self.saved_as(name).filter(|board| snapshot.board(*board).is_some());
        if let Some(moved) = saved.and_then(|board| self.find_moved(board, storage, snapshot)) {
            return self.examine(&moved, storage, snapshot);
        }
        let has_unsaved_work = saved.is_some_and(|board| self.unsaved.contains(&board));
        let removed = saved.filter(|_| !has_unsaved_work);
        let changes = removed.map(|board| diff(snapshot, board, &GraphDocument::default()).map_err(conflict));
        Ok(ForeignBoardEdit::Removed { changes: changes.transpose()?, has_unsaved_work })
    }

    /// The file that another program moved a board to: one that belongs to no board yet.
    fn find_moved(
        &self,
        board: BoardId,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Option<BoardName> {
        let names = storage.files.list_boards().ok()?.boards;
        names.into_iter().filter(|name| self.saved_as(name).is_none()).find(|name| {
            let file = BoardFile::read(&storage.files, name, snapshot.registry());
            file.is_ok_and(|file| file.board == board)
        })
    }

    /// Makes a file ours whose content has entered.
    pub(in super::super) fn settle(
        &mut self,
        file: BoardFile,
        storage: &mut WorkspaceStorage,
        snapshot: &Snapshot,
        notices: &mut WorkspaceNotices,
    ) -> Result<(), Refusal> {
        let path = file.path();
        let BoardFile { name, board, text, digest, content } = file;
        let recorded = storage.journal.record_content(&[(path.clone(), digest)]);
        recorded.map_err(|error| storage_error(&error))?;
        storage.record_text(&path, &text);
        self.assign_file(board, name, content, snapshot, notices);
        Ok(())
    }

    /// Forgets a file that another program removed.
    pub(in super::super) fn forget_removed(
        &mut self,
        name: &BoardName,
        storage: &mut WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Result<(), Refusal> {
        let path = WorkspacePath::board(name);
        let failed = |error| storage_error(&error);
        if storage.journal.file_record(&path).map_err(failed)? != journal::FileRecord::default() {
            storage.remove_record(&path).map_err(failed)?;
        }
        self.saved.retain(|_, saved| saved.file != *name);
        self.release_file(name);
        self.drop_removed(snapshot);
        Ok(())
    }

    /// A notice that the file of a board with unsaved work was removed.
    pub(in super::super) fn notice_removed(name: &BoardName, notices: &mut WorkspaceNotices) {
        let path = WorkspacePath::board(name);
        let message = format!("{path} was deleted by another program; the next save creates it again");
        notices.set(NoticeTopic::File(name.to_string()), message);
    }
}

impl EnteringBoard {
    /// Puts the content of the file in the place of a board, unsaved work included.
    pub(super) fn from_replacement(
        board: BoardId,
        file: BoardFile,
        snapshot: &Snapshot,
    ) -> Result<Self, Refusal> {
        let mut changes = Vec::new();
        let mut state = snapshot.clone();
        if board != file.board {
            changes = diff(&state, board, &GraphDocument::default()).map_err(conflict)?;
            state.apply(state.revision().next(), &changes).map_err(conflict)?;
        }
        changes.extend(diff(&state, file.board, &file.document()).map_err(conflict)?);
        let summary = format!("Load {} from disk", file.path());
        Ok(Self { summary, changes: Some(changes), file, moved_from: None })
    }
}

fn enter(summary: String, changes: Option<Vec<Change>>, file: BoardFile) -> ForeignBoardEdit {
    ForeignBoardEdit::Enter(Box::new(EnteringBoard { summary, changes, file, moved_from: None }))
}

/// Rebases the difference between `base` and the file onto the present state.
fn merge(
    file: BoardFile,
    base: &Snapshot,
    snapshot: &Snapshot,
    moved_from: Option<BoardName>,
) -> Result<ForeignBoardEdit, Refusal> {
    let (mut summary, mut changes) = (String::new(), None);
    if !is_same_board(&file.content, snapshot, file.board) {
        // The board alone, so that nothing is compared with what other boards held back then.
        let base = Snapshot::from_document(base.board_document(file.board), snapshot.registry().clone());
        let edit = base.and_then(|base| diff(&base, file.board, &file.document())).map_err(conflict)?;
        let rebased = rebase(snapshot, &edit);
        if let Some((_, error)) = rebased.conflicts.first() {
            let here = snapshot.board(file.board).map(|board| board.id);
            let message = match here {
                Some(_) => format!(
                    "{} was changed by another program in the same places as your unsaved changes: {error}",
                    file.path()
                ),
                None => format!("{} conflicts with the workspace: {error}", file.path()),
            };
            return hold_or_leave_out(here, file, message);
        }
        (summary, changes) = (format!("Edit of {}", file.path()), Some(rebased.fitting));
    }
    Ok(ForeignBoardEdit::Enter(Box::new(EnteringBoard { summary, changes, file, moved_from })))
}

fn is_missing(name: &BoardName, storage: &WorkspaceStorage) -> bool {
    matches!(storage.files.read(&WorkspacePath::board(name)), Err(FileError::Missing { .. }))
}

fn conflict_of(board: BoardId, file: BoardFile, message: String) -> ForeignBoardEdit {
    ForeignBoardEdit::Hold { board, reason: HeldReason::Conflict, file: file.name, message }
}

fn hold_or_leave_out(
    owner: Option<BoardId>,
    file: BoardFile,
    message: String,
) -> Result<ForeignBoardEdit, Refusal> {
    match owner {
        Some(owner) => Ok(conflict_of(owner, file, message)),
        None => Err(Refusal::new(RefusalCode::Conflict, format!("{message}; the file is not loaded"))
            .hint("Ids must be unique in a workspace. If the file is a copy, delete it or give its elements new ids.")),
    }
}

pub(in super::super) fn conflict(error: authority::ApplyError) -> Refusal {
    Refusal::new(RefusalCode::Conflict, error.to_string())
}
