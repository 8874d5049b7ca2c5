//! The component registry: the editable props of components and their controls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::common::{ComponentTypeId, FiniteNumber, JsonValue, SchemaVersion};
use super::strict::{object, present, string_enum};

/// The allow-list of components. As in v0, keys are not compared with the `typeId` and `propName` inside.
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
    /// The free-text heading of the prop.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The position inside a group, ascending; absent sorts last.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub order: Option<FiniteNumber>,
    pub exposure: PropExposure,
}

/// The access to a prop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PropExposure {
    /// Editable through `control`.
    Editable {
        control: ControlDefinition,
        /// The initial value of the form; never a source of values.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        ui_default_value: Option<JsonValue>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        constraints: Option<PropConstraints>,
    },
    /// Read-only.
    InspectOnly {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        display_hint: Option<DisplayHint>,
    },
    /// Listed without its value.
    Opaque {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Limits on an edited value. Decoding refuses limits that no value can meet or that cannot be checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PropConstraints {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub min: Option<FiniteNumber>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max: Option<FiniteNumber>,
    /// A regular expression that `regex-lite` supports: no look-around, no back-references.
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
    /// The kinds of [`PropExposure`] without fields.
    ExposureKind {
        Editable = "editable",
        InspectOnly = "inspectOnly",
        Opaque = "opaque",
    }
);

string_enum!(
    /// The display format of a read-only prop.
    DisplayHint {
        Summary = "summary",
        Json = "json",
        Code = "code",
    }
);

/// The control for editing a prop; a closed set.
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
        step: Option<FiniteNumber>,
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
    /// Raw JSON, for values that no other control can edit.
    Json,
}

string_enum!(
    /// The kinds of [`ControlDefinition`] without fields.
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

/// An option of a select control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SelectOption {
    pub value: String,
    pub label: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

string_enum!(
    /// The text format of a colour.
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

/// The implementation of a component. A hint for instrumentation, never an identity.
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
    /// The module that a bare specifier resolves to.
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
