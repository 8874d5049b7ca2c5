//! Files of the user that nobody else may read: keys, approvals, anchors.

use crate::write_private;
use rustix::fs::OFlags;
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// A file with mode 0600 outside of workspaces. A link, a pipe or a file that others may read or write is refused.
#[derive(Debug, Clone)]
pub struct PrivateFile {
    path: PathBuf,
}

impl PrivateFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads at most `max_bytes`. Returns `None` when there is no file.
    pub fn read(&self, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match OpenOptions::new().read(true).custom_flags(safe_flags()).open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let found = file.metadata()?;
        let is_ours = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_file() || found.permissions().mode() & 0o077 != 0 || !is_ours {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it must be a file that only you can read and write (mode 0600)",
            ));
        }
        if found.len() > max_bytes {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
        }
        // Reserved at once, so that a secret is not left behind in a buffer that was outgrown.
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0) + 1);
        file.take(max_bytes).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Keeps other processes that lock this file out until the guard is dropped. Creates the folder.
    pub fn lock(&self) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.folder())?;
        let mut lock = OpenOptions::new();
        lock.write(true).create(true).truncate(false).mode(0o600).custom_flags(safe_flags());
        let lock = lock.open(self.path.with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Replaces the file as [`write_private`] does.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        write_private(&self.path, bytes)
    }

    /// Creates the file. Fails when there is one already.
    pub fn create(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Removes the file, if there is one.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// Opening never waits, as it would at a pipe, and follows no link.
fn safe_flags() -> i32 {
    i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_for_the_owner_alone_and_refused_when_others_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = PrivateFile::new(folder.path().join("below/file.json"));
        assert_eq!(file.read(9).unwrap(), None);
        file.write(b"first").unwrap();
        file.write(b"second").unwrap();
        assert_eq!(file.read(9).unwrap().unwrap(), b"second");
        assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path().join("below")).unwrap().count(), 1, "no draft is left");
        assert!(file.create(b"third").is_err(), "never over another");
        assert_eq!(file.read(5).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.read(9).unwrap_err().to_string().contains("0600"));
        file.remove().unwrap();
        file.remove().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        write_private(&elsewhere, b"x").unwrap();
        std::os::unix::fs::symlink(&elsewhere, file.path()).unwrap();
        assert!(file.read(9).is_err(), "a link is not followed");
    }
}
