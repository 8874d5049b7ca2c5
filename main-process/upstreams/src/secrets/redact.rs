//! Takes known secrets out of any text that leaves: logs, errors, answers.

use super::Secret;
use std::borrow::Cow;

const IN_PLACE: &str = "[redacted]";

#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// Longest first: one secret may be part of another.
    needles: Vec<String>,
}

impl Redactor {
    pub(crate) fn new<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Self {
        let mut needles = Vec::new();
        for secret in secrets {
            let plain = secret.reveal().to_owned();
            // As it stands inside JSON, and inside JSON that is text within JSON.
            let once = escaped(&plain);
            needles.extend([escaped(&once), once, plain]);
        }
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { needles }
    }

    pub(crate) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut cleaned = Cow::Borrowed(text);
        for needle in &self.needles {
            if cleaned.contains(needle.as_str()) {
                cleaned = Cow::Owned(cleaned.replace(needle.as_str(), IN_PLACE));
            }
        }
        cleaned
    }
}

fn escaped(text: &str) -> String {
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
        assert_eq!(redactor.clean("it is pass\"word-2!"), "it is [redacted]!");
        assert_eq!(redactor.clean("it is pass\"word!"), "it is [redacted]!");
        let json =
            serde_json::json!({"env": serde_json::json!({"KEY": "pass\"word"}).to_string()}).to_string();
        assert!(!redactor.clean(&json).contains("word"), "{}", redactor.clean(&json));
        assert!(serde_json::from_str::<serde_json::Value>(&redactor.clean(&json)).is_ok());
        assert!(matches!(redactor.clean("nothing here"), Cow::Borrowed(_)));
    }
}
