//! A refusal is data: what was refused, why, and what to do next. It never changes anything.

use crate::{limits::MAX_SUGGESTIONS, overrides::NotPromoted};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The codes that people, scripts and agents meet; the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    BadRequest,
    NotFound,
    ValidationError,
    ReferenceError,
    ContainmentError,
    ConnectionError,
    Conflict,
    /// What was seen or decided upon has moved since.
    Stale,
    /// Nothing happens without a deliberate yes.
    ConfirmationRequired,
    /// The board cannot be changed now: its file is damaged or its conflict is undecided.
    ReadOnly,
    NoWorkspace,
    LimitExceeded,
    /// The change could not be made durable; nothing was changed.
    StorageError,
    Timeout,
    /// Something elsewhere cannot be reached, or did not answer in time.
    NetworkError,
    /// Something that is needed does not run.
    ServiceUnavailable,
    UnsupportedCapability,
    Internal,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    /// The argument or property that is wrong.
    #[serde(default)]
    pub field: Option<String>,
    /// What to do next, most useful first.
    #[serde(default)]
    pub hints: Vec<String>,
    /// Existing ids or values close to what was asked for.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// Every override that could not be promoted; of all else nothing.
    #[serde(default)]
    pub failed: Box<[NotPromoted]>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
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

    /// Nothing of these was promoted, because of these.
    pub fn not_promoted(failed: Vec<NotPromoted>, of: usize) -> Self {
        let message = match (failed.len(), of) {
            (_, 1) => "the override cannot be promoted".to_owned(),
            (failed, of) => format!("{failed} of {of} overrides cannot be promoted"),
        };
        let failed = failed.into_boxed_slice();
        Self { failed, ..Self::new(Code::ValidationError, message).hint("Nothing was changed.") }
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
