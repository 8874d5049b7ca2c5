//! The board files of a workspace.

use super::WorkspaceFiles;
use crate::{FileError, workspace_path::BOARD_SUFFIX};
use rustix::{fd::AsFd as _, fs::FileType, io::Errno};
use shared_protocol::BoardName;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoardList {
    /// Sorted.
    pub boards: Vec<BoardName>,
    /// The other files in `boards/`, so that a misnamed board file is reported.
    pub others: Vec<IgnoredBoardFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("boards/{file} is ignored: {reason}")]
pub struct IgnoredBoardFile {
    pub file: String,
    pub reason: String,
}

impl WorkspaceFiles {
    /// Lists the boards in `boards/`; empty when the folder does not exist. Skips hidden files and editor backups
    /// (`…~`) silently.
    pub fn list_boards(&self) -> Result<BoardList, FileError> {
        let folder = match safe_fs::open_folder(self.root_fd.as_fd(), &["boards"]) {
            Err(Errno::NOENT) => return Ok(BoardList::default()),
            other => other.map_err(|errno| FileError::of_errno("boards", errno))?,
        };
        let entries = safe_fs::list(folder.as_fd()).map_err(|errno| FileError::of_errno("boards", errno))?;
        let mut list = BoardList::default();
        for entry in entries {
            if entry.name.starts_with('.') || entry.name.ends_with('~') || safe_fs::is_temporary(&entry.name)
            {
                continue;
            }
            match board_name(&entry) {
                Ok(name) => list.boards.push(name),
                Err(reason) => list.others.push(IgnoredBoardFile { file: entry.name, reason }),
            }
        }
        // The entries are sorted by file name, where `-` sorts before the dot.
        list.boards.sort();
        Ok(list)
    }
}

fn board_name(entry: &safe_fs::FolderEntry) -> Result<BoardName, String> {
    let Some(stem) = entry.name.strip_suffix(BOARD_SUFFIX) else {
        return Err(format!("expected a name that ends in {BOARD_SUFFIX}"));
    };
    let name = BoardName::parse(stem).map_err(|error| error.to_string())?;
    match entry.kind {
        FileType::RegularFile => Ok(name),
        FileType::Symlink => Err("it is a symbolic link; replace it with the file".to_owned()),
        _ => Err("it is not a regular file".to_owned()),
    }
}
