//! Preview sessions and their launchers.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::common::{ComponentTypeId, FiniteNumber, JsonValue, PreviewLauncherId, PreviewSessionId};
use super::strict::{object, present, string_enum};
use super::url::HttpUrl;

string_enum!(
    /// The kind of content that a session shows.
    PreviewSessionType {
        App = "app",
        Component = "component",
        Variant = "variant",
    }
);

string_enum!(
    /// The lifecycle state of a session.
    PreviewSessionState {
        Creating = "creating",
        Loading = "loading",
        Ready = "ready",
        Reloading = "reloading",
        Stopped = "stopped",
        Disposed = "disposed",
        Error = "error",
    }
);

/// The target of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PreviewSessionTarget {
    /// The app at `url` (attached), or the app that `launcher_id` starts (managed): exactly one of the two.
    App {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        url: Option<HttpUrl>,
        /// An empty id counts as absent.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        launcher_id: Option<PreviewLauncherId>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        launcher_options: Option<Map<String, JsonValue>>,
    },
    /// One component in a harness.
    Component {
        component_type_id: ComponentTypeId,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        harness_url: Option<HttpUrl>,
    },
    /// Declared in v0 but cannot be started.
    Variant { variant_id: String },
}

impl PreviewSessionTarget {
    fn check(&self) -> Result<(), String> {
        let Self::App { url, launcher_id, .. } = self else { return Ok(()) };
        let is_managed = launcher_id.as_ref().is_some_and(|id| !id.as_str().is_empty());
        match url.is_some() != is_managed {
            true => Ok(()),
            false => Err("an app target needs exactly one of `url` and `launcherId`".into()),
        }
    }
}

/// An available launcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PreviewLauncherDescriptor {
    pub id: PreviewLauncherId,
    pub display_name: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub supported_session_types: Vec<PreviewSessionType>,
}

/// The result of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PreviewLaunchResult {
    pub url: HttpUrl,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub pid: Option<FiniteNumber>,
}

string_enum!(
    /// The severity of a log line.
    PreviewLogLevel {
        Info = "info",
        Warn = "warn",
        Error = "error",
        Debug = "debug",
    }
);

/// A log line of a launcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PreviewLogEntry {
    pub level: PreviewLogLevel,
    pub message: String,
    /// Free text: v0 does not define its format.
    pub timestamp: String,
}

/// Sets the screen area of a session's preview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SetPreviewViewportRequest {
    pub session_id: PreviewSessionId,
    pub bounds: ViewportBounds,
}

/// A rectangle. Any finite numbers: v0 does not refuse negative sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ViewportBounds {
    pub x: FiniteNumber,
    pub y: FiniteNumber,
    pub width: FiniteNumber,
    pub height: FiniteNumber,
}

object!(
    PreviewLauncherDescriptor,
    PreviewLaunchResult,
    PreviewLogEntry,
    SetPreviewViewportRequest,
    ViewportBounds,
);
object!(PreviewSessionTarget, check = PreviewSessionTarget::check);
