//! Private files: written atomically, readable only by their owner.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

/// Reads at most `most` bytes. Returns `None` when the file does not exist.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    // Opens without blocking, because a pipe under the file's name would wait for a writer.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(nonblocking).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the file is larger than {most} bytes"),
        ));
    }
    Ok(Some(bytes))
}

/// Returns whether users other than the owner can read or write the file.
pub(crate) fn open_to_others(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 != 0)
}

/// Locks the file against other processes that use this lock, until the guard is dropped.
pub(crate) fn hold(path: &Path) -> io::Result<File> {
    folder_of(path)?;
    let lock = path.with_extension("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)?;
    file.lock()?;
    Ok(file)
}

/// Returns the folder of the file and creates it when it does not exist.
fn folder_of(path: &Path) -> io::Result<&Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder =
        folder.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no parent folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    Ok(folder)
}

/// Replaces the file atomically. After an error the old file remains.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path)?;
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = folder.join(name);
    let written = write_fresh(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // Removes the leftover file, which would block the next attempt.
        let _ = fs::remove_file(&fresh);
    }
    written.and_then(|()| File::open(folder)?.sync_all())
}

fn write_fresh(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
