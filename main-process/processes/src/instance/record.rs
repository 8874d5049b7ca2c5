//! The file in which local tools find the socket of a workspace's main process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::test_kill_process;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::socket;
use super::token::{InstanceToken, hex};
use crate::proc_stat::ProcStat;
use crate::process_tree::to_pid;
use crate::runtime_dir::RuntimeDir;

const EXTENSION: &str = "json";
const KEY_DIGITS: usize = 16;
/// Far more than a record needs; a larger file is not a record.
const MAX_RECORD_BYTES: u64 = 64 * 1024;

/// A running main process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiscoveryRecord {
    pub pid: u32,
    /// The start of the process in clock ticks since boot: pids are reused, this pair is not.
    pub start_time: u64,
    #[serde(serialize_with = "as_text")]
    pub workspace: PathBuf,
    #[serde(serialize_with = "as_text")]
    pub socket: PathBuf,
    pub token: InstanceToken,
    pub version: String,
    /// The address and token for agents over HTTP; missing when HTTP is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_token: Option<InstanceToken>,
}

impl DiscoveryRecord {
    /// Connects to the socket of the instance.
    pub fn connect(&self) -> io::Result<UnixStream> {
        socket::connect(&self.socket)
    }
}

/// A path that is not UTF-8 only looks odd in a list; neither the key nor the socket comes from it.
fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// The reason why running instances cannot be listed.
#[derive(Debug, Error)]
pub enum DiscoveryError {
    #[error("{path} cannot be read: {source}. Check that the folder exists and is yours.")]
    Unreadable { path: PathBuf, source: io::Error },
}

/// The main process that serves `workspace`, if one is running and its record is in one of these directories.
pub fn find(runtimes: &[RuntimeDir], workspace: &Path) -> Result<Option<DiscoveryRecord>, DiscoveryError> {
    let workspace = workspace
        .canonicalize()
        .map_err(|source| DiscoveryError::Unreadable { path: workspace.to_owned(), source })?;
    Ok(runtimes
        .iter()
        .find_map(|runtime| DiscoveryRecordFile::of_workspace(runtime, &workspace).read_alive()))
}

/// Every main process with a record in one of these directories, ordered by workspace. Records of dead processes are removed on the way;
/// their sockets are left to the next holder of the workspace's lock.
pub fn list(runtimes: &[RuntimeDir]) -> Result<Vec<DiscoveryRecord>, DiscoveryError> {
    let mut alive = Vec::new();
    for runtime in runtimes {
        let unreadable = |source| DiscoveryError::Unreadable { path: runtime.path().to_owned(), source };
        for entry in fs::read_dir(runtime.path()).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let key = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension().is_some_and(|extension| extension == EXTENSION) && is_key(key) {
                alive.extend(DiscoveryRecordFile::of_key(runtime, key).read_alive());
            }
        }
    }
    alive.sort_by(|left: &DiscoveryRecord, right| left.workspace.cmp(&right.workspace));
    Ok(alive)
}

/// Returns false only when the process is certainly gone.
pub(super) fn is_alive(record: &DiscoveryRecord) -> bool {
    // A process in another container may share this directory but not our process numbers; its socket still
    // answers.
    !is_process_gone(record) || socket::is_listening(&record.socket)
}

fn is_process_gone(record: &DiscoveryRecord) -> bool {
    let Some(pid) = to_pid(record.pid) else { return true };
    match ProcStat::read(record.pid) {
        Ok(stat) => stat.is_dead() || stat.start_time != record.start_time,
        // An unreadable /proc proves nothing; a missing process does.
        Err(_) => test_kill_process(pid) == Err(Errno::SRCH),
    }
}

/// First 16 hexadecimal digits of the SHA-256 of the resolved path: short enough for a socket's name.
fn key_of(workspace: &Path) -> String {
    let mut key = hex(&Sha256::digest(workspace.as_os_str().as_bytes()));
    key.truncate(KEY_DIGITS);
    key
}

fn is_key(text: &str) -> bool {
    text.len() == KEY_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where the record of one workspace is kept.
#[derive(Debug)]
pub(super) struct DiscoveryRecordFile {
    pub(super) path: PathBuf,
    pub(super) socket: PathBuf,
    guard: PathBuf,
}

impl DiscoveryRecordFile {
    pub(super) fn of_workspace(runtime: &RuntimeDir, workspace: &Path) -> Self {
        Self::of_key(runtime, &key_of(workspace))
    }

    fn of_key(runtime: &RuntimeDir, key: &str) -> Self {
        let directory = runtime.path();
        Self {
            path: directory.join(format!("{key}.{EXTENSION}")),
            socket: directory.join(format!("{key}.sock")),
            guard: directory.join("records.lock"),
        }
    }

    /// Nothing for a missing, foreign or broken file: it cannot lead anywhere.
    pub(super) fn read(&self) -> Option<DiscoveryRecord> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&self.path)
            .ok()?;
        let mut text = String::new();
        file.take(MAX_RECORD_BYTES).read_to_string(&mut text).ok()?;
        let record: DiscoveryRecord = serde_json::from_str(&text).ok()?;
        // The place follows from the name; what the file claims is not needed.
        Some(DiscoveryRecord { socket: self.socket.clone(), ..record })
    }

    fn read_alive(&self) -> Option<DiscoveryRecord> {
        let record = self.read()?;
        if is_alive(&record) {
            return Some(record);
        }
        self.remove_if(|found| !is_alive(found));
        None
    }

    /// Whole or not at all, and never readable by others. Only the holder of the workspace's lock may call
    /// it.
    pub(super) fn write(&self, record: &DiscoveryRecord) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(record)?;
        let _guard = self.guard();
        self.remove_leftovers();
        safe_fs::write_private(&self.path, &text)
    }

    /// Removes the temporary files of processes that were killed while they wrote a record.
    fn remove_leftovers(&self) {
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let writer = name.to_str().and_then(safe_fs::temporary_writer);
            if writer.is_some_and(|pid| ProcStat::read(pid).is_err()) {
                // Harmless when it stays.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes the record if `unwanted` still matches it. Without the guard, a fresh record that
    /// was written after the look and before the removal would be lost.
    pub(super) fn remove_if(&self, unwanted: impl Fn(&DiscoveryRecord) -> bool) {
        let guard = self.guard();
        self.remove_leftovers();
        if guard.is_some()
            && self.read().is_some_and(|record| unwanted(&record))
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "stale record left behind");
        }
    }

    /// Held briefly while a record is replaced or removed: a record that
    /// stays is harmless, a main process that cannot start is not.
    fn guard(&self) -> Option<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&self.guard).ok()?;
        for _ in 0..100 {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{is_key, key_of};
    use std::path::Path;

    #[test]
    fn the_key_is_stable_and_short() {
        // printf %s /tmp/ws | sha256sum
        let key = key_of(Path::new("/tmp/ws"));
        assert_eq!(key, "b011ea26cc731e1a");
        assert!(is_key(&key));
        assert_ne!(key, key_of(Path::new("/tmp/ws2")));
    }

    #[test]
    fn other_files_are_no_records() {
        for name in
            ["", "records", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg", "../../../etc/pass"]
        {
            assert!(!is_key(name), "{name}");
        }
    }
}
