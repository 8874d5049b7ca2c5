//! Saving drafts: converting overrides to file edits.

use serde::{Deserialize, Serialize};

use super::common::{ComponentTypeId, InstanceId, JsonValue, PreviewSessionId};
use super::edits::WorkspaceFileEdit;
use super::pointer::PropPath;
use super::strict::{count, object, ok_tagged, present, string_enum};

/// The address of a draft.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct DraftOverrideAddress {
    pub session_id: PreviewSessionId,
    pub instance_id: InstanceId,
    pub path: PropPath,
}

/// A draft to save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct DraftOverride {
    pub session_id: PreviewSessionId,
    pub instance_id: InstanceId,
    pub path: PropPath,
    pub value: JsonValue,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub component_type_id: Option<ComponentTypeId>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub instance_locator: Option<JsonValue>,
}

/// Whether a draft can be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "ok")]
pub enum ValidationResult {
    #[serde(rename = "true")]
    Valid,
    #[serde(rename = "false")]
    Invalid { code: ValidationCode, message: String },
}

string_enum!(
    /// Why a draft cannot be saved.
    ValidationCode {
        Unpromotable = "unpromotable",
        NotFound = "notFound",
        UnsupportedPattern = "unsupportedPattern",
        InternalError = "internalError",
    }
);

/// A draft that was not saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SaveFailure {
    pub address: DraftOverrideAddress,
    pub result: ValidationResult,
}

/// The edits that save the drafts, and the drafts that cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SavePlan {
    pub edits: Vec<WorkspaceFileEdit>,
    pub failed: Vec<SaveFailure>,
}

/// The result of a save.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SaveResult {
    pub ok: bool,
    #[serde(deserialize_with = "count")]
    pub applied_count: u64,
    pub failed: Vec<SaveFailure>,
}

object!(DraftOverrideAddress, DraftOverride, SaveFailure, SavePlan, SaveResult);
ok_tagged!(ValidationResult);
