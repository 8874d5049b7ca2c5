//! Typed requests of terminals and of main's own parts: each names its response.
//!
//! A request travels as a variant of [`Wire`], the enum that window and terminals share. Its response travels alone, in the
//! encoding of the connection, and is decoded by the sender, which knows the type. The window still receives its
//! responses wrapped in [`Answer`]; so do the requests to Terraform, previews and managed servers, which name their
//! variant of it here.

use crate::{
    BoardId, Command, Document, NodeId, Override, OverrideKey, ProposalId, Revision, Standing,
    bundle::BundleRequest,
    link::{LinkRequest, LinksView},
    mcp::{McpRequest, McpView},
    messages::{Answer, Applied, InstanceView, Keep, LogEntry, Patch, Request as Wire, ValidationProblem},
    preview::Screen,
    previews::{LoggedLine, PreviewAnswer, PreviewRequest, PreviewsView, SessionId, Shown},
    proposal::Verdict,
    request::Request,
    review::{AskedDecision, AuditLine, AuditView, OpenedProposal, ProposalBrief, TerminalReview},
    terraform::{
        CostView, Finding, HclView, PlanView, RunId, RunLine, RunOperation, RunView, TerraformAnswer,
        TerraformRequest,
    },
    upstreams::{
        CallResult, ImportFrom, ImportSource, ImportView, LogPart, RegistryFound, ServerBrief, ServerDetails,
        ServerForm, ServerId, ToolCall, UpstreamAnswer, UpstreamDecision, UpstreamRequest, UpstreamsView,
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

/// Requests to a service: the response travels as a variant of [`Answer`].
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
    RunCommand { command: Command } -> Applied = Wire::Run(command);
    UndoLast {} -> Applied = Wire::Undo;
    RedoLast {} -> Applied = Wire::Redo;
    RevertOperation { revision: Revision, partial: bool } -> Applied = Wire::Revert { revision, partial };
    SaveFiles {} -> SavedFiles = Wire::Save;
    ResolveBoard { board: BoardId, keep: Keep } -> Applied = Wire::Resolve { board, keep };
    ReadLog { limit: u32 } -> Vec<LogEntry> = Wire::Log { limit };
    ReadOperations { revisions: Vec<Revision> } -> Vec<LogEntry> = Wire::Operations(revisions);
    /// Returns no patches when they are no longer kept and everything must be read again.
    ReadPatches { since: Revision } -> Option<Vec<Patch>> = Wire::ChangesSince(since);
    ListProblems {} -> Vec<ValidationProblem> = Wire::Problems;
    ReadDocument {} -> Document = Wire::Document;
    ListOverrides {} -> Vec<(OverrideKey, Override, Standing)> = Wire::Overrides;
    DescribeInstance {} -> InstanceView = Wire::Instance;
    ExportBoard { board: BoardId, path: String } -> ExportedFile = Wire::Export { board, path };
    AskBundles { request: BundleRequest } -> Answer = Wire::Bundle(request);
    ListLinks {} -> LinksView = Wire::Link(LinkRequest::List);
    ChangeLinks { change: LinkRequest } -> Applied = Wire::Link(change);
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
    pub notes: Vec<Finding>,
}

/// Servers that were imported, and the names of those that were refused with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedServers {
    pub servers: Vec<ServerBrief>,
    pub refused: Vec<(String, String)>,
}

service_requests! {
    ViewAgents {} -> Box<McpView> = Wire::Mcp(McpRequest::View), Answer::Mcp(view) => view;

    GenerateHcl { board: BoardId } -> Box<HclView>
        = Wire::Terraform(TerraformRequest::Hcl { board }), Answer::Terraform(TerraformAnswer::Hcl(view)) => view;
    WriteHcl { board: BoardId } -> WrittenHcl = Wire::Terraform(TerraformRequest::Write { board }),
        Answer::Terraform(TerraformAnswer::Written { written, removed, in_the_way })
            => WrittenHcl { written, removed, in_the_way };
    EstimateCost { board: BoardId } -> Box<CostView>
        = Wire::Terraform(TerraformRequest::Cost { board }), Answer::Terraform(TerraformAnswer::Cost(view)) => view;
    ListMissingPrices { board: BoardId } -> String
        = Wire::Terraform(TerraformRequest::MissingPrices { board }), Answer::Text(text) => text;
    StartRun { board: BoardId, operation: RunOperation, confirmed: bool, secrets: Vec<(String, String)> } -> RunId
        = Wire::Terraform(TerraformRequest::Run { board, operation, confirmed, secrets }),
        Answer::Terraform(TerraformAnswer::Started { run }) => run;
    CancelRun { run: RunId } -> () = Wire::Terraform(TerraformRequest::Cancel { run }), Answer::Done => ();
    ListRuns { board: BoardId } -> Vec<RunView> = Wire::Terraform(TerraformRequest::History { board }),
        Answer::Terraform(TerraformAnswer::History(runs)) => runs;
    ReadRunLines { run: RunId, from: u64 } -> (RunView, Vec<RunLine>)
        = Wire::Terraform(TerraformRequest::Lines { run, from }),
        Answer::Terraform(TerraformAnswer::Lines { run, lines }) => (run, lines);
    ReadPlan { board: BoardId } -> Option<Box<PlanView>>
        = Wire::Terraform(TerraformRequest::Plan { board }), Answer::Terraform(TerraformAnswer::Plan(plan)) => plan;
    ImportBoard { path: String, name: Option<String> } -> ImportedBoard
        = Wire::Terraform(TerraformRequest::Import { path, name }),
        Answer::Terraform(TerraformAnswer::Imported { board, revision, notes })
            => ImportedBoard { board, revision, notes };

    ListPreviews {} -> Box<PreviewsView>
        = Wire::Preview(PreviewRequest::List), Answer::Preview(PreviewAnswer::All(view)) => view;
    StartPreview { shows: Shown, screen: Screen } -> SessionId
        = Wire::Preview(PreviewRequest::Start { shows, screen }),
        Answer::Preview(PreviewAnswer::Started(session)) => session;
    StopPreview { session: SessionId } -> () = Wire::Preview(PreviewRequest::Stop(session)), Answer::Done => ();
    RestartPreview { session: SessionId } -> () = Wire::Preview(PreviewRequest::Restart(session)), Answer::Done => ();
    ClosePreview { session: SessionId } -> () = Wire::Preview(PreviewRequest::Close(session)), Answer::Done => ();
    NavigatePreview { session: SessionId, route: NodeId } -> ()
        = Wire::Preview(PreviewRequest::Navigate { session, route }), Answer::Done => ();
    ReadPreviewLog { session: SessionId, after: u64 } -> Vec<LoggedLine>
        = Wire::Preview(PreviewRequest::Log { session, after }), Answer::Preview(PreviewAnswer::Log(lines)) => lines;
    CapturePreview { session: SessionId, path: String } -> ExportedFile
        = Wire::Preview(PreviewRequest::Shot { session, path }),
        Answer::Exported { path, bytes } => ExportedFile { path, bytes };

    ListServers {} -> Box<UpstreamsView>
        = Wire::Upstream(UpstreamRequest::List), Answer::Upstream(UpstreamAnswer::View(view)) => view;
    ShowServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(UpstreamRequest::Show { server }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    StartServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(UpstreamRequest::Start { server }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    StopServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(UpstreamRequest::Stop { server }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    RestartServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(UpstreamRequest::Restart { server }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    DisableServer { server: ServerId } -> Box<ServerDetails> = Wire::Upstream(UpstreamRequest::Disable { server }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    AddServer { form: Box<ServerForm> } -> Box<ServerDetails> = Wire::Upstream(UpstreamRequest::Add { form }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    WithdrawTool { server: ServerId, tool: String } -> Box<ServerDetails>
        = Wire::Upstream(UpstreamRequest::Withdraw { server, tool }),
        Answer::Upstream(UpstreamAnswer::Server(details)) => details;
    ReadServerLog { server: ServerId, from: u64 } -> LogPart
        = Wire::Upstream(UpstreamRequest::Log { server, from }), Answer::Upstream(UpstreamAnswer::Log(part)) => part;
    ListImportSources {} -> Vec<ImportSource> = Wire::Upstream(UpstreamRequest::Sources),
        Answer::Upstream(UpstreamAnswer::Sources(sources)) => sources;
    PreviewServerImport { source: ImportFrom } -> Box<ImportView>
        = Wire::Upstream(UpstreamRequest::PreviewImport { source }),
        Answer::Upstream(UpstreamAnswer::Import(view)) => view;
    ImportServers { source: ImportFrom, names: Vec<String> } -> ImportedServers
        = Wire::Upstream(UpstreamRequest::Import { source, names }),
        Answer::Upstream(UpstreamAnswer::Imported { servers, refused }) => ImportedServers { servers, refused };
    SearchServerRegistry { registry: Option<String>, query: String } -> Vec<RegistryFound>
        = Wire::Upstream(UpstreamRequest::SearchRegistry { registry, query }),
        Answer::Upstream(UpstreamAnswer::Registry(found)) => found;
    CallServerTool { call: ToolCall } -> CallResult
        = Wire::Upstream(UpstreamRequest::Call(call)), Answer::Upstream(UpstreamAnswer::Called(result)) => result;
}

// ---- reviewing in a terminal --------------------------------------------------------------------------------------------

/// The queue of proposals, drafts included.
#[derive(Debug, Clone, Copy)]
pub struct ListQueue;

/// One proposal, by number or id.
#[derive(Debug, Clone)]
pub struct ShowProposal(pub String);

/// A message about the review queue, and its response.
pub trait TerminalReviewRequest: Into<TerminalReview> {
    type Response: DeserializeOwned;
}

impl From<ListQueue> for TerminalReview {
    fn from(_: ListQueue) -> Self {
        Self::List
    }
}

impl TerminalReviewRequest for ListQueue {
    type Response = Vec<ProposalBrief>;
}

impl From<ShowProposal> for TerminalReview {
    fn from(ShowProposal(proposal): ShowProposal) -> Self {
        Self::Show(proposal)
    }
}

impl TerminalReviewRequest for ShowProposal {
    type Response = Box<OpenedProposal>;
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
    pub applied: Option<Applied>,
    /// The action that follows: a file was saved, a run starts.
    pub notice: Option<String>,
}

/// A decision in a terminal, and the outcome that main sends once the code is confirmed.
pub trait TerminalDecision: Into<AskedDecision> {
    type Outcome;

    /// Returns `None` for the outcome of another decision.
    fn read(outcome: Value) -> Option<Self::Outcome>;
}

macro_rules! terminal_decisions {
    ($($(#[$doc:meta])* $name:ident($type:ty) -> $outcome:ty = |$decision:ident| $asked:expr, |$value:ident| $read:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(pub $type);

        impl From<$name> for AskedDecision {
            fn from($name($decision): $name) -> Self {
                $asked
            }
        }

        impl TerminalDecision for $name {
            type Outcome = $outcome;

            fn read($value: Value) -> Option<$outcome> {
                $read
            }
        }
    )* };
}

terminal_decisions! {
    /// Accepts a proposal, or some of its elements.
    AcceptProposal(Verdict) -> DecidedProposal
        = |verdict| AskedDecision::Accept(verdict), |outcome| serde_json::from_value(outcome).ok();
    /// Rejects a version of a proposal with a reason.
    RejectProposal((ProposalId, u32, String)) -> DecidedProposal
        = |rejected| AskedDecision::Reject { proposal: rejected.0, version: rejected.1, reason: rejected.2 },
        |outcome| serde_json::from_value(outcome).ok();
    /// Decides about a managed server, which stays.
    DecideServer(UpstreamDecision) -> Box<ServerDetails> = |decision| AskedDecision::Upstream(decision),
        |outcome| match upstream_answer(outcome)? { UpstreamAnswer::Server(details) => Some(details), _ => None };
    /// Decides about a managed server that goes, or about a manifest.
    DecideManifest(UpstreamDecision) -> () = |decision| AskedDecision::Upstream(decision),
        |outcome| upstream_answer(outcome).map(drop);
    /// Calls a tool of a managed server.
    DecideCall(ToolCall) -> CallResult = |call| AskedDecision::Upstream(UpstreamDecision::Call(call)),
        |outcome| match upstream_answer(outcome)? { UpstreamAnswer::Called(result) => Some(result), _ => None };
}

fn upstream_answer(outcome: Value) -> Option<UpstreamAnswer> {
    match serde_json::from_value(outcome) {
        Ok(Answer::Upstream(answer)) => Some(answer),
        _ => None,
    }
}
