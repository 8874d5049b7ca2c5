//! One main process per workspace, and its discovery by others.
//!
//! The lock decides which process serves the workspace; the record and the socket only say where it is. So the next
//! holder of the lock, and no other process, cleans up after a crash.

mod lock;
mod peer;
mod record;
mod socket;
mod token;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use lock::{LockError, WorkspaceLock};
pub use peer::{PeerError, check_peer};
pub use record::{DiscoveryError, DiscoveryRecord, find, list};
pub use token::{InstanceToken, constant_time_eq};

use super::proc_stat::ProcStat;
use super::runtime_dir::RuntimeDir;
use record::{DiscoveryRecordFile, is_alive};

/// The reason why this process could not publish itself.
#[derive(Debug, Error)]
pub enum PublishError {
    #[error(
        "Another Draftboard (pid {pid}) serves this workspace, but its lock file is missing. Stop it first."
    )]
    AlreadyRunning { pid: u32 },
    #[error(
        "The path {path} is too long for a socket (limit 107 bytes). Set XDG_RUNTIME_DIR to a shorter one."
    )]
    PathTooLong { path: PathBuf },
    #[error(
        "{path} could not be opened for connections: {source}. Check the permissions and space of its directory."
    )]
    Socket { path: PathBuf, source: io::Error },
    #[error("{path} could not be written: {source}. Check the permissions and free space of its directory.")]
    Record { path: PathBuf, source: io::Error },
    #[error("An access token could not be generated: {0}. Try again.")]
    Token(#[source] io::Error),
    #[error("/proc could not be read: {0}. Mount it: Draftboard uses it to identify processes.")]
    Proc(#[source] io::Error),
}

/// The published socket and record of this process, removed when this value is dropped. It holds the workspace's lock as
/// long.
#[derive(Debug)]
pub struct PublishedInstance {
    listener: UnixListener,
    socket: PublishedSocketFile,
    file: DiscoveryRecordFile,
    record: DiscoveryRecord,
    /// Last, so that it is released only after the socket and the record are gone.
    lock: WorkspaceLock,
}

/// A file by name and identity, so that only a file of our own is ever removed.
#[derive(Debug)]
struct PublishedSocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl PublishedInstance {
    /// Opens the socket and writes the record. The lock proves that no other process serves this workspace, so an
    /// existing socket is stale and is replaced. `elsewhere` are the directories in which a
    /// process with another environment would have left its record.
    pub fn publish(
        runtime: &RuntimeDir,
        elsewhere: &[RuntimeDir],
        lock: WorkspaceLock,
        version: &str,
    ) -> Result<Self, PublishError> {
        let file = DiscoveryRecordFile::of_workspace(runtime, lock.workspace());
        let own_pid = std::process::id();
        let files = elsewhere.iter().map(|other| DiscoveryRecordFile::of_workspace(other, lock.workspace()));
        let records = std::iter::once(file.read()).chain(files.map(|other| other.read())).flatten();
        if let Some(other) = records.into_iter().find(|other| other.pid != own_pid && is_alive(other)) {
            return Err(PublishError::AlreadyRunning { pid: other.pid });
        }
        let start_time = ProcStat::read(own_pid).map_err(PublishError::Proc)?.start_time;
        let token = InstanceToken::generate().map_err(PublishError::Token)?;
        let (listener, socket) = listen(&file.socket)?;
        let record = DiscoveryRecord {
            pid: own_pid,
            start_time,
            workspace: lock.workspace().to_owned(),
            socket: socket.path.clone(),
            token,
            version: version.to_owned(),
            mcp_url: None,
            mcp_token: None,
        };
        // Built before the record is written, so that a failure there removes the socket again.
        let instance = Self { listener, socket, file, record, lock };
        // Last: a reader of the record can connect.
        instance
            .file
            .write(&instance.record)
            .map_err(|source| PublishError::Record { path: instance.file.path.clone(), source })?;
        Ok(instance)
    }

    /// Publishes the address for agents over HTTP, or its absence.
    pub fn announce_mcp(&mut self, url: Option<String>, token: Option<InstanceToken>) -> io::Result<()> {
        (self.record.mcp_url, self.record.mcp_token) = (url, token);
        self.file.write(&self.record)
    }

    pub fn record(&self) -> &DiscoveryRecord {
        &self.record
    }

    pub fn workspace(&self) -> &Path {
        self.lock.workspace()
    }

    /// For a caller with its own event loop; it must call [`check_peer`] on everything it accepts.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// The next connection by a process of our own user. Others are closed without an answer.
    pub fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept()?;
            match check_peer(&stream) {
                Ok(_) => return Ok(stream),
                Err(refusal) => tracing::warn!(%refusal, "connection refused"),
            }
        }
    }
}

impl Drop for PublishedInstance {
    fn drop(&mut self) {
        self.file
            .remove_if(|record| record.pid == self.record.pid && record.start_time == self.record.start_time);
        self.socket.remove();
    }
}

impl PublishedSocketFile {
    fn record(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_owned(), identity: (metadata.dev(), metadata.ino()) })
    }

    fn remove(&self) {
        if Self::record(&self.path).is_ok_and(|found| found.identity == self.identity)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "socket left behind");
        }
    }
}

fn listen(path: &Path) -> Result<(UnixListener, PublishedSocketFile), PublishError> {
    let failed = |source: io::Error| match source.kind() {
        // The error for a path that does not fit into a socket address.
        io::ErrorKind::InvalidInput => PublishError::PathTooLong { path: path.to_owned() },
        _ => PublishError::Socket { path: path.to_owned(), source },
    };
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = socket::bind(path).map_err(failed)?;
    let socket = PublishedSocketFile::record(path).map_err(failed)?;
    Ok((listener, socket))
}
