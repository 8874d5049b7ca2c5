//! The access to props of components, and the controls that edit them.

use serde::{Deserialize, Serialize};

use super::common::FiniteNumber;
use super::strict::{object, present, string_enum};

/// The access to a prop.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PropExposure {
    /// Editable through `control`.
    Editable { control: ControlDefinition, constraints: Option<PropConstraints> },
    /// Read-only.
    InspectOnly { display_hint: Option<DisplayHint> },
    /// Listed without its value.
    Opaque { reason: Option<String> },
}

/// Limits on an edited value. Decoding refuses limits that no value can meet or that cannot be checked.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct PropConstraints {
    pub required: Option<bool>,
    pub min: Option<FiniteNumber>,
    pub max: Option<FiniteNumber>,
    /// A regular expression that `regex-lite` supports: no look-around, no back-references.
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
    /// The display format of a read-only prop.
    DisplayHint {
        Summary = "summary",
        Json = "json",
        Code = "code",
    }
);

/// The control for editing a prop; a closed set.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ControlDefinition {
    String {
        placeholder: Option<String>,
        multiline: Option<bool>,
    },
    Number {
        step: Option<FiniteNumber>,
        unit: Option<String>,
    },
    Boolean,
    Select {
        options: Vec<SelectOption>,
    },
    Color {
        format: Option<ColorFormat>,
    },
    Slot {
        /// Absent means `children`.
        slot_name: Option<String>,
        editable: Option<bool>,
    },
    /// Raw JSON, for values that no other control can edit.
    Json,
}

/// An option of a select control.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")])]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SelectOption {
    pub value: String,
    pub label: String,
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

object!(PropExposure, ControlDefinition, SelectOption);
object!(PropConstraints, check = PropConstraints::check);
