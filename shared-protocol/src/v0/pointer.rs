//! JSON Pointer (RFC 6901), the format of every prop path.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A validated JSON Pointer, stored as written. `""` is valid and refers to the whole document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct JsonPointer(String);

/// The reason why a string is not a JSON Pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JsonPointerError {
    /// Neither empty nor starting with `/`.
    #[error("a JSON Pointer is empty or starts with `/`")]
    NoLeadingSlash,
    /// A `~` that is not part of `~0` or `~1`.
    #[error("in a JSON Pointer `~` must be followed by `0` or `1`")]
    BadEscape,
}

impl JsonPointer {
    /// Validates `text`.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonPointerError> {
        let text = text.into();
        if !text.is_empty() && !text.starts_with('/') {
            return Err(JsonPointerError::NoLeadingSlash);
        }
        if text.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(JsonPointerError::BadEscape);
        }
        Ok(Self(text))
    }

    /// The pointer to the whole document.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// The pointer as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The unescaped reference tokens from the root down; none for the whole document.
    pub fn tokens(&self) -> impl Iterator<Item = String> {
        // Replaces `~1` first: in the other order `~01` would become `/`.
        self.0.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }
}

impl TryFrom<String> for JsonPointer {
    type Error = JsonPointerError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text)
    }
}

impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonPointer, JsonPointerError};

    fn tokens(text: &str) -> Vec<String> {
        JsonPointer::parse(text).unwrap().tokens().collect()
    }

    #[test]
    fn tokens_are_unescaped() {
        assert_eq!(tokens(""), Vec::<String>::new());
        assert_eq!(tokens("/"), [""]);
        assert_eq!(tokens("/items/0/label"), ["items", "0", "label"]);
        assert_eq!(tokens("/a~1b/m~0n/~01/x//"), ["a/b", "m~n", "~1", "x", "", ""]);
        assert_eq!(tokens("/é ~0"), ["é ~"]);
    }

    #[test]
    fn others_are_refused() {
        assert_eq!(JsonPointer::parse("a"), Err(JsonPointerError::NoLeadingSlash));
        assert_eq!(JsonPointer::parse("#/a"), Err(JsonPointerError::NoLeadingSlash));
        for bad in ["/~", "/a~", "/~2", "/~~0", "/a~/b"] {
            assert_eq!(JsonPointer::parse(bad), Err(JsonPointerError::BadEscape), "{bad}");
        }
    }
}
