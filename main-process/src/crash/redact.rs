//! What is taken out of a report before it is written. A report is read by others, so everything that may be somebody's words,
//! paths or secrets goes; what remains are the program's own words, names of its code and numbers.

use std::path::PathBuf;

/// Bytes of one line; a longer one is cut.
const MAX_LINE_BYTES: usize = 400;
/// A run of this many letters, digits and signs of Base64 with a digit in it may be a key.
const MIN_KEY_CHARS: usize = 20;
const REMOVED: &str = "…";

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

    /// A place in the source or a line of a backtrace: the home is `~`.
    pub(super) fn source(&self, text: &str) -> String {
        let text = without_escapes(text);
        let text = self.home.as_ref().map_or_else(|| text.clone(), |home| text.replace(home.as_str(), "~"));
        cut(&text)
    }

    /// A message: quoted texts, paths, addresses and what looks like a key are removed.
    pub(super) fn message(&self, text: &str) -> String {
        let text = without_quoted(&without_escapes(text));
        // The separators stay as they are.
        let words: Vec<String> = text.split(' ').map(|word| self.word(word)).collect();
        cut(&words.join(" "))
    }

    fn word(&self, word: &str) -> String {
        // `key=value` and `key:value` of the log: the value is judged by itself.
        if let Some((key, value)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) {
            return match mcp_server::looks_secret(key) {
                true => format!("{key}={REMOVED}"),
                false => format!("{key}={}", self.word(value)),
            };
        }
        let is_path = word.starts_with('/') || word.starts_with("~/") || word.contains("://");
        let is_source = word.contains(".rs:") || word.ends_with(".rs");
        match (is_path, is_source) {
            (true, true) => self.source(word),
            (true, false) => format!("/{REMOVED}"),
            (false, _) if looks_like_key(word) => REMOVED.to_owned(),
            (false, _) => self.source(word),
        }
    }
}

/// Texts between quotes, except names of code between backticks, which have no digit.
fn without_quoted(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| "\"`“‘".contains(*c)) {
        let close = match open {
            '“' => '”',
            '‘' => '’',
            same => same,
        };
        let after = rest.get(at + open.len_utf8()..).unwrap_or_default();
        // One that is not closed hides the rest of the line.
        let end = after.find(close).unwrap_or(after.len());
        let quoted = after.get(..end).unwrap_or_default();
        out.push_str(rest.get(..at).unwrap_or_default());
        let is_code =
            open == '`' && quoted.chars().all(|c| c.is_ascii_alphabetic() || "_:<>()&.,!".contains(c));
        out.push(open);
        out.push_str(if is_code { quoted } else { REMOVED });
        out.push(close);
        rest = after.get(end + close.len_utf8()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn looks_like_key(word: &str) -> bool {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "+/_-=.".contains(c);
    let mut run = 0;
    let mut has_digit = false;
    for c in word.chars() {
        if is_key(c) {
            (run, has_digit) = (run + 1, has_digit || c.is_ascii_digit());
            if run >= MIN_KEY_CHARS && has_digit {
                return true;
            }
        } else {
            (run, has_digit) = (0, false);
        }
    }
    false
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

fn cut(text: &str) -> String {
    if text.len() <= MAX_LINE_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_LINE_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}{REMOVED}", text.get(..end).unwrap_or_default())
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
            ("unknown key `hunter2` in \"my text", "unknown key `…` in \"…\""),
            ("said “hello” at /srv/plans/x.toml", "said “…” at /…"),
            ("token=abc password=x port=7777", "token=… password=… port=7777"),
            ("Bearer 0123456789abcdef0123456789abcdef", "Bearer …"),
            ("at /home/ada/src/x.rs:3:9 via http://10.0.0.1/a", "at ~/src/x.rs:3:9 via /…"),
            ("path=/home/ada/w done", "path=/… done"),
        ] {
            assert_eq!(redaction.message(text), expected);
        }
        assert!(redaction.message(&"x ".repeat(10_000)).len() < MAX_LINE_BYTES + 10);
    }
}
