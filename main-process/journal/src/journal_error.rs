//! What can go wrong with the journal, in words that say what to do next.

use crate::Recovered;
use rusqlite::ErrorCode;
use shared_protocol::{ProposalId, Revision};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "this workspace's journal was written by a newer Draftboard (format {found}; this one knows {known}): update Draftboard to open it"
    )]
    Newer { found: i64, known: i64 },
    #[error("another Draftboard has this workspace open: close that one, or use it")]
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
    /// The files are not those that were opened: see [`crate::Journal::renew`].
    #[error("{problem}: the journal has to be made anew before anything is acknowledged")]
    Displaced { problem: String },
    /// What could be read before the damage is `readable`; it is complete up to the revision before.
    #[error(
        "the journal is damaged at revision {revision} ({problem}): everything before it can be recovered; set the journal aside to go on from there"
    )]
    Damaged { revision: Revision, problem: String, readable: Box<Recovered> },
    #[error("{proposal} in the journal is not the one that was looked at: nothing was written")]
    AnotherProposal { proposal: ProposalId },
    #[error("operations must follow each other: expected revision {expected}, got {found}")]
    Gap { expected: Revision, found: Revision },
    #[error(
        "revision {revision} is not one the journal holds: take the checkpoint at a revision of its operations"
    )]
    NotKept { revision: Revision },
    #[error("{what} cannot be stored in the journal: {problem}")]
    Unstorable { what: &'static str, problem: String },
    #[error("the journal failed unexpectedly ({problem}): restart Draftboard; what was acknowledged is safe")]
    Unexpected { problem: String },
}

impl JournalError {
    pub(crate) fn damaged(revision: Revision, problem: impl Into<String>) -> Self {
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

    /// SQLite says that the file itself is broken, as opposed to the disk or the caller.
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
