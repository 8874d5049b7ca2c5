//! Opening a workspace, and contributions of extensions.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::common::{FiniteNumber, InspectorSectionId, JsonValue};
use super::strict::{object, present, string_enum};

/// Why a workspace did not open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct WorkspaceOpenError {
    pub code: WorkspaceOpenErrorCode,
    pub message: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, JsonValue>>,
}

string_enum!(
    /// The kind of a [`WorkspaceOpenError`].
    WorkspaceOpenErrorCode {
        NotFound = "NOT_FOUND",
        NotADirectory = "NOT_A_DIRECTORY",
        InvalidSyntax = "INVALID_SYNTAX",
        ValidationError = "VALIDATION_ERROR",
        UnknownError = "UNKNOWN_ERROR",
        DemoNotFound = "DEMO_NOT_FOUND",
    }
);

/// An inspector section contributed by an extension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct InspectorSectionContribution {
    pub id: InspectorSectionId,
    pub title: String,
    /// Core sections use 100–900, extensions 1000 and up.
    pub order: FiniteNumber,
    pub extension_id: String,
    pub component_path: String,
    pub component_export: String,
}

object!(WorkspaceOpenError, InspectorSectionContribution);
