//! A bundle's folder: reading and writing inside it, and nowhere else.
//!
//! Every path is resolved from a descriptor of the root without following a link, so that neither a hostile bundle
//! (`bundle/features` → `/etc`) nor one that is swapped while we look leads outside. Nothing is written when a bundle is
//! only read: the machine's own folder `.draftboard/` is made by the first change.

mod beneath;
mod path;

pub(crate) use path::BundlePath;

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
    time::SystemTime,
};

/// The largest file that is read.
pub(crate) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The machine's own folder in a bundle.
pub(crate) const STATE_FOLDER: &str = ".draftboard";
const TEMPORARY_PREFIX: &str = ".draftboard-saving-";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error("{path} is larger than {most} bytes: split it, or remove what does not belong there")]
    TooLarge { path: String, most: u64 },
    #[error(
        "{path} is, or stands behind, a symbolic link, and none is followed so that nothing outside the bundle is touched: put the file itself there"
    )]
    Link { path: String },
    #[error("{path:?} is not a path inside the bundle: expected a relative path without `..`")]
    Outside { path: String },
    #[error("{path} is not a regular file or folder: move it away, or choose another name")]
    NotAFile { path: String },
    #[error("{path} is not UTF-8 text: save the file as UTF-8")]
    NotText { path: String },
    #[error("another program is changing this bundle: try again when it is done")]
    Busy,
    #[error("{path}: {problem}")]
    Failed { path: String, problem: String },
}

impl FileProblem {
    fn of(path: impl std::fmt::Display, errno: Errno) -> Self {
        let path = path.to_string();
        match errno {
            Errno::NOENT => Self::Missing { path },
            Errno::LOOP | Errno::XDEV => Self::Link { path },
            Errno::NOTDIR | Errno::ISDIR => Self::NotAFile { path },
            other => Self::Failed { path, problem: other.to_string() },
        }
    }

    fn of_io(path: impl std::fmt::Display, error: &std::io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::of(path, errno),
            None => Self::Failed { path: path.to_string(), problem: error.to_string() },
        }
    }
}

/// What tells, without reading it, that a file was not touched since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    inode: u64,
    size: i64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// When the file was last written.
    pub(crate) fn modified(self) -> SystemTime {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        let nanoseconds = u32::try_from(self.nanoseconds).unwrap_or(0);
        SystemTime::UNIX_EPOCH + std::time::Duration::new(seconds, nanoseconds)
    }
}

/// A file's text and its stamp from before it was read.
pub(crate) struct ReadFile {
    pub(crate) text: String,
    pub(crate) stamp: Stamp,
}

#[derive(Debug)]
pub(crate) struct BundleFiles {
    root: PathBuf,
    root_fd: OwnedFd,
    next_temporary: AtomicU32,
}

/// Held while files are changed; given back when dropped, or when the process ends in whatever way.
pub(crate) struct ChangeLock(#[expect(dead_code, reason = "its lock is the point")] OwnedFd);

impl BundleFiles {
    /// Opens a folder, which must exist.
    pub(crate) fn open(root: &Path) -> Result<Self, FileProblem> {
        let shown = root.display();
        let root = root.canonicalize().map_err(|error| FileProblem::of_io(&shown, &error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root_fd =
            rustix::fs::open(&root, flags, Mode::empty()).map_err(|errno| FileProblem::of(&shown, errno))?;
        Ok(Self { root, root_fd, next_temporary: AtomicU32::new(1) })
    }

    /// The folder, without links in its path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &BundlePath) -> Result<ReadFile, FileProblem> {
        self.read_up_to(path, MAX_FILE_BYTES)
    }

    pub(crate) fn read_up_to(&self, path: &BundlePath, most: u64) -> Result<ReadFile, FileProblem> {
        let (folders, name) = path.split();
        let wrong = |errno| FileProblem::of(path, errno);
        let folder = beneath::open_folder(self.root_fd.as_fd(), &folders).map_err(wrong)?;
        read_in(&folder, name, path, most)
    }

    /// Reads a file of a folder that is already open.
    pub(crate) fn read_in(&self, folder: &OpenFolder, name: &str) -> Result<ReadFile, FileProblem> {
        read_in(&folder.fd, name, &folder.path.join(name)?, MAX_FILE_BYTES)
    }

    /// Opens a folder to read many of its files.
    pub(crate) fn folder(&self, path: &BundlePath) -> Result<OpenFolder, FileProblem> {
        let fd = beneath::open_folder(self.root_fd.as_fd(), &path.parts())
            .map_err(|errno| FileProblem::of(path, errno))?;
        Ok(OpenFolder { fd, path: path.clone() })
    }

    /// Puts `text` in place of a file or makes a new one, and the folders it needs; it is on the disk when this returns.
    pub(crate) fn write(&self, path: &BundlePath, text: &str) -> Result<(), FileProblem> {
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
        rustix::fs::fsync(&folder).map_err(wrong)
    }

    /// Removes a file; one that is not there is fine.
    pub(crate) fn remove(&self, path: &BundlePath) -> Result<(), FileProblem> {
        let (folders, name) = path.split();
        let removed = beneath::open_folder(self.root_fd.as_fd(), &folders).and_then(|folder| {
            rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
            rustix::fs::fsync(&folder)
        });
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(FileProblem::of(path, errno)),
        }
    }

    /// Takes the right to change the bundle, making the machine's own folder if `create`. Nothing when there is no such
    /// folder and none is wanted.
    pub(crate) fn lock(&self, create: bool) -> Result<Option<ChangeLock>, FileProblem> {
        let wrong = |errno| FileProblem::of(STATE_FOLDER, errno);
        let folder = match beneath::open_folder(self.root_fd.as_fd(), &[STATE_FOLDER]) {
            Err(Errno::NOENT) if !create => return Ok(None),
            Err(Errno::NOENT) => {
                let folder = beneath::create_folder(self.root_fd.as_fd(), &[STATE_FOLDER]).map_err(wrong)?;
                self.write(&BundlePath::parse(&format!("{STATE_FOLDER}/.gitignore"))?, "*\n")?;
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
    pub(crate) fn remove_leftovers(&self, path: &BundlePath) {
        let Ok(folder) = beneath::open_folder(self.root_fd.as_fd(), &path.split().0) else { return };
        for entry in beneath::list(folder.as_fd()).unwrap_or_default() {
            if entry.name.starts_with(TEMPORARY_PREFIX) && entry.kind == FileType::RegularFile {
                let _ = rustix::fs::unlinkat(&folder, entry.name.as_str(), AtFlags::empty());
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct OpenFolder {
    fd: OwnedFd,
    pub(crate) path: BundlePath,
}

impl OpenFolder {
    /// The names of the entity files in it, sorted: `*.yaml` and `*.yml`. Whether they are files shows when they are read.
    pub(crate) fn yaml_names(&self) -> Result<Vec<String>, FileProblem> {
        let entries = beneath::list(self.fd.as_fd()).map_err(|errno| FileProblem::of(&self.path, errno))?;
        let is_yaml = |name: &str| {
            (name.ends_with(".yaml") || name.ends_with(".yml")) && !name.starts_with(TEMPORARY_PREFIX)
        };
        Ok(entries
            .into_iter()
            .filter(|entry| entry.kind != FileType::Directory && is_yaml(&entry.name))
            .map(|entry| entry.name)
            .collect())
    }

    /// The stamp of a file, if it is there.
    pub(crate) fn stamp(&self, name: &str) -> Option<Stamp> {
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
