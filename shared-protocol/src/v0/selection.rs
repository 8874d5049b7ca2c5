//! The selection in a preview.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::common::{ComponentTypeId, InstanceId, JsonValue, PreviewSessionId, SourceRef};
use super::strict::{nullable, object, present};

/// An on-screen instance as described by the runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct InstanceDescriptor {
    /// Not compared with the session of the enclosing message; the channel determines the session.
    pub session_id: PreviewSessionId,
    pub instance_id: InstanceId,
    pub component_type_id: ComponentTypeId,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub props: Option<Map<String, JsonValue>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRef>,
    /// An opaque locator that helps the adapter find the instance again.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub instance_locator: Option<JsonValue>,
}

/// The selection of a session changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SelectionChangedEvent {
    pub session_id: PreviewSessionId,
    /// `null` when nothing is selected; the key is required.
    #[serde(deserialize_with = "nullable")]
    pub selected: Option<InstanceDescriptor>,
}

object!(InstanceDescriptor, SelectionChangedEvent);
