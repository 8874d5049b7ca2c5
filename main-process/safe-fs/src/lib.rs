//! Access to folders and files under an open root folder, without following symbolic links.
//!
//! Owns: finding, opening, creating and replacing the files of workspaces, bundles and imported folders, and the
//! user's own and private files. Must not know: the owner or the meaning of those files.

mod files;
mod private_file;
mod write;

pub use files::{PathError, PathProblem, SafeFolder, create_new, open_regular, read_bounded};
pub use private_file::PrivateFile;
pub use write::{
    is_temporary, replace, replace_at, temporary_name, temporary_writer, write_private, write_with_mode,
};

use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The maximum number of names read from one folder.
const MAX_FOLDER_ENTRIES: usize = 200_000;

/// One name in a folder.
pub struct FolderEntry {
    /// Contains replacement characters where the name is not UTF-8; such a file cannot be opened by this name.
    pub name: String,
    pub kind: FileType,
}

/// Opens a folder. Returns [`Errno::LOOP`] when any part of the path is a symbolic link.
pub fn open_folder(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    match open_at_once(root, parts) {
        // `openat2` is missing in older kernels (ENOSYS), blocked by some sandboxes (EPERM), or interrupted by a
        // concurrent rename (EAGAIN).
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL) => open_part_by_part(root, parts),
        other => other,
    }
}

#[cfg(target_os = "linux")]
fn open_at_once(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let path = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    // Omits NOFOLLOW: with it, a link as the last part is reported as "not a folder" instead of as a link.
    rustix::fs::openat2(root, path, FOLDER_FLAGS.difference(OFlags::NOFOLLOW), Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_root: BorrowedFd<'_>, _parts: &[&str]) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn open_part_by_part(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    let mut folder = rustix::fs::openat(root, ".", FOLDER_FLAGS, Mode::empty())?;
    for part in parts {
        folder = open_part(folder.as_fd(), part)?;
    }
    Ok(folder)
}

fn open_part(folder: BorrowedFd<'_>, part: &str) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(folder, part, FOLDER_FLAGS, Mode::empty()).map_err(|errno| match errno {
        Errno::NOTDIR if kind_of(folder, part) == Ok(FileType::Symlink) => Errno::LOOP,
        other => other,
    })
}

/// Opens a folder and creates its missing parts. Parts with a leading dot, such as `.draftboard`, are readable by
/// the owner only.
pub fn create_folder(root: BorrowedFd<'_>, parts: &[&str]) -> Result<OwnedFd, Errno> {
    match open_folder(root, parts) {
        Err(Errno::NOENT) => {}
        other => return other,
    }
    let mut folder = rustix::fs::openat(root, ".", FOLDER_FLAGS, Mode::empty())?;
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

/// Returns the entries of a folder, sorted by name.
pub fn list(folder: BorrowedFd<'_>) -> Result<Vec<FolderEntry>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)?.take(MAX_FOLDER_ENTRIES) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." {
            continue;
        }
        // Some file systems do not report the file type in a listing.
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(folder, &name).unwrap_or(FileType::Unknown),
            kind => kind,
        };
        entries.push(FolderEntry { name, kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Returns whether this user cannot write to a folder: by its mode, or because its disk is mounted read-only.
pub fn is_read_only(folder: &std::path::Path) -> bool {
    let write = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    matches!(rustix::fs::access(folder, write), Err(Errno::ACCESS | Errno::ROFS | Errno::PERM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn both_ways_refuse_links_and_agree() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        std::fs::write(root.path().join("file"), "").unwrap();
        symlink("/etc", root.path().join("out")).unwrap();
        symlink("a", root.path().join("inside")).unwrap();
        symlink("../..", root.path().join("a/up")).unwrap();
        let fd = std::fs::File::open(root.path()).unwrap();
        let expected: [(&[&str], Option<Errno>); 9] = [
            (&[], None),
            (&["a"], None),
            (&["a", "b"], None),
            (&["out"], Some(Errno::LOOP)),
            (&["out", "ssl"], Some(Errno::LOOP)),
            (&["inside", "b"], Some(Errno::LOOP)),
            (&["a", "up"], Some(Errno::LOOP)),
            (&["file"], Some(Errno::NOTDIR)),
            (&["missing"], Some(Errno::NOENT)),
        ];
        for (parts, error) in expected {
            assert_eq!(open_folder(fd.as_fd(), parts).err(), error, "at once: {parts:?}");
            assert_eq!(open_part_by_part(fd.as_fd(), parts).err(), error, "part by part: {parts:?}");
        }
        assert_eq!(create_folder(fd.as_fd(), &["out", "new"]).err(), Some(Errno::LOOP));
        assert!(create_folder(fd.as_fd(), &["a", "c", "d"]).is_ok());
        let names: Vec<String> = list(fd.as_fd()).unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["a", "file", "inside", "out"]);
    }
}
