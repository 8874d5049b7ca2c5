//! What the writer shows to agents: a new view after each group of changes, before anybody is told that it is done. Taking
//! one never waits for the writer.

use crate::workspace::Workspace;
use arc_swap::ArcSwap;
use mcp_server::{View, WorkspaceView};
use shared_protocol::messages::Presence;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use tokio::sync::watch;

pub(crate) struct Published {
    view: ArcSwap<View>,
    /// Where the workspace is; agents only learn its name.
    root: Mutex<Option<PathBuf>>,
    changed: watch::Sender<u64>,
}

impl Default for Published {
    fn default() -> Self {
        Self { view: ArcSwap::default(), root: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

impl Published {
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Shows the workspace as it is now, if that is news.
    pub(crate) fn show(&self, workspace: &Workspace) {
        let before = self.view.load();
        let root = root_name(workspace.root());
        let presence = without_window(workspace.presence());
        let status = workspace.status();
        // Types are composed anew whenever the project's file or a module changes.
        let same_project = before.workspace.as_ref().filter(|known| {
            known.root == root && Arc::ptr_eq(known.snapshot.registry(), workspace.snapshot().registry())
        });
        let known = same_project.filter(|known| known.revision() == workspace.snapshot().revision());
        let config = match same_project {
            Some(known) => Arc::clone(&known.config),
            None => Arc::new(workspace.config_json()),
        };
        let desk = workspace.desk();
        let same_queue = same_project.is_some() && before.review_stamp == desk.stamp();
        if same_queue && known.is_some_and(|known| known.presence == presence && known.status == status) {
            return;
        }
        if same_project.is_none() {
            *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Some(workspace.root().to_owned());
        }
        let generation = if known.is_some() { before.generation } else { before.generation + 1 };
        let problems = known.map_or_else(|| Arc::new(OnceLock::new()), |known| Arc::clone(&known.problems));
        let (review, review_stamp) = (desk.queue.clone(), desk.stamp());
        let workspace = WorkspaceView {
            root,
            name: workspace.name().to_owned(),
            snapshot: workspace.snapshot().clone(),
            presence,
            status,
            config,
            problems,
        };
        self.view.store(Arc::new(View {
            generation,
            workspace: Some(Arc::new(workspace)),
            review,
            review_stamp,
        }));
        self.changed.send_modify(|count| *count += 1);
    }
}

fn root_name(root: &Path) -> String {
    root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What the window remembers of itself is its own, and changes often.
fn without_window(presence: &Presence) -> Presence {
    let Presence { board, selection, viewports, area, doing, window: _ } = presence;
    Presence {
        board: *board,
        selection: selection.clone(),
        viewports: viewports.clone(),
        area: *area,
        doing: *doing,
        window: String::new(),
    }
}
