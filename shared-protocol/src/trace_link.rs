//! Trace links across domains: from specs to interface and infrastructure. A link stores the fingerprints of its ends
//! from the last time a person confirmed it. When an end changes, the link is suspect until a person confirms it
//! again.

use crate::{BoardId, NodeId, TraceLinkId, bundle::EntityRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The maximum number of trace links in a workspace.
pub const MAX_LINKS: usize = 10_000;
/// The maximum length of the relation text of a link.
pub const MAX_RELATION_CHARS: usize = 80;

/// A hash of the content of a link end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceLinkFingerprint(u64);

impl TraceLinkFingerprint {
    pub fn hash(bytes: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl fmt::Display for TraceLinkFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for TraceLinkFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for TraceLinkFingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for TraceLinkFingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return u64::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        let digits = Some(text.as_str()).filter(|text| text.len() == 16);
        let bits = digits.and_then(|text| u64::from_str_radix(text, 16).ok());
        bits.map(Self).ok_or_else(|| {
            D::Error::custom(format!("{text:?} is not a fingerprint: expected 16 hexadecimal digits"))
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TraceLinkEnd {
    Node(NodeId),
    Entity(EntityRef),
}

impl fmt::Display for TraceLinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => id.fmt(f),
            Self::Entity(entity) => write!(f, "{} {}", entity.entity_type, entity.id),
        }
    }
}

/// A trace link as stored in `links.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceLink {
    pub id: TraceLinkId,
    pub from: TraceLinkEnd,
    pub to: TraceLinkEnd,
    /// The relation in words, such as `is realised by` or `runs on`.
    pub relation: String,
    /// The fingerprints of both ends when a person last confirmed the link.
    pub seen: (TraceLinkFingerprint, TraceLinkFingerprint),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TraceLinkEndState {
    /// Unchanged since a person last confirmed the link.
    Same,
    Changed,
    /// The end does not exist (any more).
    Gone,
}

/// A trace link with the current state of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceLinkView {
    pub link: TraceLink,
    pub from: TraceLinkEndView,
    pub to: TraceLinkEndView,
}

impl TraceLinkView {
    /// Returns true when an end changed or is missing, so that the link needs review.
    pub fn is_suspect(&self) -> bool {
        self.from.state != TraceLinkEndState::Same || self.to.state != TraceLinkEndState::Same
    }

    /// Returns the opposite end, or `None` when `end` is not an end of this link.
    pub fn other_end(&self, end: &TraceLinkEnd) -> Option<(&TraceLinkEnd, &TraceLinkEndView)> {
        if self.link.from == *end {
            Some((&self.link.to, &self.to))
        } else if self.link.to == *end {
            Some((&self.link.from, &self.from))
        } else {
            None
        }
    }

    /// Describes the link: `Deposit in a minute is realised by Deposit flow`.
    pub fn describe(&self) -> String {
        format!("{} {} {}", self.from.title, self.link.relation, self.to.title)
    }

    /// Explains why the link needs review; returns `None` when it holds.
    pub fn suspect_reason(&self) -> Option<String> {
        let said = [&self.from, &self.to].map(|end| match end.state {
            TraceLinkEndState::Same => None,
            TraceLinkEndState::Changed => Some(format!("{} changed", end.title)),
            TraceLinkEndState::Gone => Some(format!("{} no longer exists", end.title)),
        });
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" and "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceLinkEndView {
    /// The title of the end; its id when it does not exist.
    pub title: String,
    /// The board of a node.
    pub board: Option<BoardId>,
    pub state: TraceLinkEndState,
}

/// All trace links. Sent when the workspace is opened and after every change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceLinksView {
    /// Sorted by id.
    pub links: Vec<TraceLinkView>,
    /// Why the file cannot be read. Links cannot be changed until it can.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TraceLinkChange {
    Add {
        from: TraceLinkEnd,
        to: TraceLinkEnd,
        relation: String,
    },
    Remove {
        link: TraceLinkId,
    },
    /// A person confirms that the links hold with the current state of their ends.
    Clear {
        links: Vec<TraceLinkId>,
    },
}
