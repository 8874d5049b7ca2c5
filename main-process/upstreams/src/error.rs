//! The error type of this crate, in the contract's form `{code, message, field}`.

use serde::Serialize;

/// The codes of the agent surface, so that no translation is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum UpstreamErrorCode {
    ValidationError,
    NotFound,
    Conflict,
    NetworkError,
    ServiceUnavailable,
    LimitExceeded,
    UnsupportedCapability,
    Internal,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct UpstreamError {
    pub code: UpstreamErrorCode,
    /// States what happened, why, and what to do next. Free of secrets.
    pub message: String,
    /// The part of a configuration or of the arguments that the error concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl UpstreamError {
    pub(crate) fn new(code: UpstreamErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None }
    }

    pub(crate) fn validation(field: &str, message: impl Into<String>) -> Self {
        Self {
            code: UpstreamErrorCode::ValidationError,
            message: message.into(),
            field: Some(field.to_owned()),
        }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(UpstreamErrorCode::NotFound, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(UpstreamErrorCode::Conflict, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(UpstreamErrorCode::ServiceUnavailable, message)
    }

    pub(crate) fn network(message: impl Into<String>) -> Self {
        Self::new(UpstreamErrorCode::NetworkError, message)
    }

    pub(crate) fn with_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }
}
