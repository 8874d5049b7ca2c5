//! Refusals in the form that agents receive.

use serde::Serialize;
use shared_protocol::{OrderedValue, Refusal, RefusalCode};
use std::collections::BTreeMap;

#[serde_with::skip_serializing_none]
#[derive(Debug, Serialize)]
pub(crate) struct AgentRefusal<'a> {
    code: RefusalCode,
    message: &'a str,
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "AgentRefusalDetails::is_empty")]
    details: AgentRefusalDetails<'a>,
}

#[derive(Debug, Serialize)]
pub(crate) struct AgentRefusalDetails<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    suggestions: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hints: &'a [String],
    /// Further members, sorted.
    #[serde(flatten)]
    more: BTreeMap<&'a str, &'a OrderedValue>,
}

impl AgentRefusalDetails<'_> {
    fn is_empty(&self) -> bool {
        self.suggestions.is_empty() && self.hints.is_empty() && self.more.is_empty()
    }
}

impl<'a> From<&'a Refusal> for AgentRefusalDetails<'a> {
    fn from(refusal: &'a Refusal) -> Self {
        let more = refusal.details.iter().flat_map(|details| details.iter()).collect();
        Self { suggestions: &refusal.suggestions, hints: &refusal.hints, more }
    }
}

impl<'a> From<&'a Refusal> for AgentRefusal<'a> {
    fn from(refusal: &'a Refusal) -> Self {
        Self {
            code: agent_code(refusal.code),
            message: &refusal.message,
            field: refusal.field.as_deref(),
            details: refusal.into(),
        }
    }
}

/// The code that agents see: two codes that they do not have become the nearest one.
pub(crate) fn agent_code(code: RefusalCode) -> RefusalCode {
    match code {
        RefusalCode::ReadOnly => RefusalCode::Conflict,
        RefusalCode::StorageError => RefusalCode::ServiceUnavailable,
        code => code,
    }
}

pub(crate) fn no_workspace() -> Refusal {
    Refusal::new(RefusalCode::NoWorkspace, "No workspace is open")
        .hint("Ask the designer to open a workspace.")
}
