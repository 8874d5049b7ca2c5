//! Findings about a bundle, with the texts and codes of the bundle format's contract.

use shared_protocol::{OrderedMembers, OrderedValue};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleFindingSeverity {
    Error,
    Warning,
}

impl BundleFindingSeverity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// The check that reported a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleFindingSource {
    Schema,
    Lint,
    Gate,
}

impl BundleFindingSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Lint => "lint",
            Self::Gate => "gate",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFinding {
    pub severity: BundleFindingSeverity,
    pub message: String,
    pub entity_id: Option<String>,
    pub entity_type: Option<String>,
    /// The file; relative to the bundle for entities.
    pub file_path: Option<String>,
    /// A JSON pointer for schema findings, otherwise the name of the field.
    pub path: Option<String>,
    pub source: Option<BundleFindingSource>,
    pub code: Option<String>,
}

impl BundleFinding {
    pub(crate) fn new(severity: BundleFindingSeverity, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            entity_id: None,
            entity_type: None,
            file_path: None,
            path: None,
            source: None,
            code: None,
        }
    }

    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::new(BundleFindingSeverity::Error, message)
    }

    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self::new(BundleFindingSeverity::Warning, message)
    }

    pub(crate) fn of_type(mut self, entity_type: &str) -> Self {
        self.entity_type = Some(entity_type.to_owned());
        self
    }

    pub(crate) fn of_entity(mut self, entity_type: &str, id: &str) -> Self {
        self.entity_id = Some(id.to_owned());
        self.of_type(entity_type)
    }

    pub(crate) fn in_file(mut self, path: impl Into<String>) -> Self {
        self.file_path = Some(path.into());
        self
    }

    pub(crate) fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    pub(crate) fn with_source(mut self, source: BundleFindingSource, code: impl Into<String>) -> Self {
        self.source = Some(source);
        self.code = Some(code.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == BundleFindingSeverity::Error
    }

    pub fn to_data(&self) -> OrderedValue {
        let text = |text: &Option<String>| text.as_deref().map(OrderedValue::from);
        OrderedValue::map_of_present([
            ("severity", Some(self.severity.as_str().into())),
            ("message", Some(self.message.as_str().into())),
            ("entityId", text(&self.entity_id)),
            ("entityType", text(&self.entity_type)),
            ("filePath", text(&self.file_path)),
            ("path", text(&self.path)),
            ("source", self.source.map(|source| source.as_str().into())),
            ("code", text(&self.code)),
        ])
    }

    /// Like [`BundleFinding::to_data`], with the bundle id, for answers about several bundles.
    pub(crate) fn to_data_with_bundle(&self, bundle_id: &str) -> OrderedValue {
        let mut named = OrderedMembers::default();
        named.set("bundleId", bundle_id.into());
        let data = self.to_data();
        for (key, value) in data.members() {
            named.set(key, value.clone());
        }
        OrderedValue::Map(named)
    }

    /// Returns one line for a terminal: `ERROR: message [file Type(ID) path]`.
    pub fn to_line(&self) -> String {
        let entity = match (&self.entity_type, &self.entity_id) {
            (Some(entity_type), Some(id)) => Some(format!("{entity_type}({id})")),
            (Some(entity_type), None) => Some(entity_type.clone()),
            _ => None,
        };
        let place: Vec<String> =
            [self.file_path.clone(), entity, self.path.clone()].into_iter().flatten().collect();
        let place = if place.is_empty() { String::new() } else { format!(" [{}]", place.join(" ")) };
        format!("{}: {}{place}", self.severity.as_str().to_uppercase(), self.message)
    }
}
