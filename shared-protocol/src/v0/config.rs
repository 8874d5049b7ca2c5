//! The workbench configuration of a project, evaluated to JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::common::{ComponentTypeId, FiniteNumber, JsonValue, PreviewLauncherId, SchemaVersion};
use super::registry::{ControlKind, ExposureKind};
use super::strict::{object, present};

/// The complete configuration; `{}` is valid. Written with defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct WorkbenchConfig {
    #[serde(default = "v0")]
    pub schema_version: SchemaVersion,
    /// In order of precedence: later modules override earlier ones. Ids may repeat.
    #[serde(default)]
    pub modules: Vec<ModuleConfig>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub preview: Option<PreviewConfig>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub components: Option<ComponentsConfig>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub ai: Option<AiConfig>,
}

fn v0() -> SchemaVersion {
    SchemaVersion::V0
}

/// An extension module to load: from `path`, else `package`, else the package called `id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ModuleConfig {
    pub id: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub contributions: Option<JsonValue>,
}

/// The preview settings of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PreviewConfig {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub styles: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub decorators: Option<Vec<JsonValue>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub environment: Option<Map<String, JsonValue>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub launcher: Option<PreviewLauncherConfig>,
}

/// The launcher and its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PreviewLauncherConfig {
    pub id: PreviewLauncherId,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub options: Option<Map<String, JsonValue>>,
}

/// Adjustments to module declarations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ComponentsConfig {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub overrides: Option<BTreeMap<ComponentTypeId, ComponentOverride>>,
}

/// Adjustments to one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ComponentOverride {
    /// Removes the component from the registry.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub props: Option<BTreeMap<String, ConfigPropOverride>>,
}

/// Adjustments to one prop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ConfigPropOverride {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub order: Option<FiniteNumber>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub exposure: Option<ExposureOverride>,
}

/// Adjustments to an exposure. Constraints cannot be adjusted in v0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ExposureOverride {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ExposureKind>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlOverride>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub ui_default_value: Option<JsonValue>,
}

/// A replacement control; its completeness is checked after merging.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ControlOverride {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ControlKind>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub options: Option<JsonValue>,
}

/// Placeholder section of v0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct AiConfig {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<AiPrompt>>,
}

/// A named prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct AiPrompt {
    pub name: String,
    pub template: String,
}

object!(
    WorkbenchConfig,
    ModuleConfig,
    PreviewConfig,
    PreviewLauncherConfig,
    ComponentsConfig,
    ComponentOverride,
    ConfigPropOverride,
    ExposureOverride,
    ControlOverride,
    AiConfig,
    AiPrompt,
);
