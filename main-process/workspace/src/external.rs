//! News of the files: which of them changed, and what follows.

use super::{About, Moment, SpecBundles, Workspace, error::storage_file, open::names_program};
use journal::{WorkspacePath, read_config};
use shared_protocol::{BoardName, Code, Refusal, messages::Patch};
use terraform::settings::IGNORED_PROGRAM;

/// What came of looking at the files.
#[derive(Debug, Default)]
pub struct Noticed {
    pub patches: Vec<Patch>,
    pub registry_changed: bool,
}

impl Workspace {
    /// A file changed, says the watcher; it may also have been us.
    pub fn file_changed(&mut self, path: &WorkspacePath, moment: Moment) -> Noticed {
        if let Some(name) = path.as_board() {
            self.list_boards();
            let patches = self.look_at_all(&[name], moment);
            Noticed { patches, registry_changed: false }
        } else if path.as_str().starts_with("boards/") {
            self.list_boards();
            Noticed::default()
        } else if self.is_override_file(path) {
            Noticed { patches: self.look_at_overrides(moment), registry_changed: false }
        } else if let Some(path) = self.is_within_sources(path) {
            Noticed { patches: self.look_at_source(&path, moment), registry_changed: false }
        } else {
            self.reload_registry();
            // The project's file says where the bundles are.
            Noticed { patches: self.look_at_sources(moment), registry_changed: true }
        }
    }

    /// Replaces the project's file, if it still holds what it held when that was asked for.
    pub fn replace_config(&mut self, before: &str, after: &str, moment: Moment) -> Result<Noticed, Refusal> {
        let path = WorkspacePath::config();
        let present = self.files.read_text(&path).map_err(|error| storage_file(&error))?;
        if present != before {
            return Err(Refusal::new(Code::Stale, "draftboard.toml was changed since"));
        }
        self.files.write_atomic(&path, after.as_bytes()).map_err(|error| storage_file(&error))?;
        Ok(self.file_changed(&path, moment))
    }

    /// Anything may have changed.
    pub fn everything_changed(&mut self, moment: Moment) -> Noticed {
        self.reload_registry();
        let names = self.board_files();
        let mut patches = self.look_at_all(&names, moment);
        patches.extend(self.look_at_sources(moment));
        patches.extend(self.look_at_overrides(moment));
        Noticed { patches, registry_changed: true }
    }

    /// Looks at files, and then once more at those that were held: what stood in their way may just have gone.
    pub(super) fn look_at_all(&mut self, names: &[BoardName], moment: Moment) -> Vec<Patch> {
        let mut patches: Vec<Patch> = names.iter().flat_map(|name| self.look_at(name, moment)).collect();
        if !patches.is_empty() {
            let held: Vec<BoardName> = self.held.values().map(|held| held.file.clone()).collect();
            patches.extend(held.iter().flat_map(|name| self.look_at(name, moment)));
        }
        patches
    }

    /// Every file that is, was or will be a board's.
    pub(super) fn board_files(&mut self) -> Vec<BoardName> {
        let mut names = self.list_boards();
        names.extend(self.snapshot.boards().map(|board| board.name.clone()));
        names.extend(self.saved.values().map(|saved| saved.file.clone()));
        let known = self.journal.known_files().unwrap_or_default();
        names.extend(known.iter().filter_map(|(path, _)| path.as_board()));
        names.extend(self.notices.keys().filter_map(|about| match about {
            About::File(name) => BoardName::parse(name.as_str()).ok(),
            _ => None,
        }));
        names.sort();
        names.dedup();
        names
    }

    /// The boards in the folder; what else is there gets a notice.
    fn list_boards(&mut self) -> Vec<BoardName> {
        self.notices.retain(|about, _| !matches!(about, About::Boards | About::Stray(_)));
        match self.files.list_boards() {
            Ok(list) => {
                for stray in list.others {
                    self.notice(About::Stray(stray.file.clone()), stray.to_string());
                }
                list.boards
            }
            Err(error) => {
                self.notice(About::Boards, error.to_string());
                Vec::new()
            }
        }
    }

    fn reload_registry(&mut self) {
        let text = self.files.read_text(&WorkspacePath::config());
        match &text {
            Ok(text) if names_program(text) => self.notice(About::Program, IGNORED_PROGRAM),
            _ => self.in_order(&About::Program),
        }
        match text.and_then(|text| read_config(&text)) {
            Ok(config) => {
                self.in_order(&About::Config);
                let moved = self.config.bundles != config.bundles;
                self.config = config;
                if moved {
                    self.bundles = SpecBundles::load(&self.config.bundles, &self.snapshot);
                    self.notice_bundles();
                }
            }
            Err(error) => {
                self.notice(
                    About::Config,
                    format!("{error}; the settings before are used until it is mended"),
                );
            }
        }
        self.compose();
    }
}
