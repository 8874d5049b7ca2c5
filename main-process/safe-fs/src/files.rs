//! Files in a folder: opens regular files only and follows no links, limits the bytes read.

use crate::{FolderEntry, create_folder, list, open_folder, write::replace};
use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{
    fs::File,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

/// Read and write access for the owner only.
pub(crate) const PRIVATE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// `NONBLOCK` keeps the open of a pipe or a device from blocking until its other end is opened.
const SAFE_FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// The reason why a path was refused. Callers add the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    #[error(
        "it is a symbolic link, or is reached through one. Draftboard does not follow links here: replace the link with the file, or choose another path"
    )]
    Link,
    #[error("it is not a regular file: move it away, or choose another path")]
    NotAFile,
    #[error("it is marked read-only: make it writable (chmod u+w), then try again")]
    Protected,
    #[error("it is larger than {max_bytes} bytes")]
    TooLarge { max_bytes: u64 },
    #[error("{}", io::Error::from(*.0))]
    System(Errno),
}

impl PathProblem {
    pub fn is_missing(self) -> bool {
        self == Self::System(Errno::NOENT)
    }
}

impl From<Errno> for PathProblem {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::LOOP | Errno::XDEV => Self::Link,
            // Opening a pipe without a reader, a socket or a folder for writing fails with these.
            Errno::NXIO | Errno::ISDIR | Errno::NOTDIR => Self::NotAFile,
            other => Self::System(other),
        }
    }
}

impl From<io::Error> for PathProblem {
    fn from(error: io::Error) -> Self {
        Self::from(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

impl From<PathProblem> for io::Error {
    fn from(problem: PathProblem) -> Self {
        match problem {
            PathProblem::System(errno) => errno.into(),
            PathProblem::TooLarge { .. } => Self::new(io::ErrorKind::FileTooLarge, problem),
            PathProblem::Protected => Self::new(io::ErrorKind::PermissionDenied, problem),
            PathProblem::Link | PathProblem::NotAFile => Self::new(io::ErrorKind::InvalidInput, problem),
        }
    }
}

/// A refused path with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct PathError {
    pub path: PathBuf,
    pub problem: PathProblem,
}

impl From<PathError> for io::Error {
    fn from(error: PathError) -> Self {
        match error.problem {
            PathProblem::System(errno) => errno.into(),
            problem => Self::new(Self::from(problem).kind(), error),
        }
    }
}

/// A folder, held open by its descriptor. The names passed to its methods are relative paths without `..`.
#[derive(Debug)]
pub struct SafeFolder {
    path: PathBuf,
    fd: OwnedFd,
}

impl SafeFolder {
    /// Opens a folder by a path without symbolic links, such as any path under a canonical root. `..` is resolved
    /// textually; this is equivalent because links are refused.
    pub fn open(path: &Path) -> Result<Self, PathError> {
        let refused = |problem| PathError { path: path.to_owned(), problem };
        let path = &normalize(&std::path::absolute(path).map_err(|error| refused(PathProblem::from(error)))?);
        let parts = parts_of(path.strip_prefix("/").unwrap_or(path)).map_err(refused)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root =
            rustix::fs::open("/", flags, Mode::empty()).map_err(|errno| refused(PathProblem::from(errno)))?;
        let fd = open_folder(root.as_fd(), &parts).map_err(|errno| refused(PathProblem::from(errno)))?;
        Ok(Self { path: path.to_owned(), fd })
    }

    /// As [`Self::open`], and creates the last folder of the path when it is missing.
    pub fn create(path: &Path) -> Result<Self, PathError> {
        let (folder, name) = Self::parent_of(path)?;
        folder.create_folder(name)
    }

    /// Opens the parent folder of a file and returns it with the file name.
    pub fn parent_of(path: &Path) -> Result<(Self, String), PathError> {
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        match (path.parent(), name) {
            (Some(folder), Some(name)) => Ok((Self::open(folder)?, name)),
            _ => Err(PathError { path: path.to_owned(), problem: PathProblem::NotAFile }),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Opens a subfolder.
    pub fn folder(&self, name: impl AsRef<Path>) -> Result<Self, PathError> {
        self.open_with(name.as_ref(), open_folder)
    }

    /// Opens a subfolder and creates its missing parts.
    pub fn create_folder(&self, name: impl AsRef<Path>) -> Result<Self, PathError> {
        self.open_with(name.as_ref(), create_folder)
    }

    fn open_with(
        &self,
        name: &Path,
        open: fn(BorrowedFd<'_>, &[&str]) -> Result<OwnedFd, Errno>,
    ) -> Result<Self, PathError> {
        let path = self.path.join(name);
        let opened = parts_of(name).and_then(|parts| Ok(open(self.fd.as_fd(), &parts)?));
        match opened {
            Ok(fd) => Ok(Self { path, fd }),
            Err(problem) => Err(PathError { path, problem }),
        }
    }

    /// Returns the entries of this folder, sorted by name.
    pub fn list(&self) -> Result<Vec<FolderEntry>, PathError> {
        list(self.fd.as_fd())
            .map_err(|errno| PathError { path: self.path.clone(), problem: PathProblem::from(errno) })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, name: impl AsRef<Path>) -> Result<File, PathError> {
        self.with_parent(name.as_ref(), open_folder, open_regular)
    }

    /// Reads a regular file of at most `max_bytes`.
    pub fn read(&self, name: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>, PathError> {
        self.with_parent(name.as_ref(), open_folder, |folder, name| {
            read_bounded(open_regular(folder, name)?, max_bytes)
        })
    }

    /// Creates a file, readable by the owner only, and its missing folders. Fails when the file exists.
    pub fn create_new(&self, name: impl AsRef<Path>) -> Result<File, PathError> {
        self.with_parent(name.as_ref(), create_folder, |folder, name| create_new(folder, name, PRIVATE_MODE))
    }

    /// Opens a regular file for reading and writing without truncating it, or creates an empty one readable by the
    /// owner only. Used for lock files.
    pub fn open_or_create(&self, name: impl AsRef<Path>) -> Result<File, PathError> {
        self.with_parent(name.as_ref(), create_folder, |folder, name| {
            open_checked(folder, name, OFlags::RDWR | OFlags::CREATE, PRIVATE_MODE)
        })
    }

    /// Replaces the content of a file with `bytes`, or creates the file and its missing folders. Durable on return.
    pub fn write_atomic(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), PathError> {
        self.with_parent(name.as_ref(), create_folder, |folder, name| {
            replace(folder, name, bytes)?;
            Ok(rustix::fs::fsync(folder)?)
        })
    }

    /// Removes a file or a link, never the target of a link. Succeeds when nothing exists under the name.
    pub fn remove(&self, name: impl AsRef<Path>) -> Result<(), PathError> {
        let removed = self.with_parent(name.as_ref(), open_folder, |folder, name| {
            Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
        });
        match removed {
            Err(error) if error.problem.is_missing() => Ok(()),
            other => other,
        }
    }

    /// Moves an entry into another folder under a free name. A link is moved itself, not its target.
    pub fn rename_new(&self, name: &str, folder: &Self, to: &str) -> Result<(), PathError> {
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(&self.fd, name, &folder.fd, to, flags)
            .map_err(|errno| PathError { path: self.path.join(name), problem: PathProblem::from(errno) })
    }

    /// Returns the type of an entry without following links; `None` when it does not exist.
    pub fn kind(&self, name: impl AsRef<Path>) -> Result<Option<FileType>, PathError> {
        let found = self
            .with_parent(name.as_ref(), open_folder, |folder, name| Ok(crate::kind_of(folder, name)?))
            .map(Some);
        match found {
            Err(error) if error.problem.is_missing() => Ok(None),
            other => other,
        }
    }

    /// Syncs the folder so that its entries are durable.
    pub fn sync(&self) -> Result<(), PathError> {
        rustix::fs::fsync(&self.fd)
            .map_err(|errno| PathError { path: self.path.clone(), problem: PathProblem::from(errno) })
    }

    fn with_parent<T>(
        &self,
        path: &Path,
        open: fn(BorrowedFd<'_>, &[&str]) -> Result<OwnedFd, Errno>,
        then: impl FnOnce(BorrowedFd<'_>, &str) -> Result<T, PathProblem>,
    ) -> Result<T, PathError> {
        let done = parts_of(path).and_then(|parts| {
            let (name, folders) = parts.split_last().ok_or(PathProblem::NotAFile)?;
            match folders {
                [] => then(self.fd.as_fd(), name),
                folders => then(open(self.fd.as_fd(), folders)?.as_fd(), name),
            }
        });
        done.map_err(|problem| PathError { path: self.path.join(path), problem })
    }
}

fn normalize(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
        path
    })
}

/// Returns the parts of a relative path. Refuses a path that leaves the folder or is not UTF-8.
fn parts_of(path: &Path) -> Result<Vec<&str>, PathProblem> {
    let part = |component| match component {
        Component::Normal(part) => Some(part.to_str().ok_or(PathProblem::System(Errno::ILSEQ))),
        Component::CurDir => None,
        _ => Some(Err(PathProblem::System(Errno::INVAL))),
    };
    path.components().filter_map(part).collect()
}

/// Opens a regular file for reading.
pub fn open_regular(folder: BorrowedFd<'_>, name: &str) -> Result<File, PathProblem> {
    open_checked(folder, name, OFlags::RDONLY, Mode::empty())
}

fn open_checked(folder: BorrowedFd<'_>, name: &str, flags: OFlags, mode: Mode) -> Result<File, PathProblem> {
    let fd = rustix::fs::openat(folder, name, flags | SAFE_FLAGS, mode)?;
    let stat = rustix::fs::fstat(&fd)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(File::from(fd)),
        _ => Err(PathProblem::NotAFile),
    }
}

/// Reads a whole file of at most `max_bytes`.
pub fn read_bounded(file: File, max_bytes: u64) -> Result<Vec<u8>, PathProblem> {
    let size = file.metadata()?.len();
    if size > max_bytes {
        return Err(PathProblem::TooLarge { max_bytes });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The file can grow while it is read.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(PathProblem::TooLarge { max_bytes }) } else { Ok(bytes) }
}

/// Creates a file. Fails when it exists.
pub fn create_new(folder: BorrowedFd<'_>, name: &str, mode: Mode) -> Result<File, PathProblem> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SAFE_FLAGS;
    Ok(File::from(rustix::fs::openat(folder, name, flags, mode)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn links_and_pipes_are_refused_by_every_function() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let canary = root.join("canary");
        fs::write(&canary, "precious").unwrap();
        let place = root.join("place");
        fs::create_dir(&place).unwrap();
        symlink(&canary, place.join("link")).unwrap();
        symlink(&root, place.join("out")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, place.join("pipe"), PRIVATE_MODE).unwrap();
        let folder = SafeFolder::open(&place).unwrap();
        for (name, expected) in
            [("link", PathProblem::Link), ("out/canary", PathProblem::Link), ("pipe", PathProblem::NotAFile)]
        {
            let problems = [
                folder.open_file(name).map(drop),
                folder.read(name, 10).map(drop),
                folder.open_or_create(name).map(drop),
                folder.write_atomic(name, b"x"),
            ];
            for problem in problems {
                let error = problem.unwrap_err();
                assert_eq!((error.problem, &error.path), (expected, &place.join(name)));
            }
        }
        assert!(folder.create_new("link").is_err());
        assert_eq!(folder.folder("out").unwrap_err().problem, PathProblem::Link);
        assert_eq!(SafeFolder::open(&place.join("out")).unwrap_err().problem, PathProblem::Link);
        assert!(folder.read("../canary", 10).is_err());
        assert_eq!(SafeFolder::open(&place.join("../place")).unwrap().path(), place);
        folder.remove("link").unwrap();
        assert_eq!(fs::read_to_string(&canary).unwrap(), "precious");
    }

    #[test]
    fn no_more_bytes_are_read_than_permitted() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "two").unwrap();
        let folder = SafeFolder::open(&root.path().canonicalize().unwrap()).unwrap();
        assert_eq!(folder.read("file", 3).unwrap(), b"two");
        assert_eq!(folder.read("file", 2).unwrap_err().problem, PathProblem::TooLarge { max_bytes: 2 });
    }
}
