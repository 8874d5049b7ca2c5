//! The responses of main to requests of panels. Each names its subject, so that a panel needs no record of what it requested.

use super::spec_history::SpecPage;
use shared_protocol::{
    GraphDocument, Refusal,
    bundle::{BundleDiagnostic, EntityRef, EntitySummary, EntityView, RelationCoverageView, SchemaView},
    managed_servers::{
        ImportSource, RegistryServer, ServerDetails, ServerId, ServerImportPreview, ServerLogChunk,
        ToolCallResult,
    },
    messages::{AppliedCommand, RecentWorkspace, WorkspaceTemplate},
    requests::{CheckedBundle, DrawnMap, ImportedBoard, ImportedServers, OpenedWorkspace},
};

#[derive(Debug, Clone)]
pub(crate) enum WelcomeResponse {
    Recents(Vec<RecentWorkspace>),
    Templates(Vec<(WorkspaceTemplate, GraphDocument)>),
    Opened(OpenedWorkspace),
    Imported(ImportedBoard),
    Refused(Refusal),
}

/// A response about spec bundles, for the workspace that was open when it was requested.
#[derive(Debug, Clone)]
pub(crate) enum SpecResponse {
    /// By bundle.
    Entities(String, Result<Vec<EntitySummary>, Refusal>),
    Entity(EntityRef, Result<EntityView, Refusal>),
    /// By bundle and type of the entity.
    Schema((String, String), Result<SchemaView, Refusal>),
    Diagnostics(String, Result<Vec<BundleDiagnostic>, Refusal>),
    Coverage(String, Result<Vec<RelationCoverageView>, Refusal>),
    Knowledge(String, Result<String, Refusal>),
    /// By query.
    Found(String, Result<Vec<EntitySummary>, Refusal>),
    /// A dry run of a form, by its page and the version of its draft.
    Checked((SpecPage, u64), Result<CheckedBundle, Refusal>),
    Saved(SpecPage, Result<AppliedCommand, Refusal>),
    Deleted(EntityRef, Result<AppliedCommand, Refusal>),
    Map((), Result<DrawnMap, Refusal>),
}

#[derive(Debug, Clone)]
pub(crate) enum ManagedServerResponse {
    Server(ServerDetails),
    Added(ServerDetails),
    Deleted(ServerId),
    Log(ServerId, ServerLogChunk),
    /// The result of a tool, by the name that agents use.
    Called(String, ToolCallResult),
    Sources(Vec<ImportSource>),
    Preview(ServerImportPreview),
    Imported(ImportedServers),
    Registry(Vec<RegistryServer>),
    Done,
    Refused(Refusal),
}
