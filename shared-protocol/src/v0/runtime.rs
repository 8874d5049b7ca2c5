//! Messages between the host and the adapter in a preview.

use serde::{Deserialize, Serialize};

use super::common::{AdapterId, PreviewSessionId};
use super::overrides::OverrideOp;
use super::selection::InstanceDescriptor;
use super::strict::{nullable, object, string_enum};

/// A message from the runtime to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all_fields = "camelCase")]
pub enum RuntimeEvent {
    /// The adapter is ready; sent again after every reload.
    #[serde(rename = "runtime.ready")]
    Ready { adapter_id: AdapterId, adapter_version: String, capabilities: AdapterCapabilities },
    /// The selection changed or was cleared.
    #[serde(rename = "runtime.selectionChanged")]
    SelectionChanged {
        session_id: PreviewSessionId,
        /// `null` when nothing is selected; the key is required.
        #[serde(deserialize_with = "nullable")]
        selected: Option<InstanceDescriptor>,
        caused_by: SelectionCause,
    },
}

/// The capabilities of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct AdapterCapabilities {
    pub selection: bool,
    pub overrides: bool,
}

string_enum!(
    /// Why a selection changed.
    SelectionCause {
        Click = "click",
        Programmatic = "programmatic",
    }
);

/// A message from the host to the runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all_fields = "camelCase")]
pub enum HostCommand {
    /// Answers `runtime.ready` with the session and its overrides.
    #[serde(rename = "host.init")]
    Init { session_id: PreviewSessionId, initial_overrides: Vec<OverrideOp> },
    /// Changes the session's overrides.
    #[serde(rename = "host.applyOverrides")]
    ApplyOverrides { session_id: PreviewSessionId, ops: Vec<OverrideOp> },
}

object!(RuntimeEvent, AdapterCapabilities, HostCommand);
