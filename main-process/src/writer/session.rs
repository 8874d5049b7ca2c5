//! An open workspace with its lock, its published socket and its file watcher.

use super::{WriterHandle, WriterMsg};
use agents::AgentServerAddress;
use crossbeam_channel::Receiver;
use journal::{FileChange, WorkspaceWatcher};
use processes::{
    LockError, PublishError, PublishedInstance, RuntimeDir, RuntimeDirError, RuntimeDirs, WorkspaceLock,
};
use shared_protocol::{Refusal, RefusalCode};
use std::{io, path::Path, sync::Arc};
use user_folders as paths;
use workspace::time_and_seed;
use workspace::{CreateWorkspaceError, OpenWorkspaceError, Workspace, WorkspaceOwnership};

#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceSessionError {
    #[error("{0}")]
    Lock(#[from] LockError),
    #[error("{0}")]
    Open(#[from] OpenWorkspaceError),
    #[error("{0}")]
    Publish(#[from] PublishError),
    #[error("{0}")]
    Runtime(#[from] RuntimeDirError),
    #[error("{0}")]
    Example(#[from] CreateWorkspaceError),
}

impl From<WorkspaceSessionError> for Refusal {
    fn from(error: WorkspaceSessionError) -> Self {
        match error {
            WorkspaceSessionError::Open(error) => error.into(),
            WorkspaceSessionError::Lock(error @ LockError::Held { .. }) => {
                Self::new(RefusalCode::Conflict, error.to_string())
            }
            other => Self::new(RefusalCode::StorageError, other.to_string()),
        }
    }
}

/// Starts answering terminals on the socket of an open workspace; dropping the returned guard ends that.
pub(crate) type ServeTerminals =
    Arc<dyn Fn(&PublishedInstance, &WriterHandle) -> io::Result<Box<dyn Send>> + Send + Sync>;

pub(crate) struct Session {
    pub(super) workspace: Workspace,
    instance: PublishedInstance,
    server: Option<Box<dyn Send>>,
    watcher: Option<WorkspaceWatcher>,
    changes: Receiver<FileChange>,
}

/// The lock of the open workspace; it is taken again when its file was deleted.
struct HeldWorkspaceLock(WorkspaceLock);

impl WorkspaceOwnership for HeldWorkspaceLock {
    fn reacquire(&self) -> Result<(), String> {
        self.0.hold().map_err(|error| error.to_string())
    }
}

impl Session {
    /// Locks and opens a workspace and publishes it. It answers no terminal before [`Self::serve`].
    pub(crate) fn open(root: &Path) -> Result<Self, WorkspaceSessionError> {
        let mut session = Self::open_unlisted(root)?;
        session.list();
        Ok(session)
    }

    /// Lists the workspace among the user's own, with their standing approvals.
    pub(super) fn list(&mut self) {
        self.workspace.keep_approvals_in(paths::approvals());
        paths::add_recent(self.workspace.root());
    }

    /// As [`Self::open`], for a workspace that is not listed among the user's own.
    pub(crate) fn open_unlisted(root: &Path) -> Result<Self, WorkspaceSessionError> {
        Self::open_in(root, &RuntimeDir::of_user()?, RuntimeDirs::of_user().directories())
    }

    /// As [`Self::open`], with the folder for its socket and the folders of other instances; leaves no other trace in the
    /// user's folders.
    pub(crate) fn open_in(
        root: &Path,
        runtime: &RuntimeDir,
        elsewhere: &[RuntimeDir],
    ) -> Result<Self, WorkspaceSessionError> {
        if !root.join("draftboard.toml").exists() {
            return Err(OpenWorkspaceError::no_workspace(root).into());
        }
        let lock = WorkspaceLock::acquire(root)?;
        // Before the files are read, so that no edit is missed in between.
        let (changed, changes) = crossbeam_channel::bounded::<FileChange>(256);
        let watcher = WorkspaceWatcher::start(lock.workspace(), changed)
            .inspect_err(|error| tracing::error!(%error, "edits by other programs will not be detected"));
        let mut workspace = Workspace::open(root, time_and_seed())?;
        workspace.owned_by(Box::new(HeldWorkspaceLock(lock.clone())));
        let instance = PublishedInstance::publish(runtime, elsewhere, lock, env!("CARGO_PKG_VERSION"))?;
        Ok(Self { workspace, instance, server: None, watcher: watcher.ok(), changes })
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Starts answering terminals and forwarding changes of the files.
    pub(super) fn serve(&mut self, writer: &WriterHandle, terminals: &ServeTerminals) {
        match terminals(&self.instance, writer) {
            Ok(server) => self.server = Some(server),
            Err(error) => tracing::error!(%error, "terminals cannot connect"),
        }
        self.watch_sources();
        let (writer, changes) = (writer.clone(), self.changes.clone());
        let forward = move || {
            changes.iter().try_for_each(|change| writer.send(WriterMsg::FileChanged(change)).map_err(drop))
        };
        let spawned = std::thread::Builder::new().name("file-changes".to_owned()).spawn(forward);
        if let Err(error) = spawned {
            tracing::error!(%error, "edits by other programs will not be detected");
        }
    }

    /// Points the watcher at the folders of the bundles.
    pub(super) fn watch_sources(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.watch_sources(self.workspace.source_folders());
        }
    }

    /// Records for local tools where agents connect over HTTP.
    pub(super) fn record_address(&mut self, address: Option<&AgentServerAddress>) {
        let (url, token) = address.map(|address| (address.url.clone(), address.token.clone())).unzip();
        if let Err(error) = self.instance.announce_mcp(url, token) {
            tracing::error!(%error, "the discovery record does not say where agents connect");
        }
    }

    pub(super) fn close(self) {
        drop(self.watcher);
        drop(self.server);
        self.workspace.close();
        drop(self.instance);
    }
}
