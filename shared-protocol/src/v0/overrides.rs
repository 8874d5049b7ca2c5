//! Draft overrides of prop values, live and persisted.

use serde::{Deserialize, Serialize};

use super::common::{ComponentTypeId, InstanceId, JsonValue, PreviewSessionId, SchemaVersion};
use super::pointer::PropPath;
use super::strict::{object, present};
use super::time::UtcTimestamp;

/// One change to the overrides of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OverrideOp {
    /// Sets the value at (instance, path); `null` is a value.
    Set {
        instance_id: InstanceId,
        path: PropPath,
        value: JsonValue,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        component_type_id: Option<ComponentTypeId>,
        /// An opaque locator that helps the adapter find the instance again.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        instance_locator: Option<JsonValue>,
    },
    /// Removes the override at (instance, path).
    Clear { instance_id: InstanceId, path: PropPath },
    /// Removes all overrides of an instance.
    ClearInstance { instance_id: InstanceId },
    /// Removes all overrides of the session.
    ClearAll,
}

/// Changes to one session, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct OverridePatch {
    pub session_id: PreviewSessionId,
    pub ops: Vec<OverrideOp>,
}

/// An instance in a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct InstanceRef {
    pub session_id: PreviewSessionId,
    pub instance_id: InstanceId,
}

/// An override as stored in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PersistedOverride {
    pub instance_id: InstanceId,
    pub path: PropPath,
    pub value: JsonValue,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub component_type_id: Option<ComponentTypeId>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub instance_locator: Option<JsonValue>,
}

/// The list wrapper of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PersistedOverrideList {
    pub overrides: Vec<PersistedOverride>,
}

/// The file `overrides.v0.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PersistedOverridesFile {
    pub schema_version: SchemaVersion,
    pub updated_at: UtcTimestamp,
    /// Overrides of `app` sessions.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub app: Option<PersistedOverrideList>,
    /// Overrides of all other sessions.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub component: Option<PersistedOverrideList>,
}

object!(
    OverrideOp,
    OverridePatch,
    InstanceRef,
    PersistedOverride,
    PersistedOverrideList,
    PersistedOverridesFile,
);
