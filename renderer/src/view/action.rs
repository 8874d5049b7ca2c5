//! The actions that features request from the window, performed after the frame is drawn.

use super::spec_history::SpecPage;
use crate::{
    commands::CommandId,
    panel_id::{PanelId, PanelSide},
};
use shared_protocol::{
    BoardId, BoardKind, BoardPoint, Command, EdgeEndpoint, ElementId, OverrideSelector, PropKey, ProposalId,
    Refusal, Revision, TypeId,
    bundle::{BundleRequest, EntityRef},
    messages::{WorkbenchRequest, WorkspaceTemplate},
    preview_sessions::{PreviewGesture, PreviewId, PreviewTarget},
    review::ReviewRequest,
    terraform::TerraformRequest,
    trace_link::TraceLinkEnd,
    upstreams::{ManagedServerDecision, ManagedServerRequest, ServerId},
};
use std::collections::BTreeSet;

/// An action of the window, requested by a panel and performed after the frame is drawn.
#[derive(Debug, Clone)]
pub(crate) enum WindowAction {
    /// Runs a command of the command table.
    Do(CommandId),
    /// Changes the workspace.
    Run(Command),
    Ask(WorkbenchRequest),
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
    /// Adds a node and connects it to an endpoint.
    AddConnected {
        type_id: TypeId,
        at: BoardPoint,
        from: EdgeEndpoint,
    },
    /// Opens a panel in front.
    ShowPanel(PanelId),
    ClosePanel(PanelId),
    MovePanel(PanelId, PanelSide),
    /// Opens the dialog for a new board.
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
    /// Closes the dialog that is open.
    CloseDialog,
    /// Forgets moves by arrow keys that were not sent yet.
    DropNudges,
    /// Shows an operation in the log.
    ShowOperation(Revision),
    /// Opens a file dialog and then performs its purpose.
    AskPath(PathPurpose),
    /// An action on spec bundles.
    Spec(SpecAction),
    /// Opens the dialog that links an element to another one.
    LinkFrom(TraceLinkEnd),
    /// A request that only the window may send, such as a decision.
    Review(ReviewRequest),
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
    /// A request about managed servers, with the ticket of its response.
    Upstream {
        ticket: u64,
        ask: ManagedServerCall,
    },
    /// Shows the page of a managed server.
    OpenServer(ServerId),
    /// Undoes an operation that was just made.
    TakeBack(Revision),
}

impl WindowAction {
    pub(crate) fn notify(message: impl Into<String>, details: Vec<String>) -> Self {
        Self::Notify { message: message.into(), details, button: None }
    }
}

/// An action on spec bundles.
#[derive(Debug, Clone)]
pub(crate) enum SpecAction {
    /// Sends a request; the response has the same ticket.
    Ask {
        ticket: u64,
        request: BundleRequest,
    },
    /// Shows a page in the reader.
    Open(SpecPage),
    /// Shows an entity, with one of its fields in view.
    OpenAt(EntityRef, Option<String>),
    /// Closes a page whose subject is gone.
    Close(SpecPage),
    Edit(EntityRef),
    Save,
    /// Opens the dialog that deletes an entity.
    AskDelete(EntityRef),
    Delete(EntityRef),
    /// Opens the dialog that draws a map.
    AskMap(String, Option<EntityRef>),
    DrawMap {
        bundle: String,
        around: Option<EntityRef>,
        depth: u32,
    },
    /// Shows the node of an entity, or draws a map around it.
    ShowOnMap(EntityRef),
}

/// A request about managed servers. Decisions have a channel that terminals and agents do not have.
#[derive(Debug, Clone)]
pub(crate) enum ManagedServerCall {
    Request(Box<ManagedServerRequest>),
    Decision(Box<ManagedServerDecision>),
}

/// The purpose of a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathPurpose {
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
    /// Exports the whole audit.
    ExportAudit,
}

impl PathPurpose {
    /// The suggested name of an exported audit.
    pub(crate) const AUDIT_FILE: &str = "audit.jsonl";

    pub(crate) fn request(&self, path: String) -> WorkbenchRequest {
        match self {
            Self::OpenWorkspace => WorkbenchRequest::Open(path),
            Self::NewWorkspace { template } => WorkbenchRequest::New { path, template: *template },
            Self::Export { board, .. } => WorkbenchRequest::Export { board: *board, path },
            Self::ImportTerraform => {
                WorkbenchRequest::Terraform(TerraformRequest::Import { path, name: None })
            }
            Self::OpenTerraform => WorkbenchRequest::ImportFolder(path),
            Self::ExportAudit => WorkbenchRequest::AuditExport { path },
        }
    }
}
