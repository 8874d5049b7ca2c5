//! Keeps everybody who looks up to date: the window, terminals that ask, and agents. What changes within a moment is told
//! once.

use super::{By, Link, ManagedServerContext, guests, manifests, views};
use mcp_server::{Guest, Guests};
use shared_protocol::{
    review::AuditEvent,
    upstreams::{ServerState, UpstreamsView},
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;
use upstreams::{ManifestFolder, McpService};

/// Changes within this time are one.
const GATHER: Duration = Duration::from_millis(80);
/// The last lines of servers that start are told this often.
const LINES_EVERY: Duration = Duration::from_millis(500);

/// What is told is made from this.
pub(super) struct Following {
    pub(super) service: Arc<McpService>,
    pub(super) link: Link,
    pub(super) context: Arc<ManagedServerContext>,
    pub(super) places: views::Places,
    /// Credentials of manifests that are set; looked up when manifests are read.
    credentials: Mutex<views::CredentialsSet>,
    folders: Mutex<Vec<ManifestFolder>>,
    look: Notify,
    /// What agents were shown last, and what it was made from.
    offered: Mutex<(Guests, BTreeMap<String, Guest>)>,
}

impl Following {
    pub(super) fn new(
        service: Arc<McpService>,
        link: Link,
        context: Arc<ManagedServerContext>,
        places: views::Places,
    ) -> Self {
        let (credentials, folders, look) = (Mutex::default(), Mutex::default(), Notify::new());
        Self { service, link, context, places, credentials, folders, look, offered: Mutex::default() }
    }

    pub(super) fn root(&self) -> Option<PathBuf> {
        self.link.root.borrow().clone()
    }

    /// Reads all manifests anew. Looks at files and at the secret store: not from a thread that others wait for.
    pub(super) fn read_manifests(&self) {
        let folders = manifests::folders(&self.context.folders, self.root().as_deref());
        let reports = self.service.load_manifests(&folders);
        let mut set = views::CredentialsSet::new();
        for report in &reports {
            let Some(id) = &report.id else { continue };
            let has = |credential: &&(String, bool)| self.service.has_manifest_secret(id, &credential.0);
            set.extend(report.credentials.iter().filter(has).map(|(name, _)| (id.clone(), name.clone())));
        }
        *self.credentials.lock().unwrap_or_else(PoisonError::into_inner) = set;
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
        self.look.notify_one();
    }

    pub(super) fn view(&self) -> UpstreamsView {
        let credentials = self.credentials.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        views::view(&self.service, &self.places, &folders, &credentials)
    }

    /// Until the process ends.
    pub(super) async fn follow(self: Arc<Self>) {
        let mut changes = self.service.changes();
        loop {
            self.tell().await;
            let starting = self
                .link
                .view()
                .servers
                .iter()
                .any(|server| matches!(server.state, ServerState::Starting(_)));
            let lines = async {
                match starting {
                    true => tokio::time::sleep(LINES_EVERY).await,
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

    fn show_agents(self: &Arc<Self>, view: &Arc<UpstreamsView>) {
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, known) = &mut *offered;
        let guests = guests::guests(self, before, known, Arc::clone(view));
        if !before.is_same(&guests) {
            *before = guests.clone();
            self.context.events.publish_tools(guests);
        }
    }

    async fn tell(self: &Arc<Self>) {
        let view = Arc::new(self.view());
        if **self.link.shown.load() == *view {
            // A definition may be another one all the same.
            self.show_agents(&view);
            return;
        }
        self.link.shown.store(Arc::clone(&view));
        self.show_agents(&view);
        let events = Arc::clone(&self.context.events);
        drop(tokio::task::spawn_blocking(move || events.publish_view(view.as_ref().clone())).await);
    }

    /// Records a line of the audit.
    pub(super) async fn audit(&self, event: AuditEvent, by: By, reason: String) {
        let events = Arc::clone(&self.context.events);
        drop(tokio::task::spawn_blocking(move || events.record_audit(event, by, reason)).await);
    }

    /// Looks at files: takes over what another Draftboard of the same user has changed, and reads manifests anew whenever their
    /// folders look different, or are others.
    pub(super) async fn follow_files(self: Arc<Self>) {
        let mut roots = self.link.root.subscribe();
        let mut seen = None;
        loop {
            let folders = manifests::folders(&self.context.folders, self.root().as_deref());
            let service = Arc::clone(&self.service);
            let looks = tokio::task::spawn_blocking(move || {
                let programs: Vec<PathBuf> =
                    service.manifests().into_iter().filter_map(|report| report.entrypoint).collect();
                if let Err(failure) = service.refresh() {
                    tracing::debug!(%failure, "the servers' file cannot be read just now");
                }
                let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path.clone()).collect();
                (paths, manifests::Looks::of(&folders, &programs))
            });
            let Ok(looks) = looks.await else { return };
            if seen.as_ref() != Some(&looks) {
                seen = Some(looks);
                let own = Arc::clone(&self);
                if tokio::task::spawn_blocking(move || own.read_manifests()).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(manifests::LOOK_EVERY) => {}
                changed = roots.changed() => if changed.is_err() { return },
            }
        }
    }
}
