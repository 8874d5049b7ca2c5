//! The result of one change, or the reason why it fails.

use super::request::Change;
use crate::{Data, Diagnostic, diagnostic::Severity, envelope::Code, schema::SchemaFinding};

/// A finding about a change.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    severity: Severity,
    code: String,
    message: String,
    field: Option<String>,
}

impl Finding {
    pub(super) fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self { severity, code: code.to_owned(), message: message.into(), field: None }
    }

    pub(super) fn at(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    pub(super) fn of_schema(finding: &SchemaFinding) -> Self {
        Self::new(Severity::Error, &finding.code, finding.message.as_str()).at(&finding.path)
    }
}

/// The reason why a change fails.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) code: Code,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::ValidationError, message)
    }
}

#[derive(Debug, Clone)]
pub(super) struct ChangeResult {
    pub(super) change: Change,
    pub(super) findings: Vec<Finding>,
    pub(super) failure: Option<Failure>,
    /// The affected file, once it is known to belong to the bundle.
    pub(super) file: Option<String>,
    /// The entity after the whole batch.
    pub(super) entity: Option<Data>,
}

impl ChangeResult {
    pub(super) fn new(change: &Change) -> Self {
        Self { change: change.clone(), findings: Vec::new(), failure: None, file: None, entity: None }
    }

    pub(super) fn finding_data(&self) -> Vec<Data> {
        let change = &self.change;
        self.findings
            .iter()
            .map(|finding| {
                Data::map_of_some([
                    ("severity", Some(finding.severity.as_str().into())),
                    ("code", Some(finding.code.as_str().into())),
                    ("message", Some(finding.message.as_str().into())),
                    ("entityType", Some(change.entity_type.as_str().into())),
                    ("entityId", Some(change.entity_id.as_str().into())),
                    ("field", finding.field.as_deref().map(Data::from)),
                ])
            })
            .collect()
    }

    /// Returns all findings, followed by the failure.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let change = &self.change;
        let of_entity = |diagnostic: Diagnostic| diagnostic.of_entity(&change.entity_type, &change.entity_id);
        let findings = self.findings.iter().map(|finding| Diagnostic {
            path: finding.field.clone(),
            code: Some(finding.code.clone()),
            ..of_entity(Diagnostic::new(finding.severity, finding.message.as_str()))
        });
        let failure = self.failure.iter().map(|failure| Diagnostic {
            code: Some(failure.code.as_str().to_owned()),
            ..of_entity(Diagnostic::error(failure.message.as_str()))
        });
        findings.chain(failure).collect()
    }

    /// Converts to response data. `applied`: whether the batch was written.
    pub(super) fn to_data(&self, index: usize, applied: bool) -> Data {
        let status = match (&self.failure, applied) {
            (Some(_), _) => "error",
            (None, true) => "applied",
            (None, false) => "would_apply",
        };
        let error = self.failure.as_ref().map(|failure| {
            Data::map([("code", failure.code.as_str().into()), ("message", failure.message.as_str().into())])
        });
        Data::map_of_some([
            ("index", Some(index.into())),
            ("operation", Some(self.change.operation.as_str().into())),
            ("entityType", Some(self.change.entity_type.as_str().into())),
            ("entityId", Some(self.change.entity_id.as_str().into())),
            ("status", Some(status.into())),
            ("diagnostics", Some(self.finding_data().into())),
            ("resultEntity", self.entity.clone()),
            ("affectedFiles", self.file.as_deref().map(|file| Data::texts([file]))),
            ("error", error),
        ])
    }
}
