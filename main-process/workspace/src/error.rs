//! Errors of opening a workspace.

use super::create::{free_path_beside, has_terraform};
use journal::{FileError, JournalError};
use shared_protocol::{Refusal, RefusalCode};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum OpenWorkspaceError {
    #[error("{} is not a workspace (it has no draftboard.toml): create one with `draftboard new {}`", .0.display(), .0.display())]
    NotAWorkspace(PathBuf),
    #[error("{} does not exist: check the path, or create a workspace there with `draftboard new {}`", .0.display(), .0.display())]
    Missing(PathBuf),
    #[error("{0}")]
    File(#[from] FileError),
    #[error("{0}")]
    Journal(#[from] JournalError),
    #[error(
        "the journal is inconsistent ({0}): move .draftboard/journal.db to another folder to open the saved boards"
    )]
    Inconsistent(String),
}

impl OpenWorkspaceError {
    /// The error for a path without a `draftboard.toml`.
    pub fn no_workspace(root: &Path) -> Self {
        if root.exists() { Self::NotAWorkspace(root.to_owned()) } else { Self::Missing(root.to_owned()) }
    }
}

impl From<OpenWorkspaceError> for Refusal {
    fn from(error: OpenWorkspaceError) -> Self {
        let code = match &error {
            OpenWorkspaceError::NotAWorkspace(_) | OpenWorkspaceError::Missing(_) => RefusalCode::NotFound,
            OpenWorkspaceError::File(FileError::Newer { .. })
            | OpenWorkspaceError::Journal(JournalError::Newer { .. }) => RefusalCode::BadRequest,
            OpenWorkspaceError::Journal(JournalError::InUse) => RefusalCode::Conflict,
            _ => RefusalCode::StorageError,
        };
        let refusal = Self::new(code, error.to_string());
        match &error {
            OpenWorkspaceError::NotAWorkspace(folder) if has_terraform(folder) => {
                let (from, to) = (folder.display(), free_path_beside(folder));
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
    Refusal::new(RefusalCode::StorageError, format!("nothing was changed: {error}"))
}

pub(super) fn storage_file(error: &FileError) -> Refusal {
    Refusal::new(RefusalCode::StorageError, error.to_string())
}
