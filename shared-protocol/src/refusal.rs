//! Refusals as data: the refused action, the reason and the next step. A refused request changes nothing.

use crate::{limits::MAX_SUGGESTIONS, overrides::PromotionFailure};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The error codes, shared by the window, the command line and MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefusalCode {
    BadRequest,
    NotFound,
    ValidationError,
    ReferenceError,
    ContainmentError,
    ConnectionError,
    Conflict,
    /// The state on which the request or decision is based has changed.
    Stale,
    /// The action needs an explicit confirmation.
    ConfirmationRequired,
    /// The board cannot be changed now: its file is damaged or has an unresolved conflict.
    ReadOnly,
    NoWorkspace,
    LimitExceeded,
    /// The change could not be written to disk; nothing was changed.
    StorageError,
    Timeout,
    /// A remote host cannot be reached or did not respond before the timeout.
    NetworkError,
    /// A required service is not running.
    ServiceUnavailable,
    UnsupportedCapability,
    Internal,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub code: RefusalCode,
    pub message: String,
    /// The key of the wrong argument or property.
    #[serde(default)]
    pub field: Option<String>,
    /// The next steps, most useful first.
    #[serde(default)]
    pub hints: Vec<String>,
    /// Existing ids or values similar to the requested one.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// Every override that could not be promoted; empty for all other refusals.
    #[serde(default)]
    pub failed: Box<[PromotionFailure]>,
}

impl Refusal {
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        let (hints, suggestions, failed) = (Vec::new(), Vec::new(), Box::default());
        Self { code, message: message.into(), field: None, hints, suggestions, failed }
    }

    #[must_use]
    pub fn field(mut self, field: impl fmt::Display) -> Self {
        self.field = Some(field.to_string());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The refusal for a promotion of `of` overrides in which `failed` could not be promoted.
    pub fn promotion_failed(failed: Vec<PromotionFailure>, of: usize) -> Self {
        let message = match (failed.len(), of) {
            (_, 1) => "the override cannot be promoted".to_owned(),
            (failed, of) => format!("{failed} of {of} overrides cannot be promoted"),
        };
        let failed = failed.into_boxed_slice();
        Self { failed, ..Self::new(RefusalCode::ValidationError, message).hint("Nothing was changed.") }
    }

    #[must_use]
    pub fn suggest(mut self, suggestions: impl IntoIterator<Item = String>) -> Self {
        self.suggestions.extend(suggestions.into_iter().take(MAX_SUGGESTIONS));
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.suggestions.is_empty() {
            write!(f, "; did you mean {}?", self.suggestions.join(", "))?;
        }
        for hint in &self.hints {
            write!(f, "\n{hint}")?;
        }
        for failed in &self.failed {
            write!(f, "\n{}: {}", failed.address, failed.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
