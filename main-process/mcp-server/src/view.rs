//! The server's access to the workbench: an immutable view, and the few requests that a view cannot answer.

use crate::{Doings, Guests};
use authority::{
    Problems, Snapshot,
    proposals::{AgentAsk, AgentOutcome, Client, Queue},
};
use shared_protocol::{
    BoardId, BoardKind, Change, ElementId, NodeId, Refusal, Revision,
    messages::{Patch, Presence, Status},
    previews::PreviewsView,
    proposal::Act,
    review::Element,
    terraform::{CostView, Deployment, Finding},
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
pub struct View {
    /// Changes whenever content, types or workspace change. Results computed for one generation stay valid within it.
    pub generation: u64,
    pub workspace: Option<Arc<WorkspaceView>>,
    pub specs: Option<Arc<dyn Specs>>,
    /// The review queue; tools show each client only its own proposals.
    pub review: Queue,
    /// Changes whenever the queue changes.
    pub review_stamp: u64,
    /// Tools of managed servers and manifests.
    pub guests: Guests,
}

/// The spec bundles of the hosting process. The spec tools of that process downcast to their own type.
pub trait Specs: Any + fmt::Debug + Send + Sync {
    /// Returns a summary of each bundle.
    fn bundles(&self) -> Vec<serde_json::Value>;

    /// Describes a change of a file in terms of the entity it holds. Returns `None` for a file that no bundle owns.
    fn words_of_change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String>;

    /// Returns the bundles with these changes applied. Returns `None` when the changes touch no bundle.
    fn drafted(&self, changes: &[Change]) -> Option<Arc<dyn Specs>>;

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
pub struct WorkspaceView {
    /// The folder's own name, never its path.
    pub root: String,
    /// The project's name.
    pub name: String,
    pub snapshot: Snapshot,
    pub presence: Presence,
    pub status: Status,
    /// The project file as JSON, not redacted; the server redacts it.
    pub config: Arc<serde_json::Value>,
    /// Computed on first use and shared by the views of one generation.
    pub problems: Arc<OnceLock<Problems>>,
    /// The known deployment state of each node.
    pub deployments: Arc<BTreeMap<NodeId, Deployment>>,
    /// The current preview sessions.
    pub previews: Arc<PreviewsView>,
}

impl WorkspaceView {
    pub fn problems(&self) -> &Problems {
        self.problems.get_or_init(|| Problems::of(&self.snapshot))
    }

    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// Returns the board open in the window, or `None` when there is no window.
    pub fn looked_at(&self) -> Option<BoardId> {
        self.presence.board.filter(|board| self.snapshot.board(*board).is_some())
    }

    /// Returns the default board: the one open in the window, else the first infrastructure board, else the first
    /// board.
    pub fn active_board(&self) -> Option<BoardId> {
        let of_resources = || self.snapshot.boards().find(|board| board.kind == BoardKind::Infrastructure);
        let first = || of_resources().or_else(|| self.snapshot.boards().next());
        self.looked_at().or_else(|| first().map(|board| board.id))
    }
}

impl View {
    /// Returns the spec bundles when they have this type.
    pub fn specs<T: Specs>(&self) -> Option<&T> {
        let specs: &dyn Any = self.specs.as_deref()?;
        specs.downcast_ref()
    }

    pub fn revision(&self) -> Revision {
        self.workspace.as_ref().map(|workspace| workspace.revision()).unwrap_or_default()
    }
}

/// A request to draw a board without a window.
#[derive(Debug, Clone)]
pub struct Picture {
    pub board: BoardId,
    pub of: PictureOf,
    /// Elements drawn as selected.
    pub selection: Vec<ElementId>,
    /// The longest side in pixels.
    pub longest: u32,
    pub dark: bool,
}

#[derive(Debug, Clone)]
pub enum PictureOf {
    Board,
    /// Only the area around these elements.
    Elements(Vec<ElementId>),
    /// A page of an interface board rendered with its components.
    Page(NodeId),
    /// The diff of a proposal drawn over the current board, cropped to the touched elements.
    Proposal {
        after: Box<Snapshot>,
        elements: Vec<Element>,
    },
}

/// The generated Terraform files of a board and their problems.
#[derive(Debug, Clone, Default)]
pub struct Hcl {
    /// Keyed by path within the board's folder.
    pub files: BTreeMap<String, Arc<str>>,
    pub findings: Vec<Finding>,
}
pub type AskReply = Box<dyn FnOnce(Result<AgentOutcome, Refusal>) + Send>;

/// The workbench, implemented by the hosting process. `changes_since` and `picture` may block; the server calls them
/// on blocking threads.
pub trait Workbench: Send + Sync + 'static {
    fn view(&self) -> Arc<View>;

    /// Notified after each new view.
    fn changed(&self) -> watch::Receiver<u64>;

    /// Returns the patches after a revision, or `None` when the journal no longer holds them.
    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal>;

    /// Runs a request of an agent to the review queue and returns immediately. Calls `reply` once, after the result
    /// is durable or refused.
    fn ask(&self, client: Client, ask: AgentAsk, reply: AskReply);

    /// The runs of accepted actions.
    fn doings(&self) -> &Doings;

    /// Returns the project file change that merging these fields requires.
    fn configured(&self, fields: &serde_json::Map<String, serde_json::Value>) -> Result<Act, Refusal>;

    /// Returns a PNG.
    fn picture(&self, snapshot: &Snapshot, picture: &Picture) -> Result<Vec<u8>, Refusal>;

    /// Regenerates only changed blocks; the first call for a large board takes longer.
    fn hcl(&self, workspace: &WorkspaceView, board: BoardId) -> Result<Hcl, Refusal>;

    fn cost(&self, workspace: &WorkspaceView, board: BoardId) -> Result<CostView, Refusal>;

    /// Milliseconds since 1970, UTC.
    fn now(&self) -> u64;
}
