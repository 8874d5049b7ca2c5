//! The responses of main to requests of panels. Each names its subject, so that a panel needs no record of what it requested.

use super::spec_history::SpecPage;
use shared_protocol::{
    GraphDocument, Refusal,
    bundle::{BundleDiagnostic, EntityRef, EntitySummary, EntityView, RelationCoverageView, SchemaView},
    messages::{AppliedCommand, RecentWorkspace, WorkspaceTemplate},
    requests::{CheckedBundle, DrawnMap, ImportedBoard, ImportedServers, OpenedWorkspace},
    upstreams::{
        ImportSource, RegistryServer, ServerDetails, ServerId, ServerImportPreview, ServerLogChunk,
        ToolCallResult,
    },
};

/// A response for the welcome page.
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
    Entities {
        bundle: String,
        result: Result<Vec<EntitySummary>, Refusal>,
    },
    Entity {
        entity: EntityRef,
        result: Result<EntityView, Refusal>,
    },
    Schema {
        bundle: String,
        entity_type: String,
        result: Result<SchemaView, Refusal>,
    },
    Diagnostics {
        bundle: String,
        result: Result<Vec<BundleDiagnostic>, Refusal>,
    },
    Coverage {
        bundle: String,
        result: Result<Vec<RelationCoverageView>, Refusal>,
    },
    Knowledge {
        bundle: String,
        result: Result<String, Refusal>,
    },
    Found {
        query: String,
        result: Result<Vec<EntitySummary>, Refusal>,
    },
    /// A dry run of a form, with the version of its draft.
    Checked {
        page: SpecPage,
        version: u64,
        result: Result<CheckedBundle, Refusal>,
    },
    Saved {
        page: SpecPage,
        result: Result<AppliedCommand, Refusal>,
    },
    Deleted {
        entity: EntityRef,
        result: Result<AppliedCommand, Refusal>,
    },
    Map(Result<DrawnMap, Refusal>),
}

/// A response about managed servers and manifests.
#[derive(Debug, Clone)]
pub(crate) enum UpstreamResponse {
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
