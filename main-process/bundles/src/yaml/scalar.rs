//! The meaning of plain scalars in YAML's core schema, and the quoting of strings.

use serde_json::Number;
use shared_protocol::OrderedValue;

/// Returns the value of a scalar without quotes.
pub(super) fn resolve_plain(text: &str) -> OrderedValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return OrderedValue::Null,
        "true" | "True" | "TRUE" => return OrderedValue::Bool(true),
        "false" | "False" | "FALSE" => return OrderedValue::Bool(false),
        _ => {}
    }
    match text.as_bytes()[0] {
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text).unwrap_or_else(|| OrderedValue::from(text)),
        _ => OrderedValue::from(text),
    }
}

/// Parses a number of the core schema. Infinity and NaN have no JSON form and become null.
fn number(text: &str) -> Option<OrderedValue> {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let (negative, unsigned) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(OrderedValue::Null);
    }
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !unsigned.is_empty() && digits(unsigned) {
        return Some(OrderedValue::Number(integer(negative, unsigned)?));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_float = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent));
    if !is_float {
        return None;
    }
    // YAML and Rust both accept "1." and ".5". A value beyond the range of a double becomes infinite, hence null.
    Some(Number::from_f64(text.parse().ok()?).map_or(OrderedValue::Null, OrderedValue::Number))
}

fn radix(digits: &str, radix: u32) -> Option<OrderedValue> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(|value| OrderedValue::Number(value.into()))
}

fn integer(negative: bool, digits: &str) -> Option<Number> {
    if negative {
        if let Ok(value) = format!("-{digits}").parse::<i64>() {
            return Some(value.into());
        }
    } else if let Ok(value) = digits.parse::<u64>() {
        return Some(value.into());
    }
    let value: f64 = digits.parse().ok()?;
    Number::from_f64(if negative { -value } else { value })
}

/// Returns whether a text without quotes is read back as the same text. `in_flow`: inside brackets.
pub(super) fn is_safe_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let second_is_blank = text[first.len_utf8()..].chars().next().is_none_or(|c| c == ' ');
    let bad_start = match first {
        '-' | '?' | ':' => second_is_blank,
        ' ' | '\u{feff}' => true,
        _ => ",[]{}#&*!|>'\"%@`".contains(first),
    };
    let bad_end = text.ends_with([' ', ':']);
    let bad_inside = text.contains(": ")
        || text.contains(" #")
        || text.chars().any(|c| {
            (c.is_control() && c != '\t')
                || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\t')
                || (in_flow && ",[]{}:".contains(c))
        });
    let marker = text.starts_with("---") || text.starts_with("...");
    !(bad_start || bad_end || bad_inside || marker) && resolve_plain(text).as_text() == Some(text)
}

/// Returns a text in double quotes, on one line.
pub(super) fn double_quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0' => quoted.push_str("\\0"),
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c if c.is_control() => {
                let _ = write!(quoted, "\\x{:02x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a text in single quotes if that is possible.
pub(super) fn single_quoted(text: &str) -> Option<String> {
    let fits =
        !text.chars().any(|c| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}'));
    fits.then(|| format!("'{}'", text.replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_and_nothing_older() {
        let number = |text: &str| resolve_plain(text).to_json().as_f64();
        for (text, value) in [
            ("0o17", 15.0),
            ("017", 17.0),
            ("0x1F", 31.0),
            ("1e3", 1000.0),
            (".5", 0.5),
            ("-3", -3.0),
            ("+1.", 1.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!(
            resolve_plain("12345678901234567890"),
            OrderedValue::Number(12_345_678_901_234_567_890_u64.into())
        );
        for text in
            ["yes", "on", "2025-01-02", "1_000", "0b1", "-", ".", "1e", "0x-1", "1.2.3", "+", "-.inf1"]
        {
            assert_eq!(resolve_plain(text).as_text(), Some(text), "{text}");
        }
        for text in ["", "~", "NULL", ".inf", "-.INF", ".nan"] {
            assert!(resolve_plain(text).is_null(), "{text}");
        }
    }

    #[test]
    fn quotes_only_where_they_are_needed() {
        for text in ["a b", "it's", "2025-01-02", "a:b", "a#b", "-x", "x, y", "https://a.b/c", "日本"] {
            assert!(is_safe_plain(text, false), "{text}");
        }
        for text in
            ["", "true", "12", "- x", "#a", "a: b", "a #b", " a", "a ", "a:", "@a", "{", "a\nb", "---", "~"]
        {
            assert!(!is_safe_plain(text, false), "{text}");
        }
        assert!(!is_safe_plain("x, y", true) && !is_safe_plain("a:b", true));
    }
}
