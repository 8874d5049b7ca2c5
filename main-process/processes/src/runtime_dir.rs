//! The private directory for sockets and discovery records, and the places in which other processes look for it.
//!
//! A process writes into one directory, chosen by its environment. A client of an agent may start the bridge with a reduced
//! environment (`HOME`, `PATH` and little else), so that the bridge would choose another one than the window did: the
//! search for a running Draftboard covers all of them.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;
use thiserror::Error;

const NAME: &str = "draftboard";
const PRIVATE: u32 = 0o700;

/// A directory that only our user can enter. Inside it no further protection is needed: no other user can
/// list, open or connect to anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeDir {
    path: PathBuf,
}

/// The reason why a directory is not safe for sockets and tokens.
#[derive(Debug, Error)]
pub enum RuntimeDirError {
    #[error(
        "{path} cannot be created: {source}. Set XDG_RUNTIME_DIR to a directory that only you can access."
    )]
    Create { path: PathBuf, source: io::Error },
    #[error(
        "{path} cannot be checked: {source}. Remove it or set XDG_RUNTIME_DIR to another private directory."
    )]
    Check { path: PathBuf, source: io::Error },
    #[error("{path} is a link or a file, and a directory is needed. Remove it and start again.")]
    NotADirectory { path: PathBuf },
    #[error(
        "{path} belongs to uid {owner}. Remove it, or set XDG_RUNTIME_DIR to a private directory of yours."
    )]
    ForeignOwner { path: PathBuf, owner: u32 },
    #[error(
        "{path} is accessible to other users (mode {mode:04o}). Check who changed it, then run: chmod 700 {path}"
    )]
    TooOpen { path: PathBuf, mode: u32 },
}

/// The directories in which a running Draftboard of this user may have left its record, most likely first.
#[derive(Debug, Clone)]
pub struct RuntimeDirs {
    usable: Vec<RuntimeDir>,
    skipped: Vec<SkippedRuntimeDir>,
}

/// A directory without a usable record.
#[derive(Debug, Clone)]
struct SkippedRuntimeDir {
    path: PathBuf,
    /// `None` when it does not exist, which is usual.
    reason: Option<String>,
}

impl RuntimeDirs {
    /// `$XDG_RUNTIME_DIR`, the same directory by its usual name where the variable was dropped, and the directories for
    /// temporary files. Creates nothing.
    pub fn of_user() -> Self {
        let user = geteuid().as_raw();
        let xdg = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        let by_name = PathBuf::from(format!("/run/user/{user}"));
        Self::from_candidates(xdg.into_iter().chain([by_name]), [PathBuf::from("/tmp"), std::env::temp_dir()])
    }

    /// As [`of_user`](Self::of_user), with the places given: private ones, and ones that everybody shares.
    pub fn from_candidates(
        private: impl IntoIterator<Item = PathBuf>,
        shared: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let mut dirs = Self { usable: Vec::new(), skipped: Vec::new() };
        for parent in private {
            let path = parent.join(NAME);
            match rustix::fs::lstat(&parent).map(|stat| verify(&parent, &stat)) {
                Ok(Ok(())) => dirs.add(path),
                Ok(Err(error)) => dirs.skip(path, Some(error.to_string())),
                Err(Errno::NOENT | Errno::NOTDIR) => dirs.skip(path, None),
                Err(error) => dirs.skip(path, Some(io::Error::from(error).to_string())),
            }
        }
        for parent in shared {
            dirs.add(of_user_in(&parent));
        }
        dirs
    }

    fn add(&mut self, path: PathBuf) {
        if self.is_known(&path) {
            return;
        }
        match RuntimeDir::existing(&path) {
            Ok(Some(dir)) => self.usable.push(dir),
            Ok(None) => self.skip(path, None),
            Err(error) => self.skip(path, Some(error.to_string())),
        }
    }

    fn skip(&mut self, path: PathBuf, reason: Option<String>) {
        if !self.is_known(&path) {
            self.skipped.push(SkippedRuntimeDir { path, reason });
        }
    }

    fn is_known(&self, path: &Path) -> bool {
        self.usable.iter().any(|dir| dir.path == path) || self.skipped.iter().any(|dir| dir.path == path)
    }

    pub fn directories(&self) -> &[RuntimeDir] {
        &self.usable
    }

    /// Existing directories that are not safe to read, each with the reason.
    pub fn unsafe_ones(&self) -> impl Iterator<Item = &str> {
        self.skipped.iter().filter_map(|dir| dir.reason.as_deref())
    }
}

/// Every directory that was tried: "looked in A, B (does not exist), C (skipped: …)".
impl fmt::Display for RuntimeDirs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usable = self.usable.iter().map(|dir| dir.path.display().to_string());
        let skipped = self.skipped.iter().map(|dir| match &dir.reason {
            Some(reason) => format!("{} (skipped: {reason})", dir.path.display()),
            None => format!("{} (does not exist)", dir.path.display()),
        });
        write!(f, "looked in {}", usable.chain(skipped).collect::<Vec<_>>().join(", "))
    }
}

fn of_user_in(shared: &Path) -> PathBuf {
    shared.join(format!("{NAME}-{}", geteuid().as_raw()))
}

impl RuntimeDir {
    /// The directory of this user and machine: below `$XDG_RUNTIME_DIR` where that is private, else in the
    /// directory for temporary files.
    pub fn of_user() -> Result<Self, RuntimeDirError> {
        let xdg = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        Self::choose(xdg.as_deref(), &std::env::temp_dir())
    }

    /// As [`of_user`](Self::of_user), with the places given instead of read from the environment.
    pub fn choose(xdg: Option<&Path>, temporary: &Path) -> Result<Self, RuntimeDirError> {
        match xdg.filter(|xdg| xdg.is_absolute() && is_private(xdg)) {
            Some(xdg) => Self::at(&xdg.join(NAME)),
            None => Self::at(&of_user_in(temporary)),
        }
    }

    /// Exactly this directory: created if missing, refused unless it is a real directory of ours with mode
    /// 0700.
    pub fn at(path: &Path) -> Result<Self, RuntimeDirError> {
        let created = match mkdirat(CWD, path, Mode::from_raw_mode(PRIVATE)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => {
                return Err(RuntimeDirError::Create { path: path.to_owned(), source: error.into() });
            }
        };
        Self::open_checked(path, created)
    }

    /// Exactly this directory, with the checks of [`at`](Self::at); `None` when it does not exist.
    pub fn existing(path: &Path) -> Result<Option<Self>, RuntimeDirError> {
        match Self::open_checked(path, false) {
            Err(RuntimeDirError::Check { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            checked => checked.map(Some),
        }
    }

    fn open_checked(path: &Path, created: bool) -> Result<Self, RuntimeDirError> {
        let check = |error: Errno| RuntimeDirError::Check { path: path.to_owned(), source: error.into() };
        // Opened first and checked second, so that both concern the same directory.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match openat(CWD, without_trailing_slash(path), flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(RuntimeDirError::NotADirectory { path: path.to_owned() });
            }
            // Its owner and mode, below, say why it cannot be opened.
            Err(Errno::ACCESS) => None,
            Err(error) => return Err(check(error)),
            Ok(directory) => Some(directory),
        };
        let stat = match &directory {
            Some(directory) => {
                if created {
                    // An unusual umask may have taken our own rights away.
                    fchmod(directory, Mode::from_raw_mode(PRIVATE)).map_err(check)?;
                }
                fstat(directory).map_err(check)?
            }
            None => rustix::fs::lstat(path).map_err(check)?,
        };
        verify(path, &stat)?;
        Ok(Self { path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// With a slash at the end the kernel would follow a link in spite of `NOFOLLOW`.
fn without_trailing_slash(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(bytes.len().min(1), |last| last + 1);
    Path::new(OsStr::from_bytes(bytes.get(..end).unwrap_or(bytes)))
}

fn is_private(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| verify(path, &stat).is_ok())
}

fn verify(path: &Path, stat: &Stat) -> Result<(), RuntimeDirError> {
    let path = || path.to_owned();
    if !FileType::from_raw_mode(stat.st_mode).is_dir() {
        return Err(RuntimeDirError::NotADirectory { path: path() });
    }
    if stat.st_uid != geteuid().as_raw() {
        return Err(RuntimeDirError::ForeignOwner { path: path(), owner: stat.st_uid });
    }
    let mode = stat.st_mode & 0o7777;
    if mode & 0o777 != PRIVATE {
        return Err(RuntimeDirError::TooOpen { path: path(), mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{RuntimeDir, RuntimeDirError, RuntimeDirs};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    use std::path::Path;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_missing_directory_is_created_private_and_accepted_again() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("new");
        assert_eq!(RuntimeDir::at(&path).unwrap().path(), path);
        assert_eq!(mode(&path), 0o700);
        RuntimeDir::at(&path).unwrap();
    }

    #[test]
    fn a_directory_open_to_others_is_refused_and_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("open");
        fs::create_dir(&path).unwrap();
        for open in [0o755, 0o750, 0o701, 0o777] {
            set_mode(&path, open);
            let error = RuntimeDir::at(&path).unwrap_err();
            assert!(error.to_string().contains("chmod 700"), "{error}");
            assert!(matches!(error, RuntimeDirError::TooOpen { mode, .. } if mode == open));
            assert_eq!(mode(&path), open);
        }
    }

    #[test]
    fn a_link_is_refused_even_to_a_private_directory() {
        let tmp = tempfile::tempdir().unwrap();
        let (target, link) = (tmp.path().join("target"), tmp.path().join("link"));
        RuntimeDir::at(&target).unwrap();
        symlink(&target, &link).unwrap();
        for path in [link.clone(), link.join("")] {
            let error = RuntimeDir::at(&path).unwrap_err();
            assert!(matches!(error, RuntimeDirError::NotADirectory { .. }), "{error}");
        }
    }

    #[test]
    fn a_file_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("file");
        fs::write(&path, "").unwrap();
        assert!(matches!(RuntimeDir::at(&path).unwrap_err(), RuntimeDirError::NotADirectory { .. }));
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give a directory away
        }
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("foreign");
        RuntimeDir::at(&path).unwrap();
        chown(&path, Some(65534), None).unwrap();
        let error = RuntimeDir::at(&path).unwrap_err();
        assert!(matches!(error, RuntimeDirError::ForeignOwner { owner: 65534, .. }), "{error}");
    }

    #[test]
    fn the_desktop_s_directory_is_used_only_when_it_is_private() {
        let tmp = tempfile::tempdir().unwrap();
        let (xdg, fallback) = (tmp.path().join("xdg"), tmp.path().join("tmp"));
        fs::create_dir(&xdg).unwrap();
        fs::create_dir(&fallback).unwrap();
        let in_fallback = fallback.join(format!("draftboard-{}", rustix::process::geteuid().as_raw()));

        set_mode(&xdg, 0o755);
        assert_eq!(RuntimeDir::choose(Some(&xdg), &fallback).unwrap().path(), in_fallback);
        assert_eq!(RuntimeDir::choose(None, &fallback).unwrap().path(), in_fallback);
        assert_eq!(RuntimeDir::choose(Some(Path::new("relative")), &fallback).unwrap().path(), in_fallback);
        set_mode(&xdg, 0o700);
        assert_eq!(RuntimeDir::choose(Some(&xdg), &fallback).unwrap().path(), xdg.join("draftboard"));
    }

    #[test]
    fn all_places_are_looked_in_and_an_unsafe_one_is_skipped_and_named() {
        let tmp = tempfile::tempdir().unwrap();
        let [xdg, by_name, fixed, temporary] = ["xdg", "by-name", "fixed", "temporary"].map(|name| {
            let path = tmp.path().join(name);
            fs::create_dir(&path).unwrap();
            set_mode(&path, 0o700);
            path
        });
        let look = || {
            let private = [xdg.clone(), by_name.clone(), xdg.clone(), tmp.path().join("nowhere")];
            RuntimeDirs::from_candidates(private, [fixed.clone(), temporary.clone(), fixed.clone()])
        };
        let paths = |dirs: &RuntimeDirs| {
            dirs.directories().iter().map(|dir| dir.path().to_owned()).collect::<Vec<_>>()
        };
        assert!(paths(&look()).is_empty() && !xdg.join("draftboard").exists(), "nothing is made by looking");

        let own = RuntimeDir::at(&by_name.join("draftboard")).unwrap();
        let shared = RuntimeDir::choose(None, &fixed).unwrap();
        // A link to a safe directory, and one that others can enter.
        symlink(own.path(), xdg.join("draftboard")).unwrap();
        let open = RuntimeDir::choose(None, &temporary).unwrap();
        set_mode(open.path(), 0o755);
        let dirs = look();
        assert_eq!(paths(&dirs), [own.path(), shared.path()]);
        let said = dirs.to_string();
        for path in [&xdg, &by_name, &fixed, &temporary, &tmp.path().join("nowhere")] {
            assert!(said.contains(path.to_str().unwrap()), "{}: {said}", path.display());
        }
        assert_eq!(dirs.unsafe_ones().count(), 2, "{said}");
        // The parent counts as well: what others can enter they can replace.
        set_mode(&by_name, 0o777);
        assert_eq!(paths(&look()), [shared.path()]);
    }
}
