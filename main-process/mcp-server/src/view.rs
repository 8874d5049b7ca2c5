//! What the server sees of the workbench: one immutable view at a time, and the few questions that a view cannot answer.

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

/// Everything at one moment.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Differs whenever content, types or workspace differ: what was computed for one generation is good for all of it.
    pub generation: u64,
    pub workspace: Option<Arc<WorkspaceView>>,
    pub specs: Option<Arc<dyn Specs>>,
    /// The review queue; tools show a client its own.
    pub review: Queue,
    /// Differs whenever the queue does.
    pub review_stamp: u64,
    /// Tools of others that are passed on.
    pub guests: Guests,
}

/// The spec bundles, as the process around the server knows them. The tools that it adds for them see their own type.
pub trait Specs: Any + fmt::Debug + Send + Sync {
    /// Each bundle in a few words.
    fn bundles(&self) -> Vec<serde_json::Value>;

    /// A change of a file in the words of those who wrote what is in it; nothing for one that is none of theirs.
    fn words_of_change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String>;

    /// The same as these changes would have them; nothing when they leave all of them as they are.
    fn drafted(&self, changes: &[Change]) -> Option<Arc<dyn Specs>>;

    /// Entities that a query finds, best first.
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
    /// The project's file as JSON, as it stands there; the server redacts it.
    pub config: Arc<serde_json::Value>,
    /// Computed when first asked for, shared by the views of one generation.
    pub problems: Arc<OnceLock<Problems>>,
    /// How nodes stand in the real world, as far as that is known.
    pub deployments: Arc<BTreeMap<NodeId, Deployment>>,
    /// Preview sessions, as they are now.
    pub previews: Arc<PreviewsView>,
}

impl WorkspaceView {
    pub fn problems(&self) -> &Problems {
        self.problems.get_or_init(|| Problems::of(&self.snapshot))
    }

    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// The board that the designer looks at; none when there is no window.
    pub fn looked_at(&self) -> Option<BoardId> {
        self.presence.board.filter(|board| self.snapshot.board(*board).is_some())
    }

    /// The board that is meant when none is named: the one the designer looks at, else the first that describes resources,
    /// else the first.
    pub fn active_board(&self) -> Option<BoardId> {
        let of_resources = || self.snapshot.boards().find(|board| board.kind == BoardKind::Infrastructure);
        let first = || of_resources().or_else(|| self.snapshot.boards().next());
        self.looked_at().or_else(|| first().map(|board| board.id))
    }
}

impl View {
    /// The spec bundles, if they are of this type.
    pub fn specs<T: Specs>(&self) -> Option<&T> {
        let specs: &dyn Any = self.specs.as_deref()?;
        specs.downcast_ref()
    }

    pub fn revision(&self) -> Revision {
        self.workspace.as_ref().map(|workspace| workspace.revision()).unwrap_or_default()
    }
}

/// A picture of a board, drawn without a window.
#[derive(Debug, Clone)]
pub struct Picture {
    pub board: BoardId,
    pub of: PictureOf,
    /// Elements shown as selected.
    pub selection: Vec<ElementId>,
    /// The longest side in pixels.
    pub longest: u32,
    pub dark: bool,
}

#[derive(Debug, Clone)]
pub enum PictureOf {
    Board,
    /// Only the part of the board around these.
    Elements(Vec<ElementId>),
    /// A page of an interface board as it really looks.
    Page(NodeId),
    /// What a proposal would change, over the board as it is and around what it touches.
    Proposal {
        after: Box<Snapshot>,
        elements: Vec<Element>,
    },
}

/// A board's Terraform files as they would be written, and what is wrong with them.
#[derive(Debug, Clone, Default)]
pub struct Hcl {
    /// By path within the board's folder.
    pub files: BTreeMap<String, Arc<str>>,
    pub findings: Vec<Finding>,
}
pub type AskReply = Box<dyn FnOnce(Result<AgentOutcome, Refusal>) + Send>;

/// The workbench, as the process around the server gives it. `changes_since` and `picture` may block; they are called on
/// threads made for that.
pub trait Workbench: Send + Sync + 'static {
    fn view(&self) -> Arc<View>;

    /// Marked as changed after each new view.
    fn changed(&self) -> watch::Receiver<u64>;

    /// The patches after a revision, or none when they are no longer kept.
    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal>;

    /// Carries out what an agent asks of the review queue. `reply` is called once, when it is durable or refused; this does
    /// not wait for it.
    fn ask(&self, client: Client, ask: AgentAsk, reply: AskReply);

    /// What comes of what was allowed.
    fn doings(&self) -> &Doings;

    /// The change of the project's file that merging these fields would be.
    fn configured(&self, fields: &serde_json::Map<String, serde_json::Value>) -> Result<Act, Refusal>;

    /// A PNG.
    fn picture(&self, snapshot: &Snapshot, picture: &Picture) -> Result<Vec<u8>, Refusal>;

    /// Only what changed is made anew; the first time takes a moment for a large board.
    fn hcl(&self, workspace: &WorkspaceView, board: BoardId) -> Result<Hcl, Refusal>;

    fn cost(&self, workspace: &WorkspaceView, board: BoardId) -> Result<CostView, Refusal>;

    /// Milliseconds since 1970, UTC.
    fn now(&self) -> u64;
}
