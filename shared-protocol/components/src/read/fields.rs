//! A mapping whose entries are consumed one by one; leftover entries are reported as mistakes.

use crate::{
    Place,
    bounds::MAX_TEXT,
    problem::Findings,
    source::{Data, Key, Source},
    text::invisible,
};

pub(super) struct Fields<'s> {
    pub(super) place: Place,
    entries: Vec<&'s (Key, Source)>,
    /// Every key that was requested.
    known: Vec<&'static str>,
}

impl<'s> Fields<'s> {
    pub(super) fn of(source: &'s Source, what: &str, findings: &mut Findings<'_>) -> Option<Self> {
        match &source.data {
            Data::Map(entries) => {
                Some(Self { place: source.place, entries: entries.iter().collect(), known: Vec::new() })
            }
            other => {
                findings.add(source.place, format!("found {} for {what}", other.kind()), "a mapping");
                None
            }
        }
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<&'s Source> {
        self.known.push(key);
        let index = self.entries.iter().position(|(found, _)| found.text == key)?;
        Some(&self.entries.remove(index).1)
    }

    pub(super) fn need(
        &mut self,
        key: &'static str,
        what: &str,
        findings: &mut Findings<'_>,
    ) -> Option<&'s Source> {
        let found = self.take(key);
        if found.is_none() {
            findings.add(self.place, format!("`{key}` is missing"), what);
        }
        found
    }

    /// Reports every entry that was not consumed.
    pub(super) fn finish(self, what: &str, findings: &mut Findings<'_>) {
        for (key, _) in &self.entries {
            let known = self.known.join(", ");
            let expected = match suggest(&key.text, &self.known) {
                Some(near) => format!("`{near}`; the keys are {known}"),
                None => format!("one of {known}"),
            };
            findings.add(key.place, format!("unknown key `{:.40}` in {what}", key.text), expected);
        }
    }
}

/// Returns the known word that is closest to a misspelled one.
pub(super) fn suggest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word: String = word.chars().take(40).collect();
    let near = known.iter().map(|known| (strsim::osa_distance(&word, known), *known)).min()?;
    (near.0 <= 2 && near.0 < word.chars().count()).then_some(near.1)
}

/// Returns a string for display after checking its length and rejecting invisible characters.
pub(super) fn text<'s>(source: &'s Source, what: &str, findings: &mut Findings<'_>) -> Option<&'s str> {
    let Data::Text(text) = &source.data else {
        findings.add(source.place, format!("found {} for {what}", source.data.kind()), "a string");
        return None;
    };
    clean(text, source.place, what, findings).then_some(text)
}

pub(super) fn clean(text: &str, place: Place, what: &str, findings: &mut Findings<'_>) -> bool {
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
