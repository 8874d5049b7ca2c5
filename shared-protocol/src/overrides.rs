//! Overrides: values that replace props of instances, stored apart from boards and components until a person promotes
//! them. Whether an override matches an instance is derived, never stored.

use crate::{
    PropValue,
    v0::{
        JsonPointer, PersistedOverride, PersistedOverrideList, PersistedOverridesFile, SchemaVersion,
        UtcTimestamp, ValidationCode,
    },
    value::PropValueError,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The maximum number of overrides in a workspace.
pub const MAX_OVERRIDES: usize = 10_000;
/// The maximum size of an instance id or a component name.
pub const MAX_INSTANCE_ID_BYTES: usize = 1_024;
/// The maximum size of a path into the props.
pub const MAX_PATH_BYTES: usize = 1_024;
/// The maximum size of a locator as JSON.
pub const MAX_LOCATOR_BYTES: usize = 4 * 1024;

/// The two lists of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OverrideScope {
    /// Overrides of pages: the instances are nodes of interface boards and the components nested in them.
    #[default]
    App,
    /// Overrides of components previewed on their own, including variants.
    Component,
}

/// The address of an override; unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverrideKey {
    #[serde(default)]
    pub scope: OverrideScope,
    /// The instance as named by the preview: the id of a node or a component, `component@variant`, or one of these
    /// followed by a path of nested parts: `n-000000000011/ui.card:2/ui.badge[0]`.
    pub instance: Arc<str>,
    /// The path into the props.
    pub path: JsonPointer,
}

impl OverrideKey {
    pub fn new(scope: OverrideScope, instance: impl Into<Arc<str>>, path: JsonPointer) -> Self {
        Self { scope, instance: instance.into(), path }
    }

    /// The smallest key of an instance, the start of a range query for all its overrides.
    pub fn first_of(scope: OverrideScope, instance: impl Into<Arc<str>>) -> Self {
        Self::new(scope, instance, JsonPointer::root())
    }

    /// The node, component or component variant that is or contains the instance.
    pub fn owner(&self) -> &str {
        self.instance.split('/').next().unwrap_or_default()
    }

    /// The component, and its variant, of an override in the component scope.
    pub fn component(&self) -> (&str, Option<&str>) {
        match self.owner().split_once('@') {
            Some((component, variant)) => (component, Some(variant)),
            None => (self.owner(), None),
        }
    }

    /// The path from the owner to the nested part; `None` for the owner itself.
    pub fn part_path(&self) -> Option<&str> {
        self.instance.split_once('/').map(|(_, within)| within)
    }

    /// Returns true for a part nested in a component, which is not on a board.
    pub fn is_nested_part(&self) -> bool {
        self.instance.contains('/')
    }
}

impl fmt::Display for OverrideKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope {
            OverrideScope::App => write!(f, "{}{}", self.instance, self.path),
            OverrideScope::Component => write!(f, "{}{} (component)", self.instance, self.path),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    /// The value; null is a valid value.
    pub value: PropValue,
    /// The component type of the instance when the override was set.
    pub component: Option<Arc<str>>,
    /// An opaque locator that helps the adapter find the instance again.
    pub locator: Option<PropValue>,
}

/// A request to set one override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetOverride {
    #[serde(default)]
    pub scope: OverrideScope,
    pub instance: Arc<str>,
    pub path: JsonPointer,
    pub value: PropValue,
    /// Derived from the board when absent.
    #[serde(default)]
    pub component: Option<Arc<str>>,
    #[serde(default)]
    pub locator: Option<PropValue>,
}

impl SetOverride {
    pub fn key(&self) -> OverrideKey {
        OverrideKey::new(self.scope, Arc::clone(&self.instance), self.path.clone())
    }
}

/// Selects overrides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum OverrideSelector {
    All,
    /// Overrides that match no instance.
    Orphaned,
    Scope(OverrideScope),
    Instance {
        #[serde(default)]
        scope: OverrideScope,
        instance: Arc<str>,
    },
    These(Vec<OverrideKey>),
}

/// Why an override currently matches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OrphanReason {
    /// The instance does not exist.
    InstanceMissing,
    /// The instance now has a different type.
    OtherType,
    /// The type has no such prop, or the prop cannot be set.
    PathInvalid,
}

impl OrphanReason {
    pub fn describe(self) -> &'static str {
        match self {
            Self::InstanceMissing => "the instance does not exist",
            Self::OtherType => "the instance now has a different type",
            Self::PathInvalid => "the component has no such prop",
        }
    }
}

/// An override that could not be promoted, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromotionFailure {
    pub address: OverrideKey,
    pub code: ValidationCode,
    pub message: String,
}

impl PromotionFailure {
    pub fn new(address: &OverrideKey, code: ValidationCode, message: impl Into<String>) -> Self {
        Self { address: address.clone(), code, message: message.into() }
    }
}

/// The current resolution of an override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OverrideResolution {
    /// Applies to this instance: the named one, or one found by the locator.
    Applies(Arc<str>),
    Orphaned(OrphanReason),
}

// ---- the file ---------------------------------------------------------------------------------------------------------

/// Overrides sorted by key.
pub type OverrideMap = BTreeMap<OverrideKey, Override>;

/// Converts overrides to the file format of the workbench, sorted by instance and path.
pub fn to_file<'a>(
    overrides: impl IntoIterator<Item = (&'a OverrideKey, &'a Override)>,
    updated: u64,
) -> PersistedOverridesFile {
    let mut lists: BTreeMap<OverrideScope, BTreeMap<&OverrideKey, PersistedOverride>> = BTreeMap::new();
    for (key, over) in overrides {
        let persisted = PersistedOverride {
            instance_id: key.instance.to_string(),
            path: key.path.clone(),
            value: to_json(&over.value),
            component_type_id: over.component.as_deref().map(str::to_owned),
            instance_locator: over.locator.as_ref().map(to_json),
        };
        lists.entry(key.scope).or_default().insert(key, persisted);
    }
    let mut list = |scope: OverrideScope| {
        let overrides = lists.remove(&scope)?.into_values().collect();
        Some(PersistedOverrideList { overrides })
    };
    PersistedOverridesFile {
        schema_version: SchemaVersion::V0,
        updated_at: UtcTimestamp::of_millis(updated),
        app: list(OverrideScope::App),
        component: list(OverrideScope::Component),
    }
}

/// Reads the overrides of a file; of two with the same address the later one wins.
pub fn from_file(file: &PersistedOverridesFile) -> Result<OverrideMap, (OverrideKey, PropValueError)> {
    let mut found = OverrideMap::new();
    for (scope, list) in [(OverrideScope::App, &file.app), (OverrideScope::Component, &file.component)] {
        for persisted in list.iter().flat_map(|list| &list.overrides) {
            let key = OverrideKey::new(scope, persisted.instance_id.as_str(), persisted.path.clone());
            let value =
                |json: &serde_json::Value| PropValue::from_json(json).map_err(|why| (key.clone(), why));
            let over = Override {
                value: value(&persisted.value)?,
                component: persisted.component_type_id.as_ref().map(|id| Arc::from(id.as_str())),
                locator: persisted.instance_locator.as_ref().map(value).transpose()?,
            };
            found.insert(key, over);
        }
    }
    Ok(found)
}

fn to_json(value: &PropValue) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_choices_read_well_as_json_and_survive_the_wire() {
        let text = r#"{"instance":"n-000000000011","path":"/label"}"#;
        let key: OverrideKey = serde_json::from_str(text).unwrap();
        assert_eq!(key.to_string(), "n-000000000011/label");
        for which in [
            OverrideSelector::All,
            OverrideSelector::Instance { scope: OverrideScope::Component, instance: "ui.card".into() },
            OverrideSelector::These(vec![key.clone()]),
        ] {
            let wire = postcard::to_stdvec(&which).unwrap();
            assert_eq!(postcard::from_bytes::<OverrideSelector>(&wire).unwrap(), which);
        }
        let within = OverrideKey { instance: "ui.card@wide/ui.badge:2[0]".into(), ..key };
        assert_eq!((within.owner(), within.is_nested_part()), ("ui.card@wide", true));
        assert_eq!(
            (within.component(), within.part_path()),
            (("ui.card", Some("wide")), Some("ui.badge:2[0]"))
        );
        assert!(serde_json::from_str::<OverrideKey>(r#"{"instance":"a","path":"label"}"#).is_err());
    }
}
