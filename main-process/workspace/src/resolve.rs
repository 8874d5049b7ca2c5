//! A person has chosen between what is here and what the file says. What is not kept is set aside, never thrown away.

use super::{
    Held, Moment, Workspace,
    board_file::BoardFile,
    error::{storage, storage_file},
};
use journal::{Digest, FileError, WorkspacePath, write_board};
use shared_protocol::{
    BoardId, Code, Refusal,
    messages::{Applied, Keep, Patch},
};

impl Workspace {
    pub fn resolve(
        &mut self,
        board: BoardId,
        keep: Keep,
        moment: Moment,
    ) -> Result<(Applied, Vec<Patch>), Refusal> {
        let Some(Held { file, .. }) = self.held.get(&board) else {
            return Err(Refusal::new(Code::NotFound, "that board does not wait for a decision"));
        };
        let path = WorkspacePath::board(file);
        if self.files.is_read_only() {
            return Err(self.read_only());
        }
        self.ensure_storage()?;
        let (summary, patches) = match keep {
            Keep::Mine => (self.keep_mine(board, &path)?, Vec::new()),
            Keep::Theirs => self.keep_theirs(board, &path, moment)?,
        };
        let applied =
            Applied { revision: self.snapshot.revision(), summary: summary.to_owned(), created: Vec::new() };
        Ok((applied, patches))
    }

    /// The file counts as ours from now on, so that the next save replaces it.
    fn keep_mine(&mut self, board: BoardId, path: &WorkspacePath) -> Result<&'static str, Refusal> {
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(FileError::Missing { .. }) => {
                self.held.remove(&board);
                return Ok("Kept what is here; the file is gone");
            }
            Err(error) => return Err(storage_file(&error)),
        };
        self.files.set_aside_bytes(path, "theirs", &bytes).map_err(|error| storage_file(&error))?;
        let record = [(path.clone(), Digest::of(&bytes))];
        self.journal.record(&record).map_err(|error| storage(&error))?;
        self.remember(path, &String::from_utf8_lossy(&bytes));
        let text = String::from_utf8(bytes).ok();
        let theirs = path.as_board().zip(text).and_then(|(name, text)| {
            BoardFile::parse(&name, text, self.snapshot.registry())
                .ok()
                .filter(|theirs| theirs.board == board)
        });
        match theirs {
            Some(theirs) => self.own(board, theirs.name, theirs.content),
            None => {
                self.saved.retain(|_, saved| Some(&saved.file) != path.as_board().as_ref());
                self.held.remove(&board);
            }
        }
        self.unsaved.insert(board);
        Ok("Kept what is here; the file's version is set aside")
    }

    fn keep_theirs(
        &mut self,
        board: BoardId,
        path: &WorkspacePath,
        moment: Moment,
    ) -> Result<(&'static str, Vec<Patch>), Refusal> {
        let unreadable = |error: FileError| {
            Refusal::new(Code::BadRequest, format!("the file cannot be taken as it is: {error}"))
                .hint("Keep what is here, or correct the file.")
        };
        let name =
            path.as_board().ok_or_else(|| Refusal::new(Code::Internal, format!("{path} is no board")))?;
        let theirs = self.read_board_file(&name).map_err(unreadable)?;
        let is_another = theirs.board != board && self.snapshot.board(theirs.board).is_some();
        let elsewhere = theirs.clash(&self.snapshot).or_else(|| is_another.then(|| theirs.board.to_string()));
        if let Some(element) = elsewhere {
            return Err(Refusal::new(
                Code::Conflict,
                format!("{path} holds {element}, which is elsewhere here"),
            )
            .hint("Keep what is here, or correct the file."));
        }
        let ours = write_board(&self.snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
        self.files.set_aside_bytes(path, "mine", ours.as_bytes()).map_err(|error| storage_file(&error))?;
        let patches = self.replace(board, theirs, moment)?;
        self.held.remove(&board);
        Ok(("Took the file's version; what was here is set aside", patches))
    }
}
