//! The lock that makes a main process the only one of its workspace.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::{fd::OwnedFd, unix::fs::MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use thiserror::Error;

const FOLDER: &str = ".draftboard";
const FILE: &str = "lock";
/// Attempts when the lock file is deleted while it is being locked.
const MAX_ATTEMPTS: u32 = 10;

/// The reason why this process cannot open a workspace.
#[derive(Debug, Error)]
pub enum LockError {
    #[error("{workspace} is already open in another Draftboard{}. Use that one or close it first.", describe_owner(*.pid))]
    Held {
        workspace: PathBuf,
        /// As the holder wrote it; missing between its locking and its writing.
        pid: Option<u32>,
    },
    #[error("The workspace {workspace} was not found: {source}. Give the path of an existing folder.")]
    NoWorkspace { workspace: PathBuf, source: io::Error },
    #[error("{path} is a link or has the wrong file type. Remove it: Draftboard creates it again.")]
    Suspicious { path: PathBuf },
    #[error("{path} cannot be locked: {source}. Check that you may write there.")]
    Unavailable { path: PathBuf, source: io::Error },
}

fn describe_owner(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

/// Held while the value or a clone of it lives; the kernel releases it when the process ends. The file stays: removing it
/// would let two processes lock two different files of the same name.
#[derive(Debug, Clone)]
pub struct WorkspaceLock {
    workspace: PathBuf,
    /// `None` in a read-only folder, which any number of processes may open.
    file: Option<Arc<Mutex<LockedFile>>>,
}

#[derive(Debug)]
struct LockedFile(File);

impl WorkspaceLock {
    /// Locks `<workspace>/.draftboard/lock`, without waiting.
    pub fn acquire(workspace: &Path) -> Result<Self, LockError> {
        let no_workspace = |source| LockError::NoWorkspace { workspace: workspace.to_owned(), source };
        let workspace = workspace.canonicalize().map_err(no_workspace)?;
        if safe_fs::is_read_only(&workspace) {
            return Ok(Self { workspace, file: None });
        }
        let file = Some(Arc::new(Mutex::new(LockedFile::acquire(&workspace)?)));
        Ok(Self { workspace, file })
    }

    /// Takes the lock again when its file was deleted or replaced since: another process could lock the new one.
    pub fn hold(&self) -> Result<(), LockError> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if !file.is_at(&self.workspace.join(FOLDER).join(FILE)) {
            *file = LockedFile::acquire(&self.workspace)?;
            tracing::warn!("lock file of the workspace was deleted or replaced; created and locked again");
        }
        Ok(())
    }

    /// The workspace's path with links resolved: the same for every way of naming it.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }
}

impl LockedFile {
    fn acquire(workspace: &Path) -> Result<Self, LockError> {
        let folder_path = workspace.join(FOLDER);
        let path = folder_path.join(FILE);
        let unavailable = |source| LockError::Unavailable { path: path.clone(), source };
        for _ in 0..MAX_ATTEMPTS {
            let folder = open_folder(&folder_path)?;
            let mut file = open_file(&folder, &path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let pid = read_pid(&mut file);
                    return Err(LockError::Held { workspace: workspace.to_owned(), pid });
                }
                Err(TryLockError::Error(error)) => return Err(unavailable(error)),
            }
            let locked = Self(file);
            // Deleted between opening and locking: the next process would lock another file.
            if locked.is_at(&path) {
                write_pid(&locked.0).map_err(unavailable)?;
                return Ok(locked);
            }
        }
        Err(unavailable(io::Error::other("the file is deleted again and again")))
    }

    /// Returns true when the locked file is the one at its path.
    fn is_at(&self, path: &Path) -> bool {
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let (locked, found) = (self.0.metadata().map(identity), path.symlink_metadata().map(identity));
        locked.is_ok_and(|locked| found.is_ok_and(|found| found == locked))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // For readers only: the lock, not the text, decides.
        let _ = self.0.set_len(0);
        // Closing is not enough: a child that has been forked and has not begun its program yet shares the file, and
        // with it the lock.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "lock of the workspace was not released before its file was closed");
        }
    }
}

/// A workspace may come from a stranger, so no link in it may redirect our writes.
fn open_folder(path: &Path) -> Result<OwnedFd, LockError> {
    match mkdirat(CWD, path, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(LockError::Unavailable { path: path.to_owned(), source: error.into() }),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty()).map_err(|error| suspicious_or_unavailable(path, error))
}

fn open_file(folder: &OwnedFd, path: &Path) -> Result<File, LockError> {
    // NONBLOCK matters for special files only, where opening could block for ever.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file: File = openat(folder, FILE, flags, Mode::from_raw_mode(0o600))
        .map_err(|error| suspicious_or_unavailable(path, error))?
        .into();
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(LockError::Suspicious { path: path.to_owned() }),
        Err(source) => Err(LockError::Unavailable { path: path.to_owned(), source }),
    }
}

fn suspicious_or_unavailable(path: &Path, error: Errno) -> LockError {
    match error {
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => {
            LockError::Suspicious { path: path.to_owned() }
        }
        error => LockError::Unavailable { path: path.to_owned(), source: error.into() },
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::{LockError, WorkspaceLock};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn the_second_is_told_who_the_first_is() {
        let workspace = tempfile::tempdir().unwrap();
        let first = WorkspaceLock::acquire(workspace.path()).unwrap();
        let error = WorkspaceLock::acquire(workspace.path()).unwrap_err();
        assert!(error.to_string().contains(&format!("(pid {})", std::process::id())), "{error}");
        assert!(matches!(error, LockError::Held { pid: Some(pid), .. } if pid == std::process::id()));
        drop(first);
        WorkspaceLock::acquire(workspace.path()).unwrap();
    }

    #[test]
    fn it_is_released_although_somebody_else_shares_the_file() {
        let workspace = tempfile::tempdir().unwrap();
        let first = WorkspaceLock::acquire(workspace.path()).unwrap();
        let _shared = first.file.as_ref().unwrap().lock().unwrap().0.try_clone().unwrap();
        drop(first);
        WorkspaceLock::acquire(workspace.path()).unwrap();
    }

    #[test]
    fn a_holder_without_a_readable_pid_is_still_a_holder() {
        let workspace = tempfile::tempdir().unwrap();
        let _first = WorkspaceLock::acquire(workspace.path()).unwrap();
        fs::write(workspace.path().join(".draftboard/lock"), "not a number").unwrap();
        let error = WorkspaceLock::acquire(workspace.path()).unwrap_err();
        assert!(matches!(error, LockError::Held { pid: None, .. }), "{error}");
    }

    #[test]
    fn the_lock_file_is_private_and_stays() {
        let workspace = tempfile::tempdir().unwrap();
        drop(WorkspaceLock::acquire(workspace.path()).unwrap());
        let metadata = fs::symlink_metadata(workspace.path().join(".draftboard/lock")).unwrap();
        assert_eq!((metadata.mode() & 0o777, metadata.len()), (0o600, 0));
    }

    #[test]
    fn links_in_a_workspace_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("lock"), "precious").unwrap();

        let workspace = tempfile::tempdir().unwrap();
        symlink(outside.path(), workspace.path().join(".draftboard")).unwrap();
        assert!(matches!(
            WorkspaceLock::acquire(workspace.path()).unwrap_err(),
            LockError::Suspicious { .. }
        ));

        let workspace = tempfile::tempdir().unwrap();
        fs::create_dir(workspace.path().join(".draftboard")).unwrap();
        symlink(outside.path().join("lock"), workspace.path().join(".draftboard/lock")).unwrap();
        assert!(matches!(
            WorkspaceLock::acquire(workspace.path()).unwrap_err(),
            LockError::Suspicious { .. }
        ));

        assert_eq!(fs::read_to_string(outside.path().join("lock")).unwrap(), "precious");
    }

    #[test]
    fn a_workspace_that_is_not_there_is_named() {
        let error = WorkspaceLock::acquire("/nowhere/at/all".as_ref()).unwrap_err();
        assert!(
            matches!(error, LockError::NoWorkspace { .. }) && error.to_string().contains("/nowhere/at/all")
        );
    }
}
