//! What the server sees of the workbench: one immutable view at a time, and the few questions that a view cannot answer.

use authority::{Problems, Snapshot};
use shared_protocol::{
    BoardId, BoardKind, ElementId, NodeId, Refusal, Revision,
    messages::{Patch, Presence, Status},
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
}

/// The spec bundles, as the process around the server knows them. The tools that it adds for them see their own type.
pub trait Specs: Any + fmt::Debug + Send + Sync {
    /// Each bundle in a few words.
    fn bundles(&self) -> Vec<serde_json::Value>;

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

#[derive(Debug, Clone, PartialEq)]
pub enum PictureOf {
    Board,
    /// Only the part of the board around these.
    Elements(Vec<ElementId>),
}

/// A board's Terraform files as they would be written, and what is wrong with them.
#[derive(Debug, Clone, Default)]
pub struct Hcl {
    /// By path within the board's folder.
    pub files: BTreeMap<String, Arc<str>>,
    pub findings: Vec<Finding>,
}

/// The workbench, as the process around the server gives it. `changes_since` and `picture` may block; they are called on
/// threads made for that.
pub trait Workbench: Send + Sync + 'static {
    fn view(&self) -> Arc<View>;

    /// Marked as changed after each new view.
    fn changed(&self) -> watch::Receiver<u64>;

    /// The patches after a revision, or none when they are no longer kept.
    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal>;

    /// A PNG.
    fn picture(&self, snapshot: &Snapshot, picture: &Picture) -> Result<Vec<u8>, Refusal>;

    /// Only what changed is made anew; the first time takes a moment for a large board.
    fn hcl(&self, workspace: &WorkspaceView, board: BoardId) -> Result<Hcl, Refusal>;

    fn cost(&self, workspace: &WorkspaceView, board: BoardId) -> Result<CostView, Refusal>;

    /// Milliseconds since 1970, UTC.
    fn now(&self) -> u64;
}
