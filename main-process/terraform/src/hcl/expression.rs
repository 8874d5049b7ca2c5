//! HCL expressions and their layout.

use super::quote::{is_identifier, quote};
use shared_protocol::PropValue;
use std::fmt::Write as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// The maximum length of a list on one line.
const MAX_LIST_LINE_BYTES: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub enum HclExpression {
    /// A finished expression: a reference, a number, a quoted string.
    Raw(String),
    List(Vec<HclExpression>),
    /// Keys are unquoted; they are quoted on output where needed.
    Map(Vec<(String, HclExpression)>),
    Call(&'static str, Vec<HclExpression>),
}

impl HclExpression {
    pub fn raw(text: impl Into<String>) -> Self {
        Self::Raw(text.into())
    }

    pub fn text(text: &str) -> Self {
        Self::Raw(quote(text))
    }

    /// Converts a value.
    pub fn from_value(value: &PropValue) -> Self {
        if let Some(expression) = value.expression() {
            return Self::raw(expression.trim());
        }
        match value {
            PropValue::Null => Self::raw("null"),
            PropValue::Bool(value) => Self::raw(value.to_string()),
            PropValue::Number(number) => Self::raw(number.to_string()),
            PropValue::Text(text) => Self::text(text),
            PropValue::List(items) => Self::List(items.iter().map(Self::from_value).collect()),
            PropValue::Object(fields) => Self::Map(
                fields.iter().map(|(key, value)| (key.to_string(), Self::from_value(value))).collect(),
            ),
        }
    }

    /// Returns whether the expression fits on one line.
    pub fn is_single_line(&self) -> bool {
        match self {
            Self::Raw(text) => !text.contains('\n'),
            Self::List(items) => {
                items.iter().all(Self::is_single_line) && self.width() <= MAX_LIST_LINE_BYTES
            }
            Self::Map(fields) => fields.is_empty(),
            Self::Call(_, arguments) => arguments.iter().all(Self::is_single_line),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Raw(text) => text.len(),
            Self::List(items) => items.iter().map(|item| item.width() + 2).sum(),
            Self::Map(_) => 2,
            Self::Call(name, arguments) => {
                name.len() + 2 + arguments.iter().map(|argument| argument.width() + 2).sum::<usize>()
            }
        }
    }

    /// Writes the expression; lines after the first are indented by `indent`.
    pub fn write(&self, out: &mut String, indent: usize) {
        match self {
            Self::Raw(text) => out.push_str(text),
            Self::List(items) if self.is_single_line() => {
                out.push('[');
                write_separated(out, items, indent);
                out.push(']');
            }
            Self::List(items) => {
                out.push_str("[\n");
                for item in items {
                    pad(out, indent + 2);
                    item.write(out, indent + 2);
                    out.push_str(",\n");
                }
                pad(out, indent);
                out.push(']');
            }
            Self::Map(fields) if fields.is_empty() => out.push_str("{}"),
            Self::Map(fields) => {
                out.push_str("{\n");
                let fields: Vec<(String, &HclExpression)> =
                    fields.iter().map(|(key, value)| (map_key(key), value)).collect();
                write_aligned(out, &fields, indent + 2);
                pad(out, indent);
                out.push('}');
            }
            Self::Call(name, arguments) => {
                let _ = write!(out, "{name}(");
                write_separated(out, arguments, indent);
                out.push(')');
            }
        }
    }
}

fn write_separated(out: &mut String, items: &[HclExpression], indent: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        item.write(out, indent);
    }
}

fn map_key(key: &str) -> String {
    if is_identifier(key) { key.to_owned() } else { quote(key) }
}

pub(super) fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Writes `key = value` lines. Aligns the equals signs of adjacent single-line values.
pub(super) fn write_aligned(out: &mut String, fields: &[(String, &HclExpression)], indent: usize) {
    let mut start = 0;
    while start < fields.len() {
        let alone = !fields[start].1.is_single_line();
        let run = if alone {
            1
        } else {
            fields[start..].iter().take_while(|(_, value)| value.is_single_line()).count()
        };
        let run = &fields[start..start + run];
        let width = |key: &str| if key.is_ascii() { key.len() } else { key.graphemes(true).count() };
        let widest = run.iter().map(|(key, _)| width(key)).max().unwrap_or(0);
        for (key, value) in run {
            pad(out, indent);
            out.push_str(key);
            pad(out, widest - width(key));
            out.push_str(" = ");
            value.write(out, indent);
            out.push('\n');
        }
        start += run.len();
    }
}
