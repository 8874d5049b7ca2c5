//! An open workspace with all that belongs to having it open: the lock, the socket that others find it by, the watcher.

use super::{Host, Job};
use crate::{
    mcp::{self, Address},
    terminal,
};
use crossbeam_channel::Receiver;
use journal::{FileChanged, Watcher};
use processes::{Instance, LockError, PublishError, RuntimeDir, RuntimeDirError, RuntimeDirs, WorkspaceLock};
use shared_protocol::{Code, Refusal};
use std::path::Path;
use user_folders as paths;
use workspace::now;
use workspace::{NewError, OpenError, Ownership, Workspace};

#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("{0}")]
    Lock(#[from] LockError),
    #[error("{0}")]
    Open(#[from] OpenError),
    #[error("{0}")]
    Publish(#[from] PublishError),
    #[error("{0}")]
    Runtime(#[from] RuntimeDirError),
    #[error("{0}")]
    Example(#[from] NewError),
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Open(error) => error.into(),
            SessionError::Lock(error @ LockError::Held { .. }) => {
                Self::new(Code::Conflict, error.to_string())
            }
            other => Self::new(Code::StorageError, other.to_string()),
        }
    }
}

pub(crate) struct Session {
    pub(super) workspace: Workspace,
    instance: Instance,
    server: Option<terminal::Server>,
    watcher: Option<Watcher>,
    changes: Receiver<FileChanged>,
}

/// The lock of the open workspace, which is taken again when its file is deleted underneath.
struct HeldLock(WorkspaceLock);

impl Ownership for HeldLock {
    fn hold(&self) -> Result<(), String> {
        self.0.hold().map_err(|error| error.to_string())
    }
}

impl Session {
    /// Locks and opens a workspace and makes it known. It serves nobody before [`Self::serve`].
    pub(crate) fn open(root: &Path) -> Result<Self, SessionError> {
        let mut session = Self::open_unlisted(root)?;
        session.list();
        Ok(session)
    }

    /// Makes it one of the user's own workspaces: with their standing approvals, and listed among the recent ones.
    pub(super) fn list(&mut self) {
        self.workspace.keep_approvals_in(paths::approvals());
        paths::remember(self.workspace.root());
    }

    /// As [`Self::open`], for a workspace that is not one of the user's own and is not listed among them.
    pub(crate) fn open_unlisted(root: &Path) -> Result<Self, SessionError> {
        Self::open_in(root, &RuntimeDir::of_user()?, RuntimeDirs::of_user().usable())
    }

    /// As [`Self::open`], with the place for its socket and the places of others given; no other trace is left in the user's
    /// folders.
    pub(crate) fn open_in(
        root: &Path,
        runtime: &RuntimeDir,
        elsewhere: &[RuntimeDir],
    ) -> Result<Self, SessionError> {
        if !root.join("draftboard.toml").exists() {
            return Err(OpenError::no_workspace(root).into());
        }
        let lock = WorkspaceLock::acquire(root)?;
        // Before the files are read, so that an edit is seen by one or the other.
        let (changed, changes) = crossbeam_channel::bounded::<FileChanged>(256);
        let watcher = Watcher::start(lock.workspace(), changed)
            .inspect_err(|error| tracing::error!(%error, "edits by other programs are not noticed"));
        let mut workspace = Workspace::open(root, now())?;
        workspace.owned_by(Box::new(HeldLock(lock.clone())));
        let instance = Instance::publish(runtime, elsewhere, lock, env!("CARGO_PKG_VERSION"))?;
        Ok(Self { workspace, instance, server: None, watcher: watcher.ok(), changes })
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Starts answering terminals and passing on what others do to the files.
    pub(super) fn serve(&mut self, host: &Host, agents: &mcp::Link) {
        match terminal::Server::start(&self.instance, host.clone(), agents.clone()) {
            Ok(server) => self.server = Some(server),
            Err(error) => tracing::error!(%error, "terminals cannot reach this Draftboard"),
        }
        self.watch_sources();
        let (host, changes) = (host.clone(), self.changes.clone());
        let forward =
            move || changes.iter().try_for_each(|change| host.send(Job::FileChanged(change)).map_err(drop));
        let spawned = std::thread::Builder::new().name("file-changes".to_owned()).spawn(forward);
        if let Err(error) = spawned {
            tracing::error!(%error, "edits by other programs are not noticed");
        }
    }

    /// Has the watcher look where the bundles are now.
    pub(super) fn watch_sources(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.watch_sources(self.workspace.source_folders());
        }
    }

    /// Tells local tools where agents connect over HTTP.
    pub(super) fn announce(&mut self, address: Option<&Address>) {
        let (url, token) = address.map(|address| (address.url.clone(), address.token.clone())).unzip();
        if let Err(error) = self.instance.announce_mcp(url, token) {
            tracing::error!(%error, "local tools are not told where agents connect");
        }
    }

    pub(super) fn close(self) {
        drop(self.watcher);
        drop(self.server);
        self.workspace.close();
        drop(self.instance);
    }
}
