//! Texts as HCL writes them, so that what is read back is what was given, whatever it holds.

/// A text in quotes: no interpolation, no directive, no end of the quotes can come out of it.
pub fn quoted(text: &str) -> String {
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
            // Doubled, the sign before a brace stands for itself; after another sign it is told by its number, because
            // readers differ in which of several belong together.
            '$' | '%' if rest.peek() == Some(&'{') => {
                if out.ends_with(c) {
                    out.push_str(if c == '$' { "\\u0024" } else { "\\u0025" });
                } else {
                    out.push(c);
                    out.push(c);
                }
            }
            c if c.is_control() || is_unseen(c) => out.push_str(&escaped(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Marks that turn the direction of text or cannot be seen could hide what a file says.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn escaped(c: char) -> String {
    let number = u32::from(c);
    if number > 0xffff { format!("\\U{number:08x}") } else { format!("\\u{number:04x}") }
}

/// Whether a text can stand bare as a name.
pub fn is_identifier(text: &str) -> bool {
    const WORDS: [&str; 8] = ["for", "in", "if", "else", "endif", "null", "true", "false"];
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !WORDS.contains(&text)
}
