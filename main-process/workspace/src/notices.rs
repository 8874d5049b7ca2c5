//! Notices: problems of the workspace that are shown to a person until they are over.

use journal::WorkspacePath;
use shared_protocol::{
    BoardName, SourcePath,
    messages::{ProblemSeverity, WorkspaceNotice, WorkspaceProblem},
};
use std::collections::BTreeMap;

/// The subject of a notice. Each topic has one notice at most, which is cleared when the topic is in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoticeTopic {
    /// The journal was damaged when the workspace was opened, or was made anew since. Shown until the workspace closes.
    Journal,
    /// The folder, the lock or the journal is lost, so nothing can be changed.
    Storage,
    /// The folder may not be written to.
    ReadOnly,
    /// The operations of the past cannot be listed.
    UndoHistory,
    Compaction,
    /// The review queue could not be read as a whole.
    Review,
    /// The user's file of standing approvals.
    Approvals,
    /// Standing approvals that came with the workspace.
    StoredApprovals,
    Config,
    /// `draftboard.toml` names a program, which is ignored.
    Program,
    Module(String),
    /// The folder of the boards.
    Boards,
    /// A file in that folder that is no board.
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
    /// A mistake in a component file: the file, line and column.
    Component(String, u32, u32),
    /// The file of the overrides.
    Overrides,
    /// A file in those folders that is not read.
    SourceLeftOut(String),
}

impl NoticeTopic {
    /// An error where a part of the workspace was not read and is missing.
    fn severity(&self) -> ProblemSeverity {
        match self {
            Self::Approvals | Self::StoredApprovals | Self::Program => ProblemSeverity::Warning,
            // A board with an invalid name, or behind a link.
            Self::Stray(file) if file.ends_with(".json") => ProblemSeverity::Error,
            Self::Journal | Self::Storage | Self::ReadOnly | Self::Compaction | Self::Stray(_) => {
                ProblemSeverity::Warning
            }
            Self::UndoHistory
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
            | Self::SourceLeftOut(_) => ProblemSeverity::Error,
        }
    }

    fn view(&self, text: &str) -> WorkspaceNotice {
        let file = match self {
            Self::Config | Self::Program => Some(WorkspacePath::config().to_string()),
            Self::Links => Some(SourcePath::trace_links().to_string()),
            Self::Overrides => super::overrides::own_path().map(|path| path.to_string()),
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
            | Self::UndoHistory
            | Self::Compaction
            | Self::Review
            | Self::Approvals
            | Self::StoredApprovals
            | Self::Boards
            | Self::Bundles
            | Self::SourceLeftOut(_) => None,
        };
        WorkspaceNotice { message: text.to_owned(), file }
    }
}

#[derive(Debug, Default)]
pub(super) struct WorkspaceNotices(BTreeMap<NoticeTopic, String>);

impl WorkspaceNotices {
    pub(super) fn set(&mut self, topic: NoticeTopic, text: impl Into<String>) {
        let text = text.into();
        if self.0.get(&topic) != Some(&text) {
            tracing::warn!(?topic, "{text}");
            self.0.insert(topic, text);
        }
    }

    pub(super) fn clear(&mut self, topic: &NoticeTopic) {
        self.0.remove(topic);
    }

    pub(super) fn clear_all(&mut self, is_cleared: impl Fn(&NoticeTopic) -> bool) {
        self.0.retain(|topic, _| !is_cleared(topic));
    }

    pub(super) fn get(&self, topic: &NoticeTopic) -> Option<&String> {
        self.0.get(topic)
    }

    /// Boards whose file has a notice.
    pub(super) fn board_files(&self) -> impl Iterator<Item = BoardName> {
        self.0.keys().filter_map(|topic| match topic {
            NoticeTopic::File(name) => BoardName::parse(name.as_str()).ok(),
            _ => None,
        })
    }

    pub(super) fn views(&self) -> Vec<WorkspaceNotice> {
        self.0.iter().map(|(topic, text)| topic.view(text)).collect()
    }

    pub(super) fn problems(&self) -> impl Iterator<Item = WorkspaceProblem> {
        self.0.iter().map(|(topic, text)| {
            let notice = topic.view(text);
            WorkspaceProblem::of_file(topic.severity(), notice.file, notice.message)
        })
    }
}
