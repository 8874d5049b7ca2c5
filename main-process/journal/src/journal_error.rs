//! Errors of the journal. Each message names the problem and the next step.

use crate::RecoveredHistory;
use rusqlite::ErrorCode;
use shared_protocol::{ProposalId, Revision};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "this workspace's journal was written by a newer Draftboard (format {found}; this version supports {known}): update Draftboard to open it"
    )]
    Newer { found: i64, known: i64 },
    #[error("this workspace is open in another Draftboard: close that one, or use it")]
    InUse,
    #[error("the disk is full: free some space, then try again")]
    DiskFull,
    #[error(
        "the workspace's .draftboard folder cannot be written ({problem}): make the folder and its disk writable, then try again"
    )]
    ReadOnly { problem: String },
    #[error("the disk reported an error ({problem}): check the disk and your quota, then try again")]
    Disk { problem: String },
    #[error(
        "{} cannot be read as a journal ({problem}): set it aside to start a new one; saved boards are not affected",
        path.display()
    )]
    Unreadable { path: PathBuf, problem: String },
    /// The files at the journal's path are not the files that were opened: see [`crate::Journal::rebuild`].
    #[error("{problem}: the journal must be rebuilt before changes are accepted")]
    Displaced { problem: String },
    /// `readable` holds the history up to the revision before the damage.
    #[error(
        "the journal is damaged at revision {revision} ({problem}): everything before it can be recovered; set the journal aside to continue from there"
    )]
    Damaged { revision: Revision, problem: String, readable: Box<RecoveredHistory> },
    #[error(
        "{proposal} changed in the journal since it was read: nothing was written; reload it, then try again"
    )]
    AnotherProposal { proposal: ProposalId },
    #[error("operations must follow each other: expected revision {expected}, got {found}")]
    Gap { expected: Revision, found: Revision },
    #[error(
        "the journal does not contain revision {revision}: take the checkpoint at a revision that it contains"
    )]
    NotKept { revision: Revision },
    #[error("{what} cannot be stored in the journal: {problem}")]
    Unstorable { what: &'static str, problem: String },
    #[error("the journal failed unexpectedly ({problem}): restart Draftboard; accepted changes are safe")]
    Unexpected { problem: String },
}

impl JournalError {
    pub(crate) fn damaged_at(revision: Revision, problem: impl Into<String>) -> Self {
        Self::Damaged { revision, problem: problem.into(), readable: Box::default() }
    }

    pub(crate) fn unstorable(what: &'static str, problem: impl ToString) -> Self {
        Self::Unstorable { what, problem: problem.to_string() }
    }

    pub(crate) fn of_path(error: &safe_fs::PathError) -> Self {
        match error.problem {
            safe_fs::PathProblem::System(errno) => Self::of_io(&errno.into()),
            _ => Self::Disk { problem: error.to_string() },
        }
    }

    pub(crate) fn of_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull => Self::DiskFull,
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                Self::ReadOnly { problem: error.to_string() }
            }
            _ => Self::Disk { problem: error.to_string() },
        }
    }

    /// Returns whether SQLite reports a corrupt file, as opposed to a disk error or a misuse.
    pub(crate) fn is_corruption(error: &rusqlite::Error) -> bool {
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        let problem = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { problem }
            }
            Some(ErrorCode::SystemIoFailure) => Self::Disk { problem },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Unreadable { path: PathBuf::from("journal.db"), problem }
            }
            Some(ErrorCode::TooBig) => Self::unstorable("the operation", problem),
            _ => Self::Unexpected { problem },
        }
    }
}
