//! One open workspace: the authority's state, its journal and its files, kept in step.
//!
//! There is one way to change it: a [`Group`] of mutations is decided, written to the journal in one transaction, and only
//! then becomes the state that readers see.

mod board_file;
mod bundles;
mod clock;
mod components;
pub mod config_check;
mod edited;
mod error;
mod external;
mod first;
mod group;
mod kit;
mod links;
mod new;
mod notices;
mod open;
mod overrides;
mod promote;
mod queries;
mod resolve;
mod review;
mod save;
mod saved;
mod sources;
mod storage;
mod take_in;

pub use bundles::SpecBundles;
pub use clock::now;
pub use components::{SLOT, component_texts, components_of};
pub use error::OpenError;
pub use external::Noticed;
pub use group::{Group, Moment, Mutation};
pub use kit::kit;
pub use new::{NewError, beside, create, create_empty, has_terraform, template_boards, unpack_example};
pub use review::{Decision, Desk, Pricing, Reviewer, area_of};
pub use review::{guarded_settings, names_program};
pub use shared_protocol::messages::Template;
pub use sources::SourceEdits;
pub use storage::Ownership;

use notices::About;
use saved::Saved;

use authority::{History, Module, Registry, Snapshot};
use journal::{Journal, ProjectConfig, SourceList, WorkspaceFiles, WorkspacePath};
use shared_protocol::{
    BoardId, BoardName, Document, Revision, SourcePath,
    messages::{HeldBoard, HeldReason, Presence, RegistryView, Status, WorkspaceView},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

const PRESENCE: &str = "presence";

pub struct Workspace {
    files: Arc<WorkspaceFiles>,
    journal: Journal,
    config: ProjectConfig,
    snapshot: Snapshot,
    history: History,
    /// What undo and redo may have to name.
    summaries: BTreeMap<Revision, String>,
    /// What the boards' files held when they were last ours.
    saved: BTreeMap<BoardId, Saved>,
    /// Boards that differ from that, those that were removed among them.
    unsaved: BTreeSet<BoardId>,
    /// The newest revision without unsaved boards, as of the first change after it.
    saved_revision: Revision,
    held: BTreeMap<BoardId, Held>,
    /// The files of the bundles as they were listed last.
    source_list: SourceList,
    /// Those of them that could not be written.
    unwritten: BTreeSet<SourcePath>,
    overrides: overrides::OverrideFile,
    links: links::LinkBook,
    shelf: components::Shelf,
    bundles: SpecBundles,
    notices: BTreeMap<About, String>,
    desk: Desk,
    /// What is known of the costs of proposals.
    costs: review::Costs,
    /// Where standing approvals are kept; in memory alone when absent.
    approval_file: Option<review::ApprovalFile>,
    presence: Presence,
    /// The lock that has to be held while anything is acknowledged.
    ownership: Option<Box<dyn Ownership>>,
}

/// A board that waits for a person.
struct Held {
    reason: HeldReason,
    /// The file that stands in the way.
    file: BoardName,
    message: String,
}

impl Workspace {
    pub fn root(&self) -> &Path {
        self.files.root()
    }

    /// The folder, for others of this process that read or write in it.
    pub fn files(&self) -> &Arc<WorkspaceFiles> {
        &self.files
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The project's file as JSON, tables of other versions included.
    pub fn config_json(&self) -> serde_json::Value {
        let text = self.files.read_text(&WorkspacePath::config()).unwrap_or_default();
        let table: toml::Table = text.parse().unwrap_or_default();
        serde_json::to_value(table).unwrap_or_default()
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The spec bundles, as the state's files have them.
    pub fn bundles(&self) -> &SpecBundles {
        &self.bundles
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
        let summary = |revision: Option<Revision>| {
            self.summaries.get(&revision?).map(|summary| group::plain(summary).to_owned())
        };
        Status {
            saved: self.saved_revision(),
            undo: summary(self.history.to_undo()),
            redo: summary(self.history.to_redo()),
            held: self.held_boards(),
            notices: self.notices.iter().map(|(about, text)| about.tell(text)).collect(),
        }
    }

    pub fn held_boards(&self) -> Vec<HeldBoard> {
        let name = |board: BoardId| {
            self.snapshot.board(board).map_or_else(|| board.to_string(), |b| b.name.to_string())
        };
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
            document: Document { sources: Vec::new(), ..self.snapshot.to_document() },
            registry: self.registry_view(),
            presence: self.presence.clone(),
            status: self.status(),
        }
    }

    /// Ends well: the next start finds a short journal.
    pub fn close(mut self) {
        // A journal that was deleted a moment ago would be gone with this process.
        if let Err(refusal) = self.ensure_storage() {
            tracing::error!(%refusal, "the workspace was closed without its journal in order");
        }
        if self.journal.revision() > Revision::START
            && let Err(error) =
                self.journal.checkpoint(&self.snapshot.to_document(), shared_protocol::limits::MAX_HISTORY)
        {
            tracing::warn!(%error, "the journal was not compacted; nothing is lost");
        }
    }
}

/// The effective types of a workspace.
fn compose_registry(
    files: &WorkspaceFiles,
    config: &ProjectConfig,
    library: &::components::Library,
) -> (Arc<Registry>, Vec<(String, String)>) {
    let mut modules = catalogue::built_in();
    let mut unreadable = Vec::new();
    for (origin, text) in files.read_modules(&config.modules) {
        match text {
            Ok(text) => modules.push(Module { origin, text: Arc::from(text) }),
            Err(error) => unreadable.push((origin, error.to_string())),
        }
    }
    if library.components().any(|component| !::components::is_built_in(&component.file)) {
        let base = Registry::compose(&modules, &BTreeMap::new());
        modules.extend(components::modules(library, &base));
    }
    (Arc::new(Registry::compose(&modules, &config.types)), unreadable)
}
