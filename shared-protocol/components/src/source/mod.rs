//! A file as a tree of values with positions, the same for JSON and YAML.

mod json;
mod yaml;

use crate::{
    Place,
    bounds::{MAX_DEPTH, MAX_ENTRIES, MAX_VALUES},
    problem::Findings,
};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    pub(crate) place: Place,
    pub(crate) data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    /// Always finite.
    Number(f64),
    Text(String),
    List(Vec<Source>),
    Map(Vec<(Key, Source)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// Parses a file; its name selects JSON or YAML. A syntax error is the only problem reported.
pub(crate) fn read(file: &str, text: &str, findings: &mut Findings<'_>) -> Option<Source> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = if file.ends_with(".json") { json::read(text) } else { yaml::read(text) };
    read.map_err(|wrong| findings.add(wrong.place, wrong.message, wrong.expected)).ok()
}

/// A syntax error.
#[derive(Debug)]
struct Wrong {
    place: Place,
    message: String,
    expected: String,
}

impl Wrong {
    fn at(place: Place, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { place, message: message.into(), expected: expected.into() }
    }
}

/// Counts values and checks the nesting depth while a file is parsed.
#[derive(Default)]
struct Budget {
    values: usize,
}

impl Budget {
    fn spend(&mut self, place: Place, depth: usize) -> Result<(), Wrong> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(Wrong::at(
                place,
                format!("the file has more than {MAX_VALUES} values"),
                "a smaller component, or several components",
            ));
        }
        if depth > MAX_DEPTH {
            return Err(Wrong::at(
                place,
                format!("nested more than {MAX_DEPTH} levels deep"),
                "a flatter tree, or a separate component for the inner part",
            ));
        }
        Ok(())
    }
}

/// Checks that a key can be added to a mapping.
fn check_key(entries: &[(Key, Source)], text: &str, place: Place) -> Result<(), Wrong> {
    if entries.len() >= MAX_ENTRIES {
        return Err(Wrong::at(
            place,
            format!("the mapping has more than {MAX_ENTRIES} entries"),
            "a smaller mapping",
        ));
    }
    if entries.iter().any(|(key, _)| key.text == text) {
        return Err(Wrong::at(place, format!("duplicate key `{text}`"), "each key once"));
    }
    Ok(())
}

impl Data {
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

impl Source {
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(value) => number(*value),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Data::Map(entries) => Value::Object(
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

fn finite(text: &str, place: Place) -> Result<f64, Wrong> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Wrong::at(place, format!("{text} is not allowed"), "a finite number")),
    }
}
