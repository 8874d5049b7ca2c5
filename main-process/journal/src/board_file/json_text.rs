//! One-line JSON that escapes characters which break lines or change the text direction, so that a diff shows the
//! real content.

use serde::Serialize;
use serde_json::ser::Formatter;
use std::io;

/// Serializes a value on one line without spaces.
pub(super) fn one_line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, EscapingFormatter))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut plain_from = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| is_hidden_character(*c)) {
            writer.write_all(&fragment.as_bytes()[plain_from..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            plain_from = at + c.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[plain_from..])
    }
}

/// Line breaks and controls beyond ASCII, direction marks, the byte order mark, invisible tags. Joiners are not
/// escaped, because words and emoji contain them.
fn is_hidden_character(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_escaped_and_the_rest_is_not() {
        for (text, json) in [
            ("a \"b\"\n\\", r#""a \"b\"\n\\""#),
            ("ü 漢 👩\u{200d}👩", "\"ü 漢 👩\u{200d}👩\""),
            ("x\u{202e}y\u{2028}", r#""x\u202ey\u2028""#),
            ("\u{e0041}\u{7f}\u{85}\u{feff}", r#""\udb40\udc41\u007f\u0085\ufeff""#),
        ] {
            let written = one_line(&text).unwrap();
            assert_eq!(written, json);
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
