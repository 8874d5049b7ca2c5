//! The content of a workspace folder.

use super::WorkspaceFiles;
use crate::{FileError, WorkspacePath};
use rustix::{fd::AsFd as _, fs::FileType, io::Errno};

/// The files and subfolders of a folder, each sorted. Omits links and special files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    pub files: Vec<String>,
    pub folders: Vec<String>,
}

impl WorkspaceFiles {
    /// Lists the direct entries of a folder; empty when the folder does not exist.
    pub fn list(&self, path: &WorkspacePath) -> Result<FolderListing, FileError> {
        let wrong = |errno| FileError::of_errno(path, errno);
        let parts: Vec<&str> = path.as_str().split('/').collect();
        let folder = match safe_fs::open_folder(self.root_fd.as_fd(), &parts) {
            Err(Errno::NOENT) => return Ok(FolderListing::default()),
            other => other.map_err(wrong)?,
        };
        let mut content = FolderListing::default();
        for entry in safe_fs::list(folder.as_fd()).map_err(wrong)? {
            match entry.kind {
                FileType::RegularFile if !safe_fs::is_temporary(&entry.name) => {
                    content.files.push(entry.name)
                }
                FileType::Directory => content.folders.push(entry.name),
                _ => {}
            }
        }
        Ok(content)
    }
}
