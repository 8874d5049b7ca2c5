//! Redaction of a report before it is written. Others read a report, so everything that may be a user's text, path or secret
//! is removed; the program's own words, names of its code and numbers remain.

use shared_protocol::{secret_names::looks_secret, text::truncate_bytes};
use std::path::PathBuf;

/// Bytes of one line; a longer one is cut.
const MAX_LINE_BYTES: usize = 400;
/// A longer run of letters does not count as a word.
const MAX_WORD_CHARS: usize = 24;
const REMOVED: &str = "…";
/// Replaces a quoted text.
const QUOTED: &str = "\"…\"";
const PAIRS: [(char, char); 14] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('‚', '‘'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('＂', '＂'),
];

pub(super) struct Redaction {
    home: Option<String>,
}

impl Redaction {
    pub(super) fn of_user() -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.map(|home| home.to_string_lossy().trim_end_matches('/').to_owned());
        Self { home: home.filter(|home| !home.is_empty()) }
    }

    #[cfg(test)]
    pub(super) fn for_home(home: &str) -> Self {
        Self { home: Some(home.to_owned()) }
    }

    /// A place in the source or a line of a backtrace: the home becomes `~`, and other than ASCII is removed.
    pub(super) fn source(&self, text: &str) -> String {
        let text = without_escapes(text);
        let text = self.home.as_ref().map_or_else(|| text.clone(), |home| text.replace(home.as_str(), "~"));
        let ascii: String =
            text.chars().map(|c| if c.is_ascii() { c.to_string() } else { REMOVED.into() }).collect();
        truncate_bytes(&ascii, MAX_LINE_BYTES)
    }

    /// A message: outside of quotes, words, names of code, small numbers and places in the source remain. After a word
    /// that announces a secret, everything up to the next `key=value` is removed.
    pub(super) fn message(&self, text: &str) -> String {
        let text = without_quoted(&without_escapes(text));
        let mut after_secret = false;
        // Separators remain.
        let words: Vec<String> = text
            .split(' ')
            .map(|word| {
                let key = word.split_once('=').map(|(key, _)| key).filter(|key| is_plain(key));
                match key {
                    Some(key) if announces_secret(key) => after_secret = true,
                    Some(_) => after_secret = false,
                    None => {}
                }
                match (key, after_secret) {
                    (Some(key), true) => format!("{key}={REMOVED}"),
                    (None, true) if !word.is_empty() => REMOVED.to_owned(),
                    _ => {
                        after_secret |= key.is_none() && announces_secret(core(word));
                        self.redact_word(word)
                    }
                }
            })
            .collect();
        truncate_bytes(&words.join(" "), MAX_LINE_BYTES)
    }

    fn redact_word(&self, word: &str) -> String {
        // `key=value` of the log: the value is judged by itself.
        if let Some((key, value)) = word.split_once('=').filter(|(key, _)| is_plain(key)) {
            return format!("{key}={}", self.redact_word(value));
        }
        let core = core(word);
        match core.is_empty() && word.is_ascii()
            || is_plain(core)
            || (is_small_number(core) && !word.contains("::"))
        {
            true => word.to_owned(),
            false if is_source(core) => self.source(word),
            false if word.contains(QUOTED) => QUOTED.to_owned(),
            false => REMOVED.to_owned(),
        }
    }
}

/// A word without the marks around it.
fn core(word: &str) -> &str {
    word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '_' && c != '/' && c != '~')
}

/// A word or a name of code: letters, with `_`, `::`, `-`, an apostrophe and the marks of a call or type in between.
fn is_plain(word: &str) -> bool {
    let is_mark = |c: char| "_:-'<>()&".contains(c);
    let is_short = |part: &str| part.len() <= MAX_WORD_CHARS;
    let has_letter = word.chars().any(|c| c.is_ascii_alphabetic());
    has_letter
        && word.chars().all(|c| c.is_ascii_alphabetic() || is_mark(c))
        && word.split(is_mark).all(is_short)
        && word.len() <= MAX_WORD_CHARS * 5
        // `host:port` and `key:value` are not names of code.
        && !word.replace("::", "").contains(':')
}

/// A count, or a version of up to three parts; an address has more.
fn is_small_number(word: &str) -> bool {
    let is_part =
        |part: &str| (1..=7).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    word.split('.').count() <= 3 && word.split('.').all(is_part)
}

/// A Rust file, with line and column or without.
fn is_source(word: &str) -> bool {
    let (file, place) = word.split_once(".rs").unwrap_or_default();
    !file.is_empty()
        && file.chars().all(|c| c.is_ascii_alphanumeric() || "_-./~".contains(c))
        && place.chars().all(|c| c.is_ascii_digit() || c == ':')
}

/// Words after which a secret may follow.
fn announces_secret(word: &str) -> bool {
    const WORDS: [&str; 9] =
        ["pwd", "pass", "pin", "bearer", "basic", "auth", "authorization", "cookie", "login"];
    let word = word.to_lowercase();
    // Names of code have them in passing.
    !word.contains("::") && (looks_secret(&word) || word.split(['_', '-']).any(|part| WORDS.contains(&part)))
}

/// Texts between quotes, except names of code between backticks, such as `Option::unwrap()`.
fn without_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(open) = rest.chars().next() {
        let after = rest.get(open.len_utf8()..).unwrap_or_default();
        let close = PAIRS.iter().find(|(known, _)| *known == open).map(|(_, close)| *close);
        // An apostrophe within a word opens nothing.
        match close.filter(|_| open != '\'' || !before.is_alphanumeric()) {
            None => {
                out.push(open);
                (before, rest) = (open, after);
            }
            Some(close) => {
                // One that is not closed hides the rest of the line.
                let end = after.find(close).unwrap_or(after.len());
                let quoted = after.get(..end).unwrap_or_default();
                match open == '`' && is_code(quoted) {
                    true => out.push_str(&format!("`{quoted}`")),
                    false => out.push_str(QUOTED),
                }
                (before, rest) = (' ', after.get(end + close.len_utf8()..).unwrap_or_default());
            }
        }
    }
    out
}

fn is_code(text: &str) -> bool {
    ["None", "Some", "Ok", "Err"].contains(&text) || (text.contains("::") && is_plain(text))
}

/// Colours of a terminal and other control characters.
fn without_escapes(text: &str) -> String {
    let (mut out, mut characters) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => drop(characters.by_ref().find(char::is_ascii_alphabetic)),
            '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_somebody_s_is_taken_out_of_messages() {
        let redaction = Redaction::for_home("/home/ada");
        for (text, expected) in [
            (
                "index out of bounds: the len is 3 but the index is 9",
                "index out of bounds: the len is 3 but the index is 9",
            ),
            ("called `Option::unwrap()` on a `None` value", "called `Option::unwrap()` on a `None` value"),
            ("unknown key `hunter2` in \"my text", "unknown key … … …"),
            ("unknown name `hunter` in \"my text", "unknown name \"…\" in \"…\""),
            ("said “hello” at /srv/plans/x.toml", "said \"…\" at …"),
            ("said «my plan» ‹my plan› 「my plan」 'my plan' end", "said \"…\" \"…\" \"…\" \"…\" end"),
            ("it can't, it isn't", "it can't, it isn't"),
            ("token=abc password=x port=7777", "token=… password=… port=7777"),
            ("pwd=foo done=1", "pwd=… done=1"),
            ("secret: swordfish", "secret: …"),
            ("db_password = correct horse", "db_password … … …"),
            ("Bearer sesame", "Bearer …"),
            ("password hunter2", "password …"),
            ("Bearer 0123456789abcdef0123456789abcdef", "Bearer …"),
            ("at /home/ada/src/x.rs:3:9 via http://10.0.0.1/a", "at ~/src/x.rs:3:9 via …"),
            ("path=/home/ada/w done", "path=… done"),
            ("cannot save boards/secret-customer.board.json now", "cannot save … …"),
            ("mail ada@example.com or ada.lovelace", "mail … or …"),
            (
                "from 10.0.0.1 and ::1 and [fe80::1]:80 and db.internal:5432 and db:5432",
                "from … and … and … and … and …",
            ),
            ("left\u{202e}right \u{2066}x", "… …"),
            (
                "ERROR main_process::host::writer: version 0.1.0 ended",
                "ERROR main_process::host::writer: version 0.1.0 ended",
            ),
            ("AKIAIOSFODNNEXAMPLEABCDEFGHIJK 4111111111111111", "… …"),
            ("", ""),
        ] {
            assert_eq!(redaction.message(text), expected, "{text}");
        }
        assert_eq!(redaction.source("at /home/ada/x.rs:1 \u{202e}"), "at ~/x.rs:1 …");
        assert!(redaction.message(&"x ".repeat(10_000)).len() < MAX_LINE_BYTES + 10);
    }
}
