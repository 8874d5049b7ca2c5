//! `links.json`: one trace link per line, sorted by id, so that two branches that add links merge cleanly.

use shared_protocol::{
    Code, LinkId, Refusal,
    link::{Fingerprint, Link, LinkEnd, MAX_LINKS, MAX_RELATION},
};
use std::{collections::BTreeMap, fmt::Write as _};

const FORMAT: u32 = 1;

/// All trace links of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    list: BTreeMap<LinkId, Link>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkFileError {
    #[error("links.json, line {line}, column {column}: {problem}")]
    Malformed { line: usize, column: usize, problem: String },
    #[error("links.json has format {0}, but this version reads format {FORMAT}: update Draftboard")]
    Newer(u32),
    #[error("links.json: the id {0} is used twice; remove one of the links")]
    Twice(LinkId),
    #[error("links.json holds more than {MAX_LINKS} links")]
    TooMany,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    links: Vec<Link>,
}

impl Links {
    pub fn read(text: &str) -> Result<Self, LinkFileError> {
        let file: File = serde_json::from_str(text).map_err(|error| LinkFileError::Malformed {
            line: error.line(),
            column: error.column(),
            problem: error.to_string(),
        })?;
        if file.format != FORMAT {
            return Err(LinkFileError::Newer(file.format));
        }
        if file.links.len() > MAX_LINKS {
            return Err(LinkFileError::TooMany);
        }
        let mut links = Self::default();
        for link in file.links {
            let id = link.id;
            if links.list.insert(id, link).is_some() {
                return Err(LinkFileError::Twice(id));
            }
        }
        Ok(links)
    }

    /// Returns `None` when there are no links: the file is then removed.
    pub fn to_text(&self) -> Option<String> {
        if self.list.is_empty() {
            return None;
        }
        let mut text = format!("{{\n  \"format\": {FORMAT},\n  \"links\": [");
        for (index, link) in self.list.values().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let line = serde_json::to_string(link).unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}\n    {line}");
        }
        text.push_str("\n  ]\n}\n");
        Some(text)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Link> {
        self.list.values()
    }

    pub fn get(&self, id: LinkId) -> Option<&Link> {
        self.list.get(&id)
    }

    /// Adds a link between two ends with their current fingerprints.
    pub fn add(
        &mut self,
        seed: u64,
        (from, from_now): (LinkEnd, Fingerprint),
        (to, to_now): (LinkEnd, Fingerprint),
        relation: &str,
    ) -> Result<LinkId, Refusal> {
        let relation = relation.trim();
        let length = relation.chars().count();
        if length == 0 || length > MAX_RELATION || relation.contains(char::is_control) {
            let message = format!("the relation must be one line of 1 to {MAX_RELATION} characters");
            return Err(Refusal::new(Code::ValidationError, message).field("relation"));
        }
        if from == to {
            return Err(
                Refusal::new(Code::ValidationError, "a trace link needs two different ends").field("to")
            );
        }
        let same = |link: &&Link| link.from == from && link.to == to && link.relation == relation;
        if let Some(link) = self.list.values().find(same) {
            let message = format!("{from} and {to} are already linked by {}", link.id);
            return Err(Refusal::new(Code::Conflict, message).hint("Use a different relation."));
        }
        if self.list.len() >= MAX_LINKS {
            return Err(Refusal::new(
                Code::LimitExceeded,
                format!("a workspace can have at most {MAX_LINKS} trace links"),
            ));
        }
        let mut id = LinkId::from_bits(seed);
        while self.list.contains_key(&id) {
            id = LinkId::from_bits(id.bits().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        let relation = relation.to_owned();
        self.list.insert(id, Link { id, from, to, relation, seen: (from_now, to_now) });
        Ok(id)
    }

    pub fn remove(&mut self, id: LinkId) -> Result<Link, Refusal> {
        self.list.remove(&id).ok_or_else(|| unknown(id))
    }

    /// Marks a link as reviewed with the current fingerprints of its ends.
    pub fn clear(&mut self, id: LinkId, now: (Fingerprint, Fingerprint)) -> Result<(), Refusal> {
        let link = self.list.get_mut(&id).ok_or_else(|| unknown(id))?;
        link.seen = now;
        Ok(())
    }
}

fn unknown(id: LinkId) -> Refusal {
    Refusal::new(Code::NotFound, format!("there is no trace link {id}")).field("link")
}
