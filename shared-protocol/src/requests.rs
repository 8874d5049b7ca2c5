//! Every request that windows and terminals share, each with its response. None of them decides for a person: those are in
//! [`crate::decisions`].
//!
//! A request travels as a variant of [`WorkbenchRequest`]. Its response travels alone, in the encoding of the connection, and
//! is decoded by the sender, which knows the type.

use crate::{
    BoardId, Command, GraphDocument, NodeId, Override, OverrideKey, OverrideResolution, Revision,
    bundle::{BundleDiagnostic, EntityRef, EntitySummary, EntityView, RelationCoverageView, SchemaView},
    managed_servers::{
        ImportSource, ManagedServersView, RegistryServer, ServerBrief, ServerDetails, ServerForm, ServerId,
        ServerImportInput, ServerImportPreview, ServerLogChunk, ToolCall, ToolCallResult,
    },
    mcp::{McpMode, McpView},
    messages::{
        AppliedCommand, ConflictResolution, OperationLogEntry, Patch, RecentWorkspace, WelcomeFolder,
        WorkbenchInstanceView, WorkspaceProblem, WorkspaceTemplate,
    },
    preview_sessions::{PreviewId, PreviewLogLine, PreviewTarget, PreviewsView},
    preview_wire::{PreviewMode, PreviewScreen},
    request::{Request, requests},
    review::{AuditLine, AuditReport, AuditView},
    terraform::{
        CostView, HclView, PlanView, TerraformFindingView, TerraformOperation, TerraformRunId,
        TerraformRunLine, TerraformRunView,
    },
    trace_link::{TraceLinkChange, TraceLinksView},
};
use serde::{Deserialize, Serialize};

requests! {
    /// A request that windows and terminals share.
    WorkbenchRequest {
        // ---- content -------------------------------------------------------------------------------------------------
        RunCommand { command: Command } -> AppliedCommand;
        UndoLast {} -> AppliedCommand;
        RedoLast {} -> AppliedCommand;
        /// Reverts an older operation and keeps later work; `partial` skips the conflicting changes.
        RevertOperation { revision: Revision, partial: bool } -> AppliedCommand;
        SaveFiles {} -> SavedFiles;
        ResolveBoard { board: BoardId, keep: ConflictResolution } -> AppliedCommand;
        /// The log, newest operations first.
        ReadLog { limit: u32 } -> Vec<OperationLogEntry>;
        /// The given operations as log entries; operations that are no longer stored are left out.
        ReadOperations { revisions: Vec<Revision> } -> Vec<OperationLogEntry>;
        /// Returns no patches when they are no longer kept and everything must be read again.
        ReadPatches { since: Revision } -> Option<Vec<Patch>>;
        ListProblems {} -> Vec<WorkspaceProblem>;
        ReadDocument {} -> GraphDocument;
        /// Every override with its current state.
        ListOverrides {} -> Vec<(OverrideKey, Override, OverrideResolution)>;
        DescribeInstance {} -> WorkbenchInstanceView;
        /// Exports a board to a file; the file extension selects the format.
        ExportBoard { board: BoardId, path: String } -> ExportedFile;
        ListLinks {} -> TraceLinksView;
        ChangeLinks { change: TraceLinkChange } -> AppliedCommand;
        /// Audit lines after a number, oldest first.
        ReadAudit { after: u64, limit: u32 } -> Vec<AuditLine>;
        /// The newest audit lines before a number (the newest of all when absent), newest first, and whether the hash chain
        /// is intact.
        ReadAuditPage { before: Option<u64>, limit: u32 } -> AuditView;
        /// Verifies the audit, its signatures and its anchor, and the operations.
        VerifyAudit {} -> AuditReport;
        /// Exports every audit line to a file, oldest first, as `draftboard audit export` prints them.
        ExportAudit { path: String } -> ExportedFile;

        // ---- workspaces and the process ------------------------------------------------------------------------------
        /// Opens another workspace in place of this one.
        OpenWorkspace { path: String } -> OpenedWorkspace;
        /// Creates a workspace in a folder and opens it in place of this one.
        CreateWorkspace { path: String, template: WorkspaceTemplate } -> OpenedWorkspace;
        /// Opens the user's own copy of the example.
        OpenExample {} -> ();
        /// Opens a fresh copy of the example in which a scripted agent proposes a change.
        StartDemo {} -> StartedDemo;
        /// Hides the tour of the demo permanently.
        CloseTour {} -> ();
        /// Creates a workspace next to a folder of Terraform files, imports a copy of them as a board, and opens it in place
        /// of this one.
        ImportFolder { path: String } -> ImportedBoard;
        /// One board of each template that has boards, for thumbnails.
        ListTemplates {} -> Vec<(WorkspaceTemplate, GraphDocument)>;
        /// The recently opened workspaces, newest first.
        ListRecents {} -> Vec<RecentWorkspace>;
        /// Removes an entry from the recent list; the workspace itself is not changed.
        ForgetRecent { path: String } -> Vec<RecentWorkspace>;
        RaiseWindow {} -> ();
        /// Quits the workbench and keeps the journal.
        Quit {} -> ();
        /// The content of a problem report: versions, the newest crash report, the end of the log.
        ReportProblem {} -> String;

        // ---- the MCP server ------------------------------------------------------------------------------------------
        ViewAgents {} -> McpView;
        SetAgentMode { mode: McpMode } -> McpView;
        SetAgentPort { port: u16 } -> McpView;
        /// Restarts the listener with the current settings.
        RestartAgents {} -> McpView;
        /// Replaces the token. Every client must read the new one.
        RotateToken {} -> McpView;
        /// Refuses the calls of a client until it is resumed.
        PauseClient { client: u64 } -> ();
        ResumeClient { client: u64 } -> ();
        DisconnectClient { client: u64 } -> ();
        /// Requests the health of the server over the network, as a client would.
        TestConnection {} -> String;
        /// The configuration for a client program.
        ReadClientConfig { client: String } -> String;

        // ---- spec bundles --------------------------------------------------------------------------------------------
        /// A summary of every entity of a bundle.
        ListEntities { bundle: String } -> Vec<EntitySummary>;
        ShowEntity { entity: EntityRef } -> EntityView;
        /// The schema for a new entity of a type.
        ReadSchema { bundle: String, entity_type: String } -> SchemaView;
        SearchEntities {
            /// All bundles when absent.
            bundle: Option<String>,
            query: String,
            limit: u32,
        } -> Vec<EntitySummary>;
        ListDiagnostics { bundle: String } -> Vec<BundleDiagnostic>;
        MeasureCoverage { bundle: String } -> Vec<RelationCoverageView>;
        /// The domain knowledge as Markdown.
        ReadKnowledge { bundle: String } -> String;
        /// A dry run of changes in the format of `apply_changes`, as a JSON array.
        CheckBundle { bundle: String, changes: String } -> CheckedBundle;
        /// Changes in the format of `apply_changes`, as a JSON array, in one undoable operation.
        ChangeBundle { bundle: String, changes: String } -> AppliedCommand;
        /// Draws a bundle, or the neighbourhood of one of its entities, as a spec board in one operation.
        DrawMap { bundle: String, around: Option<EntityRef>, depth: u32 } -> DrawnMap;

        // ---- Terraform -----------------------------------------------------------------------------------------------
        /// The generated files and their differences from the files on disk.
        GenerateHcl { board: BoardId } -> HclView;
        /// Writes changed files and removes obsolete ones.
        WriteHcl { board: BoardId } -> WrittenHcl;
        EstimateCost { board: BoardId } -> CostView;
        /// A template for the missing lines of the price book.
        ListMissingPrices { board: BoardId } -> String;
        /// Writes the files and starts a run.
        StartRun {
            board: BoardId,
            operation: TerraformOperation,
            /// A person confirmed the change of real infrastructure.
            confirmed: bool,
            /// Values of sensitive variables; kept in memory for later runs and never written to disk.
            secrets: Vec<(String, String)>,
        } -> TerraformRunId;
        /// Asks a run to end. Its end follows in the view.
        CancelRun { run: TerraformRunId } -> ();
        /// The stored runs, newest first.
        ListRuns { board: BoardId } -> Vec<TerraformRunView>;
        /// Lines of a current or earlier run from a number on. Waits briefly for the first one while the run is active.
        ReadRunLines { run: TerraformRunId, from: u64 } -> (TerraformRunView, Vec<TerraformRunLine>);
        /// The changes of the saved plan, attribute by attribute; `None` when there is no plan for the current files.
        ReadPlan { board: BoardId } -> Option<PlanView>;
        /// Imports a folder of Terraform files or a TerraStudio project as a board, in one operation.
        ImportBoard {
            path: String,
            /// The name of the new board; the folder name when absent.
            name: Option<String>,
        } -> ImportedBoard;

        // ---- preview sessions ----------------------------------------------------------------------------------------
        ListPreviews {} -> PreviewsView;
        /// Starts a session; the next view contains it.
        StartPreview { shows: PreviewTarget, screen: PreviewScreen } -> PreviewId;
        /// Ends the process; the session stays listed as stopped, with its log.
        StopPreview { session: PreviewId } -> ();
        /// Restarts the process, also when it stopped, crashed or hangs. Lifts the quarantine.
        RestartPreview { session: PreviewId } -> ();
        /// Stops the session if necessary and removes it.
        ClosePreview { session: PreviewId } -> ();
        /// Shows another page in the same session.
        NavigatePreview { session: PreviewId, route: NodeId } -> ();
        SetPreviewScreen { session: PreviewId, screen: PreviewScreen } -> ();
        SetPreviewMode { session: PreviewId, mode: PreviewMode } -> ();
        /// Selects an instance, like a click on it in inspect mode; `None` clears the selection.
        SelectInstance { session: PreviewId, instance: Option<String> } -> ();
        /// Log lines after a number, oldest first.
        ReadPreviewLog { session: PreviewId, after: u64 } -> Vec<PreviewLogLine>;
        /// Saves the screen of the session as a PNG file, once a frame of the current content is available.
        CapturePreview { session: PreviewId, path: String } -> ExportedFile;

        // ---- managed servers and manifests ---------------------------------------------------------------------------
        ListServers {} -> ManagedServersView;
        ShowServer { server: ServerId } -> ServerDetails;
        /// Starts an enabled server. Responds once it runs, or with the reason why it does not.
        StartServer { server: ServerId } -> ServerDetails;
        /// Stops a server. Responds once its process and all child processes have ended.
        StopServer { server: ServerId } -> ServerDetails;
        RestartServer { server: ServerId } -> ServerDetails;
        /// Disables and stops a server. Answered like a stop.
        DisableServer { server: ServerId } -> ServerDetails;
        /// Adds a server, disabled and untrusted.
        AddServer { form: Box<ServerForm> } -> ServerDetails;
        /// Withdraws an approval and hides the tool from agents.
        WithdrawTool { server: ServerId, tool: String } -> ServerDetails;
        /// Log lines from a number on; waits briefly for the first one.
        ReadServerLog { server: ServerId, from: u64 } -> ServerLogChunk;
        /// The configurations of other programs.
        ListImportSources {} -> Vec<ImportSource>;
        /// A preview of an import; stores nothing.
        PreviewServerImport { source: ServerImportInput } -> ServerImportPreview;
        /// Imports the servers with these names, disabled, with their secrets in the store.
        ImportServers { source: ServerImportInput, names: Vec<String> } -> ImportedServers;
        /// Searches a registry, given as a file or an address; the default registry when absent.
        SearchServerRegistry { registry: Option<String>, query: String } -> Vec<RegistryServer>;
        /// Calls a tool whose policy is `allow`. Any other tool needs [`crate::decisions::CallTool`].
        CallServerTool { call: ToolCall } -> ToolCallResult;
        /// Reloads the manifests without waiting for a file change.
        ReloadManifests {} -> ();
    }
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

/// The result of opening or creating a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OpenedWorkspace {
    Opened,
    /// The folder is no workspace, or is one already: the window asks the user what to do.
    NeedsChoice(WelcomeFolder),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedDemo {
    /// False after the user closed the tour permanently.
    pub shows_tour: bool,
}

/// The effects of a dry run; nothing was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedBundle {
    pub possible: bool,
    pub diagnostics: Vec<BundleDiagnostic>,
    pub files: Vec<String>,
}

/// A board that shows a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrawnMap {
    pub board: BoardId,
    pub revision: Revision,
}

/// The files of a board that were written and removed, and those of other programs that were left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenHcl {
    pub written: Vec<String>,
    pub removed: Vec<String>,
    pub in_the_way: Vec<String>,
}

/// A board that was made from a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedBoard {
    pub board: BoardId,
    pub revision: Revision,
    pub notes: Vec<TerraformFindingView>,
}

/// Servers that were imported, and the names of those that were refused with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedServers {
    pub servers: Vec<ServerBrief>,
    pub refused: Vec<(String, String)>,
}
