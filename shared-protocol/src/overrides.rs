//! Overrides: values laid over the props of instances, kept apart from what the boards and components say until somebody
//! promotes them. Which of them find their instance is derived, never stored.

use crate::{
    Value,
    v0::{
        ComponentTypeId, InstanceId, JsonPointer, PersistedOverride, PersistedOverrideList,
        PersistedOverridesFile, SchemaVersion, UtcTimestamp, ValidationCode,
    },
    value::ValueError,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Overrides in one workspace.
pub const MAX_OVERRIDES: usize = 10_000;
/// Bytes of the id of an instance, and of the name of a component.
pub const MAX_INSTANCE_BYTES: usize = 1_024;
/// Bytes of a path into the props.
pub const MAX_PATH_BYTES: usize = 1_024;
/// Bytes of what tells an instance apart, as JSON.
pub const MAX_LOCATOR_BYTES: usize = 4 * 1024;

/// The two lists of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OverrideScope {
    /// Of pages: the instances are nodes of interface boards, and what components show within them.
    #[default]
    App,
    /// Of components by themselves, variants among them.
    Component,
}

/// Where an override applies; there is one at most for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverrideKey {
    #[serde(default)]
    pub scope: OverrideScope,
    /// The instance as the preview names it: a node's id, a component's, `component@variant`, or one of these and a way into
    /// it, part by part: `n-000000000011/ui.card:2/ui.badge[0]`.
    pub instance: Arc<str>,
    /// Into the props.
    pub path: JsonPointer,
}

impl OverrideKey {
    pub fn new(scope: OverrideScope, instance: impl Into<Arc<str>>, path: JsonPointer) -> Self {
        Self { scope, instance: instance.into(), path }
    }

    /// The smallest key of an instance, for asking for all of its overrides.
    pub fn first_of(scope: OverrideScope, instance: impl Into<Arc<str>>) -> Self {
        Self::new(scope, instance, JsonPointer::root())
    }

    /// The node, the component or the variant of one that the instance is or is within.
    pub fn owner(&self) -> &str {
        self.instance.split('/').next().unwrap_or_default()
    }

    /// The component that an override of a component by itself is for, and the variant of it.
    pub fn component(&self) -> (&str, Option<&str>) {
        match self.owner().split_once('@') {
            Some((component, variant)) => (component, Some(variant)),
            None => (self.owner(), None),
        }
    }

    /// The way from the owner to the part that it is for.
    pub fn within(&self) -> Option<&str> {
        self.instance.split_once('/').map(|(_, within)| within)
    }

    /// It is something that a component shows within itself, and stands on no board.
    pub fn is_within(&self) -> bool {
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
    /// Null is a value.
    pub value: Value,
    /// What the instance was when this was set.
    pub component: Option<Arc<str>>,
    /// How whoever set it finds the instance again, in its own words.
    pub locator: Option<Value>,
}

/// One value to be laid over a prop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetOverride {
    #[serde(default)]
    pub scope: OverrideScope,
    pub instance: Arc<str>,
    pub path: JsonPointer,
    pub value: Value,
    /// Found out from the board where it is not given.
    #[serde(default)]
    pub component: Option<Arc<str>>,
    #[serde(default)]
    pub locator: Option<Value>,
}

impl SetOverride {
    pub fn key(&self) -> OverrideKey {
        OverrideKey::new(self.scope, Arc::clone(&self.instance), self.path.clone())
    }
}

/// Some of the overrides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum WhichOverrides {
    All,
    /// Those that find nothing to apply to.
    Orphaned,
    Scope(OverrideScope),
    Instance {
        #[serde(default)]
        scope: OverrideScope,
        instance: Arc<str>,
    },
    These(Vec<OverrideKey>),
}

/// Why an override applies to nothing at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Orphaned {
    /// There is no such instance.
    InstanceMissing,
    /// The instance is of another type than it was.
    OtherType,
    /// The type has no such prop, or it cannot be set.
    PathInvalid,
}

impl Orphaned {
    pub fn words(self) -> &'static str {
        match self {
            Self::InstanceMissing => "the instance is not there",
            Self::OtherType => "the instance is of another type now",
            Self::PathInvalid => "the component has no such prop",
        }
    }
}

/// An override that could not be promoted, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotPromoted {
    pub address: OverrideKey,
    pub code: ValidationCode,
    pub message: String,
}

impl NotPromoted {
    pub fn new(address: &OverrideKey, code: ValidationCode, message: impl Into<String>) -> Self {
        Self { address: address.clone(), code, message: message.into() }
    }
}

/// How an override stands at present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// To this instance: the one it names, or one that its locator found again.
    Applies(Arc<str>),
    Orphaned(Orphaned),
}

// ---- the file ---------------------------------------------------------------------------------------------------------

/// Overrides in their order.
pub type OverrideMap = BTreeMap<OverrideKey, Override>;

/// In the form of the workbench's file, sorted by instance and path, whatever order they come in.
pub fn to_file<'a>(
    overrides: impl IntoIterator<Item = (&'a OverrideKey, &'a Override)>,
    updated: u64,
) -> PersistedOverridesFile {
    let mut lists: BTreeMap<OverrideScope, BTreeMap<&OverrideKey, PersistedOverride>> = BTreeMap::new();
    for (key, over) in overrides {
        let persisted = PersistedOverride {
            instance_id: InstanceId::new(&*key.instance),
            path: key.path.clone(),
            value: to_json(&over.value),
            component_type_id: over.component.as_deref().map(ComponentTypeId::new),
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

/// What a file says; of two with the same address the later one counts.
pub fn from_file(file: &PersistedOverridesFile) -> Result<OverrideMap, (OverrideKey, ValueError)> {
    let mut found = OverrideMap::new();
    for (scope, list) in [(OverrideScope::App, &file.app), (OverrideScope::Component, &file.component)] {
        for persisted in list.iter().flat_map(|list| &list.overrides) {
            let key = OverrideKey::new(scope, persisted.instance_id.as_str(), persisted.path.clone());
            let value = |json: &serde_json::Value| Value::from_json(json).map_err(|why| (key.clone(), why));
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

fn to_json(value: &Value) -> serde_json::Value {
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
            WhichOverrides::All,
            WhichOverrides::Instance { scope: OverrideScope::Component, instance: "ui.card".into() },
            WhichOverrides::These(vec![key.clone()]),
        ] {
            let wire = postcard::to_stdvec(&which).unwrap();
            assert_eq!(postcard::from_bytes::<WhichOverrides>(&wire).unwrap(), which);
        }
        let within = OverrideKey { instance: "ui.card@wide/ui.badge:2[0]".into(), ..key };
        assert_eq!((within.owner(), within.is_within()), ("ui.card@wide", true));
        assert_eq!((within.component(), within.within()), (("ui.card", Some("wide")), Some("ui.badge:2[0]")));
        assert!(serde_json::from_str::<OverrideKey>(r#"{"instance":"a","path":"label"}"#).is_err());
    }
}
