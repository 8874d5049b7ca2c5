//! The result of one change, or the reason why it fails.

use super::request::EntityChange;
use crate::{BundleFinding, diagnostic::BundleFindingSeverity, schema::SchemaFinding};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

/// A finding about a change.
#[derive(Debug, Clone)]
pub(super) struct ChangeFinding {
    severity: BundleFindingSeverity,
    code: String,
    message: String,
    field: Option<String>,
}

impl ChangeFinding {
    pub(super) fn new(severity: BundleFindingSeverity, code: &str, message: impl Into<String>) -> Self {
        Self { severity, code: code.to_owned(), message: message.into(), field: None }
    }

    pub(super) fn with_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    pub(super) fn of_schema(finding: &SchemaFinding) -> Self {
        Self::new(BundleFindingSeverity::Error, &finding.code, finding.message.as_str())
            .with_field(&finding.path)
    }
}

/// The refusal of an invalid change.
pub(super) fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::ValidationError, message)
}

#[derive(Debug, Clone)]
pub(super) struct ChangeResult {
    pub(super) change: EntityChange,
    pub(super) findings: Vec<ChangeFinding>,
    pub(super) failure: Option<Refusal>,
    /// The affected file, once it is known to belong to the bundle.
    pub(super) file: Option<String>,
    /// The entity after the whole batch.
    pub(super) entity: Option<OrderedValue>,
}

impl ChangeResult {
    pub(super) fn new(change: &EntityChange) -> Self {
        Self { change: change.clone(), findings: Vec::new(), failure: None, file: None, entity: None }
    }

    pub(super) fn finding_data(&self) -> Vec<OrderedValue> {
        let change = &self.change;
        self.findings
            .iter()
            .map(|finding| {
                OrderedValue::map_of_present([
                    ("severity", Some(finding.severity.as_str().into())),
                    ("code", Some(finding.code.as_str().into())),
                    ("message", Some(finding.message.as_str().into())),
                    ("entityType", Some(change.entity_type.as_str().into())),
                    ("entityId", Some(change.entity_id.as_str().into())),
                    ("field", finding.field.as_deref().map(OrderedValue::from)),
                ])
            })
            .collect()
    }

    /// Returns all findings, followed by the failure.
    pub(super) fn diagnostics(&self) -> Vec<BundleFinding> {
        let change = &self.change;
        let of_entity =
            |diagnostic: BundleFinding| diagnostic.of_entity(&change.entity_type, &change.entity_id);
        let findings = self.findings.iter().map(|finding| BundleFinding {
            path: finding.field.clone(),
            code: Some(finding.code.clone()),
            ..of_entity(BundleFinding::new(finding.severity, finding.message.as_str()))
        });
        let failure = self.failure.iter().map(|failure| BundleFinding {
            code: Some(failure.code.as_str().to_owned()),
            ..of_entity(BundleFinding::error(failure.message.as_str()))
        });
        findings.chain(failure).collect()
    }

    /// Converts to response data. `applied`: whether the batch was written.
    pub(super) fn to_data(&self, index: usize, applied: bool) -> OrderedValue {
        let status = match (&self.failure, applied) {
            (Some(_), _) => "error",
            (None, true) => "applied",
            (None, false) => "would_apply",
        };
        let error = self.failure.as_ref().map(|failure| {
            OrderedValue::map([
                ("code", failure.code.as_str().into()),
                ("message", failure.message.as_str().into()),
            ])
        });
        OrderedValue::map_of_present([
            ("index", Some(index.into())),
            ("operation", Some(self.change.operation.as_str().into())),
            ("entityType", Some(self.change.entity_type.as_str().into())),
            ("entityId", Some(self.change.entity_id.as_str().into())),
            ("status", Some(status.into())),
            ("diagnostics", Some(self.finding_data().into())),
            ("resultEntity", self.entity.clone()),
            ("affectedFiles", self.file.as_deref().map(|file| OrderedValue::texts([file]))),
            ("error", error),
        ])
    }
}
