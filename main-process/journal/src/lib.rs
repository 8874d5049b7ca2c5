//! Durable state: the journal of operations, the files of the workspace, and a watcher for edits by other programs.
//!
//! Owns: `.draftboard/journal.db` (SQLite), the text of `boards/*.board.json` and `draftboard.toml`, reading and
//! writing inside the workspace folder only, the watchers. Must not know: MCP, egui, messages between processes,
//! the rules of the registry; it decides nothing about the graph. One writer calls it synchronously; only the
//! watchers have threads.
//!
//! A save survives a crash at any point when its steps run in this order:
//!
//! ```text
//! Journal::record_pending(path, new hash)     durable: the old and the new content are on record
//! WorkspaceFiles::write_atomic(path, bytes)   the file holds the old or the new content, never a part
//! Journal::confirm(path)                      only the new content is on record
//! ```

mod board_file;
mod config;
mod digest;
mod file_error;
mod folder_watcher;
mod journal;
mod journal_error;
mod workspace_files;
mod workspace_path;
mod workspace_watcher;

pub use board_file::{BOARD_FORMAT, MAX_FILE_BYTES, read_board, write_board};
pub use config::{CONFIG_FORMAT, ProjectConfig, ProjectConfigError, merge_config, new_project, read_config};
pub use digest::Digest;
pub use file_error::{FileError, TextPosition};
pub use folder_watcher::{FolderChange, FolderWatcher};
pub use journal::{
    AuditChainError, FileRecord, JOURNAL_FORMAT, Journal, JournalEntry, ProposalWrite, RebuiltJournal,
    RecoveredHistory, ReviewWrite, StoredProposal, StoredReview, VerifiedHashChain, check_audit,
};
pub use journal_error::JournalError;
pub use workspace_files::{
    BoardList, FolderListing, IgnoredBoardFile, SourceList, WorkspaceFiles, folder_in_pattern,
};
pub use workspace_path::WorkspacePath;
pub use workspace_watcher::{FileChange, WatchError, WorkspaceWatcher};
