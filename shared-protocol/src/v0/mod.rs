//! The v0 workbench shapes: the JSON format of v0 producers, adapters and stored files.
//!
//! Decode with `serde_json::from_str` / `from_value`. As in v0, unknown keys are dropped, ids are free strings and an
//! absent optional field stays absent when written back. Decoding is stricter than plain serde derives: it refuses an
//! array for an object, a number for a tag, and `null` for an absent field. (Do not call `Shape::deserialize(..)` by
//! that path: the helper derive of the same name skips these checks.)
//!
//! Stricter than v0, where v0 had known errors: preview URLs must be `http(s)://host`, prop paths must be JSON
//! Pointers, `min` must not exceed `max`, and `pattern` must compile.

mod common;
mod config;
mod edits;
mod graph;
mod overrides;
mod patch;
mod pointer;
mod preview;
mod registry;
mod runtime;
mod save;
mod selection;
mod strict;
mod time;
mod url;
mod workspace;

pub use common::{
    AdapterId, ComponentTypeId, FiniteNumber, InspectorSectionId, InstanceId, JsonValue, PreviewLauncherId,
    PreviewSessionId, RouteId, SchemaVersion, SourceRef,
};
pub use config::{
    AiConfig, AiPrompt, ComponentOverride, ComponentsConfig, ConfigPropOverride, ControlOverride,
    ExposureOverride, ModuleConfig, PreviewConfig, PreviewLauncherConfig, WorkbenchConfig,
};
pub use edits::{
    AppliedFile, ApplyEditsResult, EditError, EditErrorCode, TextEdit, TextRange, WorkspaceFileEdit,
};
pub use graph::{
    GraphEdge, GraphNode, GraphNodeRef, GraphOp, GraphPatch, GraphQuery, GraphSnapshot, QueryNodeRef,
};
pub use overrides::{
    InstanceRef, OverrideOp, OverridePatch, PersistedOverride, PersistedOverrideList, PersistedOverridesFile,
};
pub use pointer::{JsonPointer, JsonPointerError, PropPath};
pub use preview::{
    PreviewLaunchResult, PreviewLauncherDescriptor, PreviewLogEntry, PreviewLogLevel, PreviewSessionState,
    PreviewSessionTarget, PreviewSessionType, SetPreviewViewportRequest, ViewportBounds,
};
pub use registry::{
    ColorFormat, ComponentImplementationHint, ComponentRegistry, ComponentRegistryEntry, ControlDefinition,
    ControlKind, DisplayHint, ExposureKind, ImplementationHints, PropConstraints, PropDefinition,
    PropExposure, SelectOption,
};
pub use runtime::{AdapterCapabilities, HostCommand, RuntimeEvent, SelectionCause};
pub use save::{
    DraftOverride, DraftOverrideAddress, SaveFailure, SavePlan, SaveResult, ValidationCode, ValidationResult,
};
pub use selection::{InstanceDescriptor, SelectionChangedEvent};
pub use strict::UnknownValue;
pub use time::{UtcTimestamp, UtcTimestampError};
pub use url::{HttpUrl, HttpUrlError};
pub use workspace::{InspectorSectionContribution, WorkspaceOpenError, WorkspaceOpenErrorCode};
