//! Typed requests of terminals and of main's own parts: each names its response.
//!
//! A request travels as a variant of [`Wire`], the enum that window and terminals share. Its response travels alone, in the
//! encoding of the connection, and is decoded by the sender, which knows the type. The window still receives its
//! responses wrapped in [`WorkbenchResponse`]; so do the requests to Terraform, previews and managed servers, which name their
//! variant of it here.

use crate::{
    BoardId, Command, GraphDocument, NodeId, Override, OverrideKey, OverrideResolution, ProposalId, Revision,
    bundle::BundleRequest,
    mcp::{McpRequest, McpView},
    messages::{
        AppliedCommand, ConflictResolution, OperationLogEntry, Patch, WorkbenchInstanceView,
        WorkbenchRequest as Wire, WorkbenchResponse, WorkspaceProblem,
    },
    preview_sessions::{
        PreviewId, PreviewLogLine, PreviewRequest, PreviewResponse, PreviewTarget, PreviewsView,
    },
    preview_wire::PreviewScreen,
    proposal::ReviewVerdict,
    request::Request,
    review::{AuditLine, AuditView, ProposalBrief, ProposalDetails, TerminalDecision, TerminalReviewRequest},
    terraform::{
        CostView, HclView, PlanView, TerraformFindingView, TerraformOperation, TerraformRequest,
        TerraformResponse, TerraformRunId, TerraformRunLine, TerraformRunView,
    },
    trace_link::{TraceLinkRequest, TraceLinksView},
    upstreams::{
        ImportSource, ManagedServerDecision, ManagedServerRequest, ManagedServerResponse, ManagedServersView,
        RegistryServer, ServerBrief, ServerDetails, ServerForm, ServerId, ServerImportInput,
        ServerImportPreview, ServerLogChunk, ToolCall, ToolCallResult,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A request that terminals send with [`crate::messages::FromTerminal`], and how they read its response.
pub trait TerminalRequest: Into<Wire> {
    type Response;

    /// Returns `None` for the response to another request.
    fn read(response: Value) -> Option<Self::Response>;
}

/// Requests to the workspace: the response travels as it is.
macro_rules! workspace_requests {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* } -> $response:ty = $wire:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $name { $(pub $field: $type),* }

        impl Request for $name {
            type Response = $response;
        }

        impl From<$name> for Wire {
            fn from($name { $($field),* }: $name) -> Self {
                $wire
            }
        }

        impl TerminalRequest for $name {
            type Response = $response;

            fn read(response: Value) -> Option<$response> {
                serde_json::from_value(response).ok()
            }
        }
    )* };
}

/// Requests to a service: the response travels as a variant of [`WorkbenchResponse`].
macro_rules! service_requests {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* } -> $response:ty = $wire:expr, $answer:pat => $read:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name { $(pub $field: $type),* }

        impl From<$name> for Wire {
            fn from($name { $($field),* }: $name) -> Self {
                $wire
            }
        }

        impl TerminalRequest for $name {
            type Response = $response;

            fn read(response: Value) -> Option<$response> {
                match serde_json::from_value(response) {
                    Ok($answer) => Some($read),
                    _ => None,
                }
            }
        }
    )* };
}

/// The files that a save wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedFiles {
    pub revision: Revision,
    pub files: Vec<String>,
}

/// A file that an export wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedFile {
    pub path: String,
    pub bytes: u64,
}

workspace_requests! {
    RunCommand { command: Command } -> AppliedCommand = Wire::Run(command);
    UndoLast {} -> AppliedCommand = Wire::Undo;
    RedoLast {} -> AppliedCommand = Wire::Redo;
    RevertOperation { revision: Revision, partial: bool } -> AppliedCommand = Wire::Revert { revision, partial };
    SaveFiles {} -> SavedFiles = Wire::Save;
    ResolveBoard { board: BoardId, keep: ConflictResolution } -> AppliedCommand = Wire::Resolve { board, keep };
    ReadLog { limit: u32 } -> Vec<OperationLogEntry> = Wire::Log { limit };
    ReadOperations { revisions: Vec<Revision> } -> Vec<OperationLogEntry> = Wire::Operations(revisions);
    /// Returns no patches when they are no longer kept and everything must be read again.
    ReadPatches { since: Revision } -> Option<Vec<Patch>> = Wire::ChangesSince(since);
    ListProblems {} -> Vec<WorkspaceProblem> = Wire::Problems;
    ReadDocument {} -> GraphDocument = Wire::Document;
    ListOverrides {} -> Vec<(OverrideKey, Override, OverrideResolution)> = Wire::Overrides;
    DescribeInstance {} -> WorkbenchInstanceView = Wire::Instance;
    ExportBoard { board: BoardId, path: String } -> ExportedFile = Wire::Export { board, path };
    AskBundles { request: BundleRequest } -> WorkbenchResponse = Wire::Bundle(request);
    ListLinks {} -> TraceLinksView = Wire::Link(TraceLinkRequest::List);
    ChangeLinks { change: TraceLinkRequest } -> AppliedCommand = Wire::Link(change);
    ReadAudit { after: u64, limit: u32 } -> Vec<AuditLine> = Wire::Audit { after, limit };
    ReadAuditPage { before: Option<u64>, limit: u32 } -> AuditView = Wire::AuditView { before, limit };
    ExportAudit { path: String } -> ExportedFile = Wire::AuditExport { path };
    RaiseWindow {} -> () = Wire::Raise;
}

/// The files of a board that were written and removed, and those of other programs that were left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenHcl {
    pub written: Vec<String>,
    pub removed: Vec<String>,
    pub in_the_way: Vec<String>,
}

/// A board that was made from a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedBoard {
    pub board: BoardId,
    pub revision: Revision,
    pub notes: Vec<TerraformFindingView>,
}

/// Servers that were imported, and the names of those that were refused with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedServers {
    pub servers: Vec<ServerBrief>,
    pub refused: Vec<(String, String)>,
}

service_requests! {
    ViewAgents {} -> Box<McpView> = Wire::Mcp(McpRequest::View), WorkbenchResponse::Mcp(view) => view;

    GenerateHcl { board: BoardId } -> Box<HclView>
        = Wire::Terraform(TerraformRequest::Hcl { board }), WorkbenchResponse::Terraform(TerraformResponse::Hcl(view)) => view;
    WriteHcl { board: BoardId } -> WrittenHcl = Wire::Terraform(TerraformRequest::Write { board }),
        WorkbenchResponse::Terraform(TerraformResponse::Written { written, removed, in_the_way })
            => WrittenHcl { written, removed, in_the_way };
    EstimateCost { board: BoardId } -> Box<CostView>
        = Wire::Terraform(TerraformRequest::Cost { board }), WorkbenchResponse::Terraform(TerraformResponse::Cost(view)) => view;
    ListMissingPrices { board: BoardId } -> String
        = Wire::Terraform(TerraformRequest::MissingPrices { board }), WorkbenchResponse::Text(text) => text;
    StartRun { board: BoardId, operation: TerraformOperation, confirmed: bool, secrets: Vec<(String, String)> } -> TerraformRunId
        = Wire::Terraform(TerraformRequest::Run { board, operation, confirmed, secrets }),
        WorkbenchResponse::Terraform(TerraformResponse::Started { run }) => run;
    CancelRun { run: TerraformRunId } -> () = Wire::Terraform(TerraformRequest::Cancel { run }), WorkbenchResponse::Done => ();
    ListRuns { board: BoardId } -> Vec<TerraformRunView> = Wire::Terraform(TerraformRequest::History { board }),
        WorkbenchResponse::Terraform(TerraformResponse::History(runs)) => runs;
    ReadRunLines { run: TerraformRunId, from: u64 } -> (TerraformRunView, Vec<TerraformRunLine>)
        = Wire::Terraform(TerraformRequest::Lines { run, from }),
        WorkbenchResponse::Terraform(TerraformResponse::Lines { run, lines }) => (run, lines);
    ReadPlan { board: BoardId } -> Option<Box<PlanView>>
        = Wire::Terraform(TerraformRequest::Plan { board }), WorkbenchResponse::Terraform(TerraformResponse::Plan(plan)) => plan;
    ImportBoard { path: String, name: Option<String> } -> ImportedBoard
        = Wire::Terraform(TerraformRequest::Import { path, name }),
        WorkbenchResponse::Terraform(TerraformResponse::Imported { board, revision, notes })
            => ImportedBoard { board, revision, notes };

    ListPreviews {} -> Box<PreviewsView>
        = Wire::Preview(PreviewRequest::List), WorkbenchResponse::Preview(PreviewResponse::All(view)) => view;
    StartPreview { shows: PreviewTarget, screen: PreviewScreen } -> PreviewId
        = Wire::Preview(PreviewRequest::Start { shows, screen }),
        WorkbenchResponse::Preview(PreviewResponse::Started(session)) => session;
    StopPreview { session: PreviewId } -> () = Wire::Preview(PreviewRequest::Stop(session)), WorkbenchResponse::Done => ();
    RestartPreview { session: PreviewId } -> () = Wire::Preview(PreviewRequest::Restart(session)), WorkbenchResponse::Done => ();
    ClosePreview { session: PreviewId } -> () = Wire::Preview(PreviewRequest::Close(session)), WorkbenchResponse::Done => ();
    NavigatePreview { session: PreviewId, route: NodeId } -> ()
        = Wire::Preview(PreviewRequest::Navigate { session, route }), WorkbenchResponse::Done => ();
    ReadPreviewLog { session: PreviewId, after: u64 } -> Vec<PreviewLogLine>
        = Wire::Preview(PreviewRequest::Log { session, after }), WorkbenchResponse::Preview(PreviewResponse::Log(lines)) => lines;
    CapturePreview { session: PreviewId, path: String } -> ExportedFile
        = Wire::Preview(PreviewRequest::Shot { session, path }),
        WorkbenchResponse::Exported { path, bytes } => ExportedFile { path, bytes };

    ListServers {} -> Box<ManagedServersView>
        = Wire::Upstream(ManagedServerRequest::List), WorkbenchResponse::Upstream(ManagedServerResponse::View(view)) => view;
    ShowServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(ManagedServerRequest::Show { server }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    StartServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(ManagedServerRequest::Start { server }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    StopServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(ManagedServerRequest::Stop { server }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    RestartServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(ManagedServerRequest::Restart { server }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    DisableServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(ManagedServerRequest::Disable { server }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    AddServer { form: Box<ServerForm> } -> Box<ServerDetails> = Wire::Upstream(ManagedServerRequest::Add { form }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    WithdrawTool { server: ServerId, tool: String } -> Box<ServerDetails>
        = Wire::Upstream(ManagedServerRequest::Withdraw { server, tool }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Server(details)) => details;
    ReadServerLog { server: ServerId, from: u64 } -> ServerLogChunk
        = Wire::Upstream(ManagedServerRequest::Log { server, from }), WorkbenchResponse::Upstream(ManagedServerResponse::Log(part)) => part;
    ListImportSources {} -> Vec<ImportSource> = Wire::Upstream(ManagedServerRequest::Sources),
        WorkbenchResponse::Upstream(ManagedServerResponse::Sources(sources)) => sources;
    PreviewServerImport { source: ServerImportInput } -> Box<ServerImportPreview>
        = Wire::Upstream(ManagedServerRequest::PreviewImport { source }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Import(view)) => view;
    ImportServers { source: ServerImportInput, names: Vec<String> } -> ImportedServers
        = Wire::Upstream(ManagedServerRequest::Import { source, names }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Imported { servers, refused }) => ImportedServers { servers, refused };
    SearchServerRegistry { registry: Option<String>, query: String } -> Vec<RegistryServer>
        = Wire::Upstream(ManagedServerRequest::SearchRegistry { registry, query }),
        WorkbenchResponse::Upstream(ManagedServerResponse::Registry(found)) => found;
    CallServerTool { call: ToolCall } -> ToolCallResult
        = Wire::Upstream(ManagedServerRequest::Call(call)), WorkbenchResponse::Upstream(ManagedServerResponse::Called(result)) => result;
}

// ---- reviewing in a terminal --------------------------------------------------------------------------------------------

/// The queue of proposals, drafts included.
#[derive(Debug, Clone, Copy)]
pub struct ListQueue;

/// One proposal, by number or id.
#[derive(Debug, Clone)]
pub struct ShowProposal(pub String);

/// A message about the review queue, and its response.
pub trait TypedReviewRequest: Into<TerminalReviewRequest> {
    type Response: DeserializeOwned;
}

impl From<ListQueue> for TerminalReviewRequest {
    fn from(_: ListQueue) -> Self {
        Self::List
    }
}

impl TypedReviewRequest for ListQueue {
    type Response = Vec<ProposalBrief>;
}

impl From<ShowProposal> for TerminalReviewRequest {
    fn from(ShowProposal(proposal): ShowProposal) -> Self {
        Self::Show(proposal)
    }
}

impl TypedReviewRequest for ShowProposal {
    type Response = Box<ProposalDetails>;
}

/// The place where the person finds the code of a submitted decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    pub place: String,
}

/// A decided proposal and its consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedProposal {
    pub proposal: Box<ProposalBrief>,
    /// The operation that the proposal became; one undo takes it back.
    pub applied: Option<AppliedCommand>,
    /// The action that follows: a file was saved, a run starts.
    pub notice: Option<String>,
}

/// A decision in a terminal, and the outcome that main sends once the code is confirmed.
pub trait TypedDecision: Into<TerminalDecision> {
    type Outcome;

    /// Returns `None` for the outcome of another decision.
    fn read(outcome: Value) -> Option<Self::Outcome>;
}

macro_rules! terminal_decisions {
    ($($(#[$doc:meta])* $name:ident($type:ty) -> $outcome:ty = |$decision:ident| $asked:expr, |$value:ident| $read:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(pub $type);

        impl From<$name> for TerminalDecision {
            fn from($name($decision): $name) -> Self {
                $asked
            }
        }

        impl TypedDecision for $name {
            type Outcome = $outcome;

            fn read($value: Value) -> Option<$outcome> {
                $read
            }
        }
    )* };
}

terminal_decisions! {
    /// Accepts a proposal, or some of its elements.
    AcceptProposal(ReviewVerdict) -> DecidedProposal
        = |verdict| TerminalDecision::Accept(verdict), |outcome| serde_json::from_value(outcome).ok();
    /// Rejects a version of a proposal with a reason.
    RejectProposal((ProposalId, u32, String)) -> DecidedProposal
        = |rejected| TerminalDecision::Reject { proposal: rejected.0, version: rejected.1, reason: rejected.2 },
        |outcome| serde_json::from_value(outcome).ok();
    /// Decides about a managed server, which stays.
    DecideServer(ManagedServerDecision) -> Box<ServerDetails> = |decision| TerminalDecision::Upstream(decision),
        |outcome| match upstream_answer(outcome)? { ManagedServerResponse::Server(details) => Some(details), _ => None };
    /// Decides about a managed server that goes, or about a manifest.
    DecideManifest(ManagedServerDecision) -> () = |decision| TerminalDecision::Upstream(decision),
        |outcome| upstream_answer(outcome).map(drop);
    /// Calls a tool of a managed server.
    DecideCall(ToolCall) -> ToolCallResult = |call| TerminalDecision::Upstream(ManagedServerDecision::Call(call)),
        |outcome| match upstream_answer(outcome)? { ManagedServerResponse::Called(result) => Some(result), _ => None };
}

fn upstream_answer(outcome: Value) -> Option<ManagedServerResponse> {
    match serde_json::from_value(outcome) {
        Ok(WorkbenchResponse::Upstream(answer)) => Some(answer),
        _ => None,
    }
}
