//! `links.json`: one trace link per line, sorted by id, so that two branches that add links merge cleanly.

use shared_protocol::{
    Refusal, RefusalCode, TraceLinkId,
    trace_link::{MAX_LINKS, MAX_RELATION_CHARS, TraceLink, TraceLinkEnd, TraceLinkFingerprint},
};
use std::{collections::BTreeMap, fmt::Write as _};

const LINKS_FORMAT_VERSION: u32 = 1;

/// All trace links of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceLinks {
    list: BTreeMap<TraceLinkId, TraceLink>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceLinkFileError {
    #[error("links.json, line {line}, column {column}: {problem}")]
    Malformed { line: usize, column: usize, problem: String },
    #[error(
        "links.json has format {0}, but this version reads format {LINKS_FORMAT_VERSION}: update Draftboard"
    )]
    UnsupportedFormat(u32),
    #[error("links.json: the id {0} is used twice; remove one of the links")]
    DuplicateId(TraceLinkId),
    #[error("links.json contains more than {MAX_LINKS} links")]
    TooMany,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceLinkFile {
    format: u32,
    links: Vec<TraceLink>,
}

impl TraceLinks {
    pub fn parse(text: &str) -> Result<Self, TraceLinkFileError> {
        let file: TraceLinkFile =
            serde_json::from_str(text).map_err(|error| TraceLinkFileError::Malformed {
                line: error.line(),
                column: error.column(),
                problem: error.to_string(),
            })?;
        if file.format != LINKS_FORMAT_VERSION {
            return Err(TraceLinkFileError::UnsupportedFormat(file.format));
        }
        if file.links.len() > MAX_LINKS {
            return Err(TraceLinkFileError::TooMany);
        }
        let mut links = Self::default();
        for link in file.links {
            let id = link.id;
            if links.list.insert(id, link).is_some() {
                return Err(TraceLinkFileError::DuplicateId(id));
            }
        }
        Ok(links)
    }

    /// Returns `None` when there are no links: the file is then removed.
    pub fn to_text(&self) -> Option<String> {
        if self.list.is_empty() {
            return None;
        }
        let mut text = format!("{{\n  \"format\": {LINKS_FORMAT_VERSION},\n  \"links\": [");
        for (index, link) in self.list.values().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let line = serde_json::to_string(link).unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}\n    {line}");
        }
        text.push_str("\n  ]\n}\n");
        Some(text)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TraceLink> {
        self.list.values()
    }

    pub fn get(&self, id: TraceLinkId) -> Option<&TraceLink> {
        self.list.get(&id)
    }

    /// Adds a link between two ends with their current fingerprints.
    pub fn add(
        &mut self,
        seed: u64,
        (from, from_now): (TraceLinkEnd, TraceLinkFingerprint),
        (to, to_now): (TraceLinkEnd, TraceLinkFingerprint),
        relation: &str,
    ) -> Result<TraceLinkId, Refusal> {
        let relation = relation.trim();
        let length = relation.chars().count();
        if length == 0 || length > MAX_RELATION_CHARS || relation.contains(char::is_control) {
            let message = format!("the relation must be one line of 1 to {MAX_RELATION_CHARS} characters");
            return Err(Refusal::new(RefusalCode::ValidationError, message).field("relation"));
        }
        if from == to {
            return Err(Refusal::new(RefusalCode::ValidationError, "a trace link needs two different ends")
                .field("to"));
        }
        let same = |link: &&TraceLink| link.from == from && link.to == to && link.relation == relation;
        if let Some(link) = self.list.values().find(same) {
            let message = format!("{from} and {to} are already linked by {}", link.id);
            return Err(Refusal::new(RefusalCode::Conflict, message).hint("Use a different relation."));
        }
        if self.list.len() >= MAX_LINKS {
            return Err(Refusal::new(
                RefusalCode::LimitExceeded,
                format!("a workspace can have at most {MAX_LINKS} trace links"),
            ));
        }
        let mut id = TraceLinkId::from_bits(seed);
        while self.list.contains_key(&id) {
            id = TraceLinkId::from_bits(id.bits().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        let relation = relation.to_owned();
        self.list.insert(id, TraceLink { id, from, to, relation, seen: (from_now, to_now) });
        Ok(id)
    }

    pub fn remove(&mut self, id: TraceLinkId) -> Result<TraceLink, Refusal> {
        self.list.remove(&id).ok_or_else(|| link_not_found(id))
    }

    /// Marks a link as reviewed with the current fingerprints of its ends.
    pub fn mark_reviewed(
        &mut self,
        id: TraceLinkId,
        now: (TraceLinkFingerprint, TraceLinkFingerprint),
    ) -> Result<(), Refusal> {
        let link = self.list.get_mut(&id).ok_or_else(|| link_not_found(id))?;
        link.seen = now;
        Ok(())
    }
}

fn link_not_found(id: TraceLinkId) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("there is no trace link {id}")).field("link")
}
