//! The actions that features request from the window, performed after the frame is drawn.

use super::{
    response::{ManagedServerResponse, SpecResponse, WelcomeResponse},
    spec_history::SpecPage,
};
use crate::{
    commands::CommandId,
    main_request::MainRequest,
    panel_id::{PanelId, PanelSide},
};
use shared_protocol::{
    BoardId, BoardKind, BoardPoint, Command, EdgeEndpoint, ElementId, OverrideSelector, PropKey, ProposalId,
    Refusal, Revision, TypeId,
    bundle::EntityRef,
    decisions::WindowRequest,
    managed_servers::ServerId,
    messages::{AppliedCommand, OperationLogEntry, WorkspaceTemplate},
    preview_sessions::{PreviewGesture, PreviewId, PreviewLogLine, PreviewTarget},
    request::Request,
    requests::{
        CreateWorkspace, ExportAudit, ExportBoard, ImportBoard, ImportFolder, ImportedBoard, OpenExample,
        OpenWorkspace, OpenedWorkspace, StartedDemo,
    },
    review::AuditView,
    trace_link::TraceLinkEnd,
};
use std::{cell::RefCell, collections::BTreeSet};

/// An action of the window, requested by a panel and performed after the frame is drawn.
#[derive(Debug, Clone)]
pub(crate) enum WindowAction {
    Do(CommandId),
    /// Changes the workspace.
    Run(Command),
    /// Sends a request to main and performs the action that its response becomes.
    Request(MainRequest<WindowAction>),
    /// Reverts an older operation; `partial` skips the conflicting changes.
    Revert {
        revision: Revision,
        partial: bool,
    },
    Select(BTreeSet<ElementId>),
    /// Selects an element, opens its board and brings it into view.
    Reveal(ElementId),
    OpenBoard(BoardId),
    /// Adds a node in the selected container if its type allows it, else on the board.
    Add(TypeId),
    /// Adds a node centred on a point of the board.
    AddAt {
        type_id: TypeId,
        at: BoardPoint,
    },
    AddConnected {
        type_id: TypeId,
        at: BoardPoint,
        from: EdgeEndpoint,
    },
    ShowPanel(PanelId),
    ClosePanel(PanelId),
    MovePanel(PanelId, PanelSide),
    NewBoard(BoardKind),
    /// Selects an element and puts the keyboard into one of its properties.
    GoToField(ElementId, PropKey),
    Refuse(Refusal),
    /// Shows a refusal with a button that does something else instead.
    Offer {
        refusal: Refusal,
        text: &'static str,
        action: Box<WindowAction>,
    },
    /// Shows a notice of success, with a button if there is one.
    Notify {
        message: String,
        details: Vec<String>,
        button: Option<(&'static str, Box<WindowAction>)>,
    },
    /// Shows a notice of something that did not work.
    Warn {
        message: String,
        details: Vec<String>,
    },
    /// Selects elements as soon as the replica has them.
    SelectCreated(Vec<ElementId>),
    /// Selects a note and opens it for writing as soon as the replica has it.
    WriteNote(Vec<ElementId>),
    CopyConfiguration(String),
    CloseDialog,
    /// Forgets moves by arrow keys that were not sent yet.
    DropNudges,
    ShowOperation(Revision),
    /// Opens a file dialog and then performs its purpose.
    AskPath(PickedPathPurpose),
    Spec(SpecAction),
    /// Opens the dialog that links an element to another one.
    LinkFrom(TraceLinkEnd),
    OpenProposal(ProposalId),
    CloseProposal,
    /// Shows something in a preview, in an existing session if there is one.
    StartPreview(PreviewTarget),
    /// Shows another session in the preview panel.
    LookAt(PreviewId),
    /// Switches the inspector between props and overrides.
    SetOverriding(bool),
    /// Saves overrides to boards and components.
    Promote(OverrideSelector),
    /// Input in a preview.
    Gesture(PreviewId, PreviewGesture),
    StartDemo,
    OpenServer(ServerId),
    /// Undoes an operation that was just made.
    TakeBack(Revision),
    // ---- responses of main ---------------------------------------------------------------------------------------------
    /// A move by arrow keys became this revision.
    Nudged(Revision),
    RefuseNudge(Refusal),
    Promoted(Result<AppliedCommand, Refusal>),
    BoardImported(ImportedBoard),
    DemoStarted(Result<StartedDemo, Refusal>),
    ProblemReportRead(String),
    LogRead(Result<Vec<OperationLogEntry>, Refusal>),
    AuditRead(Result<AuditView, Refusal>),
    PreviewLogRead(PreviewId, Result<Vec<PreviewLogLine>, Refusal>),
    Welcome(WelcomeResponse),
    /// A response about managed servers, with the number of its request.
    ManagedServer {
        request: u64,
        response: Box<ManagedServerResponse>,
    },
}

impl WindowAction {
    pub(crate) fn notify(message: impl Into<String>, details: Vec<String>) -> Self {
        Self::Notify { message: message.into(), details, button: None }
    }

    /// Sends a request whose effect shows by itself. A refusal is shown.
    pub(crate) fn request<R: Request>(request: R) -> Self
    where
        WindowRequest: From<R::Frame>,
    {
        Self::Request(MainRequest::new(request, Self::of_refusal))
    }

    /// Sends a request and performs the action that its response or its refusal becomes.
    pub(crate) fn request_result<R: Request>(
        request: R,
        then: impl Fn(Result<R::Response, Refusal>) -> Self + 'static,
    ) -> Self
    where
        WindowRequest: From<R::Frame>,
    {
        Self::Request(MainRequest::new(request, move |result| Some(then(result))))
    }

    /// Sends a request and performs the action that its response becomes. A refusal is shown.
    pub(crate) fn request_then<R: Request>(request: R, then: impl Fn(R::Response) -> Self + 'static) -> Self
    where
        WindowRequest: From<R::Frame>,
    {
        Self::request_result(request, move |result| result.map_or_else(Self::Refuse, &then))
    }

    pub(crate) fn welcome<R: Request>(
        request: R,
        then: impl Fn(R::Response) -> WelcomeResponse + 'static,
    ) -> Self
    where
        WindowRequest: From<R::Frame>,
    {
        Self::request_result(request, move |result| {
            Self::Welcome(result.map_or_else(WelcomeResponse::Refused, &then))
        })
    }

    /// Opens a workspace in place of the open one.
    pub(crate) fn open_workspace(path: String) -> Self {
        Self::welcome(OpenWorkspace { path }, WelcomeResponse::Opened)
    }

    /// Opens the user's own copy of the example.
    pub(crate) fn open_example() -> Self {
        Self::welcome(OpenExample {}, |()| WelcomeResponse::Opened(OpenedWorkspace::Opened))
    }

    /// Shows a refusal, and nothing else.
    pub(crate) fn of_refusal<T>(result: Result<T, Refusal>) -> Option<Self> {
        result.err().map(Self::Refuse)
    }
}

macro_rules! actions_from {
    ($($from:ty: $value:ident => $action:expr;)*) => {$(
        impl From<$from> for WindowAction {
            fn from($value: $from) -> Self {
                $action
            }
        }
    )*};
}

actions_from! {
    CommandId: id => Self::Do(id);
    Command: command => Self::Run(command);
    SpecAction: action => Self::Spec(action);
}

/// The actions of a frame in the order of pushing. Everything that draws can push, so it needs only a shared reference.
#[derive(Debug, Default)]
pub(crate) struct ActionQueue(RefCell<Vec<WindowAction>>);

impl ActionQueue {
    pub(crate) fn push(&self, action: impl Into<WindowAction>) {
        self.0.borrow_mut().push(action.into());
    }

    pub(crate) fn extend(&self, actions: impl IntoIterator<Item = WindowAction>) {
        self.0.borrow_mut().extend(actions);
    }

    pub(crate) fn take(&self) -> Vec<WindowAction> {
        self.0.take()
    }
}

#[derive(Debug, Clone)]
pub(crate) enum SpecAction {
    /// A response of main, for the workspace of this number.
    Receive {
        workspace: u64,
        response: Box<SpecResponse>,
    },
    Open(SpecPage),
    /// Shows an entity, with one of its fields in view.
    OpenAt(EntityRef, Option<String>),
    /// Closes a page whose subject is gone.
    Close(SpecPage),
    Edit(EntityRef),
    Save,
    AskDelete(EntityRef),
    Delete(EntityRef),
    AskMap(String, Option<EntityRef>),
    DrawMap {
        bundle: String,
        around: Option<EntityRef>,
        depth: u32,
    },
    /// Shows the node of an entity, or draws a map around it.
    ShowOnMap(EntityRef),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PickedPathPurpose {
    OpenWorkspace,
    NewWorkspace {
        template: WorkspaceTemplate,
    },
    Export {
        board: BoardId,
        suggestion: String,
    },
    /// Imports a folder of Terraform files or a TerraStudio project as a board.
    ImportTerraform,
    /// Opens such a folder as its own workspace.
    OpenTerraform,
    ExportAudit,
}

impl PickedPathPurpose {
    pub(crate) const AUDIT_FILE: &str = "audit.jsonl";

    /// The title of the dialog that asks for the path.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::OpenWorkspace => "Open workspace",
            Self::NewWorkspace { template } => match template {
                WorkspaceTemplate::Blank => "New workspace: Blank",
                WorkspaceTemplate::ThreeTier => "New workspace: Three tiers",
                WorkspaceTemplate::Interface => "New workspace: Interface",
                WorkspaceTemplate::Spec => "New workspace: Spec",
                WorkspaceTemplate::Example => "New workspace: Example",
            },
            Self::Export { .. } => "Export board",
            Self::ImportTerraform => "Import Terraform folder",
            Self::OpenTerraform => "Open Terraform folder",
            Self::ExportAudit => "Export audit",
        }
    }

    pub(crate) fn action(&self, path: String) -> WindowAction {
        match self {
            Self::OpenWorkspace => WindowAction::open_workspace(path),
            Self::NewWorkspace { template } => {
                WindowAction::welcome(CreateWorkspace { path, template: *template }, WelcomeResponse::Opened)
            }
            Self::Export { board, .. } => {
                WindowAction::request_then(ExportBoard { board: *board, path }, |file| {
                    WindowAction::notify("Exported the board", vec![file.path])
                })
            }
            Self::ImportTerraform => {
                WindowAction::request_then(ImportBoard { path, name: None }, WindowAction::BoardImported)
            }
            Self::OpenTerraform => WindowAction::welcome(ImportFolder { path }, WelcomeResponse::Imported),
            Self::ExportAudit => WindowAction::request_then(ExportAudit { path }, |file| {
                let next = format!("`draftboard audit verify {}` checks it anywhere.", file.path);
                WindowAction::notify("Exported the audit", vec![file.path, next])
            }),
        }
    }
}
