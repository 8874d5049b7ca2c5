//! What a person should know, for as long as it is so.

use super::Workspace;

/// What a notice is about. There is one notice about each thing, and it goes when that is in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// The journal was damaged when the workspace was opened; known until it is closed.
    Journal,
    /// The operations of the past cannot be listed.
    History,
    Compaction,
    Config,
    Module(String),
    /// The folder of the boards.
    Boards,
    /// Something in that folder that is no board.
    Stray(String),
    /// The file of a board.
    File(String),
    /// The folders of the bundles.
    Bundles,
    /// A file of a bundle.
    Source(String),
    /// Something in those folders that is not taken in.
    SourceLeftOut(String),
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
