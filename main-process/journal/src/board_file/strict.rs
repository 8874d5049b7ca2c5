//! Strict decoding: a duplicate key, too many entries or too deep a value is an error at its position. `serde_json`
//! alone would silently keep the last of two equal keys.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use shared_protocol::{
    PropValue,
    limits::{MAX_LABEL_CHARS, MAX_VALUE_BYTES, MAX_VALUE_DEPTH},
};
use std::{collections::BTreeMap, fmt, marker::PhantomData, sync::Arc};

/// An object with unique keys, `MAX_ENTRIES` at most.
#[derive(Debug)]
pub(super) struct UniqueEntries<K, V, const MAX_ENTRIES: usize>(pub(super) BTreeMap<K, V>);

impl<K, V, const MAX_ENTRIES: usize> Default for UniqueEntries<K, V, MAX_ENTRIES> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, K, V, const MAX_ENTRIES: usize> Deserialize<'de> for UniqueEntries<K, V, MAX_ENTRIES>
where
    K: Deserialize<'de> + Ord + fmt::Display,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UniqueEntriesVisitor<K, V, const MAX_ENTRIES: usize>(PhantomData<(K, V)>);

        impl<'de, K, V, const MAX_ENTRIES: usize> Visitor<'de> for UniqueEntriesVisitor<K, V, MAX_ENTRIES>
        where
            K: Deserialize<'de> + Ord + fmt::Display,
            V: Deserialize<'de>,
        {
            type Value = UniqueEntries<K, V, MAX_ENTRIES>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(key) = map.next_key::<K>()? {
                    if entries.contains_key(&key) {
                        return Err(A::Error::custom(format_args!(
                            "{key} appears twice: keep one of the two"
                        )));
                    }
                    if entries.len() == MAX_ENTRIES {
                        return Err(A::Error::custom(format_args!(
                            "more than {MAX_ENTRIES} entries: split the board"
                        )));
                    }
                    entries.insert(key, map.next_value()?);
                }
                Ok(UniqueEntries(entries))
            }
        }

        deserializer.deserialize_map(UniqueEntriesVisitor(PhantomData))
    }
}

/// A property value within the size and depth limits.
#[derive(Debug)]
pub(super) struct StrictValue(pub(super) PropValue);

impl<'de> Deserialize<'de> for StrictValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = ValueAtDepth(0).deserialize(deserializer)?;
        let is_small = matches!(value, PropValue::Null | PropValue::Bool(_) | PropValue::Number(_));
        if !is_small && value.to_json().len() > MAX_VALUE_BYTES {
            return Err(D::Error::custom(format_args!(
                "a value of more than {MAX_VALUE_BYTES} bytes: shorten it"
            )));
        }
        Ok(Self(value))
    }
}

/// Decodes a value that is nested in `.0` lists and objects.
struct ValueAtDepth(usize);

impl ValueAtDepth {
    fn deeper<E: Error>(&self) -> Result<usize, E> {
        if self.0 < MAX_VALUE_DEPTH {
            Ok(self.0 + 1)
        } else {
            Err(E::custom(format_args!(
                "lists and objects nested deeper than {MAX_VALUE_DEPTH}: flatten the value"
            )))
        }
    }
}

/// Refuses an integer that a float cannot represent, which would change silently.
fn exact_integer<E: Error>(value: impl Into<i128>) -> Result<PropValue, E> {
    let value = value.into();
    let near = value as f64;
    if near as i128 == value {
        finite_number(near)
    } else {
        Err(E::custom(format_args!("{value} cannot be stored exactly as a number: write it as text")))
    }
}

fn finite_number<E: Error>(number: f64) -> Result<PropValue, E> {
    PropValue::number(number).ok_or_else(|| E::custom("a number out of range: write it as text"))
}

impl<'de> DeserializeSeed<'de> for ValueAtDepth {
    type Value = PropValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<PropValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueAtDepth {
    type Value = PropValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<PropValue, E> {
        Ok(PropValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<PropValue, E> {
        Ok(PropValue::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<PropValue, E> {
        exact_integer(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<PropValue, E> {
        exact_integer(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<PropValue, E> {
        finite_number(value)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<PropValue, E> {
        Ok(PropValue::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PropValue, A::Error> {
        let depth = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(ValueAtDepth(depth))? {
            items.push(item);
        }
        Ok(PropValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PropValue, A::Error> {
        let depth = self.deeper()?;
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(ValueAtDepth(depth))?;
            if fields.insert(Arc::from(key.as_str()), value).is_some() {
                return Err(A::Error::custom(format_args!("{key:?} appears twice: keep one of the two")));
            }
        }
        Ok(PropValue::Object(fields))
    }
}

/// Decodes an optional key: a missing key is `None`, an explicit `null` is an error.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A label or title.
pub(super) fn short_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.chars().count() > MAX_LABEL_CHARS {
        return Err(D::Error::custom(format_args!(
            "a text of more than {MAX_LABEL_CHARS} characters: shorten it"
        )));
    }
    Ok(text)
}
