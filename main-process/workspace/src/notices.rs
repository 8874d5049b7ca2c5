//! What a person should know, for as long as it is so.

use super::Workspace;
use journal::WorkspacePath;
use shared_protocol::{
    BoardName, SourcePath,
    messages::{Notice, Severity},
};

/// What a notice is about. There is one notice about each thing, and it goes when that is in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// The journal was damaged when the workspace was opened, or made anew since; known until it is closed.
    Journal,
    /// The folder, the lock or the journal was lost while the workspace was open, and nothing can be changed meanwhile.
    Storage,
    /// The folder may not be written to.
    ReadOnly,
    /// The operations of the past cannot be listed.
    History,
    Compaction,
    /// The review queue could not be read as a whole.
    Review,
    /// The user's file of standing approvals.
    Approvals,
    /// Standing approvals that came with the workspace.
    StoredApprovals,
    Config,
    /// The project's file names a program, which is ignored.
    Program,
    Module(String),
    /// The folder of the boards.
    Boards,
    /// Something in that folder that is no board.
    Stray(String),
    /// The file of a board.
    File(String),
    /// The folders of the bundles.
    Bundles,
    Links,
    /// A folder that should hold a bundle.
    Bundle(String),
    /// A file of a bundle.
    Source(String),
    /// A mistake in a component's file: the file, line and column.
    Component(String, u32, u32),
    /// The file of the overrides.
    Overrides,
    /// Something in those folders that is not taken in.
    SourceLeftOut(String),
}

impl About {
    /// An error when something of the workspace was not read, and so is not here.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::Approvals | Self::StoredApprovals | Self::Program => Severity::Warning,
            // A board under a name that is none, or behind a link.
            Self::Stray(file) if file.ends_with(".json") => Severity::Error,
            Self::Journal | Self::Storage | Self::ReadOnly | Self::Compaction | Self::Stray(_) => {
                Severity::Warning
            }
            Self::History
            | Self::Review
            | Self::Config
            | Self::Module(_)
            | Self::Boards
            | Self::File(_)
            | Self::Bundles
            | Self::Links
            | Self::Bundle(_)
            | Self::Source(_)
            | Self::Component(..)
            | Self::Overrides
            | Self::SourceLeftOut(_) => Severity::Error,
        }
    }

    pub(super) fn tell(&self, text: &str) -> Notice {
        let file = match self {
            Self::Config | Self::Program => Some(WorkspacePath::config().to_string()),
            Self::Links => Some(SourcePath::links().to_string()),
            Self::Overrides => super::overrides::file().map(|path| path.to_string()),
            Self::Module(path) | Self::Source(path) | Self::Bundle(path) | Self::Component(path, ..) => {
                Some(path.clone())
            }
            Self::File(name) => {
                BoardName::parse(name.as_str()).ok().map(|name| WorkspacePath::board(&name).to_string())
            }
            Self::Stray(file) => Some(format!("boards/{file}")),
            Self::Journal
            | Self::Storage
            | Self::ReadOnly
            | Self::History
            | Self::Compaction
            | Self::Review
            | Self::Approvals
            | Self::StoredApprovals
            | Self::Boards
            | Self::Bundles
            | Self::SourceLeftOut(_) => None,
        };
        Notice { message: text.to_owned(), file }
    }
}

impl Workspace {
    pub(super) fn notice(&mut self, about: About, text: impl Into<String>) {
        let text = text.into();
        if self.notices.get(&about) != Some(&text) {
            tracing::warn!(?about, "{text}");
            self.notices.insert(about, text);
        }
    }

    pub(super) fn in_order(&mut self, about: &About) {
        self.notices.remove(about);
    }
}
