//! A JSON value whose mappings keep the order of their members.
//!
//! Spec bundles hold such values: their author chose the order, so forms, prompts, exports and written files keep it.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, Value};
use std::{collections::HashSet, fmt};

#[derive(Debug, Clone, PartialEq, Default)]
pub enum OrderedValue {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    List(Vec<OrderedValue>),
    Map(OrderedMembers),
}

/// The members of a mapping. Keys are unique; lookups are linear, because hand-written mappings are short.
#[derive(Debug, Clone, Default)]
pub struct OrderedMembers(Vec<(Box<str>, OrderedValue)>);

impl OrderedValue {
    /// Creates a mapping of these members.
    pub fn map<const N: usize>(members: [(&str, OrderedValue); N]) -> Self {
        Self::Map(members.into_iter().collect())
    }

    /// Creates a mapping of the members that have a value.
    pub fn map_of_present<const N: usize>(members: [(&str, Option<OrderedValue>); N]) -> Self {
        Self::Map(members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
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

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[OrderedValue]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&OrderedMembers> {
        match self {
            Self::Map(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the members of a mapping; no member for any other kind of value.
    pub fn members(&self) -> impl Iterator<Item = (&str, &OrderedValue)> {
        self.as_map().into_iter().flat_map(OrderedMembers::iter)
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns a member of a mapping, or `None` for any other kind of value.
    pub fn get(&self, key: &str) -> Option<&OrderedValue> {
        self.as_map()?.get(key)
    }

    /// Returns the text of a member.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// Sets a member in place or appends it; `None` removes it. Any other kind of value becomes a mapping.
    pub fn set(&mut self, key: &str, value: Option<OrderedValue>) {
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(OrderedMembers::default());
        }
        let Self::Map(members) = self else { return };
        match value {
            Some(value) => members.set(key, value),
            None => members.remove(key),
        }
    }

    /// Takes the value of a member for editing; [`OrderedValue::set`] puts it back in its place.
    pub fn lend(&mut self, key: &str) -> Option<OrderedValue> {
        let Self::Map(members) = self else { return None };
        members.get_mut(key).map(std::mem::take)
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

impl OrderedMembers {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &OrderedValue)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    pub fn get(&self, key: &str) -> Option<&OrderedValue> {
        self.0.iter().find(|(found, _)| &**found == key).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut OrderedValue> {
        self.0.iter_mut().find(|(found, _)| &**found == key).map(|(_, value)| value)
    }

    /// Replaces a member in place, or appends it.
    pub fn set(&mut self, key: &str, value: OrderedValue) {
        match self.get_mut(key) {
            Some(place) => *place = value,
            None => self.0.push((key.into(), value)),
        }
    }

    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(found, _)| &**found != key);
    }

    /// Sorts the members by rank; members of equal rank keep their order.
    pub fn sort_by_rank(&mut self, rank: impl Fn(&str) -> usize) {
        self.0.sort_by_key(|(key, _)| rank(key));
    }

    /// Appends a member whose key must not exist yet.
    pub fn push(&mut self, key: Box<str>, value: OrderedValue) {
        self.0.push((key, value));
    }
}

/// The keys must be unique.
impl<K: Into<Box<str>>> FromIterator<(K, OrderedValue)> for OrderedMembers {
    fn from_iter<I: IntoIterator<Item = (K, OrderedValue)>>(members: I) -> Self {
        Self(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

/// The compact JSON text.
impl fmt::Display for OrderedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl Eq for OrderedValue {}

impl Eq for OrderedMembers {}

/// Mappings with the same members are equal regardless of their order.
impl PartialEq for OrderedMembers {
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

impl From<&Value> for OrderedValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.as_str().into()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Map(members.iter().map(|(key, value)| (key.as_str(), Self::from(value))).collect())
            }
        }
    }
}

impl From<&str> for OrderedValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for OrderedValue {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for OrderedValue {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<usize> for OrderedValue {
    fn from(count: usize) -> Self {
        Self::Number(Number::from(count))
    }
}

impl From<Vec<OrderedValue>> for OrderedValue {
    fn from(items: Vec<OrderedValue>) -> Self {
        Self::List(items)
    }
}

impl Serialize for OrderedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(yes) => serializer.serialize_bool(*yes),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for OrderedMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for OrderedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedValueVisitor)
    }
}

/// Reads JSON text and keeps the order of members; the parser bounds the nesting depth.
struct OrderedValueVisitor;

impl<'de> Visitor<'de> for OrderedValueVisitor {
    type Value = OrderedValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<OrderedValue, E> {
        Ok(OrderedValue::Null)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<OrderedValue, E> {
        Ok(OrderedValue::Bool(yes))
    }

    fn visit_i64<E>(self, number: i64) -> Result<OrderedValue, E> {
        Ok(OrderedValue::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<OrderedValue, E> {
        Ok(OrderedValue::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<OrderedValue, E> {
        Ok(Number::from_f64(number).map_or(OrderedValue::Null, OrderedValue::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<OrderedValue, E> {
        Ok(OrderedValue::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OrderedValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(OrderedValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<OrderedValue, A::Error> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        while let Some((key, value)) = entries.next_entry::<Box<str>, OrderedValue>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("duplicate key {key:?}")));
            }
            members.push((key, value));
        }
        Ok(OrderedValue::Map(OrderedMembers(members)))
    }
}

#[cfg(test)]
mod tests {
    use super::OrderedValue;

    fn read(text: &str) -> OrderedValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn order_and_numbers_come_back_as_they_went() {
        let text = r#"{"z":1,"a":[true,null,-2,2.5,"x"],"m":{"b":1,"a":2}}"#;
        assert_eq!(read(text).to_string(), text);
        assert!(serde_json::from_str::<OrderedValue>(r#"{"a":1,"a":2}"#).is_err());
    }

    #[test]
    fn a_lent_value_goes_back_to_its_place() {
        let mut value = read(r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!(value.lend("b"), Some(OrderedValue::from(2_usize)));
        value.set("b", Some("two".into()));
        value.set("d", Some(true.into()));
        value.set("a", None);
        assert_eq!(value.to_string(), r#"{"b":"two","c":3,"d":true}"#);
    }
}
