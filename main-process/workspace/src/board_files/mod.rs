//! The files of the boards: their content when they were last ours, and the boards that wait for a person. Unsaved boards are
//! judged by that content, and it is the common base on which an edit by another program meets unsaved work. Its text is
//! stored in the journal, because after a restart the file itself may hold the other edit.

mod file;
mod ingest;
mod resolve;
mod save;

pub(super) use file::BoardFile;
pub(super) use ingest::{EnteringBoard, ForeignBoardEdit};
pub(super) use save::BoardSave;

use super::{
    notices::{NoticeTopic, WorkspaceNotices},
    storage::WorkspaceStorage,
};
use authority::{Snapshot, boards_touched};
use file::is_same_board;
use journal::{Digest, FileError, JournalError, WorkspacePath, write_board};
use shared_protocol::{
    BoardId, BoardName, Change, Refusal, RefusalCode, Revision,
    messages::{HeldBoard, HeldReason},
};
use std::collections::{BTreeMap, BTreeSet};

/// The file of a board when it was last ours.
pub(super) struct SavedBoardFile {
    /// The file's name: that of the board, unless the board was renamed since.
    pub(super) file: BoardName,
    /// A state in which the board is as in the file. States share what is equal, so this is cheap to keep.
    pub(super) content: Snapshot,
}

/// The file that keeps a board read-only until a person decides.
struct HeldBoardFile {
    reason: HeldReason,
    file: BoardName,
    message: String,
}

#[derive(Default)]
pub(super) struct BoardFiles {
    pub(super) saved: BTreeMap<BoardId, SavedBoardFile>,
    /// Boards that differ from their file, removed boards among them.
    pub(super) unsaved: BTreeSet<BoardId>,
    /// The newest revision without unsaved boards, as of the first change after it.
    pub(super) last_saved_revision: Revision,
    held: BTreeMap<BoardId, HeldBoardFile>,
}

impl BoardFiles {
    /// The files of a folder that is opened for the first time, or none.
    pub(super) fn new(files: Vec<BoardFile>) -> Self {
        let saved = |file: BoardFile| (file.board, SavedBoardFile { file: file.name, content: file.content });
        Self { saved: files.into_iter().map(saved).collect(), ..Self::default() }
    }

    /// The board is as its file, or neither exists.
    fn is_as_saved(&self, board: BoardId, snapshot: &Snapshot) -> bool {
        match self.saved.get(&board) {
            Some(saved) => is_same_board(&saved.content, snapshot, board),
            None => snapshot.board(board).is_none(),
        }
    }

    /// The board, present or removed, that was last saved under a name.
    pub(super) fn saved_as(&self, file: &BoardName) -> Option<BoardId> {
        self.saved.iter().find(|(_, saved)| saved.file == *file).map(|(board, _)| *board)
    }

    /// The board that reads from this file, or would be written to it.
    fn owner_of(&self, file: &BoardName, snapshot: &Snapshot) -> Option<BoardId> {
        let reads = self.saved_as(file).filter(|board| snapshot.board(*board).is_some());
        reads.or_else(|| snapshot.board_named(file).map(|board| board.id))
    }

    /// Marks boards that operations touched. Undo may lead back to the content of a file, and is rare enough to compare.
    pub(super) fn mark_unsaved(
        &mut self,
        touched: BTreeSet<BoardId>,
        is_taken_back: bool,
        snapshot: &Snapshot,
    ) {
        for board in touched {
            if is_taken_back && self.is_as_saved(board, snapshot) {
                self.unsaved.remove(&board);
            } else {
                self.unsaved.insert(board);
            }
        }
        self.drop_removed(snapshot);
    }

    /// From now on a board reads from this file, which holds `content`.
    fn assign_file(
        &mut self,
        board: BoardId,
        file: BoardName,
        content: Snapshot,
        snapshot: &Snapshot,
        notices: &mut WorkspaceNotices,
    ) {
        notices.clear(&NoticeTopic::File(file.to_string()));
        self.saved.retain(|_, saved| saved.file != file);
        self.held.retain(|held_board, held| *held_board != board && held.file != file);
        self.saved.insert(board, SavedBoardFile { file, content });
        if self.is_as_saved(board, snapshot) {
            // The same content with less in memory.
            let content = snapshot.clone();
            self.saved.entry(board).and_modify(|saved| saved.content = content);
            self.unsaved.remove(&board);
        } else {
            self.unsaved.insert(board);
        }
        self.drop_removed(snapshot);
    }

    /// Drops boards that are neither in the workspace nor in a file.
    fn drop_removed(&mut self, snapshot: &Snapshot) {
        let saved = &self.saved;
        self.held.retain(|board, _| snapshot.board(*board).is_some());
        self.unsaved.retain(|board| snapshot.board(*board).is_some() || saved.contains_key(board));
    }

    // ---- held boards --------------------------------------------------------------------------------------------------

    pub(super) fn hold(
        &mut self,
        board: BoardId,
        reason: HeldReason,
        file: &BoardName,
        message: String,
        notices: &mut WorkspaceNotices,
    ) {
        notices.clear(&NoticeTopic::File(file.to_string()));
        self.held.insert(board, HeldBoardFile { reason, file: file.clone(), message });
    }

    pub(super) fn release_file(&mut self, name: &BoardName) {
        self.held.retain(|_, held| held.file != *name);
    }

    pub(super) fn is_held(&self, board: BoardId) -> bool {
        self.held.contains_key(&board)
    }

    pub(super) fn held_files(&self) -> Vec<BoardName> {
        self.held.values().map(|held| held.file.clone()).collect()
    }

    pub(super) fn held_boards(&self, snapshot: &Snapshot) -> Vec<HeldBoard> {
        let view = |(board, held): (&BoardId, &HeldBoardFile)| HeldBoard {
            board: *board,
            name: board_words(snapshot, *board),
            why: held.reason,
            message: held.message.clone(),
        };
        self.held.iter().map(view).collect()
    }

    /// Refuses to change a board whose file is damaged or in conflict.
    pub(super) fn refuse_held(&self, state: &Snapshot, changes: &[Change]) -> Result<(), Refusal> {
        if self.held.is_empty() {
            return Ok(());
        }
        let touched = boards_touched(state, changes);
        match touched.iter().find_map(|board| Some((board, self.held.get(board)?))) {
            Some((board, held)) => {
                let name = board_words(state, *board);
                let message = format!("board {name} is read-only: {}", held.message);
                Err(Refusal::new(RefusalCode::ReadOnly, message).hint(
                    "Choose a version in the banner or with `draftboard resolve`, or correct the file.",
                ))
            }
            None => Ok(()),
        }
    }

    // ---- opening ------------------------------------------------------------------------------------------------------

    /// Recalls the content of each file when it was last ours, and the boards that differ from it.
    pub(super) fn load(
        &mut self,
        storage: &mut WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> Result<(), JournalError> {
        self.last_saved_revision = storage.stored_saved_revision().min(snapshot.revision());
        for (path, _) in storage.journal.file_records()? {
            let Some(name) = path.as_board() else { continue };
            if self.saved_as(&name).is_some() {
                // Read a moment ago, because the folder is opened for the first time.
                continue;
            }
            storage.settle_pending(&path)?;
            let Some((board, content)) = recall_file(&name, &path, storage, snapshot)? else { continue };
            if let Some(other) = self.saved.get(&board) {
                // A save was interrupted between writing the new file and removing the old one.
                self.unsaved.insert(board);
                if snapshot.board(board).is_some_and(|board| board.name == other.file) {
                    continue;
                }
            }
            self.saved.insert(board, SavedBoardFile { file: name, content });
        }
        let boards = snapshot.boards().map(|board| board.id).chain(self.saved.keys().copied());
        let differing: Vec<BoardId> = boards.filter(|board| !self.is_as_saved(*board, snapshot)).collect();
        self.unsaved.extend(differing);
        Ok(())
    }

    /// Every file that is, was or will be a board's.
    pub(super) fn names(
        &self,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
        notices: &mut WorkspaceNotices,
    ) -> Vec<BoardName> {
        let mut names = list(storage, notices);
        names.extend(snapshot.boards().map(|board| board.name.clone()));
        names.extend(self.saved.values().map(|saved| saved.file.clone()));
        let known = storage.journal.file_records().unwrap_or_default();
        names.extend(known.iter().filter_map(|(path, _)| path.as_board()));
        names.extend(notices.board_files());
        names.sort();
        names.dedup();
        names
    }
}

/// The boards in the folder. Other files there get a notice.
pub(super) fn list(storage: &WorkspaceStorage, notices: &mut WorkspaceNotices) -> Vec<BoardName> {
    notices.clear_all(|topic| matches!(topic, NoticeTopic::Boards | NoticeTopic::Stray(_)));
    match storage.files.list_boards() {
        Ok(list) => {
            for stray in list.others {
                notices.set(NoticeTopic::Stray(stray.file.clone()), stray.to_string());
            }
            list.boards
        }
        Err(error) => {
            notices.set(NoticeTopic::Boards, error.to_string());
            Vec::new()
        }
    }
}

/// A board of a newer version means a workspace of a newer version.
pub(super) fn refuse_newer(
    names: &[BoardName],
    storage: &WorkspaceStorage,
    snapshot: &Snapshot,
) -> Result<(), super::OpenWorkspaceError> {
    for name in names {
        let path = WorkspacePath::board(name);
        let known = storage.journal.file_record(&path)?;
        let is_foreign = storage.files.read(&path).is_ok_and(|bytes| !known.is_known(Digest::hash(&bytes)));
        if is_foreign
            && let Err(error @ FileError::Newer { .. }) =
                BoardFile::read(&storage.files, name, snapshot.registry())
        {
            return Err(error.into());
        }
    }
    Ok(())
}

fn recall_file(
    name: &BoardName,
    path: &WorkspacePath,
    storage: &WorkspaceStorage,
    snapshot: &Snapshot,
) -> Result<Option<(BoardId, Snapshot)>, JournalError> {
    let known = storage.journal.file_record(path)?;
    if let Some(board) = snapshot.board_named(name) {
        let text = write_board(&snapshot.board_document(board.id));
        if text.is_ok_and(|text| known.is_known(Digest::hash(text.as_bytes()))) {
            return Ok(Some((board.id, snapshot.clone())));
        }
    }
    let on_disk = storage.files.read_text(path).ok();
    let is_ours = |text: &String| known.is_known(Digest::hash(text.as_bytes()));
    let text = on_disk.filter(is_ours).or_else(|| storage.recorded_text(path).filter(is_ours));
    let file = text.and_then(|text| BoardFile::parse(name, text, snapshot.registry()).ok());
    Ok(file.map(|file| (file.board, file.content)))
}

/// The name of a board, or its id when it is removed.
fn board_words(snapshot: &Snapshot, board: BoardId) -> String {
    snapshot.board(board).map_or_else(|| board.to_string(), |board| board.name.to_string())
}
