//! Folders beneath a descriptor, reached without following a link.

use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags},
    io::Errno,
};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How many names of a folder are looked at.
const MOST_ENTRIES: usize = 200_000;

pub(super) struct Entry {
    /// With replacement characters where it is not UTF-8; such a file is then not found when it is read, and told.
    pub(super) name: String,
    pub(super) kind: FileType,
}

/// Opens a folder. A link on the way is [`Errno::LOOP`].
pub(super) fn open_folder(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    let path = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    // Without NOFOLLOW, so that a link in the last place is reported as a link and not as "not a folder".
    match rustix::fs::openat2(root, path, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty(), resolve) {
        // Not there in older kernels (ENOSYS), hidden by some sandboxes (EPERM), or confused by a rename (EAGAIN).
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL) => open_part_by_part(root, parts),
        other => other,
    }
}

fn open_part_by_part(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    let mut folder = rustix::fs::openat(root, ".", FOLDER, Mode::empty())?;
    for part in parts {
        folder = open_part(folder.as_fd(), part)?;
    }
    Ok(folder)
}

fn open_part(folder: BorrowedFd<'_>, part: &str) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(folder, part, FOLDER, Mode::empty()).map_err(|errno| match errno {
        Errno::NOTDIR if kind_of(folder, part) == Ok(FileType::Symlink) => Errno::LOOP,
        other => other,
    })
}

/// Opens a folder, making what is missing of it. The machine's own folder is made for its owner alone.
pub(super) fn create_folder(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    match open_folder(root, parts) {
        Err(Errno::NOENT) => {}
        other => return other,
    }
    let mut folder = rustix::fs::openat(root, ".", FOLDER, Mode::empty())?;
    for part in parts {
        let mode = if part.starts_with('.') { Mode::RWXU } else { Mode::from_raw_mode(0o777) };
        match rustix::fs::mkdirat(&folder, *part, mode) {
            Ok(()) => rustix::fs::fsync(&folder)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        folder = open_part(folder.as_fd(), part)?;
    }
    Ok(folder)
}

fn kind_of(folder: BorrowedFd<'_>, name: &str) -> Result<FileType, Errno> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

/// What is in a folder, sorted by name.
pub(super) fn list(folder: BorrowedFd<'_>) -> Result<Vec<Entry>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)?.take(MOST_ENTRIES) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." {
            continue;
        }
        // Some file systems do not tell the kind while listing.
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(folder, &name).unwrap_or(FileType::Unknown),
            kind => kind,
        };
        entries.push(Entry { name, kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}
