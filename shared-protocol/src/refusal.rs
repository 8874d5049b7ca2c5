//! Refusals as data: the refused action, the reason and the next step. A refused request changes nothing.

use crate::{OrderedMembers, OrderedValue, limits::MAX_SUGGESTIONS, overrides::PromotionFailure};
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! refusal_codes {
    ($($(#[$meta:meta])* $code:ident = $text:literal,)+) => {
        /// The codes of all surfaces: the window, terminals, agents, the bridge, spec bundles and managed servers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum RefusalCode {
            $($(#[$meta])* #[serde(rename = $text)] $code,)+
        }

        impl RefusalCode {
            /// The code as written on every surface.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)+
                }
            }
        }
    };
}

refusal_codes! {
    BadRequest = "BAD_REQUEST",
    NotFound = "NOT_FOUND",
    ValidationError = "VALIDATION_ERROR",
    ReferenceError = "REFERENCE_ERROR",
    ContainmentError = "CONTAINMENT_ERROR",
    ConnectionError = "CONNECTION_ERROR",
    Conflict = "CONFLICT",
    /// The state on which the request or decision is based has changed.
    Stale = "STALE",
    /// The action needs an explicit confirmation.
    ConfirmationRequired = "CONFIRMATION_REQUIRED",
    /// The board cannot be changed now: its file is damaged or has an unresolved conflict.
    ReadOnly = "READ_ONLY",
    NoWorkspace = "NO_WORKSPACE",
    LimitExceeded = "LIMIT_EXCEEDED",
    /// The change could not be written to disk; nothing was changed.
    StorageError = "STORAGE_ERROR",
    Timeout = "TIMEOUT",
    /// A remote host cannot be reached or did not respond before the timeout.
    NetworkError = "NETWORK_ERROR",
    /// A required service is not running.
    ServiceUnavailable = "SERVICE_UNAVAILABLE",
    UnsupportedCapability = "UNSUPPORTED_CAPABILITY",
    Internal = "INTERNAL",
    /// Other elements refer to the one to delete.
    DeleteBlocked = "DELETE_BLOCKED",
    /// Agents must not make changes here.
    ActuationDisabled = "ACTUATION_DISABLED",
    /// A person has not decided yet.
    AwaitingReview = "AWAITING_REVIEW",
    NoPreview = "NO_PREVIEW",
    /// The bridge has no connection to Draftboard.
    BridgeDisconnected = "BRIDGE_DISCONNECTED",
}

/// The one refusal of all surfaces. The derived form is the one of the window and of terminals; agents, the bridge and
/// spec bundles have serialisers of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub code: RefusalCode,
    /// States what happened, why, and what to do next. Free of secrets.
    pub message: String,
    /// The key of the wrong argument, property or part of a configuration.
    #[serde(default)]
    pub field: Option<Box<str>>,
    /// The next steps, most useful first.
    #[serde(default)]
    pub hints: Vec<String>,
    /// Existing ids or values similar to the requested one.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// Every override that could not be promoted; empty for all other refusals.
    #[serde(default)]
    pub failed: Box<[PromotionFailure]>,
    /// Further members for agents, such as an id to use in a later call. They never reach the window or a terminal.
    #[serde(skip)]
    pub details: Option<Box<OrderedMembers>>,
}

impl Refusal {
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        let (hints, suggestions, failed) = (Vec::new(), Vec::new(), Box::default());
        Self { code, message: message.into(), field: None, hints, suggestions, failed, details: None }
    }

    pub fn validation(field: impl fmt::Display, message: impl Into<String>) -> Self {
        Self::new(RefusalCode::ValidationError, message).field(field)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::NotFound, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::Conflict, message)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::ServiceUnavailable, message)
    }

    pub fn network(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::NetworkError, message)
    }

    #[must_use]
    pub fn field(mut self, field: impl fmt::Display) -> Self {
        self.field = Some(field.to_string().into());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a member to the details.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<OrderedValue>) -> Self {
        self.details.get_or_insert_default().set(key, value.into());
        self
    }

    #[must_use]
    pub fn details<const N: usize>(mut self, details: [(&str, OrderedValue); N]) -> Self {
        self.details = Some(Box::new(details.into_iter().collect()));
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
