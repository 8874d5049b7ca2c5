//! Masks the secrets of a run in its output.

use std::collections::BTreeMap;

/// Shorter values would mask parts of ordinary text and are not masked.
const MIN_SECRET_BYTES: usize = 4;
const MASK_TEXT: &str = "(sensitive)";

#[derive(Default)]
pub(crate) struct SecretMask {
    /// Longest first, so that a secret inside another leaves no remainder.
    secrets: Vec<String>,
}

impl SecretMask {
    pub(crate) fn from_secrets(secrets: &BTreeMap<String, String>) -> Self {
        let lines = secrets.values().flat_map(|secret| secret.lines());
        let mut secrets: Vec<String> = lines
            .filter(|line| line.len() >= MIN_SECRET_BYTES)
            // Also in its JSON-escaped form.
            .flat_map(|line| {
                [line.to_owned(), serde_json::json!(line).to_string().trim_matches('"').to_owned()]
            })
            .collect();
        secrets.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        secrets.dedup();
        Self { secrets }
    }

    pub(crate) fn mask(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK_TEXT) } else { text }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_covered_also_within_json() {
        let secrets = BTreeMap::from([
            ("a".to_owned(), "hush\"hush".to_owned()),
            ("b".to_owned(), "hush\"hush, longer".to_owned()),
            ("c".to_owned(), "no".to_owned()),
        ]);
        let mask = SecretMask::from_secrets(&secrets);
        assert_eq!(mask.mask("now hush\"hush, longer"), "now (sensitive)");
        assert_eq!(mask.mask(r#"{"x":"hush\"hush"}"#), r#"{"x":"(sensitive)"}"#);
    }
}
