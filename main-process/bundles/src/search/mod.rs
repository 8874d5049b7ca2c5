//! Full-text search over id, title, name, statement and description.
//!
//! An inverted index maps words to the entities and fields that contain them. It is updated per entity. A query of a
//! single word is answered from the index alone; any other query is narrowed by its words and then matched against the
//! texts.

mod index;
mod query;

pub(crate) use index::EntityIndex;
pub(crate) use query::{EntityHit, search};

use crate::model::BundleEntity;

/// The searched fields, best first.
pub(crate) const FIELDS: [&str; 5] = ["id", "title", "name", "statement", "description"];

/// The text of one of [`FIELDS`].
fn field_text(entity: &BundleEntity, field: usize) -> Option<&str> {
    if field == 0 { Some(entity.id()) } else { entity.data().text(FIELDS[field]) }
}

/// Splits a lower-case text into words: runs of letters and digits.
fn split_words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
