//! Property values: a deterministic subset of JSON. Numbers are finite and exact, objects are sorted and depth is
//! bounded, so equal values have equal bytes.

use crate::limits::MAX_VALUE_DEPTH;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The key that distinguishes an expression from an object.
pub const EXPRESSION_KEY: &str = "$hcl";

#[derive(Debug, Clone, PartialEq, Default)]
pub enum PropValue {
    #[default]
    Null,
    Bool(bool),
    Number(PropNumber),
    Text(Arc<str>),
    List(Vec<PropValue>),
    Object(BTreeMap<Arc<str>, PropValue>),
}

impl Eq for PropValue {}

/// A finite number; whole numbers are exact up to 2^53.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct PropNumber(f64);

impl Eq for PropNumber {}

const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

impl PropNumber {
    pub fn new(number: f64) -> Option<Self> {
        // Adding zero turns -0.0 into 0.0, so that equal numbers have equal texts.
        (number.is_finite() && number.abs() <= 1e300).then_some(Self(number + 0.0))
    }

    pub fn get(self) -> f64 {
        self.0
    }

    fn as_integer(self) -> Option<i64> {
        (self.0.fract() == 0.0 && self.0.abs() <= MAX_EXACT_INTEGER).then_some(self.0 as i64)
    }
}

impl fmt::Display for PropNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_integer() {
            Some(whole) => whole.fmt(f),
            None => self.0.fmt(f),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PropValueError {
    #[error("lists and objects are nested deeper than {MAX_VALUE_DEPTH} levels: flatten the value")]
    TooDeep,
    #[error("{0} cannot be stored exactly as a number: write it as text")]
    Inexact(String),
    #[error("invalid JSON: {0}")]
    NotJson(String),
}

impl PropValue {
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub fn number(number: f64) -> Option<Self> {
        PropNumber::new(number).map(Self::Number)
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.get()),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the Terraform expression, if this value is one: an object with [`EXPRESSION_KEY`] as its only key.
    pub fn expression(&self) -> Option<&str> {
        match self {
            Self::Object(fields) if fields.len() == 1 => fields.get(EXPRESSION_KEY)?.as_text(),
            _ => None,
        }
    }

    /// Creates a value that holds a Terraform expression.
    pub fn of_expression(text: impl Into<Arc<str>>) -> Self {
        Self::Object(BTreeMap::from([(Arc::from(EXPRESSION_KEY), Self::text(text))]))
    }

    /// Returns false for null, false, zero and empty values.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => number.get() != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Object(fields) => !fields.is_empty(),
        }
    }

    /// The kind of the value, as named in errors.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    pub fn from_json(json: &serde_json::Value) -> Result<Self, PropValueError> {
        Self::from_json_at(json, 0)
    }

    fn from_json_at(json: &serde_json::Value, depth: usize) -> Result<Self, PropValueError> {
        if depth > MAX_VALUE_DEPTH {
            return Err(PropValueError::TooDeep);
        }
        Ok(match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Number(exact(number)?),
            serde_json::Value::String(text) => Self::text(text.as_str()),
            serde_json::Value::Array(items) => Self::List(
                items.iter().map(|item| Self::from_json_at(item, depth + 1)).collect::<Result<_, _>>()?,
            ),
            serde_json::Value::Object(fields) => Self::Object(
                fields
                    .iter()
                    .map(|(key, value)| Ok((Arc::from(key.as_str()), Self::from_json_at(value, depth + 1)?)))
                    .collect::<Result<_, PropValueError>>()?,
            ),
        })
    }

    pub fn parse_json(text: &str) -> Result<Self, PropValueError> {
        let json: serde_json::Value =
            serde_json::from_str(text).map_err(|error| PropValueError::NotJson(error.to_string()))?;
        Self::from_json(&json)
    }

    /// The canonical JSON text: sorted keys, no spaces.
    pub fn to_json(&self) -> String {
        // Every value is valid JSON, so this cannot fail; the fallback keeps the function total.
        serde_json::to_string(self).unwrap_or_else(|_| "null".to_owned())
    }
}

fn exact(number: &serde_json::Number) -> Result<PropNumber, PropValueError> {
    let inexact = || PropValueError::Inexact(number.to_string());
    if let Some(whole) = number.as_i64()
        && whole.unsigned_abs() > 1 << 53
    {
        return Err(inexact());
    }
    if number.is_u64() && number.as_i64().is_none() {
        return Err(inexact());
    }
    number.as_f64().and_then(PropNumber::new).ok_or_else(inexact)
}

impl fmt::Display for PropValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            other => f.write_str(&other.to_json()),
        }
    }
}

impl From<bool> for PropValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for PropValue {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<i32> for PropValue {
    fn from(number: i32) -> Self {
        Self::Number(PropNumber(f64::from(number)))
    }
}

impl Serialize for PropValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_str(&serde_json::to_string(self).map_err(S::Error::custom)?);
        }
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => match number.as_integer() {
                Some(whole) => serializer.serialize_i64(whole),
                None => serializer.serialize_f64(number.get()),
            },
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(fields) => serializer.collect_map(fields),
        }
    }
}

impl<'de> Deserialize<'de> for PropValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            Self::from_json(&serde_json::Value::deserialize(deserializer)?).map_err(D::Error::custom)
        } else {
            Self::parse_json(&String::deserialize(deserializer)?).map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_bytes() {
        let a = PropValue::parse_json(r#"{"b":1.0,"a":[true,null,"x",-0.0,0.5]}"#).unwrap();
        let b = PropValue::parse_json(r#"{ "a": [true, null, "x", 0, 5e-1], "b": 1 }"#).unwrap();
        assert_eq!(a, b);
        assert_eq!(a.to_json(), r#"{"a":[true,null,"x",0,0.5],"b":1}"#);
        assert_eq!(postcard::from_bytes::<PropValue>(&postcard::to_stdvec(&a).unwrap()).unwrap(), b);
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for text in ["9007199254740993", "18446744073709551615", "1e999", "-9007199254740993"] {
            assert!(PropValue::parse_json(text).is_err(), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        assert_eq!(PropValue::parse_json(&deep), Err(PropValueError::TooDeep));
        assert!(PropValue::parse_json(&"[".repeat(100_000)).is_err());
    }
}
