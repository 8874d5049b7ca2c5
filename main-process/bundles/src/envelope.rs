//! The response format of all tools, for success and failure.

use crate::{BundleValue, value::BundleValueMembers};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleErrorCode {
    BadRequest,
    NotFound,
    ValidationError,
    ReferenceError,
    DeleteBlocked,
    /// A file changed after it was read.
    Stale,
    LimitExceeded,
    /// Writing is not allowed.
    ActuationDisabled,
    UnsupportedCapability,
    Internal,
}

impl BundleErrorCode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BAD_REQUEST",
            Self::NotFound => "NOT_FOUND",
            Self::ValidationError => "VALIDATION_ERROR",
            Self::ReferenceError => "REFERENCE_ERROR",
            Self::DeleteBlocked => "DELETE_BLOCKED",
            Self::Stale => "STALE",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::ActuationDisabled => "ACTUATION_DISABLED",
            Self::UnsupportedCapability => "UNSUPPORTED_CAPABILITY",
            Self::Internal => "INTERNAL",
        }
    }
}

/// The reason why a request failed, with a next step.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleRefusal {
    pub code: BundleErrorCode,
    pub message: String,
    /// The invalid argument.
    pub field: Option<String>,
    pub details: Option<BundleValue>,
}

impl BundleRefusal {
    pub(crate) fn new(code: BundleErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, details: None }
    }

    pub(crate) fn with_details(mut self, details: BundleValue) -> Self {
        self.details = Some(details);
        self
    }

    pub(crate) fn with_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    pub(crate) fn entity_not_found(bundle_id: &str, entity_type: &str, id: &str) -> Self {
        Self::new(BundleErrorCode::NotFound, format!("Entity not found: {entity_type}/{id}")).with_details(
            BundleValue::map([
                ("bundleId", bundle_id.into()),
                ("entityType", entity_type.into()),
                ("entityId", id.into()),
            ]),
        )
    }

    pub fn to_data(&self) -> BundleValue {
        BundleValue::map_of_present([
            ("code", Some(self.code.as_str().into())),
            ("message", Some(self.message.as_str().into())),
            ("field", self.field.as_deref().map(BundleValue::from)),
            ("details", self.details.clone()),
        ])
    }
}

/// The successful result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleToolResponse {
    pub data: BundleValue,
    /// The bundle of the result, if it concerns a single one.
    pub bundle_id: Option<String>,
    pub meta: BundleValue,
    pub diagnostics: Vec<BundleValue>,
}

impl BundleToolResponse {
    pub(crate) fn new(data: BundleValue) -> Self {
        Self {
            data,
            bundle_id: None,
            meta: BundleValue::Map(BundleValueMembers::default()),
            diagnostics: Vec::new(),
        }
    }

    pub(crate) fn with_bundle_id(mut self, bundle_id: &str) -> Self {
        self.bundle_id = Some(bundle_id.to_owned());
        self
    }

    pub(crate) fn meta<const N: usize>(mut self, meta: [(&str, BundleValue); N]) -> Self {
        self.meta = BundleValue::map(meta);
        self
    }

    pub(crate) fn diagnostics(mut self, diagnostics: Vec<BundleValue>) -> Self {
        self.diagnostics = diagnostics;
        self
    }
}

/// The response of a tool in its transmitted form.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleToolEnvelope {
    pub tool: String,
    pub result: Result<BundleToolResponse, BundleRefusal>,
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
            Err(refusal) => map.serialize_entry("error", &refusal.to_data())?,
        }
        map.end()
    }
}
