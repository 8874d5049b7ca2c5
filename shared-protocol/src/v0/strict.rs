//! Macros and field helpers for strict decoding, beyond the serde derives.

use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// The error for a string outside a closed set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a {shape}: expected one of {expected:?}")]
pub struct UnknownValue {
    pub(super) shape: &'static str,
    pub(super) expected: &'static [&'static str],
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

pub(super) use {object, string_enum};

/// Decodes an optional field: a present field must have a value, so `null` is refused.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
    T::deserialize(d).map(Some)
}
