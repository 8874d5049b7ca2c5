//! Writes a file whole or not at all: the bytes go into a temporary file in the same folder, which is synced and then
//! renamed over the target. After a crash or an error the target holds either its old content or all of the new.

use crate::files::{PRIVATE_MODE, PathProblem, create_new};
use rustix::{
    fd::{AsFd as _, BorrowedFd},
    fs::{AtFlags, FileType, Gid, Mode, Stat, Uid},
    io::Errno,
};
use std::{
    ffi::OsStr,
    fs::{DirBuilder, File},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

const TEMPORARY_PREFIX: &str = ".draftboard-saving-";

/// Returns whether [`temporary_name`] generated this name. Such a file was left by a crash.
pub fn is_temporary(name: &str) -> bool {
    temporary_writer(name).is_some()
}

/// Returns the process that wrote a temporary file of this name.
pub fn temporary_writer(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(TEMPORARY_PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Returns a name for a temporary file. It contains the process id, so that two processes never share a name.
pub fn temporary_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{TEMPORARY_PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Replaces the content of a regular file in a workspace, or creates it with the mode of the umask. Refuses links and
/// write-protected files. Keeps owner and mode. The caller syncs the folder.
pub fn replace(folder: BorrowedFd<'_>, name: &str, bytes: &[u8]) -> Result<(), PathProblem> {
    replace_with(folder, OsStr::new(name), |file| Ok(file.write_all(bytes)?))
}

/// As [`replace`], at a path that a person chose; durable on return. Links in the path of the folder are followed, because
/// the person named it. An error of `write` leaves the old content in place.
pub fn replace_at<T, E: From<PathProblem>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let (folder, name) = folder_and_name(path)?;
    let folder = File::open(folder).map_err(PathProblem::from)?;
    let written = replace_with(folder.as_fd(), name, write)?;
    folder.sync_all().map_err(PathProblem::from)?;
    Ok(written)
}

fn folder_and_name(path: &Path) -> Result<(&Path, &OsStr), PathProblem> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if !folder.as_os_str().is_empty() => Ok((folder, name)),
        (Some(_), Some(name)) => Ok((Path::new("."), name)),
        _ => Err(PathProblem::NotAFile),
    }
}

fn replace_with<T, E: From<PathProblem>>(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let existing = replaceable(folder, name)?;
    // A new file gets its mode from the umask. A replacement stays private until it has the mode of the original.
    let mode = if existing.is_some() { PRIVATE_MODE } else { Mode::from_raw_mode(0o666) };
    write_renamed(folder, name, mode, |file| {
        let written = write(file)?;
        existing.as_ref().map_or(Ok(()), |existing| copy_attributes(existing, file))?;
        Ok(written)
    })
}

/// Returns the attributes of the file under this name, if there is one that may be replaced.
fn replaceable(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Option<Stat>, PathProblem> {
    let existing = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => return Err(PathProblem::Link),
            FileType::RegularFile => Some(stat),
            _ => return Err(PathProblem::NotAFile),
        },
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(errno.into()),
    };
    // The file is write-protected. A rename would bypass the protection, so the write is refused.
    let writable = Mode::WUSR | Mode::WGRP | Mode::WOTH;
    match existing {
        Some(stat) if !Mode::from_raw_mode(stat.st_mode).intersects(writable) => Err(PathProblem::Protected),
        existing => Ok(existing),
    }
}

/// Replaces or creates a file that only its user may read, in a folder that the user controls, and creates the missing
/// folders. Durable on return. A link under the name is replaced; links in the path of the folder are followed, because
/// the user made them.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with_mode(path, bytes, PRIVATE_MODE.as_raw_mode())
}

/// As [`write_private`], with another mode than 0600.
pub fn write_with_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (folder, name) = folder_and_name(path)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let folder = File::open(folder)?;
    write_renamed(folder.as_fd(), name, PRIVATE_MODE, |file| {
        file.write_all(bytes)?;
        Ok::<_, PathProblem>(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
    })?;
    folder.sync_all()
}

fn write_renamed<T, E: From<PathProblem>>(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    mode: Mode,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let (temporary, mut file) = loop {
        let temporary = temporary_name();
        match create_new(folder, &temporary, mode) {
            // A crashed process with the same id left it.
            Err(PathProblem::System(Errno::EXIST)) => {}
            created => break (temporary, created?),
        }
    };
    let written = write(&mut file).and_then(|written| {
        file.sync_all().map_err(PathProblem::from)?;
        rustix::fs::renameat(folder, &temporary, folder, name).map_err(PathProblem::from)?;
        Ok(written)
    });
    if written.is_err() {
        let _ = rustix::fs::unlinkat(folder, &temporary, AtFlags::empty());
    }
    written
}

fn copy_attributes(existing: &Stat, file: &File) -> Result<(), PathProblem> {
    let stat = rustix::fs::fstat(file)?;
    if (stat.st_uid, stat.st_gid) != (existing.st_uid, existing.st_gid) {
        let (owner, group) = (Uid::from_raw(existing.st_uid), Gid::from_raw(existing.st_gid));
        // Only root can change the owner. For other users the file becomes theirs, as in any editor that saves by
        // renaming.
        let _ = rustix::fs::fchown(file, Some(owner), Some(group));
    }
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(existing.st_mode))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SafeFolder;
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_of_a_workspace_keeps_its_mode_and_its_protection() {
        let root = tempfile::tempdir().unwrap();
        let folder = SafeFolder::open(&root.path().canonicalize().unwrap()).unwrap();
        folder.write_atomic("a/b", b"one").unwrap();
        let file = root.path().join("a/b");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        folder.write_atomic("a/b", b"two").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o640, b"two".to_vec()));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        assert_eq!(folder.write_atomic("a/b", b"three").unwrap_err().problem, PathProblem::Protected);
        assert_eq!(fs::read_dir(root.path().join("a")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_file_of_the_user_is_private_with_its_folders_unless_a_mode_is_given() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a/b/file");
        write_private(&file, b"one").unwrap();
        assert_eq!(
            [&root.path().join("a"), &root.path().join("a/b"), &file].map(|path| mode(path)),
            [0o700, 0o700, 0o600]
        );
        write_with_mode(&file, b"two", 0o664).unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o664, b"two".to_vec()));
        write_private(&file, b"three").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o600, b"three".to_vec()));
        assert_eq!(fs::read_dir(root.path().join("a/b")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_link_at_the_target_is_refused_in_a_workspace_and_replaced_for_the_user() {
        let root = tempfile::tempdir().unwrap();
        let (canary, link) = (root.path().join("canary"), root.path().join("link"));
        fs::write(&canary, "precious").unwrap();
        symlink(&canary, &link).unwrap();
        let folder = SafeFolder::open(&root.path().canonicalize().unwrap()).unwrap();
        assert_eq!(folder.write_atomic("link", b"new").unwrap_err().problem, PathProblem::Link);
        write_private(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(
            (fs::read(&canary).unwrap(), fs::read(&link).unwrap()),
            (b"precious".to_vec(), b"new".to_vec())
        );
    }

    #[test]
    fn a_chosen_file_is_replaced_whole_and_a_link_or_a_device_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let write =
            |path: &Path, bytes: &[u8]| replace_at(path, |file| Ok::<_, PathProblem>(file.write_all(bytes)?));
        let file = root.path().join("board.png");
        write(&file, b"one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        write(&file, b"two").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o640, b"two".to_vec()));
        let failed = replace_at(&file, |file| {
            file.write_all(b"half")?;
            Err::<(), _>(PathProblem::System(Errno::NOSPC))
        });
        assert_eq!((failed.is_err(), fs::read(&file).unwrap()), (true, b"two".to_vec()));
        let link = root.path().join("link.png");
        symlink(&file, &link).unwrap();
        assert_eq!(write(&link, b"three"), Err(PathProblem::Link));
        assert_eq!(write(Path::new("/dev/null"), b"three"), Err(PathProblem::NotAFile));
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2, "no temporary file is left");
        // The folder was named by a person, so a link in its path is followed.
        let folder = root.path().join("folder");
        symlink(root.path(), &folder).unwrap();
        write(&folder.join("other.png"), b"four").unwrap();
        assert_eq!(fs::read(root.path().join("other.png")).unwrap(), b"four");
    }

    #[test]
    fn the_old_content_survives_a_failed_write() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "old").unwrap();
        let folder = File::open(root.path()).unwrap();
        let failed = write_renamed(folder.as_fd(), OsStr::new("file"), PRIVATE_MODE, |file| {
            file.write_all(b"half of the n")?;
            Err::<(), _>(PathProblem::System(Errno::NOSPC))
        });
        assert_eq!(failed, Err(PathProblem::System(Errno::NOSPC)));
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::create_dir(root.path().join("folder")).unwrap();
        assert!(write_private(&root.path().join("folder"), b"new").is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn a_leftover_of_a_crash_does_not_block_the_next_write() {
        let root = tempfile::tempdir().unwrap();
        let number: u32 = temporary_name().rsplit_once('-').unwrap().1.parse().unwrap();
        for number in number..number + 20 {
            fs::write(root.path().join(format!("{TEMPORARY_PREFIX}{}-{number}", std::process::id())), "")
                .unwrap();
        }
        write_private(&root.path().join("file"), b"new").unwrap();
        assert_eq!(fs::read(root.path().join("file")).unwrap(), b"new");
    }

    #[test]
    fn only_our_own_names_are_temporary() {
        assert!(is_temporary(&temporary_name()));
        for name in ["", ".draftboard-saving-", ".draftboard-saving-1", ".draftboard-saving-1-x", "a.tmp"] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
