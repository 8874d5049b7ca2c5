//! Ids: 60 random bits, written as a letter, a hyphen and twelve unambiguous characters. Random ids let two branches
//! of a repository add nodes and still merge. A hyphen never occurs in a [`crate::NodeName`], so an id and a name cannot
//! be confused.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::{fmt, str::FromStr};

/// Crockford's base 32 alphabet: no i, l, o, u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 12;
const MASK: u64 = (1 << 60) - 1;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a {what} id: expected `{prefix}-` and {LENGTH} characters of 0-9 a-z without i, l, o, u"
)]
pub struct IdError {
    what: &'static str,
    prefix: char,
    text: String,
}

fn encode(bits: u64, prefix: char, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0u8; LENGTH];
    for (place, byte) in text.iter_mut().rev().enumerate() {
        *byte = ALPHABET[((bits >> (5 * place)) & 31) as usize];
    }
    write!(f, "{prefix}-{}", String::from_utf8_lossy(&text))
}

fn decode(text: &str, prefix: char) -> Option<u64> {
    let digits = text.strip_prefix(prefix)?.strip_prefix('-')?;
    if digits.len() != LENGTH {
        return None;
    }
    digits.bytes().try_fold(0u64, |bits, byte| {
        let digit = ALPHABET.iter().position(|&c| c == byte)?;
        Some((bits << 5) | digit as u64)
    })
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            pub const MIN: Self = Self(0);
            pub const MAX: Self = Self(MASK);

            /// Creates an id from these bits; drops the upper four.
            pub const fn from_bits(bits: u64) -> Self {
                Self(bits & MASK)
            }

            pub const fn bits(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                encode(self.0, $prefix, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                decode(text, $prefix)
                    .map(Self)
                    .ok_or_else(|| IdError { what: $what, prefix: $prefix, text: text.chars().take(40).collect() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
                } else {
                    u64::deserialize(deserializer).map(Self::from_bits)
                }
            }
        }
    };
}

id!(/// The id of a board: one drawing, one file.
    BoardId, "board", 'b');
id!(/// The id of a node on a board.
    NodeId, "node", 'n');
id!(/// The id of an edge between two ports.
    EdgeId, "edge", 'e');
id!(/// The id of a proposal: changes by an agent that need a review.
    ProposalId, "proposal", 'p');
id!(/// The id of a trace link between elements of different domains.
    TraceLinkId, "link", 'k');

/// Derives a seed for element ids from the seed of a proposal. The derivation is one-way because element ids are
/// public, while only the proposer knows the id of a proposal.
pub fn one_way(seed: u64) -> u64 {
    let hash = Sha256::digest([b"draftboard elements".as_slice(), &seed.to_be_bytes()].concat());
    hash.iter().take(8).fold(0, |bits, byte| (bits << 8) | u64::from(*byte))
}

/// The id of any element on the canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ElementId {
    Board(BoardId),
    Node(NodeId),
    Edge(EdgeId),
}

impl fmt::Display for ElementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board(id) => id.fmt(f),
            Self::Node(id) => id.fmt(f),
            Self::Edge(id) => id.fmt(f),
        }
    }
}

/// The number of accepted operations. It also identifies the operation that led to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub u64);

impl Revision {
    pub const START: Self = Self(0);

    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_text_and_binary() {
        for bits in [0, 1, 31, 32, 0x0123_4567_89ab_cdef, u64::MAX] {
            let id = NodeId::from_bits(bits);
            assert_eq!(id.to_string().parse::<NodeId>().unwrap(), id);
            assert_eq!(serde_json::from_str::<NodeId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
            assert_eq!(postcard::from_bytes::<NodeId>(&postcard::to_stdvec(&id).unwrap()).unwrap(), id);
        }
        assert_eq!(NodeId::from_bits(33).to_string(), "n-000000000011");
    }

    #[test]
    fn a_wrong_id_says_what_was_expected() {
        for text in [
            "",
            "n",
            "n-",
            "n-00000000001",
            "n-0000000000110",
            "e-000000000011",
            "n-00000000001i",
            "N-000000000011",
        ] {
            let error = text.parse::<NodeId>().unwrap_err().to_string();
            assert!(error.contains("not a node id"), "{error}");
        }
    }
}
