//! A file as a tree of values with positions, the same for JSON and YAML.

mod json;
mod yaml;

use crate::{
    SourcePosition,
    limits::{MAX_ENTRIES, MAX_NESTING_DEPTH, MAX_VALUES},
    problem::ProblemCollector,
};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceNode {
    pub(crate) place: SourcePosition,
    pub(crate) data: SourceValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SourceValue {
    Null,
    Bool(bool),
    /// Always finite.
    Number(f64),
    Text(String),
    List(Vec<SourceNode>),
    Map(Vec<(SourceKey, SourceNode)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceKey {
    pub(crate) text: String,
    pub(crate) place: SourcePosition,
}

/// Parses a file; its name selects JSON or YAML. A syntax error is the only problem reported.
pub(crate) fn read(file: &str, text: &str, findings: &mut ProblemCollector<'_>) -> Option<SourceNode> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = if file.ends_with(".json") { json::read(text) } else { yaml::read(text) };
    read.map_err(|wrong| findings.add(wrong.place, wrong.message, wrong.expected)).ok()
}

#[derive(Debug)]
struct SourceSyntaxError {
    place: SourcePosition,
    message: String,
    expected: String,
}

impl SourceSyntaxError {
    fn new(place: SourcePosition, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { place, message: message.into(), expected: expected.into() }
    }
}

/// Counts values and checks the nesting depth while a file is parsed.
#[derive(Default)]
struct ValueBudget {
    values: usize,
}

impl ValueBudget {
    fn spend(&mut self, place: SourcePosition, depth: usize) -> Result<(), SourceSyntaxError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(SourceSyntaxError::new(
                place,
                format!("the file has more than {MAX_VALUES} values"),
                "a smaller component, or several components",
            ));
        }
        if depth > MAX_NESTING_DEPTH {
            return Err(SourceSyntaxError::new(
                place,
                format!("nested more than {MAX_NESTING_DEPTH} levels deep"),
                "a flatter tree, or a separate component for the inner part",
            ));
        }
        Ok(())
    }
}

/// Checks that a key can be added to a mapping.
fn check_key(
    entries: &[(SourceKey, SourceNode)],
    text: &str,
    place: SourcePosition,
) -> Result<(), SourceSyntaxError> {
    if entries.len() >= MAX_ENTRIES {
        return Err(SourceSyntaxError::new(
            place,
            format!("the mapping has more than {MAX_ENTRIES} entries"),
            "a smaller mapping",
        ));
    }
    if entries.iter().any(|(key, _)| key.text == text) {
        return Err(SourceSyntaxError::new(place, format!("duplicate key `{text}`"), "each key once"));
    }
    Ok(())
}

impl SourceValue {
    /// The name of the value's kind, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl SourceNode {
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            SourceValue::Null => Value::Null,
            SourceValue::Bool(value) => Value::Bool(*value),
            SourceValue::Number(value) => number(*value),
            SourceValue::Text(text) => Value::String(text.clone()),
            SourceValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            SourceValue::Map(entries) => Value::Object(
                entries.iter().map(|(key, value)| (key.text.clone(), value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Writes whole numbers without a fraction.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Value::from(value as i64);
    }
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn finite(text: &str, place: SourcePosition) -> Result<f64, SourceSyntaxError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(SourceSyntaxError::new(place, format!("{text} is not allowed"), "a finite number")),
    }
}
