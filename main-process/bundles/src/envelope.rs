//! The response format of all tools, for success and failure.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::Value;
use shared_protocol::{OrderedMembers, OrderedValue, Refusal};

pub(crate) fn entity_not_found(bundle_id: &str, entity_type: &str, id: &str) -> Refusal {
    Refusal::not_found(format!("Entity not found: {entity_type}/{id}")).details([
        ("bundleId", bundle_id.into()),
        ("entityType", entity_type.into()),
        ("entityId", id.into()),
    ])
}

/// The form of a refusal in the envelope.
fn refusal_data(refusal: &Refusal) -> OrderedValue {
    OrderedValue::map_of_present([
        ("code", Some(refusal.code.as_str().into())),
        ("message", Some(refusal.message.as_str().into())),
        ("field", refusal.field.as_deref().map(OrderedValue::from)),
        ("details", refusal.details.as_deref().map(|details| OrderedValue::Map(details.clone()))),
    ])
}

pub(crate) type ToolResult = Result<BundleToolResponse, Refusal>;

/// The successful result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleToolResponse {
    pub data: OrderedValue,
    /// The bundle of the result, if it concerns a single one.
    pub bundle_id: Option<String>,
    pub meta: OrderedValue,
    pub diagnostics: Vec<OrderedValue>,
}

impl BundleToolResponse {
    pub(crate) fn new(data: OrderedValue) -> Self {
        Self {
            data,
            bundle_id: None,
            meta: OrderedValue::Map(OrderedMembers::default()),
            diagnostics: Vec::new(),
        }
    }

    pub(crate) fn with_bundle_id(mut self, bundle_id: &str) -> Self {
        self.bundle_id = Some(bundle_id.to_owned());
        self
    }

    pub(crate) fn meta<const N: usize>(mut self, meta: [(&str, OrderedValue); N]) -> Self {
        self.meta = OrderedValue::map(meta);
        self
    }

    pub(crate) fn diagnostics(mut self, diagnostics: Vec<OrderedValue>) -> Self {
        self.diagnostics = diagnostics;
        self
    }
}

/// The response of a tool in its transmitted form.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleToolEnvelope {
    pub tool: String,
    pub result: ToolResult,
}

impl BundleToolEnvelope {
    pub fn is_ok(&self) -> bool {
        self.result.is_ok()
    }

    /// Returns the envelope for `structuredContent`.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the envelope as compact JSON text with its members in order.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for BundleToolEnvelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ok", &self.is_ok())?;
        map.serialize_entry("tool", &self.tool)?;
        match &self.result {
            Ok(answer) => {
                map.serialize_entry("data", &answer.data)?;
                if let Some(bundle_id) = &answer.bundle_id {
                    map.serialize_entry("bundleId", bundle_id)?;
                }
                map.serialize_entry("meta", &answer.meta)?;
                map.serialize_entry("diagnostics", &answer.diagnostics)?;
            }
            Err(refusal) => map.serialize_entry("error", &refusal_data(refusal))?,
        }
        map.end()
    }
}
