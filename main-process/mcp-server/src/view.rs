//! What the server sees of the workbench: one immutable view at a time, and the few questions that a view cannot answer.

use authority::{
    Problems, Snapshot,
    proposals::{AgentAsk, AgentOutcome, Client, Queue},
};
use shared_protocol::{
    BoardId, BoardKind, ElementId, Refusal, Revision,
    messages::{Patch, Presence, Status},
    proposal::Act,
};
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// Everything at one moment.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Differs whenever content, types or workspace differ: what was computed for one generation is good for all of it.
    pub generation: u64,
    pub workspace: Option<Arc<WorkspaceView>>,
    /// The review queue; tools show a client its own.
    pub review: Queue,
    /// Differs whenever the queue does.
    pub review_stamp: u64,
}

#[derive(Debug)]
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

    /// The change of the project's file that merging these fields would be.
    fn configured(&self, fields: &serde_json::Map<String, serde_json::Value>) -> Result<Act, Refusal>;

    /// A PNG.
    fn picture(&self, snapshot: &Snapshot, picture: &Picture) -> Result<Vec<u8>, Refusal>;

    /// Milliseconds since 1970, UTC.
    fn now(&self) -> u64;
}
