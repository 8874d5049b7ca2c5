//! `links.json`: one link a line, sorted by id, so that two branches that both add links merge.

use shared_protocol::{
    Code, LinkId, Refusal,
    link::{Fingerprint, Link, LinkEnd, MAX_LINKS, MAX_RELATION},
};
use std::{collections::BTreeMap, fmt::Write as _};

const FORMAT: u32 = 1;

/// All links of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    list: BTreeMap<LinkId, Link>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkFileError {
    #[error("links.json, line {line}, column {column}: {problem}")]
    Malformed { line: usize, column: usize, problem: String },
    #[error("links.json has format {0}, and this version reads {FORMAT}: use a newer Draftboard")]
    Newer(u32),
    #[error("links.json: {0} is there twice; remove one of them")]
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

    /// Nothing when there is no link: then there is no file.
    pub fn to_text(&self) -> Option<String> {
        if self.list.is_empty() {
            return None;
        }
        let mut text = format!("{{\n  \"format\": {FORMAT},\n  \"links\": [");
        for (index, link) in self.list.values().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let line = serde_json::to_string(link).unwrap_or_default();
            // Writing to a text cannot fail.
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

    /// Links two things as they are now.
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
            let message = format!("what a link says is one line of 1 to {MAX_RELATION} characters");
            return Err(Refusal::new(Code::ValidationError, message).field("relation"));
        }
        if from == to {
            return Err(Refusal::new(Code::ValidationError, "a link has two different ends").field("to"));
        }
        let same = |link: &&Link| link.from == from && link.to == to && link.relation == relation;
        if let Some(link) = self.list.values().find(same) {
            let message = format!("{from} and {to} are linked by {} already", link.id);
            return Err(Refusal::new(Code::Conflict, message).hint("Use another word for another relation."));
        }
        if self.list.len() >= MAX_LINKS {
            return Err(Refusal::new(Code::LimitExceeded, format!("there are {MAX_LINKS} links already")));
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

    /// Somebody looked: it holds as its ends are now.
    pub fn clear(&mut self, id: LinkId, now: (Fingerprint, Fingerprint)) -> Result<(), Refusal> {
        let link = self.list.get_mut(&id).ok_or_else(|| unknown(id))?;
        link.seen = now;
        Ok(())
    }
}

fn unknown(id: LinkId) -> Refusal {
    Refusal::new(Code::NotFound, format!("there is no link {id}")).field("link")
}
