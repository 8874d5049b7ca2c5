//! String quoting: any text reads back unchanged.

/// Quotes a text so that it cannot contain an interpolation, a directive or a closing quote.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // A doubled sign before a brace is an escape. After another sign it is written as a code point, because
            // parsers disagree about which signs belong together.
            '$' | '%' if rest.peek() == Some(&'{') => {
                if out.ends_with(c) {
                    out.push_str(if c == '$' { "\\u0024" } else { "\\u0025" });
                } else {
                    out.push(c);
                    out.push(c);
                }
            }
            c if c.is_control() || is_invisible(c) => out.push_str(&escaped(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Direction marks and invisible characters, which could hide the content of a file.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn escaped(c: char) -> String {
    let number = u32::from(c);
    if number > 0xffff { format!("\\U{number:08x}") } else { format!("\\u{number:04x}") }
}

/// Returns whether a text is a valid unquoted name.
pub fn is_identifier(text: &str) -> bool {
    const WORDS: [&str; 8] = ["for", "in", "if", "else", "endif", "null", "true", "false"];
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !WORDS.contains(&text)
}
