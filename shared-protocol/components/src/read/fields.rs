//! A mapping whose entries are consumed one by one; leftover entries are reported as mistakes.

use crate::{
    SourcePosition,
    limits::MAX_TEXT,
    problem::ProblemCollector,
    source::{SourceKey, SourceNode, SourceValue},
    text::invisible,
};

pub(super) struct MappingFields<'s> {
    pub(super) place: SourcePosition,
    entries: Vec<&'s (SourceKey, SourceNode)>,
    requested_keys: Vec<&'static str>,
}

impl<'s> MappingFields<'s> {
    pub(super) fn from_source(
        source: &'s SourceNode,
        what: &str,
        findings: &mut ProblemCollector<'_>,
    ) -> Option<Self> {
        match &source.data {
            SourceValue::Map(entries) => Some(Self {
                place: source.place,
                entries: entries.iter().collect(),
                requested_keys: Vec::new(),
            }),
            _ => {
                findings.add_mismatch(source, what, "a mapping");
                None
            }
        }
    }

    pub(super) fn take_field(&mut self, key: &'static str) -> Option<&'s SourceNode> {
        self.requested_keys.push(key);
        let index = self.entries.iter().position(|(found, _)| found.text == key)?;
        Some(&self.entries.remove(index).1)
    }

    pub(super) fn require(
        &mut self,
        key: &'static str,
        what: &str,
        findings: &mut ProblemCollector<'_>,
    ) -> Option<&'s SourceNode> {
        let found = self.take_field(key);
        if found.is_none() {
            findings.add(self.place, format!("`{key}` is missing"), what);
        }
        found
    }

    /// Reports every entry that was not consumed.
    pub(super) fn finish(self, what: &str, findings: &mut ProblemCollector<'_>) {
        for (key, _) in &self.entries {
            let known = self.requested_keys.join(", ");
            let expected = match closest_word(&key.text, &self.requested_keys) {
                Some(near) => format!("`{near}`; the keys are {known}"),
                None => format!("one of {known}"),
            };
            findings.add(key.place, format!("unknown key `{:.40}` in {what}", key.text), expected);
        }
    }
}

/// Returns the known word that is closest to a misspelled one.
pub(super) fn closest_word<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word: String = word.chars().take(40).collect();
    let near = known.iter().map(|known| (strsim::osa_distance(&word, known), *known)).min()?;
    (near.0 <= 2 && near.0 < word.chars().count()).then_some(near.1)
}

/// Returns a string for display after checking its length and rejecting invisible characters.
pub(super) fn display_text<'s>(
    source: &'s SourceNode,
    what: &str,
    findings: &mut ProblemCollector<'_>,
) -> Option<&'s str> {
    let SourceValue::Text(text) = &source.data else {
        findings.add_mismatch(source, what, "a string");
        return None;
    };
    check_text(text, source.place, what, findings).then_some(text)
}

pub(super) fn check_text(
    text: &str,
    place: SourcePosition,
    what: &str,
    findings: &mut ProblemCollector<'_>,
) -> bool {
    if text.chars().count() > MAX_TEXT {
        findings.add(place, format!("{what} is longer than {MAX_TEXT} characters"), "a shorter string");
        return false;
    }
    if let Some(c) = text.chars().find(|&c| invisible(c)) {
        let expected = "a string without invisible or reordering characters";
        findings.add(place, format!("{what} contains the invisible character U+{:04X}", c as u32), expected);
        return false;
    }
    true
}
