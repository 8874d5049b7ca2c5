//! The folder of reports: few, small, and readable by their user alone.

use super::CrashRole;
use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

const MAX_REPORTS: usize = 20;
const MAX_REPORT_BYTES: usize = 64 * 1024;
const EXTENSION: &str = "txt";
/// Holds the name of the newest report that was offered.
const OFFERED: &str = "offered";

pub struct CrashStore {
    folder: PathBuf,
}

/// A saved report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReport {
    /// The file name: time, role and process.
    pub name: String,
    pub text: String,
}

impl CrashStore {
    pub fn of_user() -> Self {
        Self { folder: user_folders::crashes() }
    }

    #[cfg(test)]
    fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Writes a report and removes the oldest ones beyond the limit.
    pub(super) fn add(&self, time: u64, role: CrashRole, pid: u32, text: &str) -> io::Result<()> {
        prepare(&self.folder)?;
        let name = format!("{time:015}-{}-{pid}.{EXTENSION}", role.label());
        let text = &text[..text.floor_char_boundary(MAX_REPORT_BYTES)];
        safe_fs::write_private(&self.folder.join(name), text.as_bytes())?;
        let mut names = self.names();
        let surplus = names.len().saturating_sub(MAX_REPORTS);
        for name in names.drain(..surplus) {
            fs::remove_file(self.folder.join(name))?;
        }
        Ok(())
    }

    /// Oldest first.
    fn names(&self) -> Vec<String> {
        if refuse_links(&self.folder).is_err() {
            return Vec::new();
        }
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let named = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let is_report = |name: &String| Path::new(name).extension().is_some_and(|end| end == EXTENSION);
        let mut names: Vec<String> = entries.filter_map(named).filter(is_report).collect();
        names.sort();
        names
    }

    /// Returns true when this process of this role has left a report.
    pub(super) fn has(&self, role: CrashRole, pid: u32) -> bool {
        let end = format!("-{}-{pid}.{EXTENSION}", role.label());
        self.names().iter().any(|name| name.ends_with(&end))
    }

    pub fn newest(&self) -> Option<StoredReport> {
        self.read(self.names().pop()?)
    }

    /// The newest report, unless it was offered before.
    pub fn newest_unoffered(&self) -> Option<StoredReport> {
        let newest = self.names().pop()?;
        let offered = fs::read_to_string(self.folder.join(OFFERED)).unwrap_or_default();
        if newest.as_str() <= offered.trim() { None } else { self.read(newest) }
    }

    /// Marks a report as offered; the file stays.
    pub fn mark_offered(&self, report: &StoredReport) -> io::Result<()> {
        refuse_links(&self.folder)?;
        safe_fs::write_private(&self.folder.join(OFFERED), report.name.as_bytes())
    }

    fn read(&self, name: String) -> Option<StoredReport> {
        let mut text = String::new();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(self.folder.join(&name))
            .ok()?;
        file.take(MAX_REPORT_BYTES as u64).read_to_string(&mut text).ok()?;
        Some(StoredReport { name, text })
    }
}

/// Creates the folder for its user alone. Refuses a link, also for the parent folder.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    refuse_links(folder)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    refuse_links(folder)
}

pub(super) fn refuse_links(folder: &Path) -> io::Result<()> {
    for folder in folder.parent().into_iter().chain([folder]) {
        match folder.symlink_metadata() {
            Ok(found) if !found.is_dir() => {
                let problem = format!("{} is a link or not a folder. Remove it.", folder.display());
                return Err(io::Error::other(problem));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

impl StoredReport {
    /// One line: the role, the time and the reason.
    pub fn headline(&self) -> String {
        let value = |key: &str| {
            self.text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).unwrap_or("unknown")
        };
        format!("{} ({}): {}", value("Role"), value("Time"), value("What"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn nothing_is_written_or_read_through_a_linked_folder() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("1-main-7.txt"), "What: theirs").unwrap();
        let app = folder.path().join("draftboard");
        let store = CrashStore::at(&app.join("crashes"));
        let report = StoredReport { name: "2-main-7.txt".to_owned(), text: String::new() };
        let refused = || {
            assert!(store.add(1, CrashRole::Main, 7, "What: x").is_err());
            assert!(store.mark_offered(&report).is_err());
            assert_eq!((store.newest(), fs::read_dir(elsewhere.path()).unwrap().count()), (None, 1));
        };
        std::os::unix::fs::symlink(elsewhere.path(), &app).unwrap();
        refused();
        fs::remove_file(&app).unwrap();
        fs::create_dir(&app).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), app.join("crashes")).unwrap();
        refused();
    }

    #[test]
    fn reports_are_private_few_and_offered_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = CrashStore::at(&folder.path().join("state").join("crashes"));
        assert_eq!(store.newest(), None);
        for number in 0..30 {
            store.add(number, CrashRole::Main, 7, &format!("What: {number}\nRole: main\n")).unwrap();
        }
        assert_eq!(store.names().len(), MAX_REPORTS);
        let newest = store.newest_unoffered().unwrap();
        assert!(newest.headline().contains("29"), "{newest:?}");
        assert!(store.has(CrashRole::Main, 7) && !store.has(CrashRole::Serve, 7));
        let file = fs::metadata(store.folder.join(&newest.name)).unwrap();
        assert_eq!(
            (file.mode() & 0o777, fs::metadata(&store.folder).unwrap().mode() & 0o777),
            (0o600, 0o700)
        );
        store.mark_offered(&newest).unwrap();
        assert_eq!((store.newest_unoffered(), store.newest()), (None, Some(newest)));
        store.add(31, CrashRole::Preview, 8, &"é".repeat(MAX_REPORT_BYTES)).unwrap();
        assert!(store.newest_unoffered().is_some_and(|report| report.text.len() <= MAX_REPORT_BYTES));
    }
}
