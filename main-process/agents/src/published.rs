//! The agents' view: the writer publishes a new one after each group of changes, before it responds. Reading it never waits for
//! the writer.

use crate::specs::PublishedBundles;
use arc_swap::ArcSwap;
use mcp_server::{AgentView, AgentWorkspaceView, ProxiedTools};
use shared_protocol::{
    NodeId, messages::Presence, preview_sessions::PreviewsView, terraform::DeploymentState,
    trace_link::TraceLinksView,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use tokio::sync::watch;
use workspace::Workspace;

pub struct AgentViewPublisher {
    view: ArcSwap<AgentView>,
    /// The folder of the workspace; agents only see its name.
    root: Mutex<Option<PathBuf>>,
    changed: watch::Sender<u64>,
}

impl Default for AgentViewPublisher {
    fn default() -> Self {
        Self { view: ArcSwap::default(), root: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

impl AgentViewPublisher {
    pub fn view(&self) -> Arc<AgentView> {
        self.view.load_full()
    }

    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Publishes the workspace when it changed.
    pub fn show(&self, workspace: &Workspace) {
        // Held to the end: deployments and proxied tools come from other threads.
        let mut shown_root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.view.load();
        let root = root_name(workspace.root());
        let presence = without_window(workspace.presence());
        let status = workspace.status();
        // A change of the project file or of a module composes the types again.
        let same_project = before.workspace.as_ref().filter(|known| {
            known.root == root && Arc::ptr_eq(known.snapshot.registry(), workspace.snapshot().registry())
        });
        let known = same_project.filter(|known| known.revision() == workspace.snapshot().revision());
        let config = match same_project {
            Some(known) => Arc::clone(&known.config),
            None => Arc::new(workspace.config_json()),
        };
        let desk = workspace.review_state();
        let same_queue = same_project.is_some() && before.review_stamp == desk.stamp();
        if same_queue && known.is_some_and(|known| known.presence == presence && known.status == status) {
            return;
        }
        if same_project.is_none() {
            *shown_root = Some(workspace.root().to_owned());
        }
        let generation = if known.is_some() { before.generation } else { before.generation + 1 };
        let problems = known.map_or_else(|| Arc::new(OnceLock::new()), |known| Arc::clone(&known.problems));
        let (bundles, links) = (workspace.bundles().bundles(), workspace.links());
        let is_same =
            |shown: &&PublishedBundles| Arc::ptr_eq(&shown.0, bundles) && Arc::ptr_eq(&shown.1, links);
        let same_specs = before.specs::<PublishedBundles>().filter(is_same).and(before.specs.clone());
        let specs = same_specs.unwrap_or_else(|| show_specs(bundles, links));
        let same_workspace = before.workspace.as_ref().filter(|known| known.root == root);
        let deployments = same_workspace.map(|known| Arc::clone(&known.deployments)).unwrap_or_default();
        let previews = same_workspace.map(|known| Arc::clone(&known.previews)).unwrap_or_default();
        let (review, review_stamp) = (desk.queue.clone(), desk.stamp());
        let workspace = AgentWorkspaceView {
            deployments,
            previews,
            root,
            name: workspace.name().to_owned(),
            snapshot: workspace.snapshot().clone(),
            presence,
            status,
            config,
            problems,
        };
        self.view.store(Arc::new(AgentView {
            generation,
            workspace: Some(Arc::new(workspace)),
            specs: Some(specs),
            review,
            review_stamp,
            proxied_tools: before.proxied_tools.clone(),
        }));
        self.changed.send_modify(|count| *count += 1);
    }

    /// Publishes the preview sessions when they changed.
    pub fn show_previews(&self, previews: &PreviewsView) {
        let _held = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.view.load();
        let previews = without_frame_times(previews);
        let Some(workspace) = before.workspace.as_ref().filter(|known| *known.previews != previews) else {
            return;
        };
        let workspace =
            AgentWorkspaceView { previews: Arc::new(previews), ..AgentWorkspaceView::clone(workspace) };
        self.replace(&before, workspace);
    }

    /// Publishes the deployment of nodes when it changed.
    pub fn show_deployments(&self, deployments: BTreeMap<NodeId, DeploymentState>) {
        let _held = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.view.load();
        let Some(workspace) = before.workspace.as_ref().filter(|known| *known.deployments != deployments)
        else {
            return;
        };
        let workspace =
            AgentWorkspaceView { deployments: Arc::new(deployments), ..AgentWorkspaceView::clone(workspace) };
        self.replace(&before, workspace);
    }

    /// Replaces the view of the workspace.
    fn replace(&self, before: &AgentView, workspace: AgentWorkspaceView) {
        let generation = before.generation + 1;
        self.view.store(Arc::new(AgentView {
            generation,
            workspace: Some(Arc::new(workspace)),
            specs: before.specs.clone(),
            review: before.review.clone(),
            review_stamp: before.review_stamp,
            proxied_tools: before.proxied_tools.clone(),
        }));
        self.changed.send_modify(|count| *count += 1);
    }

    /// Publishes the tools of managed servers and manifests.
    pub fn set_proxied_tools(&self, proxied_tools: ProxiedTools) {
        let _held = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.view.load();
        self.view.store(Arc::new(AgentView { proxied_tools, ..AgentView::clone(&before) }));
        self.changed.send_modify(|count| *count += 1);
    }
}

fn show_specs(
    bundles: &Arc<bundles::Bundles>,
    links: &Arc<TraceLinksView>,
) -> Arc<dyn mcp_server::SpecsView> {
    Arc::new(PublishedBundles(Arc::clone(bundles), Arc::clone(links)))
}

fn root_name(root: &Path) -> String {
    root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Leaves out the pointer and the frame times, which change all the time and help no reader.
fn without_frame_times(previews: &PreviewsView) -> PreviewsView {
    let mut previews = previews.clone();
    for session in &mut previews.sessions {
        (session.hovered, session.frame_micros, session.logged) = (None, 0, 0);
    }
    previews
}

/// Leaves out the layout and the settings of the window, which change often.
fn without_window(presence: &Presence) -> Presence {
    let Presence { board, selection, viewports, area, doing, window: _, settings: _ } = presence;
    Presence {
        board: *board,
        selection: selection.clone(),
        viewports: viewports.clone(),
        area: *area,
        doing: *doing,
        window: String::new(),
        settings: String::new(),
    }
}
