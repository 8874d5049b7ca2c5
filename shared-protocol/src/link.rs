//! Links across domains: what specifies, what shows and what runs. A link remembers how its ends looked when somebody last
//! said that it holds; when one of them changes it is suspect until somebody says so again.

use crate::{BoardId, LinkId, NodeId, bundle::EntityRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Links in one workspace.
pub const MAX_LINKS: usize = 10_000;
/// Characters of what a link says.
pub const MAX_RELATION: usize = 80;

/// The hash of the content of an end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    pub fn of(bytes: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return u64::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        let digits = Some(text.as_str()).filter(|text| text.len() == 16);
        let bits = digits.and_then(|text| u64::from_str_radix(text, 16).ok());
        bits.map(Self).ok_or_else(|| D::Error::custom(format!("{text:?} is not sixteen hexadecimal digits")))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LinkEnd {
    Node(NodeId),
    Entity(EntityRef),
}

impl fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => id.fmt(f),
            Self::Entity(entity) => write!(f, "{} {}", entity.entity_type, entity.id),
        }
    }
}

/// As it stands in `links.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub id: LinkId,
    pub from: LinkEnd,
    pub to: LinkEnd,
    /// `is realised by`, `runs on`.
    pub relation: String,
    /// How the two ends looked when somebody last said that it holds.
    pub seen: (Fingerprint, Fingerprint),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EndState {
    /// As it was when somebody last said that the link holds.
    Same,
    Changed,
    /// There is no such thing (any more).
    Gone,
}

/// A link with what is known about its ends now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkView {
    pub link: Link,
    pub from: EndView,
    pub to: EndView,
}

impl LinkView {
    /// Somebody should look at it.
    pub fn is_suspect(&self) -> bool {
        self.from.state != EndState::Same || self.to.state != EndState::Same
    }

    /// The end that is not this one, if this is one of its ends.
    pub fn other(&self, end: &LinkEnd) -> Option<(&LinkEnd, &EndView)> {
        if self.link.from == *end {
            Some((&self.link.to, &self.to))
        } else if self.link.to == *end {
            Some((&self.link.from, &self.from))
        } else {
            None
        }
    }

    /// `Deposit in a minute is realised by Deposit flow`
    pub fn words(&self) -> String {
        format!("{} {} {}", self.from.title, self.link.relation, self.to.title)
    }

    /// Why somebody should look at it; none when it holds.
    pub fn trouble(&self) -> Option<String> {
        let said = [&self.from, &self.to].map(|end| match end.state {
            EndState::Same => None,
            EndState::Changed => Some(format!("{} changed", end.title)),
            EndState::Gone => Some(format!("{} is gone", end.title)),
        });
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" and "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndView {
    /// Its title; its id when it was removed.
    pub title: String,
    /// Where a node stands.
    pub board: Option<BoardId>,
    pub state: EndState,
}

/// Sent when the workspace is opened and whenever something of it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinksView {
    /// By id.
    pub links: Vec<LinkView>,
    /// Why the file cannot be read; nothing is changed until it can.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LinkRequest {
    /// Answered by [`LinksView`].
    List,
    Add {
        from: LinkEnd,
        to: LinkEnd,
        relation: String,
    },
    Remove {
        link: LinkId,
    },
    /// Somebody looked: it holds as its ends are now.
    Clear {
        links: Vec<LinkId>,
    },
}
