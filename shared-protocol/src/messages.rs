//! The messages between processes. Main and renderer exchange postcard over an inherited socket; terminals use JSON
//! over a named socket. No message is accepted before the hello.

use crate::{
    Actor, BoardId, Change, ElementId, GraphDocument, OperationKind, Refusal, RefusalCode, Revision,
    bundle::BundlesView,
    decisions::{TerminalReviewRequest, WindowRequest},
    limits::{MAX_BOARDS, MAX_NODES},
    managed_servers::ManagedServersView,
    mcp::McpView,
    preview_sessions::{PreviewGesture, PreviewId, PreviewInstanceBox, PreviewsView},
    preview_wire::PreviewScreen,
    registry::{ConnectionRule, RegistryProblem, TypeDef},
    requests::WorkbenchRequest,
    review::{ProposalDetails, ReviewView},
    terraform::{TerraformRunId, TerraformRunLine, TerraformView},
    trace_link::TraceLinksView,
};
use serde::{Deserialize, Serialize};

/// Incremented with every change of a message; both ends must have the same version.
pub const PROTOCOL_VERSION: u32 = 10;

/// The secret that authenticates one child on one connection.
pub type ConnectionToken = [u8; 32];

/// The maximum number of operations in one request.
pub const MAX_REQUESTED_OPERATIONS: usize = 64;

/// The maximum size of the window state and of the settings that a window can store.
pub const MAX_WINDOW_STATE_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProcessRole {
    Renderer,
    Terminal,
}

/// The first message from a child process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildHello {
    pub protocol: u32,
    pub build: String,
    pub role: ProcessRole,
    /// The token from the challenge.
    pub token: ConnectionToken,
}

// ---- main ↔ renderer ------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToRenderer {
    /// The first message on the connection.
    Challenge {
        protocol: u32,
        token: ConnectionToken,
    },
    /// The complete state. Sent after the hello, after a resync and when another workspace is opened.
    Workspace(Box<FullWorkspaceView>),
    Patch(Patch),
    /// The registry changed because of a module or the project file.
    Registry(RegistryView),
    Status(WorkspaceStatus),
    /// The state of the MCP server; sent at most a few times a second.
    Mcp(Box<McpView>),
    Bundles(Box<BundlesView>),
    Links(Box<TraceLinksView>),
    Terraform(Box<TerraformView>),
    /// The review queue; sent after every change.
    Review(Box<ReviewView>),
    /// The proposal that the window shows: the one that a person opened, else the newest draft. Sent after every change.
    Proposal(Box<ProposalDetails>),
    /// Managed servers and manifests.
    ManagedServers(Box<ManagedServersView>),
    Previews(Box<PreviewsView>),
    /// Carries the file descriptor of the frame memory of a session, which replaces the previous one.
    PreviewMemory {
        session: PreviewId,
        generation: u32,
        screen: PreviewScreen,
    },
    /// A new frame is available in the memory of this generation.
    PreviewFrame {
        session: PreviewId,
        generation: u32,
        sequence: u64,
    },
    /// The instances on the screen of a session, in drawing order.
    PreviewInstances {
        session: PreviewId,
        instances: Vec<PreviewInstanceBox>,
    },
    /// More output of a run, starting at line `first`.
    RunLines {
        run: TerraformRunId,
        first: u64,
        lines: Vec<TerraformRunLine>,
    },
    /// The response to a request, encoded on its own: the request names its type.
    Response {
        request: u64,
        result: Result<Vec<u8>, Refusal>,
    },
    /// The workbench was started again: raise the window.
    Raise,
    /// A process of Draftboard ended unexpectedly, in this run or before it. Sent once.
    CrashReport {
        headline: String,
    },
    /// Shows the welcome page: at the first start, when the last workspace did not open, and when the given folder is
    /// not a workspace.
    Welcome {
        folder: Option<WelcomeFolder>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromRenderer {
    Hello(ChildHello),
    Request {
        id: u64,
        request: WindowRequest,
    },
    Presence(Presence),
    /// Pointer input, keys and transient values for a preview; not answered.
    Preview {
        session: PreviewId,
        gesture: PreviewGesture,
    },
    /// The renderer missed a patch: send the complete state again.
    Resync,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FullWorkspaceView {
    /// The path of the workspace folder.
    pub root: String,
    /// The project's name.
    pub name: String,
    pub document: GraphDocument,
    pub registry: RegistryView,
    pub presence: Presence,
    pub status: WorkspaceStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RegistryView {
    pub types: Vec<TypeDef>,
    pub rules: Vec<ConnectionRule>,
    pub problems: Vec<RegistryProblem>,
}

/// One operation as sent to a replica.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// The revision after this patch; it applies only to the revision before.
    pub revision: Revision,
    pub actor: Actor,
    /// Tells an undo from an edit, so that a window withdraws a statement that an undo makes untrue.
    pub kind: OperationKind,
    pub summary: String,
    pub changes: Vec<Change>,
}

impl Patch {
    /// Removes changes of source files, for a replica that holds only the graph.
    #[must_use]
    pub fn without_sources(mut self) -> Self {
        self.changes.retain(|change| !matches!(change, Change::Source { .. }));
        self
    }
}

/// The state of the workspace besides its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceStatus {
    /// The revision that is saved in the files.
    pub saved: Revision,
    /// The summaries of the operations that undo and redo would apply to.
    pub undo: Option<String>,
    pub redo: Option<String>,
    /// Boards that cannot be changed now.
    pub held: Vec<HeldBoard>,
    /// Notices for the user: a failed save, a stopped file watcher, a module with errors.
    pub notices: Vec<WorkspaceNotice>,
}

/// A notice for the user, shown until the cause is fixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceNotice {
    pub message: String,
    /// The file to fix, relative to the workspace folder.
    pub file: Option<String>,
}

/// A board that is blocked until a person decides.
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
    /// Another program changed the file in the same places as unsaved work.
    Conflict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConflictResolution {
    /// Keeps the state of the workbench: the next save replaces the file and backs up its content.
    Mine,
    /// Keeps the content of the file.
    Theirs,
}

/// The view state of the designer; not journaled, not undoable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    pub board: Option<BoardId>,
    pub selection: Vec<ElementId>,
    pub viewports: Vec<(BoardId, BoardViewport)>,
    /// The area of the board in the window; `None` until a window reports it.
    #[serde(default)]
    pub area: Option<ViewRect>,
    #[serde(default)]
    pub doing: DesignerActivity,
    /// The panel layout of the window for this workspace. Main stores it as an opaque string.
    #[serde(default)]
    pub window: String,
    /// The window settings of the user (theme, scale) as JSON, for all workspaces. Main stores them in the
    /// `settings.toml` of the user. Empty when the window changed no setting.
    #[serde(default)]
    pub settings: String,
}

/// The centre of the view in board units, and the zoom factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoardViewport {
    pub x: f32,
    pub y: f32,
    pub zoom: f32,
}

/// The current activity of the designer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DesignerActivity {
    #[default]
    Nothing,
    /// A list, dialog or text field has the keyboard focus.
    Typing,
    /// A drag is in progress.
    Dragging,
}

/// A rectangle in floating-point units: in a window, or on a board.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ViewRect {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

impl ViewRect {
    fn is_valid(&self) -> bool {
        [self.x, self.y, self.w, self.h].iter().all(|side| side.is_finite()) && self.w >= 0.0 && self.h >= 0.0
    }
}

/// The board and the region that the designer currently sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OnScreenView {
    pub board: BoardId,
    pub selection: Vec<ElementId>,
    pub viewport: BoardViewport,
    /// The area of the board in the window, in points.
    pub area: ViewRect,
    /// The visible part of the board, in board units.
    pub visible: ViewRect,
    pub doing: DesignerActivity,
}

impl Presence {
    /// The visible board and region; `None` until a window reports its area.
    pub fn on_screen(&self) -> Option<OnScreenView> {
        let (board, area) = (self.board?, self.area?);
        let viewport = self.viewports.iter().find(|(shown, _)| *shown == board)?.1;
        let (w, h) = (area.w / viewport.zoom, area.h / viewport.zoom);
        let visible = ViewRect { x: viewport.x - w / 2.0, y: viewport.y - h / 2.0, w, h };
        if !visible.is_valid() {
            return None;
        }
        let (selection, doing) = (self.selection.clone(), self.doing);
        Some(OnScreenView { board, selection, viewport, area, visible, doing })
    }

    /// Returns true when all values are finite and within bounds. Main checks this before it stores a presence from a
    /// renderer.
    pub fn is_valid(&self) -> bool {
        let finite =
            |v: &BoardViewport| v.x.is_finite() && v.y.is_finite() && v.zoom.is_finite() && v.zoom > 0.0;
        self.selection.len() <= MAX_NODES
            && self.viewports.len() <= MAX_BOARDS
            && self.window.len() <= MAX_WINDOW_STATE_BYTES
            && self.settings.len() <= MAX_WINDOW_STATE_BYTES
            && self.viewports.iter().all(|(_, viewport)| finite(viewport))
            && self.area.is_none_or(|area| area.is_valid())
    }
}

// ---- content of responses ----------------------------------------------------------------------------------------------

/// The initial content of a new workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkspaceTemplate {
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

impl WorkspaceTemplate {
    pub const ALL: [Self; 5] = [Self::Blank, Self::ThreeTier, Self::Interface, Self::Spec, Self::Example];
}

/// A recently opened workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentWorkspace {
    pub path: String,
    pub name: String,
    /// Why it cannot be opened, if known.
    pub problem: Option<String>,
}

/// A folder that is not a workspace, or that already is one where a new one was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WelcomeFolder {
    pub path: String,
    /// The folder has Terraform files or a TerraStudio project that can be imported.
    pub has_terraform: bool,
    #[serde(default)]
    pub is_workspace: bool,
}

/// An accepted command, written to the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppliedCommand {
    pub revision: Revision,
    pub summary: String,
    /// The created elements, in the requested order.
    pub created: Vec<ElementId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationLogEntry {
    pub revision: Revision,
    pub time: u64,
    pub actor: Actor,
    pub kind: OperationKind,
    pub summary: String,
    pub changes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkbenchInstanceView {
    /// `None` when no Draftboard is running and the workspace was only read.
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
    pub notices: Vec<WorkspaceNotice>,
    /// `None` without a window, and until the window shows a board.
    pub on_screen: Option<OnScreenView>,
}

/// A problem on a board. Problems never block editing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardProblem {
    pub severity: ProblemSeverity,
    pub element: ElementId,
    pub board: BoardId,
    /// The affected property.
    pub field: Option<String>,
    pub message: String,
}

/// A problem anywhere in a workspace: on a board, in a spec, in a trace link, or in an unreadable file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceProblem {
    pub severity: ProblemSeverity,
    pub element: Option<ElementId>,
    pub board: Option<BoardId>,
    /// The affected property.
    pub field: Option<String>,
    /// The file to fix, relative to the workspace folder.
    pub file: Option<String>,
    pub message: String,
}

impl WorkspaceProblem {
    /// Creates a problem that is not on a board.
    pub fn of_file(severity: ProblemSeverity, file: Option<String>, message: impl Into<String>) -> Self {
        Self { severity, element: None, board: None, field: None, file, message: message.into() }
    }
}

impl From<BoardProblem> for WorkspaceProblem {
    fn from(problem: BoardProblem) -> Self {
        let BoardProblem { severity, element, board, field, message } = problem;
        Self { severity, element: Some(element), board: Some(board), field, file: None, message }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemSeverity {
    Error,
    Warning,
}

// ---- terminals --------------------------------------------------------------------------------------------------------

/// A message from a terminal: first the hello, then requests. Each is answered in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum FromTerminal {
    Hello {
        protocol: u32,
        token: String,
    },
    Request(WorkbenchRequest),
    /// Reads the review queue, or submits a decision.
    Review(TerminalReviewRequest),
    /// Confirms the last decision of this connection with its code, which the terminal cannot see. The response is that
    /// of the decision.
    Confirm {
        code: String,
    },
    /// Switches the connection to MCP: after the answer `done` it carries newline-delimited JSON-RPC in both
    /// directions. The terminal must not send anything before that answer.
    Mcp,
}

impl From<WorkbenchRequest> for FromTerminal {
    fn from(request: WorkbenchRequest) -> Self {
        Self::Request(request)
    }
}

impl From<TerminalReviewRequest> for FromTerminal {
    fn from(request: TerminalReviewRequest) -> Self {
        Self::Review(request)
    }
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

/// Explains why a hello is refused; returns `None` when it is accepted.
pub fn refuse_hello(protocol: u32, token_fits: bool) -> Option<Refusal> {
    if protocol != PROTOCOL_VERSION {
        let message =
            format!("protocol version {protocol} does not match version {PROTOCOL_VERSION} of this build");
        return Some(
            Refusal::new(RefusalCode::BadRequest, message)
                .hint("Use the same version of draftboard on both sides."),
        );
    }
    (!token_fits).then(|| Refusal::new(RefusalCode::BadRequest, "the token is not valid"))
}
