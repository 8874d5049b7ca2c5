//! A bundle's folder on the disk.
//!
//! Every path is resolved from a descriptor of the root without following a link, so that neither a hostile bundle
//! (`bundle/features` → `/etc`) nor one that is swapped while we look leads outside. Nothing is written when a bundle is
//! only read: the machine's own folder `.draftboard/` is made by the first change.

use super::{BundlePath, FileProblem, MAX_FILE_BYTES, ReadFile, STATE_FOLDER, Stamp};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags},
    io::Errno,
};
use std::{
    fs::File,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

const TEMPORARY_PREFIX: &str = ".draftboard-saving-";

#[derive(Debug)]
pub(crate) struct DiskFiles {
    root: PathBuf,
    root_fd: OwnedFd,
    next_temporary: AtomicU32,
}

/// Held while files are changed; given back when dropped, or when the process ends in whatever way.
pub(crate) struct ChangeLock(#[expect(dead_code, reason = "its lock is the point")] OwnedFd);

impl DiskFiles {
    /// Opens a folder, which must exist.
    pub(super) fn open(root: &Path) -> Result<Self, FileProblem> {
        let shown = root.display();
        let root = root.canonicalize().map_err(|error| FileProblem::of_io(&shown, &error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root_fd =
            rustix::fs::open(&root, flags, Mode::empty()).map_err(|errno| FileProblem::of(&shown, errno))?;
        Ok(Self { root, root_fd, next_temporary: AtomicU32::new(1) })
    }

    /// The folder, without links in its path.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn read_up_to(&self, path: &BundlePath, most: u64) -> Result<ReadFile, FileProblem> {
        let (folders, name) = path.split();
        let wrong = |errno| FileProblem::of(path, errno);
        let folder = beneath::open_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        read_in(&folder, name, path, most)
    }

    /// Opens a folder to read many of its files.
    pub(super) fn folder(&self, path: &BundlePath) -> Result<DiskFolder, FileProblem> {
        let fd = beneath::open_folder(self.root_fd.as_fd(), &path.parts())
            .map_err(|errno| FileProblem::of(path, errno))?;
        Ok(DiskFolder { fd, path: path.clone() })
    }

    /// Puts `text` in place of a file or makes a new one, and the folders it needs. The text is on the disk when this
    /// returns, its name once the folder is synced.
    pub(super) fn replace(&self, path: &BundlePath, text: &str) -> Result<(), FileProblem> {
        let (folders, name) = path.split();
        let wrong = |errno| FileProblem::of(path, errno);
        let folder = beneath::create_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        let mode = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Mode::from_raw_mode(stat.st_mode),
                FileType::Symlink => return Err(FileProblem::Link { path: path.to_string() }),
                _ => return Err(FileProblem::NotAFile { path: path.to_string() }),
            },
            Err(Errno::NOENT) => Mode::from_raw_mode(0o666),
            Err(errno) => return Err(wrong(errno)),
        };
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = format!("{TEMPORARY_PREFIX}{}-{number}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written = rustix::fs::openat(&folder, &temporary, flags, mode)
            .map_err(std::io::Error::from)
            .and_then(|fd| {
                let mut file = File::from(fd);
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                Ok(rustix::fs::renameat(&folder, &temporary, &folder, name)?)
            });
        if let Err(error) = written {
            let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
            return Err(FileProblem::of_io(path, &error));
        }
        Ok(())
    }

    /// Makes the names in the folder of a path durable.
    pub(super) fn sync_folder_of(&self, path: &BundlePath) -> Result<(), FileProblem> {
        let synced = beneath::open_folder(self.root_fd.as_fd(), &path.split().0)
            .and_then(|folder| rustix::fs::fsync(&folder));
        match synced {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(FileProblem::of(path, errno)),
        }
    }

    /// Removes a file; one that is not there is fine.
    pub(super) fn remove(&self, path: &BundlePath) -> Result<(), FileProblem> {
        let (folders, name) = path.split();
        let removed = beneath::open_folder(self.root_fd.as_fd(), &folders)
            .and_then(|folder| rustix::fs::unlinkat(&folder, name, AtFlags::empty()));
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(FileProblem::of(path, errno)),
        }
    }

    /// Takes the right to change the bundle, making the machine's own folder if `create`. Nothing when there is no such
    /// folder and none is wanted.
    pub(super) fn lock(&self, create: bool) -> Result<Option<ChangeLock>, FileProblem> {
        let wrong = |errno| FileProblem::of(STATE_FOLDER, errno);
        let folder = match beneath::open_folder(self.root_fd.as_fd(), &[STATE_FOLDER]) {
            Err(Errno::NOENT) if !create => return Ok(None),
            Err(Errno::NOENT) => {
                let folder = beneath::create_folder(self.root_fd.as_fd(), &[STATE_FOLDER]).map_err(wrong)?;
                self.replace(&BundlePath::parse(&format!("{STATE_FOLDER}/.gitignore"))?, "*\n")?;
                folder
            }
            other => other.map_err(wrong)?,
        };
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(ChangeLock(folder))),
            Err(Errno::WOULDBLOCK) => Err(FileProblem::Busy),
            Err(errno) => Err(wrong(errno)),
        }
    }

    /// Removes what an interrupted write left in a folder. Best effort: a leftover hurts nobody.
    pub(super) fn remove_leftovers(&self, path: &BundlePath) {
        let Ok(folder) = beneath::open_folder(self.root_fd.as_fd(), &path.split().0) else { return };
        for entry in beneath::list(folder.as_fd()).unwrap_or_default() {
            if entry.name.starts_with(TEMPORARY_PREFIX) && entry.kind == FileType::RegularFile {
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
    /// The names in it that are no folders, sorted.
    pub(super) fn names(&self) -> Result<Vec<String>, FileProblem> {
        let entries = beneath::list(self.fd.as_fd()).map_err(|errno| FileProblem::of(&self.path, errno))?;
        let is_ours = |name: &str| name.starts_with(TEMPORARY_PREFIX);
        let files =
            entries.into_iter().filter(|entry| entry.kind != FileType::Directory && !is_ours(&entry.name));
        Ok(files.map(|entry| entry.name).collect())
    }

    pub(super) fn read(&self, name: &str) -> Result<ReadFile, FileProblem> {
        read_in(&self.fd, name, &self.path.join(name)?, MAX_FILE_BYTES)
    }

    /// The stamp of a file, if it is there.
    pub(super) fn stamp(&self, name: &str) -> Option<Stamp> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stamp_of(&stat))
    }
}

fn stamp_of(stat: &rustix::fs::Stat) -> Stamp {
    Stamp {
        inode: stat.st_ino,
        size: stat.st_size,
        seconds: stat.st_mtime,
        nanoseconds: i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
    }
}

/// Opened without waiting, because a pipe under a file's name would wait forever.
fn read_in(folder: &OwnedFd, name: &str, path: &BundlePath, most: u64) -> Result<ReadFile, FileProblem> {
    let wrong = |errno| FileProblem::of(path, errno);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(wrong)?;
    let stat = rustix::fs::fstat(&fd).map_err(wrong)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(FileProblem::NotAFile { path: path.to_string() });
    }
    let stamp = stamp_of(&stat);
    let too_large = || FileProblem::TooLarge { path: path.to_string(), most };
    if u64::try_from(stamp.size).unwrap_or(0) > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
    // The file may grow while it is read.
    File::from(fd)
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| FileProblem::of_io(path, &error))?;
    if bytes.len() as u64 > most {
        return Err(too_large());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(ReadFile { text, stamp }),
        Err(_) => Err(FileProblem::NotText { path: path.to_string() }),
    }
}
