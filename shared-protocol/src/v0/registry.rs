//! The component registry: which props of which components may be edited, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::common::{ComponentTypeId, JsonValue, Number, SchemaVersion};
use super::strict::{object, present, string_enum};

/// The allow-list of components. Keys are not compared with the `typeId` and `propName` inside, as in v0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ComponentRegistry {
    pub schema_version: SchemaVersion,
    pub components: BTreeMap<ComponentTypeId, ComponentRegistryEntry>,
}

/// One component type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct ComponentRegistryEntry {
    pub type_id: ComponentTypeId,
    pub display_name: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub props: BTreeMap<String, PropDefinition>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub implementation: Option<ImplementationHints>,
}

/// One prop of a component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PropDefinition {
    pub prop_name: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Free-text heading the prop is listed under.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Ascending inside a group; absent sorts last.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub order: Option<Number>,
    pub exposure: PropExposure,
}

/// What may be done with a prop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PropExposure {
    /// May be changed through `control`.
    Editable {
        control: ControlDefinition,
        /// Only initialises the form; never a source of values.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        ui_default_value: Option<JsonValue>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        constraints: Option<PropConstraints>,
    },
    /// May be looked at.
    InspectOnly {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        display_hint: Option<DisplayHint>,
    },
    /// Known to exist, nothing more.
    Opaque {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Limits on an edited value. Decoding refuses limits that no value can meet or nobody can check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PropConstraints {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// A regular expression that `regex-lite` can run: no look-around, no back-references.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

impl PropConstraints {
    fn check(&self) -> Result<(), String> {
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            return Err(format!("`min` {} is greater than `max` {}", min.get(), max.get()));
        }
        match self.pattern.as_deref().map(regex_lite::Regex::new) {
            Some(Err(error)) => Err(format!("invalid `pattern`: {error}")),
            _ => Ok(()),
        }
    }
}

string_enum!(
    /// The kinds of [`PropExposure`], for naming one without its fields.
    ExposureKind {
        Editable = "editable",
        InspectOnly = "inspectOnly",
        Opaque = "opaque",
    }
);

string_enum!(
    /// How to show a prop that can only be looked at.
    DisplayHint {
        Summary = "summary",
        Json = "json",
        Code = "code",
    }
);

/// The editor for a prop; a closed set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ControlDefinition {
    String {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        multiline: Option<bool>,
    },
    Number {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        step: Option<Number>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    Boolean,
    Select {
        options: Vec<SelectOption>,
    },
    Color {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        format: Option<ColorFormat>,
    },
    Slot {
        /// Absent means `children`.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        slot_name: Option<String>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        editable: Option<bool>,
    },
    /// Raw JSON, for what no other control can edit.
    Json,
}

string_enum!(
    /// The kinds of [`ControlDefinition`], for naming one without its fields.
    ControlKind {
        String = "string",
        Number = "number",
        Boolean = "boolean",
        Select = "select",
        Color = "color",
        Slot = "slot",
        Json = "json",
    }
);

/// One choice of a select control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SelectOption {
    pub value: String,
    pub label: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

string_enum!(
    /// How a colour is written into the prop.
    ColorFormat {
        Hex = "hex",
        Rgb = "rgb",
        Hsl = "hsl",
    }
);

/// One hint, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ImplementationHints {
    One(ComponentImplementationHint),
    Many(Vec<ComponentImplementationHint>),
}

/// Where a component is implemented. Only a hint for instrumentation, never an identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ComponentImplementationHint {
    /// A workspace file, matched exactly.
    File {
        file_path: String,
        /// Absent means `default`.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        export_name: Option<String>,
    },
    /// What a bare module specifier resolves to.
    Package {
        specifier: String,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        export_name: Option<String>,
    },
}

object!(
    ComponentRegistry,
    ComponentRegistryEntry,
    PropDefinition,
    PropExposure,
    ControlDefinition,
    SelectOption,
    ComponentImplementationHint,
);
object!(PropConstraints, check = PropConstraints::check);
