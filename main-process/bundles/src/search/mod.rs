//! Full-text search: over id, title, name, statement and description.
//!
//! An inverted index from words to the entities that hold them, and in which of the five fields. It is changed entity by
//! entity. A query without spaces or signs is answered from the index alone; any other is narrowed by its words and then
//! looked for in the texts.

mod index;
mod query;

pub(crate) use index::Index;
pub(crate) use query::{Hit, search};

use crate::model::Entity;

/// The fields that are searched, best first.
pub(crate) const FIELDS: [&str; 5] = ["id", "title", "name", "statement", "description"];

/// The text of one of [`FIELDS`].
fn field_text(entity: &Entity, field: usize) -> Option<&str> {
    if field == 0 { Some(entity.id()) } else { entity.data().text(FIELDS[field]) }
}

/// The words of a text: runs of letters and digits, in lower case.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
