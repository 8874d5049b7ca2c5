//! Macros and field helpers for strict decoding, beyond the serde derives.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thiserror::Error;

use super::common::FiniteNumber;

/// The error for a string outside a closed set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a {shape}: expected one of {expected:?}")]
pub struct UnknownValue {
    pub(super) shape: &'static str,
    pub(super) expected: &'static [&'static str],
}

/// Declares a free-string id type, so that ids of different kinds cannot be mixed up.
macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps any string: v0 ids have no format.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as written on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Declares a closed set of strings. (A derived enum would also accept `{"variant": null}`.)
macro_rules! string_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Deserialize)]
        #[serde(try_from = "String")]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The value as written on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::v0::UnknownValue;

            fn try_from(text: String) -> Result<Self, $crate::v0::UnknownValue> {
                match text.as_str() {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::v0::UnknownValue { shape: stringify!($name), expected: &[$($text,)+] }),
                }
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

/// Implements serde for types that derive it with `remote = "Self"`. Accepts only JSON objects and runs the optional
/// `check` on the decoded value.
macro_rules! object {
    ($($name:ident),+ $(,)?) => { $(object!($name, check = |_| Ok::<(), String>(()));)+ };
    ($name:ident, check = $check:expr) => {
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let map = <::serde_json::Map<String, ::serde_json::Value>>::deserialize(deserializer)?;
                let decoded = $name::deserialize(::serde_json::Value::Object(map))
                    .map_err(::serde::de::Error::custom)?;
                let check: fn(&$name) -> Result<(), String> = $check;
                check(&decoded).map_err(::serde::de::Error::custom)?;
                Ok(decoded)
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, serializer)
            }
        }
    };
}

/// Like [`object!`], for enums tagged by a boolean `ok`. Serde tags are strings, so the derive uses `tag = "ok"` with
/// variants `"true"` and `"false"`, and this macro converts them.
macro_rules! ok_tagged {
    ($($name:ident),+ $(,)?) => { $(
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut map = <::serde_json::Map<String, ::serde_json::Value>>::deserialize(deserializer)?;
                $crate::v0::strict::ok_to_text(&mut map)?;
                $name::deserialize(::serde_json::Value::Object(map)).map_err(::serde::de::Error::custom)
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut value = $name::serialize(self, ::serde_json::value::Serializer)
                    .map_err(::serde::ser::Error::custom)?;
                $crate::v0::strict::ok_to_bool(&mut value);
                value.serialize(serializer)
            }
        }
    )+ };
}

pub(super) use {id, object, ok_tagged, string_enum};

/// Replaces the boolean `ok` by its text; any other type is an error.
pub(super) fn ok_to_text<E: serde::de::Error>(map: &mut Map<String, Value>) -> Result<(), E> {
    match map.get_mut("ok") {
        Some(ok @ Value::Bool(true)) => *ok = "true".into(),
        Some(ok @ Value::Bool(false)) => *ok = "false".into(),
        Some(_) => return Err(E::custom("`ok` must be a boolean")),
        None => return Err(E::missing_field("ok")),
    }
    Ok(())
}

/// The reverse of [`ok_to_text`].
pub(super) fn ok_to_bool(value: &mut Value) {
    if let Some(ok) = value.get_mut("ok") {
        *ok = Value::Bool(ok == "true");
    }
}

/// Decodes an optional field: a present field must have a value, so `null` is refused.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
    T::deserialize(d).map(Some)
}

/// Decodes a nullable field whose key is required.
pub(super) fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(d)
}

/// Decodes an integer ≥ 0.
pub(super) fn count<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
    integer(d, 0)
}

/// Decodes an integer ≥ 1.
pub(super) fn one_based<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
    integer(d, 1)
}

/// Decodes an optional integer ≥ 1.
pub(super) fn present_one_based<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    integer(d, 1).map(Some)
}

/// Decodes an integer. JSON has one number type, so `3.0` is the integer 3. Integers beyond 2^53 − 1 are refused
/// because peers lose precision.
fn integer<'de, D: Deserializer<'de>>(d: D, min: u64) -> Result<u64, D::Error> {
    const MAX: f64 = 9_007_199_254_740_991.0;
    let n = FiniteNumber::deserialize(d)?.get();
    // The cast is exact: `n` is integral and within 0..=2^53 − 1.
    match n.fract() == 0.0 && (0.0..=MAX).contains(&n) && n as u64 >= min {
        true => Ok(n as u64),
        false => Err(D::Error::custom(format_args!("expected an integer of at least {min}"))),
    }
}
