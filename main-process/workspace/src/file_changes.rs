//! Changes of the files by other programs: the parts that they concern examine them, and each edit enters as an operation of
//! actor `external`.

use super::{
    Mutation, SourceFileEdits, SpecBundles, TimeAndSeed, Workspace,
    board_files::{self, BoardFiles, EnteringBoard, ForeignBoardEdit},
    error::{storage, storage_file},
    notices::NoticeTopic,
    open::names_program,
    overrides, registry, sources,
    storage::WorkspaceFileContext,
};
use authority::place_missing;
use journal::{WorkspacePath, read_config};
use shared_protocol::{
    Actor, ActorKind, BoardId, BoardName, Change, Refusal, RefusalCode, SourcePath,
    messages::{AppliedCommand, ConflictResolution, Patch},
};
use std::collections::BTreeSet;
use terraform::settings::IGNORED_PROGRAM_NOTICE;

/// The operations that changed files became.
#[derive(Debug, Default)]
pub struct FileChangeOutcome {
    pub patches: Vec<Patch>,
    pub registry_changed: bool,
}

impl Workspace {
    /// Ingests a file that the watcher reports as changed. The change may be our own.
    pub fn file_changed(&mut self, path: &WorkspacePath, moment: TimeAndSeed) -> FileChangeOutcome {
        if let Some(name) = path.as_board() {
            board_files::list(&self.storage, &mut self.notices);
            let patches = self.ingest_boards(&[name], moment);
            FileChangeOutcome { patches, registry_changed: false }
        } else if path.as_str().starts_with("boards/") {
            board_files::list(&self.storage, &mut self.notices);
            FileChangeOutcome::default()
        } else if overrides::is_override_file(path) {
            FileChangeOutcome { patches: self.ingest_overrides(moment), registry_changed: false }
        } else if let Some(path) = self.sources.source_at(path, &self.config.bundles) {
            let patches = match self.sources.is_known(&path, &self.storage, &self.snapshot) {
                true => self.ingest_source_files(&BTreeSet::from([path]), moment),
                false => self.ingest_sources(moment),
            };
            FileChangeOutcome { patches, registry_changed: false }
        } else {
            self.reload_config();
            // The project's file names the folders of the bundles.
            FileChangeOutcome { patches: self.ingest_sources(moment), registry_changed: true }
        }
    }

    /// Replaces `draftboard.toml`, if it still holds the expected text.
    pub fn replace_config(
        &mut self,
        before: &str,
        after: &str,
        moment: TimeAndSeed,
    ) -> Result<FileChangeOutcome, Refusal> {
        let path = WorkspacePath::config();
        let present = self.storage.files.read_text(&path).map_err(|error| storage_file(&error))?;
        if present != before {
            return Err(Refusal::new(RefusalCode::Stale, "draftboard.toml was changed since"));
        }
        self.storage.files.write_atomic(&path, after.as_bytes()).map_err(|error| storage_file(&error))?;
        Ok(self.file_changed(&path, moment))
    }

    /// Ingests all files, because any of them may have changed.
    pub fn everything_changed(&mut self, moment: TimeAndSeed) -> FileChangeOutcome {
        self.reload_config();
        let names = self.boards.names(&self.storage, &self.snapshot, &mut self.notices);
        let mut patches = self.ingest_boards(&names, moment);
        patches.extend(self.ingest_sources(moment));
        patches.extend(self.ingest_overrides(moment));
        FileChangeOutcome { patches, registry_changed: true }
    }

    fn reload_config(&mut self) {
        let text = self.storage.files.read_text(&WorkspacePath::config());
        match &text {
            Ok(text) if names_program(text) => self.notices.set(NoticeTopic::Program, IGNORED_PROGRAM_NOTICE),
            _ => self.notices.clear(&NoticeTopic::Program),
        }
        match text.and_then(|text| read_config(&text)) {
            Ok(config) => {
                self.notices.clear(&NoticeTopic::Config);
                let moved = self.config.bundles != config.bundles;
                self.config = config;
                if moved {
                    self.bundles = SpecBundles::load(&self.config.bundles, &self.snapshot);
                    self.bundles.update_notices(&mut self.notices);
                }
            }
            Err(error) => {
                let text = format!("{error}; the previous settings stay in effect until the file is fixed");
                self.notices.set(NoticeTopic::Config, text);
            }
        }
        self.compose_registry();
    }

    /// Recomposes the types: built-in ones, the workspace's modules, its components.
    pub(super) fn compose_registry(&mut self) {
        let library = self.components.library();
        let (registry, unreadable) = registry::compose(&self.storage.files, &self.config, library);
        self.notices.clear_all(|topic| matches!(topic, NoticeTopic::Module(_)));
        for (origin, problem) in unreadable {
            self.notices.set(NoticeTopic::Module(origin), problem);
        }
        self.snapshot = self.snapshot.clone().with_registry(registry);
    }

    // ---- boards -------------------------------------------------------------------------------------------------------

    /// Ingests board files, and then held ones once more: the obstacle may just have gone.
    pub(super) fn ingest_boards(&mut self, names: &[BoardName], moment: TimeAndSeed) -> Vec<Patch> {
        let mut patches: Vec<Patch> = names.iter().flat_map(|name| self.ingest_board(name, moment)).collect();
        if !patches.is_empty() {
            let held = self.boards.held_files();
            patches.extend(held.iter().flat_map(|name| self.ingest_board(name, moment)));
        }
        patches
    }

    fn ingest_board(&mut self, name: &BoardName, moment: TimeAndSeed) -> Vec<Patch> {
        self.try_ingest_board(name, moment).unwrap_or_else(|refusal| {
            self.notices.set(NoticeTopic::File(name.to_string()), refusal.to_string());
            Vec::new()
        })
    }

    fn try_ingest_board(&mut self, name: &BoardName, moment: TimeAndSeed) -> Result<Vec<Patch>, Refusal> {
        let topic = NoticeTopic::File(name.to_string());
        match self.boards.examine(name, &self.storage, &self.snapshot)? {
            ForeignBoardEdit::Unchanged => {
                self.notices.clear(&topic);
                self.boards.release_file(name);
                Ok(Vec::new())
            }
            ForeignBoardEdit::Enter(entering) => self.enter_board(*entering, moment),
            ForeignBoardEdit::Removed { changes, has_unsaved_work } => {
                if self.snapshot.board_named(name).is_none() {
                    self.notices.clear(&topic);
                }
                let patches = match changes {
                    Some(changes) => {
                        self.enter(format!("Removal of {}", WorkspacePath::board(name)), changes, moment)?
                    }
                    None => Vec::new(),
                };
                if has_unsaved_work {
                    BoardFiles::notice_removed(name, &mut self.notices);
                }
                self.boards.forget_removed(name, &mut self.storage, &self.snapshot)?;
                Ok(patches)
            }
            ForeignBoardEdit::Hold { board, reason, file, message } => {
                self.boards.hold(board, reason, &file, message, &mut self.notices);
                Ok(Vec::new())
            }
        }
    }

    fn enter_board(&mut self, entering: EnteringBoard, moment: TimeAndSeed) -> Result<Vec<Patch>, Refusal> {
        let EnteringBoard { summary, changes, file, moved_from } = entering;
        let patches = changes.map(|changes| self.enter(summary, changes, moment)).transpose()?;
        self.boards.settle(file, &mut self.storage, &self.snapshot, &mut self.notices)?;
        if let Some(before) = moved_from.filter(|before| self.boards.saved_as(before).is_none()) {
            self.storage.remove_record(&WorkspacePath::board(&before)).map_err(|error| storage(&error))?;
        }
        Ok(patches.unwrap_or_default())
    }

    fn enter(
        &mut self,
        summary: String,
        mut changes: Vec<Change>,
        moment: TimeAndSeed,
    ) -> Result<Vec<Patch>, Refusal> {
        changes.extend(place_missing(&self.snapshot, &changes)?);
        self.execute_external(summary, changes, moment)
    }

    fn execute_external(
        &mut self,
        summary: String,
        changes: Vec<Change>,
        moment: TimeAndSeed,
    ) -> Result<Vec<Patch>, Refusal> {
        let actor = Actor::new(ActorKind::External, "another program");
        let (_, patches) = self.execute(&Mutation::External { summary, changes }, &actor, moment)?;
        Ok(patches)
    }

    /// Carries out a person's choice between a held board and its file.
    pub fn resolve(
        &mut self,
        board: BoardId,
        keep: ConflictResolution,
        moment: TimeAndSeed,
    ) -> Result<(AppliedCommand, Vec<Patch>), Refusal> {
        let path = self.boards.held_file(board)?;
        self.storage.ensure_writable()?;
        self.ensure_storage()?;
        let Self { boards, storage, snapshot, notices, .. } = self;
        let (summary, patches) = match keep {
            ConflictResolution::Mine => {
                (boards.keep_mine(board, &path, storage, snapshot, notices)?, Vec::new())
            }
            ConflictResolution::Theirs => {
                let entering = BoardFiles::keep_theirs(board, &path, storage, snapshot)?;
                let patches = self.enter_board(entering, moment)?;
                self.boards.release(board);
                ("Loaded the file's version; the version in Draftboard is in .draftboard/aside", patches)
            }
        };
        let applied = AppliedCommand {
            revision: self.snapshot.revision(),
            summary: summary.to_owned(),
            created: Vec::new(),
        };
        Ok((applied, patches))
    }

    // ---- sources and overrides ----------------------------------------------------------------------------------------

    /// Ingests every source file.
    pub(super) fn ingest_sources(&mut self, moment: TimeAndSeed) -> Vec<Patch> {
        let Self { sources, storage, snapshot, notices, config, .. } = self;
        let paths = sources.refresh(&config.bundles, storage, snapshot, notices);
        self.ingest_source_files(&paths, moment)
    }

    /// One operation for all edits of other programs.
    fn ingest_source_files(&mut self, paths: &BTreeSet<SourcePath>, moment: TimeAndSeed) -> Vec<Patch> {
        let Self { sources, storage, snapshot, notices, .. } = self;
        let edits: SourceFileEdits =
            sources.examine(paths, &mut WorkspaceFileContext { storage, snapshot, notices });
        let summary = match edits.first_key_value() {
            None => return Vec::new(),
            Some((path, _)) if edits.len() == 1 => format!("Edit of {path}"),
            Some(_) => format!("Edit of {} files", edits.len()),
        };
        let changes = sources::changes_of(&self.snapshot, edits);
        self.execute_external(summary, changes, moment).unwrap_or_else(|refusal| {
            self.notices.set(NoticeTopic::Bundles, refusal.to_string());
            Vec::new()
        })
    }

    pub(super) fn ingest_overrides(&mut self, moment: TimeAndSeed) -> Vec<Patch> {
        let Self { overrides, storage, snapshot, notices, .. } = self;
        let found = overrides.examine(&mut WorkspaceFileContext { storage, snapshot, notices }, moment.time);
        let Some(found) = found else { return Vec::new() };
        let (summary, changes) = overrides.changes_of(found, snapshot);
        match self.execute_external(summary, changes, moment) {
            Ok(patches) => {
                let Self { overrides, storage, snapshot, notices, .. } = self;
                // Also when nothing was new: from now on the file is ours again.
                overrides.write(&mut WorkspaceFileContext { storage, snapshot, notices }, moment.time);
                patches
            }
            Err(refusal) => {
                self.notices.set(NoticeTopic::Overrides, refusal.to_string());
                Vec::new()
            }
        }
    }
}
