//! The server's access to the workbench: an immutable view, and the few requests that a view cannot answer.

use crate::{ActionRuns, ProxiedTools};
use authority::{
    ProblemIndex, Snapshot,
    proposals::{AgentCallOutcome, AgentRequest, CallingClient, ReviewQueue},
};
use shared_protocol::{
    BoardId, BoardKind, Change, ElementId, NodeId, Refusal, Revision,
    messages::{Patch, Presence, WorkspaceStatus},
    preview_sessions::PreviewsView,
    proposal::ProposedAction,
    review::ProposedElement,
    terraform::{CostView, DeploymentState, TerraformFindingView},
};
use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};
use tokio::sync::watch;

/// The state of the workbench at one point in time.
#[derive(Debug, Clone, Default)]
pub struct AgentView {
    /// Changes whenever content, types or workspace change. Results computed for one generation stay valid within it.
    pub generation: u64,
    pub workspace: Option<Arc<AgentWorkspaceView>>,
    pub specs: Option<Arc<dyn SpecsView>>,
    /// The review queue; tools show each client only its own proposals.
    pub review: ReviewQueue,
    /// Changes whenever the queue changes.
    pub review_stamp: u64,
    /// Tools of managed servers and manifests.
    pub proxied_tools: ProxiedTools,
}

/// The spec bundles of the hosting process. The spec tools of that process downcast to their own type.
pub trait SpecsView: Any + fmt::Debug + Send + Sync {
    /// Returns a summary of each bundle.
    fn bundles(&self) -> Vec<serde_json::Value>;

    /// Describes a change of a file in terms of the entity it holds. Returns `None` for a file that no bundle owns.
    fn words_of_change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String>;

    /// Returns the bundles with these changes applied. Returns `None` when the changes touch no bundle.
    fn with_changes(&self, changes: &[Change]) -> Option<Arc<dyn SpecsView>>;

    /// Returns the entities that match a query, best first.
    fn find(&self, query: &str, most: usize) -> Vec<FoundEntity>;
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundEntity {
    pub bundle_id: String,
    pub entity_type: String,
    pub id: String,
    pub title: String,
}

#[derive(Debug, Clone)]
pub struct AgentWorkspaceView {
    /// The folder's own name, never its path.
    pub root: String,
    /// The project's name.
    pub name: String,
    pub snapshot: Snapshot,
    pub presence: Presence,
    pub status: WorkspaceStatus,
    /// The project file as JSON, not redacted; the server redacts it.
    pub config: Arc<serde_json::Value>,
    /// Computed on first use and shared by the views of one generation.
    pub problems: Arc<OnceLock<ProblemIndex>>,
    /// The known deployment state of each node.
    pub deployments: Arc<BTreeMap<NodeId, DeploymentState>>,
    /// The current preview sessions.
    pub previews: Arc<PreviewsView>,
}

impl AgentWorkspaceView {
    pub fn problems(&self) -> &ProblemIndex {
        self.problems.get_or_init(|| ProblemIndex::check_all(&self.snapshot))
    }

    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// Returns the board open in the window, or `None` when there is no window.
    pub fn visible_board(&self) -> Option<BoardId> {
        self.presence.board.filter(|board| self.snapshot.board(*board).is_some())
    }

    /// Returns the default board: the one open in the window, else the first infrastructure board, else the first
    /// board.
    pub fn active_board(&self) -> Option<BoardId> {
        let of_resources = || self.snapshot.boards().find(|board| board.kind == BoardKind::Infrastructure);
        let first = || of_resources().or_else(|| self.snapshot.boards().next());
        self.visible_board().or_else(|| first().map(|board| board.id))
    }
}

impl AgentView {
    /// Returns the spec bundles when they have this type.
    pub fn specs<T: SpecsView>(&self) -> Option<&T> {
        let specs: &dyn Any = self.specs.as_deref()?;
        specs.downcast_ref()
    }

    pub fn revision(&self) -> Revision {
        self.workspace.as_ref().map(|workspace| workspace.revision()).unwrap_or_default()
    }
}

/// A request to draw a board without a window.
#[derive(Debug, Clone)]
pub struct BoardImageRequest {
    pub board: BoardId,
    pub subject: BoardImageSubject,
    /// Elements drawn as selected.
    pub selection: Vec<ElementId>,
    /// The longest side in pixels.
    pub longest: u32,
    pub dark: bool,
}

#[derive(Debug, Clone)]
pub enum BoardImageSubject {
    Board,
    /// Only the area around these elements.
    Elements(Vec<ElementId>),
    /// A page of an interface board rendered with its components.
    Page(NodeId),
    /// The diff of a proposal drawn over the current board, cropped to the touched elements.
    Proposal {
        after: Box<Snapshot>,
        elements: Vec<ProposedElement>,
    },
}

/// The generated Terraform files of a board and their problems.
#[derive(Debug, Clone, Default)]
pub struct BoardHcl {
    /// Keyed by path within the board's folder.
    pub files: BTreeMap<String, Arc<str>>,
    pub findings: Vec<TerraformFindingView>,
}

pub type AgentReplyFn = Box<dyn FnOnce(Result<AgentCallOutcome, Refusal>) + Send>;

/// Submits the requests of agents to the review queue; implemented by the handle of the writer in the hosting process.
pub trait ReviewSubmitter: Send + Sync + 'static {
    /// Returns immediately. Calls `reply` once, after the result is durable or refused.
    fn submit(&self, client: CallingClient, request: AgentRequest, reply: AgentReplyFn);
}

/// The workbench, implemented by the hosting process. `changes_since` and `picture` may block; the server calls them
/// on blocking threads.
pub trait AgentWorkbench: Send + Sync + 'static {
    fn view(&self) -> Arc<AgentView>;

    /// Notified after each new view.
    fn watch_changes(&self) -> watch::Receiver<u64>;

    /// Returns the patches after a revision, or `None` when the journal no longer holds them.
    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal>;

    /// The runs of accepted actions.
    fn action_runs(&self) -> &ActionRuns;

    /// Returns the project file change that merging these fields requires.
    fn configured(
        &self,
        fields: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<ProposedAction, Refusal>;

    /// Returns a PNG.
    fn picture(&self, snapshot: &Snapshot, picture: &BoardImageRequest) -> Result<Vec<u8>, Refusal>;

    /// Regenerates only changed blocks; the first call for a large board takes longer.
    fn hcl(&self, workspace: &AgentWorkspaceView, board: BoardId) -> Result<BoardHcl, Refusal>;

    fn cost(&self, workspace: &AgentWorkspaceView, board: BoardId) -> Result<CostView, Refusal>;

    /// Milliseconds since 1970, UTC.
    fn now(&self) -> u64;
}
