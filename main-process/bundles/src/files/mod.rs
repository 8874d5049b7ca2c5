//! A bundle's files: in a folder, where reading and writing stay inside it, or as texts that somebody else keeps.

mod disk;
mod path;
mod texts;

pub(crate) use path::BundlePath;

use disk::{DiskFiles, DiskFolder};
use rustix::io::Errno;
use safe_fs::PathProblem;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};
use texts::{TextFiles, TextFolder};

pub(crate) use disk::ChangeLock;

/// The largest file that is read.
pub(crate) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The machine's own folder in a bundle.
pub(crate) const STATE_FOLDER: &str = ".draftboard";

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
    #[error("the bundle's files are kept elsewhere: change them there")]
    KeptElsewhere,
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

    fn of_problem(path: impl std::fmt::Display, problem: PathProblem) -> Self {
        match problem {
            PathProblem::Link => Self::Link { path: path.to_string() },
            PathProblem::NotAFile => Self::NotAFile { path: path.to_string() },
            PathProblem::TooLarge { max_bytes } => Self::TooLarge { path: path.to_string(), most: max_bytes },
            PathProblem::System(errno) => Self::of(path, errno),
            PathProblem::Protected => Self::Failed { path: path.to_string(), problem: problem.to_string() },
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
    pub(crate) fn size(self) -> u64 {
        u64::try_from(self.size).unwrap_or(0)
    }

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
pub(crate) enum BundleFiles {
    Disk(DiskFiles),
    Texts(TextFiles),
}

/// A folder whose files are read one after the other.
pub(crate) struct OpenFolder {
    pub(crate) path: BundlePath,
    kind: FolderKind,
}

enum FolderKind {
    Disk(DiskFolder),
    Texts(TextFolder),
}

impl BundleFiles {
    /// Opens a folder, which must exist.
    pub(crate) fn open(root: &Path) -> Result<Self, FileProblem> {
        DiskFiles::open(root).map(Self::Disk)
    }

    /// Texts by their paths; what cannot be a path inside a bundle is left out.
    pub(crate) fn of_texts(root: PathBuf, texts: BTreeMap<String, Arc<str>>) -> Self {
        Self::Texts(TextFiles::new(root, texts))
    }

    /// The same texts, some of them changed; nothing for files on a disk.
    pub(crate) fn with_texts(&self, edits: &[(BundlePath, Option<Arc<str>>)]) -> Option<Self> {
        match self {
            Self::Disk(_) => None,
            Self::Texts(texts) => Some(Self::Texts(texts.with(edits))),
        }
    }

    pub(crate) fn is_on_disk(&self) -> bool {
        matches!(self, Self::Disk(_))
    }

    /// The folder, without links in its path.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Disk(disk) => disk.root(),
            Self::Texts(texts) => texts.root(),
        }
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &BundlePath) -> Result<ReadFile, FileProblem> {
        self.read_up_to(path, MAX_FILE_BYTES)
    }

    pub(crate) fn read_up_to(&self, path: &BundlePath, most: u64) -> Result<ReadFile, FileProblem> {
        match self {
            Self::Disk(disk) => disk.read_up_to(path, most),
            Self::Texts(texts) => texts.read(path),
        }
    }

    /// Opens a folder to read many of its files.
    pub(crate) fn folder(&self, path: &BundlePath) -> Result<OpenFolder, FileProblem> {
        let kind = match self {
            Self::Disk(disk) => FolderKind::Disk(disk.folder(path)?),
            Self::Texts(texts) => FolderKind::Texts(texts.folder(path)),
        };
        Ok(OpenFolder { path: path.clone(), kind })
    }

    /// Makes a file hold a text, with the folders it needs, or be gone. Durable once its folder is synced.
    pub(crate) fn put(&self, path: &BundlePath, text: Option<&str>) -> Result<(), FileProblem> {
        match text {
            Some(text) => self.disk()?.replace(path, text),
            None => self.disk()?.remove(path),
        }
    }

    /// Makes the names in the folders of some paths durable, each folder once.
    pub(crate) fn sync_folders_of<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a BundlePath>,
    ) -> Result<(), FileProblem> {
        let mut synced = BTreeSet::new();
        for path in paths {
            if synced.insert(path.split().0) {
                self.disk()?.sync_folder_of(path)?;
            }
        }
        Ok(())
    }

    /// Takes the right to change the bundle, making the machine's own folder if `create`. Nothing when there is no such
    /// folder and none is wanted.
    pub(crate) fn lock(&self, create: bool) -> Result<Option<ChangeLock>, FileProblem> {
        self.disk()?.lock(create)
    }

    /// Removes what an interrupted write left in the folder of a path. Best effort: a leftover hurts nobody.
    pub(crate) fn remove_leftovers(&self, path: &BundlePath) {
        if let Self::Disk(disk) = self {
            disk.remove_leftovers(path);
        }
    }

    fn disk(&self) -> Result<&DiskFiles, FileProblem> {
        match self {
            Self::Disk(disk) => Ok(disk),
            Self::Texts(_) => Err(FileProblem::KeptElsewhere),
        }
    }
}

impl OpenFolder {
    /// The names of the entity files in it, sorted: `*.yaml` and `*.yml`. Whether they are files shows when they are read.
    pub(crate) fn yaml_names(&self) -> Result<Vec<String>, FileProblem> {
        let names = match &self.kind {
            FolderKind::Disk(folder) => folder.names()?,
            FolderKind::Texts(folder) => folder.names(),
        };
        Ok(names.into_iter().filter(|name| name.ends_with(".yaml") || name.ends_with(".yml")).collect())
    }

    /// The stamp of a file, if it is there.
    pub(crate) fn stamp(&self, name: &str) -> Option<Stamp> {
        match &self.kind {
            FolderKind::Disk(folder) => folder.stamp(name),
            FolderKind::Texts(folder) => folder.stamp(name),
        }
    }

    pub(crate) fn read(&self, name: &str) -> Result<ReadFile, FileProblem> {
        match &self.kind {
            FolderKind::Disk(folder) => folder.read(name),
            FolderKind::Texts(folder) => folder.read(name),
        }
    }
}
