//! Edits by others: an editor, a git pull. They enter as operations of their own. Where they meet unsaved work in the same
//! place nothing is overwritten, and a person chooses.

use super::{Held, Saved, Workspace, compose_registry, error::storage_file, group::Mutation};
use authority::{Snapshot, diff, place_missing, rebase};
use journal::{Digest, FileError, WorkspacePath, read_board, read_config, write_board};
use shared_protocol::{
    Actor, ActorKind, BoardId, BoardName, Change, Code, Document, Refusal,
    messages::{Applied, HeldReason, Keep, Patch},
};

use super::Moment;

/// What came of looking at the files.
#[derive(Debug, Default)]
pub struct Noticed {
    pub patches: Vec<Patch>,
    pub registry_changed: bool,
    /// Held boards or notices may differ.
    pub status_changed: bool,
}

impl Workspace {
    /// A file changed, says the watcher; it may also have been us.
    pub fn file_changed(&mut self, path: &WorkspacePath, moment: Moment) -> Noticed {
        let mut noticed = Noticed { status_changed: true, ..Noticed::default() };
        if let Some(name) = path.as_board() {
            noticed.patches = self.look_at_board_file_at(&name, moment);
        } else {
            noticed.registry_changed = self.reload_registry();
        }
        noticed
    }

    pub fn everything_changed(&mut self, moment: Moment) -> Noticed {
        let registry_changed = self.reload_registry();
        let mut names: Vec<BoardName> = self.snapshot.boards().map(|board| board.name.clone()).collect();
        names.extend(self.files.list_boards().map(|list| list.boards).unwrap_or_default());
        names.sort();
        names.dedup();
        let patches = names.iter().flat_map(|name| self.look_at_board_file_at(name, moment)).collect();
        Noticed { patches, registry_changed, status_changed: true }
    }

    fn reload_registry(&mut self) -> bool {
        let config = WorkspacePath::config();
        match self.files.read_text(&config).and_then(|text| read_config(&text)) {
            Ok(read) => {
                self.notices.remove(config.as_str());
                self.config = read;
            }
            Err(error) => self.notice(config.as_str(), format!("{error}; the settings before are used until it is mended")),
        }
        let (registry, unreadable) = compose_registry(&self.files, &self.config);
        for (origin, problem) in unreadable {
            self.notice(origin, problem);
        }
        self.snapshot = self.snapshot.clone().with_registry(registry);
        true
    }

    /// At the start: takes in what was edited while nobody was looking.
    pub(super) fn look_at_board_file(&mut self, name: &BoardName) {
        // Times and ids do not matter here: nothing new is made, and the log shows when it was noticed.
        self.look_at_board_file_at(name, Moment { time: 0, seed: 0 });
    }

    fn look_at_board_file_at(&mut self, name: &BoardName, moment: Moment) -> Vec<Patch> {
        let path = WorkspacePath::board(name);
        match self.take_file(name, &path, moment) {
            Ok(patches) => patches,
            Err(refusal) => {
                self.notice(path.as_str(), refusal.to_string());
                Vec::new()
            }
        }
    }

    fn take_file(&mut self, name: &BoardName, path: &WorkspacePath, moment: Moment) -> Result<Vec<Patch>, Refusal> {
        let known = self.journal.known(path).map_err(|error| super::error::storage(&error))?;
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(FileError::Missing { .. }) => return self.take_removal(name, path, known.recorded.is_some(), moment),
            Err(error) => return self.hold_damaged(name, &error),
        };
        let digest = Digest::of(&bytes);
        if known.is_ours(digest) {
            self.notices.remove(path.as_str());
            self.release(name);
            return Ok(Vec::new());
        }
        let text = std::str::from_utf8(&bytes);
        let theirs = match text.map_err(|_| not_text(path)).and_then(|text| read_board(text, name)) {
            Ok(theirs) => theirs,
            Err(error) => return self.hold_damaged(name, &error),
        };
        self.notices.remove(path.as_str());
        self.merge(path, digest, theirs, moment)
    }

    /// Brings in what the file says: what it changed since it was last ours goes onto what is here now.
    fn merge(
        &mut self,
        path: &WorkspacePath,
        digest: Digest,
        theirs: Document,
        moment: Moment,
    ) -> Result<Vec<Patch>, Refusal> {
        let Some(board) = theirs.boards.first().map(|board| board.id) else { return Ok(Vec::new()) };
        let refuse = |error: authority::ApplyError| {
            Refusal::new(Code::Conflict, format!("{path} was left out: {error}"))
                .hint("Ids must be unique in a workspace: was the file copied from another board?")
        };
        let base = self.base(board).map_err(refuse)?;
        let changes = diff(&base, board, &theirs).map_err(refuse)?;
        let rebased = rebase(&self.snapshot, &changes);
        if let Some((_, error)) = rebased.conflicts.first() {
            let message = format!("{path} was changed by another program where there is unsaved work: {error}");
            self.held.insert(board, Held { reason: HeldReason::Conflict, message, theirs: Some(Box::new(theirs)) });
            return Ok(Vec::new());
        }
        self.held.remove(&board);
        let stays_unsaved = self.dirty.contains(&board);
        let patches = self.take_in(format!("Edit of {path}"), rebased.fitting, moment)?;
        self.settle(board, path, digest, theirs, stays_unsaved)?;
        Ok(patches)
    }

    /// The content that the file had when it was last ours.
    fn base(&self, board: BoardId) -> Result<Snapshot, authority::ApplyError> {
        match self.saved.get(&board) {
            Some(Saved::At(snapshot)) => Ok(snapshot.clone()),
            Some(Saved::File(document)) => {
                Snapshot::from_document(Document::clone(document), self.snapshot.registry().clone())
            }
            None => Ok(self.snapshot.clone()),
        }
    }

    fn take_in(&mut self, summary: String, mut changes: Vec<Change>, moment: Moment) -> Result<Vec<Patch>, Refusal> {
        changes.extend(place_missing(&self.snapshot, &changes)?);
        let actor = Actor::new(ActorKind::External, "another program");
        let (_, patches) = self.execute(&Mutation::External { summary, changes }, &actor, moment)?;
        Ok(patches)
    }

    /// The file is on record as it is now.
    fn settle(
        &mut self,
        board: BoardId,
        path: &WorkspacePath,
        digest: Digest,
        theirs: Document,
        stays_unsaved: bool,
    ) -> Result<(), Refusal> {
        self.journal.record(&[(path.clone(), digest)]).map_err(|error| super::error::storage(&error))?;
        let ours = write_board(&self.snapshot.board_document(board)).map(|text| Digest::of(text.as_bytes()));
        if !stays_unsaved && ours.is_ok_and(|ours| ours == digest) {
            self.dirty.remove(&board);
            self.saved.insert(board, Saved::At(self.snapshot.clone()));
        } else {
            // Same content in another form (spaces, order of keys) is saved, too.
            let same = { let mut now = self.snapshot.board_document(board); now.revision = theirs.revision; now == theirs };
            if same { self.dirty.remove(&board); } else { self.dirty.insert(board); }
            self.saved.insert(board, Saved::File(Box::new(theirs)));
        }
        Ok(())
    }

    fn take_removal(
        &mut self,
        name: &BoardName,
        path: &WorkspacePath,
        was_ours: bool,
        moment: Moment,
    ) -> Result<Vec<Patch>, Refusal> {
        let Some(board) = self.snapshot.board_named(name).map(|board| board.id) else {
            if was_ours {
                self.journal.forget(path).map_err(|error| super::error::storage(&error))?;
            }
            return Ok(Vec::new());
        };
        if !was_ours {
            return Ok(Vec::new());
        }
        self.journal.forget(path).map_err(|error| super::error::storage(&error))?;
        self.saved.remove(&board);
        if self.dirty.contains(&board) {
            self.notice(path.as_str(), format!("{path} was removed by another program; saving writes it again"));
            return Ok(Vec::new());
        }
        let gone = diff(&self.snapshot, board, &Document::default())
            .map_err(|error| Refusal::new(Code::Conflict, error.to_string()))?;
        let patches = self.take_in(format!("Removal of {path}"), gone, moment)?;
        self.dirty.remove(&board);
        self.held.remove(&board);
        Ok(patches)
    }

    fn hold_damaged(&mut self, name: &BoardName, error: &FileError) -> Result<Vec<Patch>, Refusal> {
        let Some(board) = self.snapshot.board_named(name).map(|board| board.id) else {
            return Err(storage_file(error));
        };
        let message = format!("{error}. The last good state is shown");
        self.held.insert(board, Held { reason: HeldReason::Damaged, message, theirs: None });
        Ok(Vec::new())
    }

    fn release(&mut self, name: &BoardName) {
        if let Some(board) = self.snapshot.board_named(name).map(|board| board.id) {
            self.held.remove(&board);
        }
    }

    /// A person has chosen. What is not kept is set aside, never thrown away.
    pub fn resolve(&mut self, board: BoardId, keep: Keep, moment: Moment) -> Result<(Applied, Vec<Patch>), Refusal> {
        let name = self.snapshot.board(board).map(|board| board.name.clone());
        let (Some(name), true) = (name, self.held.contains_key(&board)) else {
            return Err(Refusal::new(Code::NotFound, "that board does not wait for a decision"));
        };
        let path = WorkspacePath::board(&name);
        let applied = |snapshot: &Snapshot, summary: &str| Applied {
            revision: snapshot.revision(),
            summary: summary.to_owned(),
            created: Vec::new(),
        };
        match keep {
            Keep::Mine => {
                let bytes = self.files.read(&path).map_err(|error| storage_file(&error))?;
                self.files.set_aside(&path, "theirs").map_err(|error| storage_file(&error))?;
                let record = [(path, Digest::of(&bytes))];
                self.journal.record(&record).map_err(|error| super::error::storage(&error))?;
                self.held.remove(&board);
                self.dirty.insert(board);
                Ok((applied(&self.snapshot, "Kept what is here; the file's version is set aside"), Vec::new()))
            }
            Keep::Theirs => {
                let Some(theirs) = self.held.get(&board).and_then(|held| held.theirs.clone()) else {
                    return Err(Refusal::new(Code::BadRequest, "the file cannot be read")
                        .hint("Keep what is here, or correct the file."));
                };
                let ours = write_board(&self.snapshot.board_document(board)).map_err(|error| storage_file(&error))?;
                let aside = self.files.set_aside_bytes(&path, "mine", ours.as_bytes());
                aside.map_err(|error| storage_file(&error))?;
                let bytes = self.files.read(&path).map_err(|error| storage_file(&error))?;
                let changes = diff(&self.snapshot, board, &theirs)
                    .map_err(|error| Refusal::new(Code::Conflict, error.to_string()))?;
                self.held.remove(&board);
                let patches = self.take_in(format!("Take {path} as it is"), changes, moment)?;
                self.settle(board, &path, Digest::of(&bytes), *theirs, false)?;
                Ok((applied(&self.snapshot, "Took the file's version; what was here is set aside"), patches))
            }
        }
    }
}

fn not_text(path: &WorkspacePath) -> FileError {
    FileError::Malformed { path: path.to_string(), position: None, problem: "it is not UTF-8 text".to_owned() }
}
