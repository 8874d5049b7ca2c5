//! Makes document text safe to display: escapes characters that are invisible or change how their surroundings read.

use std::borrow::Cow;

/// Escapes control, bidirectional, zero-width and tag characters as `\u{…}`; keeps line breaks and tabs. A backslash
/// stays as it is, so the form is for reading and not for decoding.
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Like [`escape_hidden`], on one line: line breaks and tabs become spaces, so that a title cannot pass for lines of its
/// surroundings.
pub fn escape_line(text: &str) -> String {
    escape_hidden(text).replace(['\n', '\t'], " ")
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        _ if c.is_control() => true,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180e}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Escapes all strings within a value, keys included.
pub(crate) fn escape_hidden_json(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) => match escape_hidden(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(text) => Value::String(text),
        },
        Value::Array(items) => items.into_iter().map(escape_hidden_json).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| (escape_hidden(&key).into_owned(), escape_hidden_json(value)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_written_out_and_the_rest_stays() {
        for (text, expected) in [
            ("plain é 漢 🙂\n\tok", "plain é 漢 🙂\n\tok"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
            ("\r", "\\u{d}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("\u{2028}", "\\u{2028}"),
        ] {
            assert_eq!(escape_hidden(text), expected);
        }
        assert_eq!(escape_line("a\n+ b\u{202e}"), "a + b\\u{202e}");
        let value = serde_json::json!({"a\u{202e}": ["\u{200b}", 1]});
        assert_eq!(escape_hidden_json(value), serde_json::json!({"a\\u{202e}": ["\\u{200b}", 1]}));
    }
}
