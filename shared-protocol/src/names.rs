//! Names that appear in the window, in files and in Terraform. They are parsed at the boundary, so a value of these
//! types is always well formed.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}: expected {rule}")]
pub struct NameError {
    what: &'static str,
    rule: &'static str,
    text: String,
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, NameError> {
                let text = text.into();
                let check: fn(&str) -> bool = $check;
                if check(&text) {
                    Ok(Self(text))
                } else {
                    Err(NameError { what: $what, rule: $rule, text: text.chars().take(80).collect() })
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(String::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    };
}

fn consists_of(text: &str, most: usize, first: fn(char) -> bool, rest: fn(char) -> bool) -> bool {
    let mut chars = text.chars();
    text.len() <= most && chars.next().is_some_and(first) && chars.all(rest)
}

name!(
    /// The name of a node: unique on its board and valid as a Terraform name.
    NodeName, "name", "a lower-case letter or underscore, then lower-case letters, digits and underscores, at most 64 characters",
    |text| consists_of(text, 64, |c| c.is_ascii_lowercase() || c == '_', |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
);
name!(
    /// The name of a board: unique in its workspace and the stem of its file name.
    BoardName, "board name", "a lower-case letter or digit, then lower-case letters, digits, hyphens and underscores, at most 64 characters",
    |text| consists_of(text, 64, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
);
name!(
    /// The id of a registry type, such as `aws/compute/instance` or `ui.button`.
    TypeId, "type id", "letters, digits, `_ - . /`, starting with a letter or underscore, at most 128 characters",
    |text| consists_of(text, 128, |c| c.is_ascii_alphabetic() || c == '_', |c| c.is_ascii_alphanumeric() || "_-./".contains(c))
);
name!(
    /// The key of a property of a type.
    PropKey, "property key", "a letter or underscore, then letters, digits and underscores, at most 64 characters",
    |text| consists_of(text, 64, |c| c.is_ascii_alphabetic() || c == '_', |c| c.is_ascii_alphanumeric() || c == '_')
);
name!(
    /// The id of a port of a type.
    PortId, "port id", "a lower-case letter, then lower-case letters, digits, hyphens and underscores, at most 64 characters",
    |text| consists_of(text, 64, |c| c.is_ascii_lowercase(), |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
);
name!(
    /// The path of a text file whose content is part of the state, such as an entity of a spec bundle. The path is
    /// relative to the workspace root and uses `/`. It cannot point outside the workspace or at hidden files.
    SourcePath, "source path", "a path inside the workspace of at most 1024 bytes, each part at most 255 bytes, no part empty or starting with a dot",
    is_source_path
);

fn is_source_path(text: &str) -> bool {
    let fits = |part: &str| !part.is_empty() && !part.starts_with('.') && part.len() <= 255;
    text.len() <= 1024 && !text.contains(char::is_control) && text.split('/').all(fits)
}

impl SourcePath {
    /// The file that stores the trace links.
    pub fn trace_links() -> Self {
        Self(Arc::from("links.json"))
    }
}

impl NodeName {
    /// The default name of a node.
    pub fn fallback() -> Self {
        Self(Arc::from("node"))
    }

    /// Converts free text to a well-formed name; returns `fallback` when no character is usable.
    pub fn from_words(words: &str, fallback: &NodeName) -> Self {
        let folded = fold(words, '_');
        let folded =
            if folded.starts_with(|c: char| c.is_ascii_digit()) { format!("_{folded}") } else { folded };
        Self::parse(folded.as_str()).unwrap_or_else(|_| fallback.clone())
    }

    /// Appends a number, shortening the name so that the result still fits.
    pub fn numbered(&self, number: u32) -> Self {
        let suffix = format!("_{number}");
        let stem: String = self.0.chars().take(64 - suffix.len()).collect();
        Self(Arc::from(format!("{stem}{suffix}")))
    }
}

impl BoardName {
    /// The default name of a board of this kind.
    pub fn of_kind(kind: crate::BoardKind) -> Self {
        Self(Arc::from(kind.as_str()))
    }

    /// Converts free text to a well-formed board name; returns `None` when no character is usable.
    pub fn from_words(words: &str) -> Option<Self> {
        Self::parse(fold(words, '-')).ok()
    }

    /// Appends a number, shortening the name so that the result still fits.
    pub fn numbered(&self, number: u32) -> Self {
        let suffix = format!("-{number}");
        let stem: String = self.0.chars().take(64 - suffix.len()).collect();
        Self(Arc::from(format!("{stem}{suffix}")))
    }
}

/// Lower-cases the words and joins them with `joint`. Every character that is neither a letter nor a digit separates
/// words.
fn fold(words: &str, joint: char) -> String {
    let mut folded = String::new();
    for c in words.chars() {
        if folded.len() >= 60 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            folded.push(c.to_ascii_lowercase());
        } else if !folded.is_empty() && !folded.ends_with(joint) {
            folded.push(joint);
        }
    }
    folded.trim_end_matches(joint).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_from_words() {
        let fallback = NodeName::parse("node").unwrap();
        for (words, name) in [
            ("Web server", "web_server"),
            ("3 tiers", "_3_tiers"),
            ("  --", "node"),
            ("Ünïcode", "n_code"),
            ("a  b", "a_b"),
        ] {
            assert_eq!(NodeName::from_words(words, &fallback).as_str(), name, "{words:?}");
        }
        assert_eq!(BoardName::from_words("Three tiers!").unwrap().as_str(), "three-tiers");
        assert_eq!(NodeName::parse("x".repeat(64)).unwrap().numbered(12).as_str().len(), 64);
    }

    #[test]
    fn malformed_names_are_refused_with_the_rule() {
        for text in ["", "A", "1a", "a-b", "a b", "ä", &"x".repeat(65)] {
            assert!(
                NodeName::parse(text).unwrap_err().to_string().contains("expected a lower-case letter"),
                "{text:?}"
            );
        }
        for text in ["../x", "-a", "a/b", ".hidden", "a.b", "con\0"] {
            assert!(BoardName::parse(text).is_err(), "{text:?}");
        }
    }
}
