//! Errors returned to agents: their codes and hints for the next step.

use serde::Serialize;
use shared_protocol::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ToolErrorCode {
    BadRequest,
    NotFound,
    ValidationError,
    ReferenceError,
    ContainmentError,
    ConnectionError,
    DeleteBlocked,
    Conflict,
    Stale,
    ConfirmationRequired,
    ActuationDisabled,
    AwaitingReview,
    NoWorkspace,
    NoPreview,
    BridgeDisconnected,
    ServiceUnavailable,
    NetworkError,
    Timeout,
    LimitExceeded,
    UnsupportedCapability,
    Internal,
}

impl ToolErrorCode {
    pub const ALL: [Self; 21] = [
        Self::BadRequest,
        Self::NotFound,
        Self::ValidationError,
        Self::ReferenceError,
        Self::ContainmentError,
        Self::ConnectionError,
        Self::DeleteBlocked,
        Self::Conflict,
        Self::Stale,
        Self::ConfirmationRequired,
        Self::ActuationDisabled,
        Self::AwaitingReview,
        Self::NoWorkspace,
        Self::NoPreview,
        Self::BridgeDisconnected,
        Self::ServiceUnavailable,
        Self::NetworkError,
        Self::Timeout,
        Self::LimitExceeded,
        Self::UnsupportedCapability,
        Self::Internal,
    ];
}

/// Maps the core's codes to the agents' codes. Two codes that agents do not have map to the nearest one.
impl From<shared_protocol::RefusalCode> for ToolErrorCode {
    fn from(code: shared_protocol::RefusalCode) -> Self {
        use shared_protocol::RefusalCode as Core;
        match code {
            Core::BadRequest => Self::BadRequest,
            Core::NotFound => Self::NotFound,
            Core::ValidationError => Self::ValidationError,
            Core::ReferenceError => Self::ReferenceError,
            Core::ContainmentError => Self::ContainmentError,
            Core::ConnectionError => Self::ConnectionError,
            Core::Conflict | Core::ReadOnly => Self::Conflict,
            Core::Stale => Self::Stale,
            Core::ConfirmationRequired => Self::ConfirmationRequired,
            Core::NoWorkspace => Self::NoWorkspace,
            Core::LimitExceeded => Self::LimitExceeded,
            Core::StorageError => Self::ServiceUnavailable,
            Core::Timeout => Self::Timeout,
            Core::NetworkError => Self::NetworkError,
            Core::ServiceUnavailable => Self::ServiceUnavailable,
            Core::UnsupportedCapability => Self::UnsupportedCapability,
            Core::Internal => Self::Internal,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    pub code: ToolErrorCode,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(skip_serializing_if = "ToolErrorDetails::is_empty")]
    /// Boxed, because almost every function of this crate returns a `ToolError`.
    pub details: Box<ToolErrorDetails>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolErrorDetails {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Further fields, such as an id to use in a later call.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

impl ToolErrorDetails {
    fn is_empty(&self) -> bool {
        self.suggestions.is_empty() && self.hints.is_empty() && self.more.is_empty()
    }
}

impl ToolError {
    pub fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, details: Box::default() }
    }

    pub fn no_workspace() -> Self {
        Self::new(ToolErrorCode::NoWorkspace, "No workspace is open")
            .hint("Ask the designer to open a workspace.")
    }

    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.details.hints.push(hint.into());
        self
    }

    #[must_use]
    pub fn detail(mut self, key: &str, value: serde_json::Value) -> Self {
        self.details.more.insert(key.to_owned(), value);
        self
    }

    #[must_use]
    pub fn suggest(mut self, suggestions: impl IntoIterator<Item = String>) -> Self {
        self.details.suggestions.extend(suggestions);
        self
    }
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, message, field, hints, suggestions, failed: _ } = refusal;
        Self {
            code: code.into(),
            message,
            field,
            details: Box::new(ToolErrorDetails { suggestions, hints, ..ToolErrorDetails::default() }),
        }
    }
}
