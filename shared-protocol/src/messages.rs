//! The messages between the processes. Main and renderer use postcard over an inherited socket; terminals use JSON over a named
//! one. No message is accepted before the hello.

use crate::{
    Actor, BoardId, Change, Code, Command, Document, ElementId, OperationKind, Override, OverrideKey,
    Refusal, Revision, Standing,
    bundle::{BundleAnswer, BundleRequest, BundlesView},
    limits::{MAX_BOARDS, MAX_NODES},
    link::{LinkRequest, LinksView},
    mcp::{McpRequest, McpView},
    preview::Screen,
    previews::{PreviewAnswer, PreviewGesture, PreviewRequest, PreviewsView, SessionId, ShownInstance},
    registry::{ConnectionRule, RegistryProblem, TypeDef},
    review::{AuditLine, AuditView, ReviewAnswer, ReviewRequest, ReviewView, TerminalReview},
    terraform::{RunId, RunLine, TerraformAnswer, TerraformRequest, TerraformView},
    upstreams::{UpstreamAnswer, UpstreamDecision, UpstreamRequest, UpstreamsView},
};
use serde::{Deserialize, Serialize};

/// Raised with every change of a message; both ends must have the same.
pub const PROTOCOL_VERSION: u32 = 8;

/// Given to one child for one connection.
pub type Token = [u8; 32];

/// Operations that may be asked for at once.
pub const MAX_OPERATIONS: usize = 64;

/// Bytes that a window may ask to have remembered.
pub const MAX_WINDOW_STATE: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Renderer,
    Terminal,
}

/// The first message of a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub build: String,
    pub role: Role,
    /// The token of the challenge, given back.
    pub token: Token,
}

// ---- main ↔ renderer ------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToRenderer {
    /// The first message of all.
    Challenge {
        protocol: u32,
        token: Token,
    },
    /// Everything: after the hello, after a resync, and when another workspace is opened.
    Workspace(Box<WorkspaceView>),
    Patch(Patch),
    /// The registry changed with a module or the project file.
    Registry(RegistryView),
    Status(Status),
    /// Agents came, went or did something; at most a few times a second.
    Mcp(Box<McpView>),
    Bundles(Box<BundlesView>),
    Links(Box<LinksView>),
    Terraform(Box<TerraformView>),
    /// The review queue, whenever something in it is other than it was.
    Review(Box<ReviewView>),
    /// Managed servers and manifests.
    Upstreams(Box<UpstreamsView>),
    Previews(Box<PreviewsView>),
    /// Comes with the descriptor of a session's frame memory, which replaces the one before.
    PreviewMemory {
        session: SessionId,
        generation: u32,
        screen: Screen,
    },
    /// A new frame lies in the memory of this generation.
    PreviewFrame {
        session: SessionId,
        generation: u32,
        sequence: u64,
    },
    /// The instances on a session's screen in drawing order.
    PreviewInstances {
        session: SessionId,
        instances: Vec<ShownInstance>,
    },
    /// More of what a run says, from that line on.
    RunLines {
        run: RunId,
        first: u64,
        lines: Vec<RunLine>,
    },
    Answer {
        request: u64,
        result: Result<Answer, Refusal>,
    },
    /// Somebody started the workbench again: come to the front.
    Raise,
    /// A process of Draftboard ended unexpectedly, in this run or before it; told once.
    CrashReport {
        headline: String,
    },
    /// The welcome page: at the first start, when the last workspace did not open, and when a folder was named that is no
    /// workspace.
    Welcome {
        folder: Option<PlainFolder>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromRenderer {
    Hello(Hello),
    Request {
        id: u64,
        request: Request,
    },
    /// A review request, which only the window may send; answered like a request.
    Review {
        id: u64,
        request: ReviewRequest,
    },
    /// A decision about managed servers, which only a person may take; answered like a request.
    Upstream {
        id: u64,
        decision: UpstreamDecision,
    },
    Presence(Presence),
    /// Pointer, keys and values being tried in a preview; not answered.
    Preview {
        session: SessionId,
        gesture: PreviewGesture,
    },
    /// A patch was missed: send everything again.
    Resync,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceView {
    /// The folder.
    pub root: String,
    /// The project's name.
    pub name: String,
    pub document: Document,
    pub registry: RegistryView,
    pub presence: Presence,
    pub status: Status,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RegistryView {
    pub types: Vec<TypeDef>,
    pub rules: Vec<ConnectionRule>,
    pub problems: Vec<RegistryProblem>,
}

/// One operation, as a replica needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// The revision it leads to; it fits only on the one before.
    pub revision: Revision,
    pub actor: Actor,
    pub summary: String,
    pub changes: Vec<Change>,
}

impl Patch {
    /// The same revision for a replica that holds the graph and not the files.
    #[must_use]
    pub fn without_sources(mut self) -> Self {
        self.changes.retain(|change| !matches!(change, Change::Source { .. }));
        self
    }
}

/// The state of the workspace besides its content, for the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The revision that the files hold.
    pub saved: Revision,
    /// The summaries of the operations that undo and redo apply to.
    pub undo: Option<String>,
    pub redo: Option<String>,
    /// Boards that cannot be changed now.
    pub held: Vec<HeldBoard>,
    /// Things a person should know: a failed save, a watcher that stopped, a module with errors.
    pub notices: Vec<Notice>,
}

/// Something a person should know, until it is in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    pub message: String,
    /// The file to mend, from the workspace's folder.
    pub file: Option<String>,
}

/// A board that waits for a person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBoard {
    pub board: BoardId,
    pub name: String,
    pub why: HeldReason,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HeldReason {
    /// The file cannot be read; the last good state is shown.
    Damaged,
    /// The file was changed by somebody else in the same places as unsaved work.
    Conflict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Keep {
    /// The version of the workbench: the file is replaced at the next save, its content set aside.
    Mine,
    /// The version of the file.
    Theirs,
}

/// The selection and viewports of the designer; not journaled, not undoable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    pub board: Option<BoardId>,
    pub selection: Vec<ElementId>,
    pub viewports: Vec<(BoardId, Viewport)>,
    /// Where in the window the board is shown; none until a window has said so.
    #[serde(default)]
    pub area: Option<Area>,
    #[serde(default)]
    pub doing: Doing,
    /// The panels of the window in this workspace, in its own words; main keeps it and does not look inside.
    #[serde(default)]
    pub window: String,
    /// The user's settings of the window (theme, scale) as JSON, for all workspaces; main keeps them in the user's
    /// `settings.toml`. Empty from a window in which none was changed.
    #[serde(default)]
    pub settings: String,
}

/// The middle of the view in board units, and how much it is enlarged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Viewport {
    pub x: f32,
    pub y: f32,
    pub zoom: f32,
}

/// The present activity of the designer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Doing {
    #[default]
    Nothing,
    /// Something has the keyboard for itself: a list, a dialog, a text field.
    Typing,
    /// Something is being dragged.
    Dragging,
}

/// A rectangle of fractions: in a window, or on a board.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Area {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

impl Area {
    fn is_sound(&self) -> bool {
        [self.x, self.y, self.w, self.h].iter().all(|side| side.is_finite()) && self.w >= 0.0 && self.h >= 0.0
    }
}

/// The board on the designer's screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OnScreen {
    pub board: BoardId,
    pub selection: Vec<ElementId>,
    pub viewport: Viewport,
    /// Where in the window the board is shown, in points.
    pub area: Area,
    /// The part of the board that is in view, in board units.
    pub visible: Area,
    pub doing: Doing,
}

impl Presence {
    /// Returns the visible board once a window has reported its area.
    pub fn on_screen(&self) -> Option<OnScreen> {
        let (board, area) = (self.board?, self.area?);
        let viewport = self.viewports.iter().find(|(shown, _)| *shown == board)?.1;
        let (w, h) = (area.w / viewport.zoom, area.h / viewport.zoom);
        let visible = Area { x: viewport.x - w / 2.0, y: viewport.y - h / 2.0, w, h };
        if !visible.is_sound() {
            return None;
        }
        let (selection, doing) = (self.selection.clone(), self.doing);
        Some(OnScreen { board, selection, viewport, area, visible, doing })
    }

    /// Within bounds and finite; whatever a renderer says is checked before it is kept.
    pub fn is_sound(&self) -> bool {
        let finite = |v: &Viewport| v.x.is_finite() && v.y.is_finite() && v.zoom.is_finite() && v.zoom > 0.0;
        self.selection.len() <= MAX_NODES
            && self.viewports.len() <= MAX_BOARDS
            && self.window.len() <= MAX_WINDOW_STATE
            && self.settings.len() <= MAX_WINDOW_STATE
            && self.viewports.iter().all(|(_, viewport)| finite(viewport))
            && self.area.is_none_or(|area| area.is_sound())
    }
}

// ---- requests and answers, the same from window and terminal ----------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    Run(Command),
    Undo,
    Redo,
    /// Takes back one older operation and keeps later work; `partial` leaves out what is in conflict.
    Revert {
        revision: Revision,
        partial: bool,
    },
    /// Writes the files.
    Save,
    /// Opens another workspace in place of this one.
    Open(String),
    /// Makes a workspace in a folder and opens it in place of this one.
    New {
        path: String,
        template: Template,
    },
    /// Opens the user's own copy of the example.
    OpenExample,
    /// Opens a fresh copy of the example in which a scripted agent proposes a change. Answered by [`Answer::Demo`].
    StartDemo,
    /// Never shows the tour of the demo again.
    CloseTour,
    /// Makes a workspace beside a folder of Terraform files with a copy of them as a board, and opens it in place of this one.
    ImportFolder(String),
    /// The boards of the templates, to be drawn small. Answered by [`Answer::Templates`].
    Templates,
    /// The workspaces that were opened before, newest first.
    Recents,
    /// Takes one off that list; nothing happens to the workspace.
    ForgetRecent(String),
    Resolve {
        board: BoardId,
        keep: Keep,
    },
    /// The newest operations first.
    Log {
        limit: u32,
    },
    /// These operations, as the log has them; what is no longer kept is left out.
    Operations(Vec<Revision>),
    ChangesSince(Revision),
    Problems,
    Document,
    /// Every override with how it stands.
    Overrides,
    Instance,
    /// Draws a board into a file; the ending decides the format.
    Export {
        board: BoardId,
        path: String,
    },
    /// About the agents' side.
    Mcp(McpRequest),
    /// About spec bundles.
    Bundle(BundleRequest),
    /// About links across domains.
    Link(LinkRequest),
    /// About a board's Terraform.
    Terraform(TerraformRequest),
    /// About preview sessions.
    Preview(PreviewRequest),
    /// About managed servers and manifests, as far as it takes no decision.
    Upstream(UpstreamRequest),
    /// Lines of the audit after a number, oldest first.
    Audit {
        after: u64,
        limit: u32,
    },
    /// The newest lines of the audit before a number (all when absent), newest first, and whether the whole of it holds
    /// together. Answered by [`Answer::AuditView`].
    AuditView {
        before: Option<u64>,
        limit: u32,
    },
    /// Writes every line of the audit into a file, oldest first, as `draftboard audit export` prints them.
    AuditExport {
        path: String,
    },
    /// Brings the window to the front.
    Raise,
    /// Ends the workbench, journal intact.
    Quit,
    /// The text of a problem report: versions, the newest crash report, the end of the log. Answered by
    /// [`Answer::ProblemReport`].
    ProblemReport,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Done,
    Applied(Applied),
    Saved {
        revision: Revision,
        files: Vec<String>,
    },
    Log(Vec<LogEntry>),
    /// The patches after a revision, or none when they are no longer kept and everything must be read again.
    Changes(Option<Vec<Patch>>),
    Problems(Vec<ValidationProblem>),
    Document(Box<Document>),
    Overrides(Vec<(OverrideKey, Override, Standing)>),
    Instance(InstanceView),
    Exported {
        path: String,
        bytes: u64,
    },
    Recents(Vec<Recent>),
    /// The demo is open; `tour` unless its tour was closed for ever.
    Demo {
        tour: bool,
    },
    /// The folder that a window asked to open is no workspace, or the one to create is one already.
    PlainFolder(PlainFolder),
    /// One board of each template that has any.
    Templates(Vec<(Template, Document)>),
    Mcp(Box<McpView>),
    Bundle(BundleAnswer),
    Links(Box<LinksView>),
    Terraform(TerraformAnswer),
    Preview(PreviewAnswer),
    Upstream(UpstreamAnswer),
    Review(ReviewAnswer),
    Audit(Vec<AuditLine>),
    AuditView(Box<AuditView>),
    Text(String),
    ProblemReport(String),
}

/// The initial content of a new workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Template {
    /// One empty infrastructure board.
    Blank,
    /// A three-tier architecture, an interface and a spec.
    Example,
    /// The three-tier architecture alone.
    ThreeTier,
    /// The interface alone.
    Interface,
    /// The spec alone.
    Spec,
}

impl Template {
    pub const ALL: [Self; 5] = [Self::Blank, Self::ThreeTier, Self::Interface, Self::Spec, Self::Example];
}

/// A workspace that was opened before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recent {
    pub path: String,
    pub name: String,
    /// Why it cannot be opened, if that is known.
    pub problem: Option<String>,
}

/// A folder that is no workspace, or is one already where a new one was to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlainFolder {
    pub path: String,
    /// It has Terraform files, or a TerraStudio project, that can be imported.
    pub has_terraform: bool,
    #[serde(default)]
    pub is_workspace: bool,
}

/// An accepted command, durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    pub revision: Revision,
    pub summary: String,
    /// The created elements in the order of the request.
    pub created: Vec<ElementId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    pub revision: Revision,
    pub time: u64,
    pub actor: Actor,
    pub kind: OperationKind,
    pub summary: String,
    pub changes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceView {
    /// None when no Draftboard is running and the workspace was only looked at.
    pub pid: Option<u32>,
    pub version: String,
    pub workspace: String,
    pub revision: Revision,
    pub saved: Revision,
    pub window: bool,
    pub boards: u64,
    pub nodes: u64,
    pub edges: u64,
    pub held: Vec<HeldBoard>,
    pub notices: Vec<Notice>,
    /// None without a window, and until it shows a board.
    pub on_screen: Option<OnScreen>,
}

/// Something a person should mend; it never stops them from drawing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    pub severity: Severity,
    pub element: ElementId,
    pub board: BoardId,
    /// The property it is about.
    pub field: Option<String>,
    pub message: String,
}

/// Something wrong anywhere in a workspace: on a board, in a spec, in a link, or in a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationProblem {
    pub severity: Severity,
    pub element: Option<ElementId>,
    pub board: Option<BoardId>,
    /// The property it is about.
    pub field: Option<String>,
    /// The file to mend, from the workspace's folder.
    pub file: Option<String>,
    pub message: String,
}

impl ValidationProblem {
    /// One that is not on a board.
    pub fn of_file(severity: Severity, file: Option<String>, message: impl Into<String>) -> Self {
        Self { severity, element: None, board: None, field: None, file, message: message.into() }
    }
}

impl From<Problem> for ValidationProblem {
    fn from(problem: Problem) -> Self {
        let Problem { severity, element, board, field, message } = problem;
        Self { severity, element: Some(element), board: Some(board), field, file: None, message }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    Error,
    Warning,
}

// ---- terminals --------------------------------------------------------------------------------------------------------

/// A terminal sends its hello, then requests; each is answered in turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum FromTerminal {
    Hello {
        protocol: u32,
        token: String,
    },
    Request(Request),
    /// Looks at the review queue, and decides with a code that this side does not see.
    Review(TerminalReview),
    /// From the answer `done` on, this connection carries newline-delimited JSON-RPC of the Model Context Protocol both
    /// ways. Nothing may be sent before that answer.
    Mcp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToTerminal {
    Welcome {
        protocol: u32,
        version: String,
    },
    /// The response to the request before; the terminal knows its type, see [`crate::requests`].
    Response(serde_json::Value),
    Refused(Refusal),
}

impl From<Result<serde_json::Value, Refusal>> for ToTerminal {
    fn from(result: Result<serde_json::Value, Refusal>) -> Self {
        result.map_or_else(Self::Refused, Self::Response)
    }
}

/// Why a hello is not accepted; `None` when it is.
pub fn refuse_hello(protocol: u32, token_fits: bool) -> Option<Refusal> {
    if protocol != PROTOCOL_VERSION {
        let message = format!("protocol {protocol} is not {PROTOCOL_VERSION}, which this build speaks");
        return Some(
            Refusal::new(Code::BadRequest, message).hint("Use the same version of draftboard on both sides."),
        );
    }
    (!token_fits).then(|| Refusal::new(Code::BadRequest, "the token is not the one that was given out"))
}
