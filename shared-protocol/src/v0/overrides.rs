//! Draft overrides of prop values, live and persisted.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::SchemaVersion;
use super::pointer::JsonPointer;
use super::strict::{object, present};
use super::time::UtcTimestamp;

/// One change to the overrides of a session.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OverrideOp {
    /// Sets the value at (instance, path); `null` is a value.
    Set {
        instance_id: String,
        path: JsonPointer,
        value: Value,
        component_type_id: Option<String>,
        /// An opaque locator that helps the adapter find the instance again.
        instance_locator: Option<Value>,
    },
    /// Removes the override at (instance, path).
    Clear { instance_id: String, path: JsonPointer },
    /// Removes all overrides of an instance.
    ClearInstance { instance_id: String },
    /// Removes all overrides of the session.
    ClearAll,
}

/// An override as stored in the file.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PersistedOverride {
    pub instance_id: String,
    pub path: JsonPointer,
    pub value: Value,
    pub component_type_id: Option<String>,
    pub instance_locator: Option<Value>,
}

/// The list wrapper of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PersistedOverrideList {
    pub overrides: Vec<PersistedOverride>,
}

/// The file `overrides.v0.json`.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PersistedOverridesFile {
    pub schema_version: SchemaVersion,
    pub updated_at: UtcTimestamp,
    /// Overrides of `app` sessions.
    pub app: Option<PersistedOverrideList>,
    /// Overrides of all other sessions.
    pub component: Option<PersistedOverrideList>,
}

object!(OverrideOp, PersistedOverride, PersistedOverrideList, PersistedOverridesFile);
