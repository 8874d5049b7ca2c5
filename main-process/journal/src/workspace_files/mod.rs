//! The workspace folder: reading and writing inside it, and nowhere else.
//!
//! Every path is resolved from a descriptor of the root without following a link, so that neither a hostile repository
//! (`boards` → `/etc`) nor one that is swapped while we look leads outside. One Draftboard works in a folder at a time:
//! the journal's lock sees to that.

mod aside;
mod atomic;
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
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

const STATE_FOLDER: &str = ".draftboard";
/// Folders that hold files of ours, and so may hold what a crash left behind.
const FOLDERS: [&[&str]; 5] = [&[], &["boards"], &["modules"], &["components"], &[STATE_FOLDER]];

#[derive(Debug)]
pub struct WorkspaceFiles {
    root: PathBuf,
    root_fd: OwnedFd,
    next_temporary: AtomicU32,
}

impl WorkspaceFiles {
    /// Opens a workspace folder, which must exist. Creates `.draftboard/` for its owner alone and hidden from git, and
    /// removes temporary files that a crash left behind.
    pub fn open(root: &Path) -> Result<Self, FileError> {
        let shown = root.display();
        let root = root.canonicalize().map_err(|error| FileError::of_io(&shown, &error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root_fd = rustix::fs::open(&root, flags, Mode::empty())
            .map_err(|errno| FileError::of_errno(&shown, errno))?;
        let files = Self { root, root_fd, next_temporary: AtomicU32::new(1) };
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
        let too_large = || FileError::TooLarge { path: path.to_string(), most };
        let size = file.metadata().map_err(|error| FileError::of_io(path, &error))?.len();
        if size > most {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The file may grow while it is read.
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| FileError::of_io(path, &error))?;
        if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
    }

    /// Opens a regular file for reading. Opened without waiting, because a pipe under a board's name would wait forever.
    fn open_regular(&self, path: &WorkspacePath) -> Result<File, FileError> {
        let (folders, name) = path.split();
        let wrong = |errno| FileError::of_errno(path, errno);
        let folder = beneath::open_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(wrong)?;
        let stat = rustix::fs::fstat(&fd).map_err(wrong)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(FileError::NotAFile { path: path.to_string() });
        }
        Ok(File::from(fd))
    }

    /// Puts `bytes` in place of a file, or makes a new one and the folders it needs. Whatever happens, the file holds
    /// either what it held or all of `bytes`, and the latter is on the disk when this returns. Permissions are kept.
    pub fn write_atomic(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), FileError> {
        let (folders, name) = path.split();
        let wrong = |errno| FileError::of_errno(path, errno);
        let folder = beneath::create_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        let existing = match atomic::look(folder.as_fd(), name).map_err(wrong)? {
            Some(found) if found.kind == FileType::Symlink => {
                return Err(FileError::Link { path: path.to_string() });
            }
            Some(found) if found.kind != FileType::RegularFile => {
                return Err(FileError::NotAFile { path: path.to_string() });
            }
            Some(found) if found.is_protected() => {
                return Err(FileError::Protected { path: path.to_string() });
            }
            found => found,
        };
        let temporary = self.temporary_name();
        atomic::replace(folder.as_fd(), name, &temporary, bytes, existing.as_ref())
            .map_err(|error| FileError::of_io(path, &error))
    }

    /// Removes a file; one that is not there is fine.
    pub fn remove(&self, path: &WorkspacePath) -> Result<(), FileError> {
        let (folders, name) = path.split();
        let removed = beneath::open_folder(self.root_fd.as_fd(), &folders).and_then(|folder| {
            rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
            rustix::fs::fsync(&folder)
        });
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(FileError::of_errno(path, errno)),
        }
    }

    fn prepare_state_folder(&self) -> Result<(), FileError> {
        let wrong = |errno| FileError::of_errno(STATE_FOLDER, errno);
        let folder = beneath::create_folder(self.root_fd.as_fd(), &[STATE_FOLDER]).map_err(wrong)?;
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

    fn temporary_name(&self) -> String {
        atomic::temporary_name(self.next_temporary.fetch_add(1, Ordering::Relaxed))
    }

    /// Best effort: a leftover that cannot be removed hurts nobody.
    fn remove_leftovers(&self, folders: &[&str]) {
        let Ok(folder) = beneath::open_folder(self.root_fd.as_fd(), folders) else { return };
        for entry in beneath::list(folder.as_fd()).unwrap_or_default() {
            if atomic::is_temporary(&entry.name) && entry.kind == FileType::RegularFile {
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

/// Whether a file's name is one of our temporary ones.
pub(crate) fn is_temporary(name: &str) -> bool {
    atomic::is_temporary(name)
}

fn into_text(path: &WorkspacePath, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid =
            String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        let position = Position::of_offset(&valid, valid.len());
        FileError::malformed(path, Some(position), "not UTF-8 text: save the file as UTF-8")
    })
}
