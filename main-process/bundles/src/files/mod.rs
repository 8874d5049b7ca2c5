//! A bundle's files: in a folder on disk, confined to it, or as texts that the caller stores.

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

pub(crate) use disk::BundleChangeLock;

/// The maximum size of a file.
pub(crate) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Draftboard's local folder in a bundle.
pub(crate) const STATE_FOLDER: &str = ".draftboard";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleFileError {
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error("{path} is larger than {most} bytes: split it, or remove what does not belong there")]
    TooLarge { path: String, most: u64 },
    #[error(
        "{path} is a symbolic link or lies behind one, and links are not followed so that nothing outside the bundle is accessed: replace the link with the file itself"
    )]
    Link { path: String },
    #[error("{path:?} is not a path inside the bundle: expected a relative path without `..`")]
    Outside { path: String },
    #[error("{path} is not a regular file or folder: remove it, or choose another name")]
    NotAFile { path: String },
    #[error("{path} is not UTF-8 text: save the file as UTF-8")]
    NotText { path: String },
    #[error("the bundle's files are stored elsewhere: change them there")]
    NotOnDisk,
    #[error("another program is changing this bundle: try again later")]
    Busy,
    #[error("{path}: {problem}")]
    Failed { path: String, problem: String },
}

impl BundleFileError {
    fn from_errno(path: impl std::fmt::Display, errno: Errno) -> Self {
        let path = path.to_string();
        match errno {
            Errno::NOENT => Self::Missing { path },
            Errno::LOOP | Errno::XDEV => Self::Link { path },
            Errno::NOTDIR | Errno::ISDIR => Self::NotAFile { path },
            other => Self::Failed { path, problem: other.to_string() },
        }
    }

    fn from_path_problem(path: impl std::fmt::Display, problem: PathProblem) -> Self {
        match problem {
            PathProblem::Link => Self::Link { path: path.to_string() },
            PathProblem::NotAFile => Self::NotAFile { path: path.to_string() },
            PathProblem::TooLarge { max_bytes } => Self::TooLarge { path: path.to_string(), most: max_bytes },
            PathProblem::System(errno) => Self::from_errno(path, errno),
            PathProblem::Protected => Self::Failed { path: path.to_string(), problem: problem.to_string() },
        }
    }

    fn from_io(path: impl std::fmt::Display, error: &std::io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(path, errno),
            None => Self::Failed { path: path.to_string(), problem: error.to_string() },
        }
    }
}

/// Metadata that detects changes of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BundleFileStamp {
    inode: u64,
    size: i64,
    seconds: i64,
    nanoseconds: i64,
}

impl BundleFileStamp {
    pub(crate) fn size(self) -> u64 {
        u64::try_from(self.size).unwrap_or(0)
    }

    /// The modification time of the file.
    pub(crate) fn modified(self) -> SystemTime {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        let nanoseconds = u32::try_from(self.nanoseconds).unwrap_or(0);
        SystemTime::UNIX_EPOCH + std::time::Duration::new(seconds, nanoseconds)
    }
}

/// The text of a file, and its stamp from before the text was read.
pub(crate) struct StampedFileText {
    pub(crate) text: String,
    pub(crate) stamp: BundleFileStamp,
}

#[derive(Debug)]
pub(crate) enum BundleFiles {
    Disk(DiskFiles),
    Texts(TextFiles),
}

/// A folder that is open for reading its files.
pub(crate) struct BundleFolder {
    pub(crate) path: BundlePath,
    kind: FolderBackend,
}

enum FolderBackend {
    Disk(DiskFolder),
    Texts(TextFolder),
}

impl BundleFiles {
    /// Opens a folder, which must exist.
    pub(crate) fn open(root: &Path) -> Result<Self, BundleFileError> {
        DiskFiles::open(root).map(Self::Disk)
    }

    /// Creates files from texts by path. Ignores paths that are not valid inside a bundle.
    pub(crate) fn from_texts(root: PathBuf, texts: BTreeMap<String, Arc<str>>) -> Self {
        Self::Texts(TextFiles::new(root, texts))
    }

    /// Returns a copy with some texts changed, or `None` for files on disk.
    pub(crate) fn with_texts(&self, edits: &[(BundlePath, Option<Arc<str>>)]) -> Option<Self> {
        match self {
            Self::Disk(_) => None,
            Self::Texts(texts) => Some(Self::Texts(texts.with_edits(edits))),
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
    pub(crate) fn read(&self, path: &BundlePath) -> Result<StampedFileText, BundleFileError> {
        self.read_up_to(path, MAX_FILE_BYTES)
    }

    pub(crate) fn read_up_to(
        &self,
        path: &BundlePath,
        most: u64,
    ) -> Result<StampedFileText, BundleFileError> {
        match self {
            Self::Disk(disk) => disk.read_up_to(path, most),
            Self::Texts(texts) => texts.read(path),
        }
    }

    /// Opens a folder to read many of its files.
    pub(crate) fn folder(&self, path: &BundlePath) -> Result<BundleFolder, BundleFileError> {
        let kind = match self {
            Self::Disk(disk) => FolderBackend::Disk(disk.folder(path)?),
            Self::Texts(texts) => FolderBackend::Texts(texts.folder(path)),
        };
        Ok(BundleFolder { path: path.clone(), kind })
    }

    /// Writes a file and creates its folders, or removes it. Durable once its folder is synced.
    pub(crate) fn write_or_remove(
        &self,
        path: &BundlePath,
        text: Option<&str>,
    ) -> Result<(), BundleFileError> {
        match text {
            Some(text) => self.disk()?.replace(path, text),
            None => self.disk()?.remove(path),
        }
    }

    /// Syncs the folders of some paths, each folder once.
    pub(crate) fn sync_folders_of<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a BundlePath>,
    ) -> Result<(), BundleFileError> {
        let mut synced = BTreeSet::new();
        for path in paths {
            if synced.insert(path.split().0) {
                self.disk()?.sync_folder_of(path)?;
            }
        }
        Ok(())
    }

    /// Locks the bundle for changes, and creates the local folder if `create`. Returns `None` when the folder does not
    /// exist and `create` is false.
    pub(crate) fn lock(&self, create: bool) -> Result<Option<BundleChangeLock>, BundleFileError> {
        self.disk()?.lock(create)
    }

    /// Removes temporary files of an interrupted write from the folder of a path. Best effort: a leftover is harmless.
    pub(crate) fn remove_leftovers(&self, path: &BundlePath) {
        if let Self::Disk(disk) = self {
            disk.remove_leftovers(path);
        }
    }

    fn disk(&self) -> Result<&DiskFiles, BundleFileError> {
        match self {
            Self::Disk(disk) => Ok(disk),
            Self::Texts(_) => Err(BundleFileError::NotOnDisk),
        }
    }
}

impl BundleFolder {
    /// The names of the entity files in it, sorted: `*.yaml` and `*.yml`. Reading one shows whether it is a regular file.
    pub(crate) fn yaml_names(&self) -> Result<Vec<String>, BundleFileError> {
        let names = match &self.kind {
            FolderBackend::Disk(folder) => folder.names()?,
            FolderBackend::Texts(folder) => folder.names(),
        };
        Ok(names.into_iter().filter(|name| name.ends_with(".yaml") || name.ends_with(".yml")).collect())
    }

    /// The stamp of a file, if it exists.
    pub(crate) fn stamp(&self, name: &str) -> Option<BundleFileStamp> {
        match &self.kind {
            FolderBackend::Disk(folder) => folder.stamp(name),
            FolderBackend::Texts(folder) => folder.stamp(name),
        }
    }

    pub(crate) fn read(&self, name: &str) -> Result<StampedFileText, BundleFileError> {
        match &self.kind {
            FolderBackend::Disk(folder) => folder.read(name),
            FolderBackend::Texts(folder) => folder.read(name),
        }
    }
}
