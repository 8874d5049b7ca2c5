//! Errors of opening a workspace.

use super::create::{beside, has_terraform};
use journal::{FileError, JournalError};
use shared_protocol::{Code, Refusal};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} is not a workspace, it has no draftboard.toml: make one with `draftboard new {}`", .0.display(), .0.display())]
    NotAWorkspace(PathBuf),
    #[error("{} does not exist: check the path, or make a workspace there with `draftboard new {}`", .0.display(), .0.display())]
    Missing(PathBuf),
    #[error("{0}")]
    File(#[from] FileError),
    #[error("{0}")]
    Journal(#[from] JournalError),
    #[error(
        "the journal does not fit together ({0}): set .draftboard/journal.db aside to open the saved boards"
    )]
    Inconsistent(String),
}

impl OpenError {
    /// The error for a path without a `draftboard.toml`.
    pub fn no_workspace(root: &Path) -> Self {
        if root.exists() { Self::NotAWorkspace(root.to_owned()) } else { Self::Missing(root.to_owned()) }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        let code = match &error {
            OpenError::NotAWorkspace(_) | OpenError::Missing(_) => Code::NotFound,
            OpenError::File(FileError::Newer { .. }) | OpenError::Journal(JournalError::Newer { .. }) => {
                Code::BadRequest
            }
            OpenError::Journal(JournalError::InUse) => Code::Conflict,
            _ => Code::StorageError,
        };
        let refusal = Self::new(code, error.to_string());
        match &error {
            OpenError::NotAWorkspace(folder) if has_terraform(folder) => {
                let (from, to) = (folder.display(), beside(folder));
                let to = to.display();
                refusal.hint(format!(
                    "To import its Terraform files: `draftboard new {to}`, then `draftboard import {from} -w {to}`."
                ))
            }
            _ => refusal,
        }
    }
}

/// The refusal of a change that could not be made durable.
pub(super) fn storage(error: &JournalError) -> Refusal {
    Refusal::new(Code::StorageError, format!("nothing was changed: {error}"))
}

pub(super) fn storage_file(error: &FileError) -> Refusal {
    Refusal::new(Code::StorageError, error.to_string())
}
