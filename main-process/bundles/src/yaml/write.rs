//! Writes [`OrderedValue`] as YAML: block style, two spaces, quotes only where needed, no line wrapping.

use super::scalar::{double_quoted, is_safe_plain};
use shared_protocol::{OrderedMembers, OrderedValue};

/// Returns the text of a new file.
pub(crate) fn write(data: &OrderedValue) -> String {
    let mut text = match data {
        OrderedValue::Map(members) if !members.is_empty() => entries(members, 0, "\n"),
        OrderedValue::List(items) if !items.is_empty() => self::items(items, 0, "\n"),
        other => one_line(other, false),
    };
    text.push('\n');
    text
}

/// The text after a key or a dash: the rest of its line, and the lines below it.
pub(super) struct YamlValueText {
    pub(super) head: String,
    pub(super) body: Option<String>,
}

/// Returns the indented entries of a mapping, without a final line break.
pub(super) fn entries(members: &OrderedMembers, indent: usize, newline: &str) -> String {
    let lines: Vec<String> = members.iter().map(|(key, value)| entry(key, value, indent, newline)).collect();
    lines.join(newline)
}

pub(super) fn entry(key: &str, value: &OrderedValue, indent: usize, newline: &str) -> String {
    let mut text = format!("{:indent$}{}:", "", self::key(key));
    after_key(value, indent, newline).push_to(&mut text, newline);
    text
}

pub(super) fn items(items: &[OrderedValue], indent: usize, newline: &str) -> String {
    let lines: Vec<String> = items.iter().map(|value| item(value, indent, newline)).collect();
    lines.join(newline)
}

pub(super) fn item(value: &OrderedValue, indent: usize, newline: &str) -> String {
    let mut text = format!("{:indent$}-", "");
    after_dash(value, indent, newline).push_to(&mut text, newline);
    text
}

impl YamlValueText {
    fn push_to(self, text: &mut String, newline: &str) {
        text.push_str(&self.head);
        if let Some(body) = self.body {
            text.push_str(newline);
            text.push_str(&body);
        }
    }
}

/// Returns the text after `key:` for a key at column `indent`.
pub(super) fn after_key(value: &OrderedValue, indent: usize, newline: &str) -> YamlValueText {
    match value {
        OrderedValue::Map(members) if !members.is_empty() => {
            YamlValueText { head: String::new(), body: Some(entries(members, indent + 2, newline)) }
        }
        OrderedValue::List(list) if !list.is_empty() => {
            YamlValueText { head: String::new(), body: Some(items(list, indent + 2, newline)) }
        }
        other => scalar(other, indent, newline),
    }
}

/// Returns the text after a dash at column `indent`; a collection starts on the same line.
pub(super) fn after_dash(value: &OrderedValue, indent: usize, newline: &str) -> YamlValueText {
    let inside = indent + 2;
    let compact = |text: String| YamlValueText { head: format!(" {}", &text[inside..]), body: None };
    match value {
        OrderedValue::Map(members) if !members.is_empty() => compact(entries(members, inside, newline)),
        OrderedValue::List(list) if !list.is_empty() => compact(items(list, inside, newline)),
        other => scalar(other, indent, newline),
    }
}

fn scalar(value: &OrderedValue, indent: usize, newline: &str) -> YamlValueText {
    match value {
        OrderedValue::Text(text) if is_literal(text) => literal(text, indent + 2, newline),
        other => YamlValueText { head: format!(" {}", one_line(other, false)), body: None },
    }
}

/// Returns whether a multi-line text can be written as a literal block.
fn is_literal(text: &str) -> bool {
    let odd = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
    };
    text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\n'])
        && !text.chars().any(odd)
        && !text.lines().any(|line| !line.is_empty() && line.trim_matches(' ').is_empty())
}

fn literal(text: &str, indent: usize, newline: &str) -> YamlValueText {
    let (chomping, body) = match text.strip_suffix('\n') {
        None => ("-", text),
        Some(body) if body.ends_with('\n') => ("+", body),
        Some(body) => ("", body),
    };
    let lines: Vec<String> = body
        .split('\n')
        .map(|line| if line.is_empty() { String::new() } else { format!("{:indent$}{line}", "") })
        .collect();
    YamlValueText { head: format!(" |{chomping}"), body: Some(lines.join(newline)) }
}

/// Returns a value on one line, collections in flow style. `in_flow`: inside brackets.
pub(super) fn one_line(value: &OrderedValue, in_flow: bool) -> String {
    match value {
        OrderedValue::Null => "null".to_owned(),
        OrderedValue::Bool(yes) => yes.to_string(),
        OrderedValue::Number(number) => number.to_string(),
        OrderedValue::Text(text) if is_safe_plain(text, in_flow) => text.to_string(),
        OrderedValue::Text(text) => double_quoted(text),
        OrderedValue::List(items) => {
            let items: Vec<String> = items.iter().map(|item| one_line(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        OrderedValue::Map(members) if members.is_empty() => "{}".to_owned(),
        OrderedValue::Map(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", key(name), one_line(value, true)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

pub(super) fn key(key: &str) -> String {
    if is_safe_plain(key, true) { key.to_owned() } else { double_quoted(key) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::read;

    #[test]
    fn writes_as_a_person_would() {
        let text = "id: A\nlist:\n  - x\n  - k: v\n    l:\n      - 1\n  - - y\nempty: []\nnone: {}\ntext: |\n  one\n\n  two\nq: \"1\"\n";
        assert_eq!(write(&read(text).unwrap()), text);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(data in crate::yaml::edit::tests::any_data()) {
            let data = OrderedValue::map([("value", data)]);
            let text = write(&data);
            proptest::prop_assert_eq!(read(&text).unwrap(), data, "{}", text);
        }
    }
}
