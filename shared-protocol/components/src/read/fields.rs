//! A mapping whose entries are taken out one by one; what is left over at the end is a mistake.

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
    /// Every key that was asked for.
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

    /// Names what nobody asked for.
    pub(super) fn finish(self, what: &str, findings: &mut Findings<'_>) {
        for (key, _) in &self.entries {
            let known = self.known.join(", ");
            let expected = match suggest(&key.text, &self.known) {
                Some(near) => format!("`{near}`; {what} knows {known}"),
                None => format!("one of {known}"),
            };
            findings.add(key.place, format!("{what} knows no `{:.40}`", key.text), expected);
        }
    }
}

/// The known word that was probably meant.
pub(super) fn suggest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word: String = word.chars().take(40).collect();
    let near = known.iter().map(|known| (strsim::osa_distance(&word, known), *known)).min()?;
    (near.0 <= 2 && near.0 < word.chars().count()).then_some(near.1)
}

/// A text that is shown to people: bounded, and nothing hidden in it.
pub(super) fn text<'s>(source: &'s Source, what: &str, findings: &mut Findings<'_>) -> Option<&'s str> {
    let Data::Text(text) = &source.data else {
        findings.add(source.place, format!("found {} for {what}", source.data.kind()), "a text");
        return None;
    };
    clean(text, source.place, what, findings).then_some(text)
}

pub(super) fn clean(text: &str, place: Place, what: &str, findings: &mut Findings<'_>) -> bool {
    if text.chars().count() > MAX_TEXT {
        findings.add(place, format!("{what} is longer than {MAX_TEXT} characters"), "a shorter text");
        return false;
    }
    if let Some(c) = text.chars().find(|&c| invisible(c)) {
        let expected = "a text without invisible or reordering characters";
        findings.add(place, format!("{what} holds the invisible character U+{:04X}", c as u32), expected);
        return false;
    }
    true
}
