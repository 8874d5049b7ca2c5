//! A bundle's folder on disk.
//!
//! Every path is resolved from a descriptor of the root without following symbolic links, so that neither a hostile
//! bundle (`bundle/features` → `/etc`) nor a concurrent replacement leads outside. Reading a bundle writes nothing: the
//! first change creates the local folder `.draftboard/`.

use super::{BundleFileError, BundleFileStamp, BundlePath, MAX_FILE_BYTES, STATE_FOLDER, StampedFileText};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags},
    io::Errno,
};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct DiskFiles {
    root: PathBuf,
    root_fd: OwnedFd,
}

/// The lock for changing files. Released when dropped and when the process ends.
pub(crate) struct BundleChangeLock(#[expect(dead_code, reason = "its lock is the point")] OwnedFd);

impl DiskFiles {
    /// Opens a folder, which must exist.
    pub(super) fn open(root: &Path) -> Result<Self, BundleFileError> {
        let shown = root.display();
        let root = root.canonicalize().map_err(|error| BundleFileError::from_io(&shown, &error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root_fd = rustix::fs::open(&root, flags, Mode::empty())
            .map_err(|errno| BundleFileError::from_errno(&shown, errno))?;
        Ok(Self { root, root_fd })
    }

    /// The folder, without links in its path.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn read_up_to(
        &self,
        path: &BundlePath,
        most: u64,
    ) -> Result<StampedFileText, BundleFileError> {
        let (folders, name) = path.split();
        let wrong = |errno| BundleFileError::from_errno(path, errno);
        let folder = safe_fs::open_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        read_in(&folder, name, path, most)
    }

    /// Opens a folder to read many of its files.
    pub(super) fn folder(&self, path: &BundlePath) -> Result<DiskFolder, BundleFileError> {
        let fd = safe_fs::open_folder(self.root_fd.as_fd(), &path.parts())
            .map_err(|errno| BundleFileError::from_errno(path, errno))?;
        Ok(DiskFolder { fd, path: path.clone() })
    }

    /// Replaces or creates a file and creates its folders. The text is durable when this returns, the name once the
    /// folder is synced.
    pub(super) fn replace(&self, path: &BundlePath, text: &str) -> Result<(), BundleFileError> {
        let (folders, name) = path.split();
        let wrong = |errno| BundleFileError::from_errno(path, errno);
        let folder = safe_fs::create_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        safe_fs::replace(folder.as_fd(), name, text.as_bytes())
            .map_err(|problem| BundleFileError::from_path_problem(path, problem))
    }

    /// Makes the names in the folder of a path durable.
    pub(super) fn sync_folder_of(&self, path: &BundlePath) -> Result<(), BundleFileError> {
        let synced = safe_fs::open_folder(self.root_fd.as_fd(), &path.split().0)
            .and_then(|folder| rustix::fs::fsync(&folder));
        match synced {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(BundleFileError::from_errno(path, errno)),
        }
    }

    /// Removes a file; a missing file is not an error.
    pub(super) fn remove(&self, path: &BundlePath) -> Result<(), BundleFileError> {
        let (folders, name) = path.split();
        let removed = safe_fs::open_folder(self.root_fd.as_fd(), &folders)
            .and_then(|folder| rustix::fs::unlinkat(&folder, name, AtFlags::empty()));
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(BundleFileError::from_errno(path, errno)),
        }
    }

    /// Locks the bundle for changes, and creates the local folder if `create`. Returns `None` when the folder does not
    /// exist and `create` is false.
    pub(super) fn lock(&self, create: bool) -> Result<Option<BundleChangeLock>, BundleFileError> {
        let wrong = |errno| BundleFileError::from_errno(STATE_FOLDER, errno);
        let folder = match safe_fs::open_folder(self.root_fd.as_fd(), &[STATE_FOLDER]) {
            Err(Errno::NOENT) if !create => return Ok(None),
            Err(Errno::NOENT) => {
                let folder = safe_fs::create_folder(self.root_fd.as_fd(), &[STATE_FOLDER]).map_err(wrong)?;
                self.replace(&BundlePath::parse(&format!("{STATE_FOLDER}/.gitignore"))?, "*\n")?;
                folder
            }
            other => other.map_err(wrong)?,
        };
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(BundleChangeLock(folder))),
            Err(Errno::WOULDBLOCK) => Err(BundleFileError::Busy),
            Err(errno) => Err(wrong(errno)),
        }
    }

    /// Removes temporary files of an interrupted write. Best effort: a leftover is harmless.
    pub(super) fn remove_leftovers(&self, path: &BundlePath) {
        let Ok(folder) = safe_fs::open_folder(self.root_fd.as_fd(), &path.split().0) else { return };
        for entry in safe_fs::list(folder.as_fd()).unwrap_or_default() {
            if safe_fs::is_temporary(&entry.name) && entry.kind == FileType::RegularFile {
                let _ = rustix::fs::unlinkat(&folder, entry.name.as_str(), AtFlags::empty());
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct DiskFolder {
    fd: OwnedFd,
    path: BundlePath,
}

impl DiskFolder {
    /// The names of its files, sorted.
    pub(super) fn names(&self) -> Result<Vec<String>, BundleFileError> {
        let entries =
            safe_fs::list(self.fd.as_fd()).map_err(|errno| BundleFileError::from_errno(&self.path, errno))?;
        let files = entries
            .into_iter()
            .filter(|entry| entry.kind != FileType::Directory && !safe_fs::is_temporary(&entry.name));
        Ok(files.map(|entry| entry.name).collect())
    }

    pub(super) fn read(&self, name: &str) -> Result<StampedFileText, BundleFileError> {
        read_in(&self.fd, name, &self.path.join(name)?, MAX_FILE_BYTES)
    }

    /// The stamp of a file, if it exists.
    pub(super) fn stamp(&self, name: &str) -> Option<BundleFileStamp> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stamp_of(&stat))
    }
}

fn stamp_of(stat: &rustix::fs::Stat) -> BundleFileStamp {
    BundleFileStamp {
        inode: stat.st_ino,
        size: stat.st_size,
        seconds: stat.st_mtime,
        nanoseconds: i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
    }
}

fn read_in(
    folder: &OwnedFd,
    name: &str,
    path: &BundlePath,
    most: u64,
) -> Result<StampedFileText, BundleFileError> {
    let wrong = |problem| BundleFileError::from_path_problem(path, problem);
    let file = safe_fs::open_regular(folder.as_fd(), name).map_err(wrong)?;
    let stamp =
        stamp_of(&rustix::fs::fstat(&file).map_err(|errno| BundleFileError::from_errno(path, errno))?);
    let bytes = safe_fs::read_bounded(file, most).map_err(wrong)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(StampedFileText { text, stamp }),
        Err(_) => Err(BundleFileError::NotText { path: path.to_string() }),
    }
}
