//! Publishes the view of servers and manifests to the window, and their tools to agents. Changes within a moment are published
//! once.

use super::{ManagedServerContext, ManagedServersHandle, RequestOrigin, manifests, proxied_tools, views};
use mcp_client::{ManagedServersService, ManifestFolder};
use mcp_server::{ProxiedTool, ProxiedTools};
use shared_protocol::{
    managed_servers::{ManagedServersView, ServerState},
    review::AuditEvent,
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// Changes within this time are published together.
const GATHER: Duration = Duration::from_millis(80);
/// The interval in which the last lines of starting servers are published.
const LINES_INTERVAL: Duration = Duration::from_millis(500);

/// The managed servers of the process, and everything that their view is made from.
pub(super) struct ManagedServerState {
    pub(super) service: Arc<ManagedServersService>,
    pub(super) link: ManagedServersHandle,
    pub(super) context: Arc<ManagedServerContext>,
    pub(super) places: views::ManagedServerPaths,
    /// The credentials of manifests that have a value, as of the last time that manifests were read.
    credentials: Mutex<views::StoredManifestCredentials>,
    folders: Mutex<Vec<ManifestFolder>>,
    look: Notify,
    /// The tools that agents have now, and their definitions.
    offered: Mutex<(ProxiedTools, BTreeMap<String, ProxiedTool>)>,
}

impl ManagedServerState {
    pub(super) fn new(
        service: Arc<ManagedServersService>,
        link: ManagedServersHandle,
        context: Arc<ManagedServerContext>,
        places: views::ManagedServerPaths,
    ) -> Self {
        let (credentials, folders, look) = (Mutex::default(), Mutex::default(), Notify::new());
        Self { service, link, context, places, credentials, folders, look, offered: Mutex::default() }
    }

    pub(super) fn root(&self) -> Option<PathBuf> {
        self.link.root.borrow().clone()
    }

    /// Reads all manifests again. Reads files and the secret store, so it may take a moment.
    pub(super) fn read_manifests(&self) {
        let folders = manifests::folders(&self.context.folders, self.root().as_deref());
        let reports = self.service.load_manifests(&folders);
        let mut set = views::StoredManifestCredentials::new();
        for report in &reports {
            let Some(id) = &report.id else { continue };
            let has = |credential: &&(String, bool)| self.service.has_manifest_secret(id, &credential.0);
            set.extend(report.credentials.iter().filter(has).map(|(name, _)| (id.clone(), name.clone())));
        }
        *self.credentials.lock().unwrap_or_else(PoisonError::into_inner) = set;
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
        self.look.notify_one();
    }

    pub(super) fn view(&self) -> ManagedServersView {
        let credentials = self.credentials.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        views::view(&self.service, &self.places, &folders, &credentials)
    }

    /// Publishes every change until the process ends.
    pub(super) async fn publish_changes(self: Arc<Self>) {
        let mut changes = self.service.changes();
        loop {
            self.publish().await;
            let starting = self
                .link
                .view()
                .servers
                .iter()
                .any(|server| matches!(server.state, ServerState::Starting(_)));
            let lines = async {
                match starting {
                    true => tokio::time::sleep(LINES_INTERVAL).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = self.look.notified() => {}
                () = lines => {}
            }
            tokio::time::sleep(GATHER).await;
            changes.mark_unchanged();
        }
    }

    fn publish_tools(self: &Arc<Self>, view: &Arc<ManagedServersView>) {
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, known) = &mut *offered;
        let proxied_tools = proxied_tools::tools(self, before, known, Arc::clone(view));
        if !before.is_same(&proxied_tools) {
            *before = proxied_tools.clone();
            self.context.events.publish_tools(proxied_tools);
        }
    }

    async fn publish(self: &Arc<Self>) {
        let view = Arc::new(self.view());
        if **self.link.view.load() == *view {
            // A definition may have changed all the same.
            self.publish_tools(&view);
            return;
        }
        self.link.view.store(Arc::clone(&view));
        self.publish_tools(&view);
        let events = Arc::clone(&self.context.events);
        drop(tokio::task::spawn_blocking(move || events.publish_view(view.as_ref().clone())).await);
    }

    /// Records a line of the audit.
    pub(super) async fn audit(&self, event: AuditEvent, by: RequestOrigin, reason: String) {
        let events = Arc::clone(&self.context.events);
        drop(tokio::task::spawn_blocking(move || events.record_audit(event, by, reason)).await);
    }

    /// Watches files: takes over changes of another Draftboard of the same user, and reads manifests again when their folders
    /// change.
    pub(super) async fn watch_files(self: Arc<Self>) {
        let mut roots = self.link.root.subscribe();
        let mut seen = None;
        loop {
            let folders = manifests::folders(&self.context.folders, self.root().as_deref());
            let service = Arc::clone(&self.service);
            let fingerprint = tokio::task::spawn_blocking(move || {
                let programs: Vec<PathBuf> =
                    service.manifests().into_iter().filter_map(|report| report.entrypoint).collect();
                if let Err(failure) = service.refresh() {
                    tracing::debug!(%failure, "the file of the servers cannot be read at the moment");
                }
                let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path.clone()).collect();
                (paths, manifests::ManifestFingerprint::compute(&folders, &programs))
            });
            let Ok(fingerprint) = fingerprint.await else { return };
            if seen.as_ref() != Some(&fingerprint) {
                seen = Some(fingerprint);
                let own = Arc::clone(&self);
                if tokio::task::spawn_blocking(move || own.read_manifests()).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(manifests::WATCH_INTERVAL) => {}
                changed = roots.changed() => if changed.is_err() { return },
            }
        }
    }
}
