//! The bundles that are served: one copy that follows the disk and is written to, and a view of it for everybody who reads.

use crate::specs::{BundleChangeExecutor, PublishedBundles, not_allowed};
use arc_swap::ArcSwap;
use authority::{
    Snapshot,
    proposals::{AgentRequest, CallingClient},
};
use bundles::{BundleChangePlan, BundleToolResponse, Bundles, commit};
use mcp_server::{
    ActionRuns, AgentCall, AgentReplyFn, AgentView, AgentWorkbench, AgentWorkspaceView, BoardHcl,
    BoardImageRequest, ReviewSubmitter,
};
use serde_json::{Map, Value};
use shared_protocol::{
    BoardId, Refusal, RefusalCode, Revision,
    mcp::McpMode,
    messages::Patch,
    proposal::{ProposedAction, Risk},
    review::{ApprovalArea, ApprovalScope},
    terraform::CostView,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;
use workspace::time_and_seed;

pub(super) struct LoadedBundles {
    /// Held while files are written or read again; readers have the view.
    bundles: Mutex<Bundles>,
    view: ArcSwap<AgentView>,
    changed: watch::Sender<u64>,
    action_runs: ActionRuns,
    mode: McpMode,
    approval: Option<ApprovalScope>,
}

impl LoadedBundles {
    pub(super) fn new(bundles: Bundles, mode: McpMode, approval: Option<ApprovalScope>) -> Self {
        let loaded = Self {
            bundles: Mutex::new(bundles),
            view: ArcSwap::default(),
            changed: watch::Sender::new(0),
            action_runs: ActionRuns::default(),
            mode,
            approval,
        };
        loaded.show(&loaded.lock());
        loaded
    }

    fn lock(&self) -> MutexGuard<'_, Bundles> {
        self.bundles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the bundles as they are now. A clone shares what did not change.
    fn show(&self, bundles: &Bundles) {
        let generation = self.view.load().generation + 1;
        let specs = Arc::new(PublishedBundles(Arc::new(bundles.clone()), Arc::default()));
        self.view.store(Arc::new(AgentView { generation, specs: Some(specs), ..AgentView::default() }));
        self.changed.send_modify(|count| *count += 1);
    }

    /// The folders in which something may change, and those in which such a folder may come.
    pub(super) fn folders(&self) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        for bundle in self.lock().iter() {
            for folder in bundle.watched_folders() {
                let within = folder.ancestors().take_while(|above| above.starts_with(bundle.root()));
                folders.extend(within.map(Path::to_owned));
            }
        }
        folders
    }

    /// Reads again what changed on the disk: these files, or whichever they are.
    pub(super) fn reload_changed(&self, paths: Option<&BTreeSet<PathBuf>>) {
        let mut bundles = self.lock();
        let followed = match paths {
            Some(paths) => paths.iter().try_fold(false, |any, path| Ok(bundles.reload_file(path)? || any)),
            None => bundles.refresh().map(|count| count > 0),
        };
        match followed {
            Ok(false) => {}
            Ok(true) => self.show(&bundles),
            // The last state that could be read stays.
            Err(error) => tracing::warn!(%error, "a bundle could not be read again"),
        }
    }
}

impl BundleChangeExecutor for LoadedBundles {
    fn apply(&self, _: &AgentCall, plan: &BundleChangePlan) -> Result<BundleToolResponse, Refusal> {
        let approved = self.approval.as_ref().filter(|_| self.mode == McpMode::Guarded);
        let is_covered = |risks: &[Risk]| {
            approved
                .is_some_and(|scope| scope.covers(ApprovalArea::Bundles, &risks.iter().copied().collect()))
        };
        if !is_covered(&[]) {
            return Err(not_allowed(
                "Changes are not approved: use dryRun: true, or start the server with --mode guarded --standing-approval bundles",
            ));
        }
        if plan.deletes() && !is_covered(&[Risk::Destructive]) {
            return Err(not_allowed(
                "Deleting is not allowed: leave it out, or start the server with --standing-approval bundles:destructive",
            ));
        }
        let mut bundles = self.lock();
        let committed = commit(&mut bundles, plan).map_err(|error| error.to_refusal());
        self.show(&bundles);
        committed.and_then(|()| plan.answer())
    }
}

impl ReviewSubmitter for LoadedBundles {
    fn submit(&self, _: CallingClient, _: AgentRequest, reply: AgentReplyFn) {
        reply(Err(no_boards()));
    }
}

impl AgentWorkbench for LoadedBundles {
    fn view(&self) -> Arc<AgentView> {
        self.view.load_full()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn changes_since(&self, _revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        Ok(None)
    }

    fn action_runs(&self) -> &ActionRuns {
        &self.action_runs
    }

    fn configured(&self, _: &Map<String, Value>) -> Result<ProposedAction, Refusal> {
        Err(no_boards())
    }

    fn hcl(&self, _: &AgentWorkspaceView, _: BoardId) -> Result<BoardHcl, Refusal> {
        Err(no_boards())
    }

    fn cost(&self, _: &AgentWorkspaceView, _: BoardId) -> Result<CostView, Refusal> {
        Err(no_boards())
    }

    fn picture(&self, _: &Snapshot, _: &BoardImageRequest) -> Result<Vec<u8>, Refusal> {
        Err(no_boards())
    }

    fn now(&self) -> u64 {
        time_and_seed().time
    }
}

fn no_boards() -> Refusal {
    Refusal::new(RefusalCode::NoWorkspace, "this server has no boards")
        .hint("It serves only spec bundles. Run `draftboard serve WORKSPACE` to serve boards.")
}
