//! A value from a bundle: a JSON value whose mappings keep the order of their members.
//!
//! The author chose the order, so prompts, exports and written files keep it.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, Value};
use std::{collections::HashSet, fmt};

#[derive(Debug, Clone, PartialEq, Default)]
pub enum BundleValue {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    List(Vec<BundleValue>),
    Map(BundleValueMembers),
}

/// The members of a mapping. Keys are unique; lookups are linear, because hand-written mappings are short.
#[derive(Debug, Clone, Default)]
pub struct BundleValueMembers(Vec<(Box<str>, BundleValue)>);

impl BundleValue {
    /// Creates a mapping of these members.
    pub fn map<const N: usize>(members: [(&str, BundleValue); N]) -> Self {
        Self::Map(BundleValueMembers(members.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// Creates a mapping of the members that have a value.
    pub fn map_of_present<const N: usize>(members: [(&str, Option<BundleValue>); N]) -> Self {
        Self::Map(BundleValueMembers(
            members.into_iter().filter_map(|(key, value)| Some((key.into(), value?))).collect(),
        ))
    }

    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::from(text.as_ref())).collect())
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[BundleValue]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&BundleValueMembers> {
        match self {
            Self::Map(members) => Some(members),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns a member of a mapping, or `None` for any other kind of value.
    pub fn get(&self, key: &str) -> Option<&BundleValue> {
        self.as_map()?.get(key)
    }

    /// Returns the text of a member.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// Converts to [`Value`], which does not keep the order.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(yes) => Value::Bool(*yes),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.to_string()),
            Self::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Self::Map(members) => {
                Value::Object(members.iter().map(|(key, value)| (key.to_owned(), value.to_json())).collect())
            }
        }
    }

    /// Returns JSON text with an indentation of two spaces.
    pub fn to_pretty_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl BundleValueMembers {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &BundleValue)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    pub fn get(&self, key: &str) -> Option<&BundleValue> {
        self.0.iter().find(|(found, _)| &**found == key).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut BundleValue> {
        self.0.iter_mut().find(|(found, _)| &**found == key).map(|(_, value)| value)
    }

    /// Replaces a member in place, or appends it.
    pub fn set(&mut self, key: &str, value: BundleValue) {
        match self.get_mut(key) {
            Some(place) => *place = value,
            None => self.0.push((key.into(), value)),
        }
    }

    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(found, _)| &**found != key);
    }

    /// Sorts the members by rank; members of equal rank keep their order.
    pub(crate) fn sort_by_rank(&mut self, rank: impl Fn(&str) -> usize) {
        self.0.sort_by_key(|(key, _)| rank(key));
    }

    /// Appends a member whose key must not exist yet.
    pub(crate) fn push(&mut self, key: Box<str>, value: BundleValue) {
        self.0.push((key, value));
    }
}

/// Mappings with the same members are equal regardless of their order.
impl PartialEq for BundleValueMembers {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // Usually the order is the same too; otherwise both are sorted, which stays cheap for hostile mappings.
        if self.iter().map(|(key, _)| key).eq(other.iter().map(|(key, _)| key)) {
            return self.0 == other.0;
        }
        let sorted = |members: &Self| {
            let mut sorted: Vec<_> = (0..members.len()).collect();
            sorted.sort_by_key(|&index| members.0[index].0.clone());
            sorted
        };
        let (ours, theirs) = (sorted(self), sorted(other));
        ours.iter().zip(&theirs).all(|(&a, &b)| self.0[a] == other.0[b])
    }
}

impl From<&Value> for BundleValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.as_str().into()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(members) => Self::Map(BundleValueMembers(
                members.iter().map(|(key, value)| (key.as_str().into(), Self::from(value))).collect(),
            )),
        }
    }
}

impl From<&str> for BundleValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for BundleValue {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for BundleValue {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<usize> for BundleValue {
    fn from(count: usize) -> Self {
        Self::Number(Number::from(count))
    }
}

impl From<Vec<BundleValue>> for BundleValue {
    fn from(items: Vec<BundleValue>) -> Self {
        Self::List(items)
    }
}

impl Serialize for BundleValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(yes) => serializer.serialize_bool(*yes),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(members) => serializer.collect_map(members.iter()),
        }
    }
}

impl<'de> Deserialize<'de> for BundleValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BundleValueVisitor)
    }
}

/// Reads JSON text and keeps the order of members; the parser bounds the nesting depth.
struct BundleValueVisitor;

impl<'de> Visitor<'de> for BundleValueVisitor {
    type Value = BundleValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<BundleValue, E> {
        Ok(BundleValue::Null)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<BundleValue, E> {
        Ok(BundleValue::Bool(yes))
    }

    fn visit_i64<E>(self, number: i64) -> Result<BundleValue, E> {
        Ok(BundleValue::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<BundleValue, E> {
        Ok(BundleValue::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<BundleValue, E> {
        Ok(Number::from_f64(number).map_or(BundleValue::Null, BundleValue::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<BundleValue, E> {
        Ok(BundleValue::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<BundleValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(BundleValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<BundleValue, A::Error> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        while let Some((key, value)) = entries.next_entry::<Box<str>, BundleValue>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("duplicate key {key:?}")));
            }
            members.push((key, value));
        }
        Ok(BundleValue::Map(BundleValueMembers(members)))
    }
}
