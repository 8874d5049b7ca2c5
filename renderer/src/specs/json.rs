//! JSON values that keep the order of their members, so that entities and schemas are shown as written. Must not know:
//! schemas, widgets.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::Number;
use std::fmt;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum OrderedJson {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<OrderedJson>),
    Map(Vec<(String, OrderedJson)>),
}

impl OrderedJson {
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(on) = self { Some(*on) } else { None }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// The items of a list; empty for other values.
    pub(crate) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// The members of a map; empty for other values.
    pub(crate) fn members(&self) -> &[(String, Self)] {
        if let Self::Map(members) = self { members } else { &[] }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// The text value of a key.
    pub(crate) fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::as_text)
    }

    /// The text items of the list at a key.
    pub(crate) fn texts_at(&self, key: &str) -> Vec<String> {
        let items = self.get(key).map(Self::items).unwrap_or_default();
        items.iter().filter_map(Self::as_text).map(str::to_owned).collect()
    }

    /// Sets the value of a key in place, or appends a new key. `None` removes the key.
    pub(crate) fn set(&mut self, key: &str, value: Option<Self>) {
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(Vec::new());
        }
        let Self::Map(members) = self else { return };
        let place = members.iter().position(|(known, _)| known == key);
        match (place, value) {
            (Some(place), Some(value)) => members[place].1 = value,
            (Some(place), None) => drop(members.remove(place)),
            (None, Some(value)) => members.push((key.to_owned(), value)),
            (None, None) => {}
        }
    }

    /// Takes the value of a key for editing; [`OrderedJson::set`] puts it back in place.
    pub(crate) fn take_for_edit(&mut self, key: &str) -> Option<Self> {
        let Self::Map(members) = self else { return None };
        members.iter_mut().find(|(known, _)| known == key).map(|(_, value)| std::mem::take(value))
    }

    /// Formats the value as one line: text as is, lists with commas, maps as JSON.
    pub(crate) fn to_line(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(on) => if *on { "yes" } else { "no" }.to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.lines().next().unwrap_or_default().to_owned(),
            Self::List(items) => items.iter().map(Self::to_line).collect::<Vec<_>>().join(", "),
            Self::Map(_) => self.to_text(),
        }
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn to_pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Serialize for OrderedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(on) => serializer.serialize_bool(*on),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Map(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for OrderedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedJsonVisitor)
    }
}

struct OrderedJsonVisitor;

impl<'de> Visitor<'de> for OrderedJsonVisitor {
    type Value = OrderedJson;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Null)
    }

    fn visit_bool<E>(self, on: bool) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Bool(on))
    }

    fn visit_i64<E>(self, number: i64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<OrderedJson, E> {
        Ok(Number::from_f64(number).map_or(OrderedJson::Null, OrderedJson::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<OrderedJson, E> {
        Ok(OrderedJson::text(text))
    }

    fn visit_string<E>(self, text: String) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OrderedJson, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(OrderedJson::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedJson, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(OrderedJson::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_numbers_come_back_as_they_went() {
        let text = r#"{"z":1,"a":[true,null,-2,2.5,"x"],"m":{"b":1,"a":2}}"#;
        assert_eq!(OrderedJson::parse(text).unwrap().to_text(), text);
        assert!(OrderedJson::parse("{").is_err());
    }

    #[test]
    fn a_lent_value_goes_back_to_its_place() {
        let mut json = OrderedJson::parse(r#"{"a":1,"b":2,"c":3}"#).unwrap();
        let value = json.take_for_edit("b");
        assert_eq!(value, Some(OrderedJson::Number(2.into())));
        json.set("b", Some(OrderedJson::text("two")));
        json.set("d", Some(OrderedJson::Bool(true)));
        json.set("a", None);
        assert_eq!(json.to_text(), r#"{"b":"two","c":3,"d":true}"#);
    }
}
