//! One open workspace: the authority's state, its journal and its files, kept in step.
//!
//! There is one way to change it: a [`Group`] of mutations is decided, written to the journal in one transaction, and only
//! then becomes the state that readers see.

mod error;
mod external;
mod group;
mod new;
mod open;
mod queries;
mod save;

pub use error::OpenError;
pub use group::{Group, Moment, Mutation};
pub use new::{NewError, Template, create, unpack_example};

use authority::{History, Module, Registry, Snapshot};
use journal::{Journal, ProjectConfig, WorkspaceFiles};
use shared_protocol::{
    BoardId, Document, Revision,
    messages::{HeldBoard, HeldReason, Presence, RegistryView, Status, WorkspaceView},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

const PRESENCE: &str = "presence";

pub struct Workspace {
    files: WorkspaceFiles,
    journal: Journal,
    config: ProjectConfig,
    snapshot: Snapshot,
    history: History,
    /// What undo and redo may have to name.
    summaries: BTreeMap<Revision, String>,
    /// What each board's file holds, as far as we wrote or read it.
    saved: BTreeMap<BoardId, Saved>,
    /// Boards that differ from their file.
    dirty: BTreeSet<BoardId>,
    saved_revision: Revision,
    held: BTreeMap<BoardId, Held>,
    notices: BTreeMap<String, String>,
    presence: Presence,
}

/// The content of a board's file.
enum Saved {
    /// As the board was in this state; states are cheap to keep.
    At(Snapshot),
    /// As it was read.
    File(Box<Document>),
}

/// A board that waits for a person.
struct Held {
    reason: HeldReason,
    message: String,
    /// What the file says, when it can be read.
    theirs: Option<Box<Document>>,
}

impl Workspace {
    pub fn root(&self) -> &Path {
        self.files.root()
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub fn presence(&self) -> &Presence {
        &self.presence
    }

    /// Keeps what the designer sees; a crash may lose the last moments of it and nothing else.
    pub fn set_presence(&mut self, presence: Presence) {
        if self.presence != presence {
            self.presence = presence;
            if let Err(error) = self.journal.set_state(PRESENCE, &self.presence) {
                tracing::warn!(%error, "selection and viewport were not stored");
            }
        }
    }

    pub fn status(&self) -> Status {
        let summary = |revision: Option<Revision>| self.summaries.get(&revision?).cloned();
        Status {
            saved: self.saved_revision(),
            undo: summary(self.history.to_undo()),
            redo: summary(self.history.to_redo()),
            held: self.held_boards(),
            notices: self.notices.values().cloned().collect(),
        }
    }

    /// The newest revision whose content the files hold.
    pub fn saved_revision(&self) -> Revision {
        if self.dirty.is_empty() { self.snapshot.revision() } else { self.saved_revision }
    }

    pub fn held_boards(&self) -> Vec<HeldBoard> {
        let name = |board: BoardId| self.snapshot.board(board).map_or_else(|| board.to_string(), |b| b.name.to_string());
        self.held
            .iter()
            .map(|(board, held)| HeldBoard {
                board: *board,
                name: name(*board),
                why: held.reason,
                message: held.message.clone(),
            })
            .collect()
    }

    pub fn registry_view(&self) -> RegistryView {
        let registry = self.snapshot.registry();
        RegistryView {
            types: registry.types().map(|def| def.as_ref().clone()).collect(),
            rules: registry.rules().to_vec(),
            problems: registry.problems().to_vec(),
        }
    }

    pub fn view(&self) -> WorkspaceView {
        WorkspaceView {
            root: self.root().display().to_string(),
            name: self.name().to_owned(),
            document: self.snapshot.to_document(),
            registry: self.registry_view(),
            presence: self.presence.clone(),
            status: self.status(),
        }
    }

    fn notice(&mut self, about: impl Into<String>, text: impl Into<String>) {
        let (about, text) = (about.into(), text.into());
        tracing::warn!(%about, "{text}");
        self.notices.insert(about, text);
    }

    /// Ends well: the next start finds a short journal.
    pub fn close(mut self) {
        if self.journal.revision() > Revision::START
            && let Err(error) = self.journal.checkpoint(&self.snapshot.to_document(), shared_protocol::limits::MAX_HISTORY)
        {
            tracing::warn!(%error, "the journal was not compacted; nothing is lost");
        }
    }
}

/// The effective types of a workspace.
fn compose_registry(files: &WorkspaceFiles, config: &ProjectConfig) -> (Arc<Registry>, Vec<(String, String)>) {
    let mut modules = catalogue::built_in();
    let mut unreadable = Vec::new();
    for (origin, text) in files.read_modules(&config.modules) {
        match text {
            Ok(text) => modules.push(Module { origin, text: Arc::from(text) }),
            Err(error) => unreadable.push((origin, error.to_string())),
        }
    }
    (Arc::new(Registry::compose(&modules, &config.types)), unreadable)
}
