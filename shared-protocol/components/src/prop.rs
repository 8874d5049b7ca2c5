//! The props of a component, and its variants, which are named sets of prop values.

use crate::SourcePosition;
use serde_json::{Map, Value};
use shared_protocol::v0::{ControlDefinition as Control, PropExposure};

#[derive(Debug, Clone, PartialEq)]
pub struct ComponentProp {
    pub name: String,
    pub label: Option<String>,
    pub description: Option<String>,
    pub group: Option<String>,
    pub order: Option<f64>,
    pub exposure: PropExposure,
    /// The value of the prop when an instance does not set it.
    pub default: Option<Value>,
    pub place: SourcePosition,
}

impl ComponentProp {
    /// Returns the value that expressions see when the prop is unset: the default, or an empty value that fits the
    /// control, so that `props.label` of a new instance is an empty string and not an error.
    pub fn value_when_unset(&self) -> Value {
        if let Some(default) = &self.default {
            return default.clone();
        }
        match &self.exposure {
            PropExposure::Editable { control, .. } => match control {
                Control::String { .. } | Control::Select { .. } | Control::Color { .. } => Value::from(""),
                Control::Number { .. } => Value::from(0),
                Control::Boolean => Value::Bool(false),
                Control::Slot { .. } | Control::Json => Value::Null,
            },
            PropExposure::InspectOnly { .. } | PropExposure::Opaque { .. } => Value::Null,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ComponentVariant {
    pub id: String,
    pub title: String,
    pub props: Map<String, Value>,
    pub place: SourcePosition,
}
