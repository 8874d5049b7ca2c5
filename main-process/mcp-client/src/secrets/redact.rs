//! Redacts known secrets from text that leaves the service: logs, errors, answers.

use super::Secret;
use std::borrow::Cow;

const REDACTED: &str = "[redacted]";

#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// Longest first, because one secret may be part of another.
    needles: Vec<String>,
}

impl Redactor {
    pub(crate) fn new<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Self {
        let mut needles = Vec::new();
        for secret in secrets {
            let plain = secret.reveal().to_owned();
            // Also the form inside JSON, and inside JSON text within JSON.
            let once = json_escaped(&plain);
            needles.extend([json_escaped(&once), once, plain]);
        }
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { needles }
    }

    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut cleaned = Cow::Borrowed(text);
        for needle in &self.needles {
            if cleaned.contains(needle.as_str()) {
                cleaned = Cow::Owned(cleaned.replace(needle.as_str(), REDACTED));
            }
        }
        cleaned
    }
}

impl Redactor {
    pub(crate) fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// Removes the beginning of a secret at the end of the text.
    pub(crate) fn without_beginning<'a>(&self, text: &'a str) -> &'a str {
        let begins = |needle: &String| {
            let from = text.len().saturating_sub(needle.len());
            let first = needle.as_bytes().first();
            let tail = text.as_bytes().get(from..).unwrap_or_default();
            let place = (0..tail.len()).find(|&place| {
                tail.get(place) == first
                    && needle.as_bytes().starts_with(tail.get(place..).unwrap_or_default())
            });
            place.map(|place| from + place)
        };
        let end = self.needles.iter().filter_map(begins).min().unwrap_or(text.len());
        text.get(..text.floor_char_boundary(end)).unwrap_or_default()
    }
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(&quoted).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_plain_and_escaped_and_inside_another() {
        let secrets = [
            Secret::new("pass\"word").expect("long enough"),
            Secret::new("pass\"word-2").expect("long enough"),
        ];
        let redactor = Redactor::new(secrets.iter());
        assert_eq!(redactor.redact("it is pass\"word-2!"), "it is [redacted]!");
        assert_eq!(redactor.redact("it is pass\"word!"), "it is [redacted]!");
        let json =
            serde_json::json!({"env": serde_json::json!({"KEY": "pass\"word"}).to_string()}).to_string();
        assert!(!redactor.redact(&json).contains("word"), "{}", redactor.redact(&json));
        assert!(serde_json::from_str::<serde_json::Value>(&redactor.redact(&json)).is_ok());
        assert!(matches!(redactor.redact("nothing here"), Cow::Borrowed(_)));
    }
}
