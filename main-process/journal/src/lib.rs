//! What must survive: the journal of operations, the workspace's files, and the news that somebody else edited them.
//!
//! Owns: `.draftboard/journal.db` (SQLite), the text of `boards/*.board.json` and `draftboard.toml`, reading and
//! writing inside the workspace folder and nowhere else, the watcher. Must not know: MCP, egui, messages between
//! processes, the registry's rules; it decides nothing about the graph. It is called by one writer, synchronously; only
//! the watcher has a thread.
//!
//! A save is safe against a crash at any point when done in this order:
//!
//! ```text
//! Journal::record_pending(path, new hash)     durable: from here both contents are known as ours
//! WorkspaceFiles::write_atomic(path, bytes)   the old file or the new one, never a part
//! Journal::confirm(path)                      the new content is the one on record
//! ```

mod board_file;
mod config;
mod digest;
mod file_error;
mod folder_watch;
mod journal;
mod journal_error;
mod watcher;
mod workspace_files;
mod workspace_path;

pub use board_file::{BOARD_FORMAT, MAX_FILE_BYTES, read_board, write_board};
pub use config::{CONFIG_FORMAT, ConfigError, ProjectConfig, merge_config, new_project, read_config};
pub use digest::Digest;
pub use file_error::{FileError, Position};
pub use folder_watch::{FolderNews, FolderWatch};
pub use journal::{
    AuditBreak, JOURNAL_FORMAT, Journal, KeptReview, Known, LogEntry, Recovered, RenewedJournal, ReviewWrite,
    Stored, VerifiedChain, WrittenProposal, check_audit,
};
pub use journal_error::JournalError;
pub use watcher::{FileChanged, WatchError, Watcher};
pub use workspace_files::{
    BoardList, FolderContent, NotABoard, SourceList, WorkspaceFiles, folder_in_pattern,
};
pub use workspace_path::WorkspacePath;
