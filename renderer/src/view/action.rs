//! The actions that features ask of the window, performed after the frame is drawn.

use super::spec_history::Page;
use crate::{
    commands::CommandId,
    panel_id::{PanelId, Side},
};
use shared_protocol::{
    BoardId, BoardKind, Command, ElementId, Endpoint, Point, PropKey, ProposalId, Refusal, Revision, TypeId,
    WhichOverrides,
    bundle::{BundleRequest, EntityRef},
    link::LinkEnd,
    messages::{Request, Template},
    previews::{PreviewGesture, SessionId, Shown},
    review::ReviewRequest,
    terraform::TerraformRequest,
    upstreams::{ServerId, UpstreamDecision, UpstreamRequest},
};
use std::collections::BTreeSet;

/// What a panel wants to happen, after the frame is drawn.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// A command of the table.
    Do(CommandId),
    /// A change of the workspace.
    Run(Command),
    Ask(Request),
    Select(BTreeSet<ElementId>),
    /// Selects it, on whatever board it is, and brings it into view.
    Reveal(ElementId),
    OpenBoard(BoardId),
    /// Adds a node where there is room, in the selected container if it may stand there.
    Add(TypeId),
    /// Adds a node with its middle at a point of the board.
    AddAt {
        type_id: TypeId,
        at: Point,
    },
    /// Adds a node and connects it to an endpoint.
    AddConnected {
        type_id: TypeId,
        at: Point,
        from: Endpoint,
    },
    /// Opens it, in front.
    ShowPanel(PanelId),
    ClosePanel(PanelId),
    MovePanel(PanelId, Side),
    /// Asks for the title of a new board of this kind.
    NewBoard(BoardKind),
    /// Shows it, with the keyboard in the inspector's control of one property.
    GoToField(ElementId, PropKey),
    Refuse(Refusal),
    /// Shows a refusal with a button that does something else instead.
    Offer {
        refusal: Refusal,
        text: &'static str,
        action: Box<Action>,
    },
    /// Shows a notice of success, with a button if there is one.
    Notify {
        message: String,
        details: Vec<String>,
        button: Option<(&'static str, Box<Action>)>,
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
    /// Asks for a file or folder and then does what it is for.
    AskPath(Purpose),
    /// About spec bundles.
    Spec(SpecAction),
    /// Asks what something should be linked to.
    LinkFrom(LinkEnd),
    /// What only the window may ask: decisions among it.
    Review(ReviewRequest),
    OpenProposal(ProposalId),
    CloseProposal,
    /// Shows something in a preview, in the session that has it already if there is one.
    StartPreview(Shown),
    /// Shows another session in the preview panel.
    LookAt(SessionId),
    /// From now on the inspector sets overrides, or no more.
    SetOverriding(bool),
    /// Makes overrides what boards and components say.
    Promote(WhichOverrides),
    /// What somebody does in a preview.
    Gesture(SessionId, PreviewGesture),
    /// About managed servers, under the ticket of its question.
    Upstream {
        ticket: u64,
        ask: Ask,
    },
    /// Shows the page of a managed server.
    OpenServer(ServerId),
    /// Takes back an operation that was just made, whatever came after it.
    TakeBack(Revision),
}

impl Action {
    pub(crate) fn notify(message: impl Into<String>, details: Vec<String>) -> Self {
        Self::Notify { message: message.into(), details, button: None }
    }
}

/// An action on spec bundles.
#[derive(Debug, Clone)]
pub(crate) enum SpecAction {
    /// Asks main; the answer comes back under the ticket.
    Ask {
        ticket: u64,
        request: BundleRequest,
    },
    /// Shows a page in the reader.
    Open(Page),
    /// Shows an entity, with one of its fields in view.
    OpenAt(EntityRef, Option<String>),
    /// The page is no more.
    Close(Page),
    Edit(EntityRef),
    Save,
    /// Asks whether an entity should go.
    AskDelete(EntityRef),
    Delete(EntityRef),
    /// Asks how much of a bundle should be drawn.
    AskMap(String, Option<EntityRef>),
    DrawMap {
        bundle: String,
        around: Option<EntityRef>,
        depth: u32,
    },
    /// Leads to the node that stands for an entity, or draws what is around it.
    ShowOnMap(EntityRef),
}

/// What goes to main: a decision takes the window's own channel, which no terminal and no agent has.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Request(Box<UpstreamRequest>),
    Decision(Box<UpstreamDecision>),
}

/// What a path is wanted for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Purpose {
    OpenWorkspace,
    NewWorkspace {
        template: Template,
    },
    Export {
        board: BoardId,
        suggestion: String,
    },
    /// A folder of Terraform files, or of a TerraStudio project, as a board of this workspace.
    ImportTerraform,
    /// The same as a workspace of its own.
    OpenTerraform,
    /// Every line of the audit.
    ExportAudit,
}

impl Purpose {
    /// What an exported audit is called, unless somebody calls it otherwise.
    pub(crate) const AUDIT_FILE: &str = "audit.jsonl";

    pub(crate) fn request(&self, path: String) -> Request {
        match self {
            Self::OpenWorkspace => Request::Open(path),
            Self::NewWorkspace { template } => Request::New { path, template: *template },
            Self::Export { board, .. } => Request::Export { board: *board, path },
            Self::ImportTerraform => Request::Terraform(TerraformRequest::Import { path, name: None }),
            Self::OpenTerraform => Request::ImportFolder(path),
            Self::ExportAudit => Request::AuditExport { path },
        }
    }
}
