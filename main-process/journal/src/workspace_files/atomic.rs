//! Replacing a file at once: a temporary file beside it, synced, renamed over it, and the folder synced.

use rustix::{
    fd::BorrowedFd,
    fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid},
    io::Errno,
};
use std::{
    fs::File,
    io::{self, Write as _},
};

const PREFIX: &str = ".draftboard-saving-";

/// The name is told apart by process, so that two that do meet do not write into each other's file.
pub(super) fn temporary_name(number: u32) -> String {
    format!("{PREFIX}{}-{number}", std::process::id())
}

pub(super) fn is_temporary(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix(PREFIX)
        .and_then(|numbers| numbers.split_once('-'))
        .is_some_and(|(process, number)| is_number(process) && is_number(number))
}

pub(super) struct Existing {
    pub(super) kind: FileType,
    mode: Mode,
    owner: (Uid, Gid),
}

impl Existing {
    /// Nobody may write it. A rename would go over that, so it is asked for.
    pub(super) fn is_protected(&self) -> bool {
        !self.mode.intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH)
    }
}

/// What stands under a name, itself and not what it links to.
pub(super) fn look(folder: BorrowedFd<'_>, name: &str) -> Result<Option<Existing>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Existing {
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: Mode::from_raw_mode(stat.st_mode),
            owner: (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid)),
        })),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Writes `bytes` under `name`, by way of `temporary`, which is gone afterwards whatever happens.
pub(super) fn replace(
    folder: BorrowedFd<'_>,
    name: &str,
    temporary: &str,
    bytes: &[u8],
    existing: Option<&Existing>,
) -> io::Result<()> {
    let written = write_synced(folder, temporary, bytes, existing)
        .and_then(|()| Ok(rustix::fs::renameat(folder, temporary, folder, name)?));
    if let Err(error) = written {
        let _ = rustix::fs::unlinkat(folder, temporary, AtFlags::empty());
        return Err(error);
    }
    Ok(rustix::fs::fsync(folder)?)
}

fn write_synced(
    folder: BorrowedFd<'_>,
    name: &str,
    bytes: &[u8],
    existing: Option<&Existing>,
) -> io::Result<()> {
    // A new file gets what the user's umask says; one that replaces another is closed until it has that one's mode.
    let mode = if existing.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
    let mut file = create_new(folder, name, mode)?;
    file.write_all(bytes)?;
    if let Some(existing) = existing {
        let stat = rustix::fs::fstat(&file)?;
        let (uid, gid) = existing.owner;
        if (stat.st_uid, stat.st_gid) != (uid.as_raw(), gid.as_raw()) {
            // Only root can give a file away; for others it becomes theirs, as in any editor that saves by renaming.
            let _ = rustix::fs::fchown(&file, Some(uid), Some(gid));
        }
        rustix::fs::fchmod(&file, existing.mode)?;
    }
    file.sync_all()
}

/// Creates a file that must not exist.
pub(super) fn create_new(folder: BorrowedFd<'_>, name: &str, mode: Mode) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, mode)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_temporary() {
        assert!(is_temporary(&temporary_name(7)));
        for name in [
            "",
            ".draftboard-saving-",
            ".draftboard-saving-1",
            ".draftboard-saving-1-x",
            ".draftboard",
            "a.tmp",
        ] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
