//! The workspace folder: reads and writes inside it and nowhere else.
//!
//! Resolves every path from a descriptor of the root without following links, so that neither a hostile repository
//! (`boards` → `/etc`) nor a folder swapped during access leads outside. Only one Draftboard uses a folder at a
//! time: the lock of the journal ensures it.

mod boards;
mod folder;
mod modules;
mod set_aside;
mod sources;

pub use boards::{BoardList, IgnoredBoardFile};
pub use folder::FolderListing;
pub use sources::{SourceList, folder_in_pattern};

use crate::{FileError, MAX_FILE_BYTES, TextPosition, WorkspacePath};
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
/// The folders that Draftboard writes to, which may contain temporary files after a crash.
const OWN_FOLDERS: [&[&str]; 5] = [&[], &["boards"], &["modules"], &["components"], &[STATE_FOLDER]];

#[derive(Debug)]
pub struct WorkspaceFiles {
    root: PathBuf,
    root_fd: OwnedFd,
    is_read_only: bool,
}

impl WorkspaceFiles {
    /// Opens an existing workspace folder. Writes nothing to a read-only folder. Otherwise creates `.draftboard/`
    /// (private, ignored by git) and removes temporary files of interrupted saves.
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
        for folder in OWN_FOLDERS {
            files.remove_leftovers(folder);
        }
        Ok(files)
    }

    /// Returns the canonical path of the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of `.draftboard`, which contains the journal.
    pub fn state_folder(&self) -> PathBuf {
        self.root.join(STATE_FOLDER)
    }

    /// Returns whether writes are refused because the user has no write permission for the folder.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns whether a path exists. Does not follow links.
    pub fn exists(&self, path: &WorkspacePath) -> bool {
        let (folders, name) = path.split();
        safe_fs::open_folder(self.root_fd.as_fd(), &folders)
            .and_then(|folder| rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW))
            .is_ok()
    }

    /// Returns whether `.draftboard` is inaccessible because it belongs to another user.
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

    /// Returns an error when the folder was deleted, moved or replaced.
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

    /// Reads a file of at most [`MAX_FILE_BYTES`].
    pub fn read(&self, path: &WorkspacePath) -> Result<Vec<u8>, FileError> {
        self.read_up_to(path, MAX_FILE_BYTES)
    }

    /// Reads a UTF-8 file.
    pub fn read_text(&self, path: &WorkspacePath) -> Result<String, FileError> {
        decode_utf8(path, self.read(path)?)
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
            // The state folder of another user, next to boards that everyone may read.
            Err(FileError::Denied { path })
                if self.is_read_only && folders.first() == Some(&STATE_FOLDER) =>
            {
                Err(FileError::Missing { path })
            }
            other => other,
        }
    }

    /// Replaces the content of a file, or creates the file and its missing folders. After a crash the file holds
    /// either its old content or all of `bytes`. Durable on return. Keeps permissions.
    pub fn write_atomic(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), FileError> {
        self.refuse_read_only(path)?;
        let (folders, name) = path.split();
        let wrong = |errno| FileError::of_errno(path, errno);
        let folder = safe_fs::create_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        safe_fs::replace(folder.as_fd(), name, bytes)
            .map_err(|problem| FileError::of_problem(path, problem))?;
        rustix::fs::fsync(&folder).map_err(wrong)
    }

    /// Removes a file. Succeeds when it does not exist.
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

    /// Creates `.draftboard/` and its `.gitignore` when missing, and restricts it to the owner.
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

    /// Best effort: a leftover file is harmless.
    fn remove_leftovers(&self, folders: &[&str]) {
        let Ok(folder) = safe_fs::open_folder(self.root_fd.as_fd(), folders) else { return };
        for entry in safe_fs::list(folder.as_fd()).unwrap_or_default() {
            if safe_fs::is_temporary(&entry.name) && entry.kind == FileType::RegularFile {
                let removed = rustix::fs::unlinkat(&folder, entry.name.as_str(), AtFlags::empty());
                tracing::info!(
                    file = entry.name,
                    ok = removed.is_ok(),
                    "removed a temporary file of an interrupted save"
                );
            }
        }
    }
}

fn decode_utf8(path: &WorkspacePath, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid =
            String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        let position = TextPosition::of_offset(&valid, valid.len());
        FileError::malformed(path, Some(position), "not UTF-8 text: save the file as UTF-8")
    })
}
