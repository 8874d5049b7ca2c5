//! The workspace folder: reading and writing inside it, and nowhere else.
//!
//! Every path is resolved from a descriptor of the root without following a link, so that neither a hostile repository
//! (`boards` → `/etc`) nor one that is swapped while we look leads outside. One Draftboard works in a folder at a time:
//! the journal's lock sees to that.

mod aside;
mod boards;
mod folder;
mod modules;
mod sources;

pub use boards::{BoardList, NotABoard};
pub use folder::FolderContent;
pub use sources::{SourceList, folder_in_pattern};

use crate::{FileError, MAX_FILE_BYTES, Position, WorkspacePath};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{Access, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{
    fs::File,
    path::{Path, PathBuf},
};

const STATE_FOLDER: &str = ".draftboard";
/// Folders that hold files of ours, and so may hold what a crash left behind.
const FOLDERS: [&[&str]; 5] = [&[], &["boards"], &["modules"], &["components"], &[STATE_FOLDER]];

#[derive(Debug)]
pub struct WorkspaceFiles {
    root: PathBuf,
    root_fd: OwnedFd,
    is_read_only: bool,
}

impl WorkspaceFiles {
    /// Opens a workspace folder, which must exist. In one that may only be read nothing is written. Else creates `.draftboard/` for its owner alone and hidden from git, and
    /// removes temporary files that a crash left behind.
    pub fn open(root: &Path) -> Result<Self, FileError> {
        let shown = root.display();
        let root = root.canonicalize().map_err(|error| FileError::of_io(&shown, &error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root_fd = rustix::fs::open(&root, flags, Mode::empty())
            .map_err(|errno| FileError::of_errno(&shown, errno))?;
        let is_read_only = safe_fs::is_read_only(&root);
        let files = Self { root, root_fd, is_read_only };
        if is_read_only {
            return Ok(files);
        }
        files.prepare_state_folder()?;
        for folder in FOLDERS {
            files.remove_leftovers(folder);
        }
        Ok(files)
    }

    /// The folder, without links in its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.draftboard`, where the journal is.
    pub fn state_folder(&self) -> PathBuf {
        self.root.join(STATE_FOLDER)
    }

    /// Whether every write is refused, because this user may not write to the folder.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Whether anything stands under a path.
    pub fn is_there(&self, path: &WorkspacePath) -> bool {
        let (folders, name) = path.split();
        safe_fs::open_folder(self.root_fd.as_fd(), &folders)
            .and_then(|folder| rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW))
            .is_ok()
    }

    /// Whether this user may not look into the folder of state: it is another user's.
    pub fn is_state_denied(&self) -> bool {
        let opened = safe_fs::open_folder(self.root_fd.as_fd(), &[STATE_FOLDER]);
        let looked =
            opened.and_then(|folder| rustix::fs::accessat(&folder, ".", Access::EXEC_OK, AtFlags::empty()));
        matches!(looked, Err(Errno::ACCESS | Errno::PERM))
    }

    fn refuse_read_only(&self, path: &impl std::fmt::Display) -> Result<(), FileError> {
        match self.is_read_only {
            true => Err(FileError::ReadOnlyWorkspace { path: path.to_string() }),
            false => Ok(()),
        }
    }

    /// Refuses a folder that is no longer at its path: it was deleted, moved or replaced.
    pub fn check_root(&self) -> Result<(), FileError> {
        let opened = rustix::fs::fstat(&self.root_fd);
        let found = rustix::fs::stat(&self.root);
        match (opened, found) {
            (Ok(opened), Ok(found)) if (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino) => {
                Ok(())
            }
            _ => Err(FileError::Gone { path: self.root.display().to_string() }),
        }
    }

    /// The bytes of a file, [`MAX_FILE_BYTES`] at most.
    pub fn read(&self, path: &WorkspacePath) -> Result<Vec<u8>, FileError> {
        self.read_up_to(path, MAX_FILE_BYTES)
    }

    /// The text of a file.
    pub fn read_text(&self, path: &WorkspacePath) -> Result<String, FileError> {
        into_text(path, self.read(path)?)
    }

    fn read_up_to(&self, path: &WorkspacePath, most: u64) -> Result<Vec<u8>, FileError> {
        let file = self.open_regular(path)?;
        safe_fs::read_bounded(file, most).map_err(|problem| FileError::of_problem(path, problem))
    }

    /// Opens a regular file for reading.
    fn open_regular(&self, path: &WorkspacePath) -> Result<File, FileError> {
        let (folders, name) = path.split();
        let opened = safe_fs::open_folder(self.root_fd.as_fd(), &folders)
            .map_err(|errno| FileError::of_errno(path, errno))
            .and_then(|folder| {
                safe_fs::open_regular(folder.as_fd(), name)
                    .map_err(|problem| FileError::of_problem(path, problem))
            });
        match opened {
            // Another user's own state, beside boards that everybody may read.
            Err(FileError::Denied { path })
                if self.is_read_only && folders.first() == Some(&STATE_FOLDER) =>
            {
                Err(FileError::Missing { path })
            }
            other => other,
        }
    }

    /// Puts `bytes` in place of a file, or makes a new one and the folders it needs. Whatever happens, the file holds
    /// either what it held or all of `bytes`, and the latter is on the disk when this returns. Permissions are kept.
    pub fn write_atomic(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), FileError> {
        self.refuse_read_only(path)?;
        let (folders, name) = path.split();
        let wrong = |errno| FileError::of_errno(path, errno);
        let folder = safe_fs::create_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        safe_fs::replace(folder.as_fd(), name, bytes)
            .map_err(|problem| FileError::of_problem(path, problem))?;
        rustix::fs::fsync(&folder).map_err(wrong)
    }

    /// Removes a file; one that is not there is fine.
    pub fn remove(&self, path: &WorkspacePath) -> Result<(), FileError> {
        self.refuse_read_only(path)?;
        let (folders, name) = path.split();
        let removed = safe_fs::open_folder(self.root_fd.as_fd(), &folders).and_then(|folder| {
            rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
            rustix::fs::fsync(&folder)
        });
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(FileError::of_errno(path, errno)),
        }
    }

    /// Makes `.draftboard/` for its owner alone and hidden from git, as far as it is not there.
    pub fn prepare_state_folder(&self) -> Result<(), FileError> {
        let wrong = |errno| FileError::of_errno(STATE_FOLDER, errno);
        let folder = safe_fs::create_folder(self.root_fd.as_fd(), &[STATE_FOLDER]).map_err(wrong)?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder).map_err(wrong)?.st_mode);
        if mode.intersects(Mode::RWXG | Mode::RWXO) {
            rustix::fs::fchmod(&folder, Mode::RWXU).map_err(wrong)?;
        }
        let ignore = WorkspacePath::parse(format!("{STATE_FOLDER}/.gitignore"))?;
        match self.read(&ignore) {
            Err(FileError::Missing { .. }) => self.write_atomic(&ignore, b"*\n"),
            Ok(_) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Best effort: a leftover that cannot be removed hurts nobody.
    fn remove_leftovers(&self, folders: &[&str]) {
        let Ok(folder) = safe_fs::open_folder(self.root_fd.as_fd(), folders) else { return };
        for entry in safe_fs::list(folder.as_fd()).unwrap_or_default() {
            if safe_fs::is_temporary(&entry.name) && entry.kind == FileType::RegularFile {
                let removed = rustix::fs::unlinkat(&folder, entry.name.as_str(), AtFlags::empty());
                tracing::info!(
                    file = entry.name,
                    ok = removed.is_ok(),
                    "removed what an interrupted save left behind"
                );
            }
        }
    }
}

fn into_text(path: &WorkspacePath, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid =
            String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        let position = Position::of_offset(&valid, valid.len());
        FileError::malformed(path, Some(position), "not UTF-8 text: save the file as UTF-8")
    })
}
