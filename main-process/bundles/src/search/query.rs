//! Evaluates a query: exact matches come first, by field, then entities that contain all words separately.

use super::{FIELDS, index::SearchIndexSlot, split_words};
use crate::model::{Bundle, BundleEntity};

pub(crate) struct EntityHit<'a> {
    pub(crate) entity: &'a BundleEntity,
    /// The best matching field.
    pub(crate) field: &'static str,
    /// Lower is better; within one rank, entities are sorted.
    pub(crate) rank: usize,
}

/// Returns the matches in a bundle: sorted within each rank, but not by rank.
pub(crate) fn search<'a>(bundle: &'a Bundle, query: &str, entity_type: Option<&str>) -> Vec<EntityHit<'a>> {
    let query = query.trim().to_lowercase();
    let index = &bundle.search;
    let parts: Vec<&str> = split_words(&query).collect();
    let of_type = |slot: SearchIndexSlot| {
        let entry = index.entries[slot as usize].as_deref()?;
        entity_type.is_none_or(|wanted| entry.entity.entity_type() == wanted).then_some(entry)
    };
    let all = index.order().iter().copied();
    if query.is_empty() {
        let hits = all
            .filter_map(|slot| Some(EntityHit { entity: &of_type(slot)?.entity, field: FIELDS[0], rank: 0 }));
        return hits.collect();
    }
    let fields: Vec<Vec<u8>> = parts.iter().map(|part| index.fields_with(part)).collect();
    let is_one_word = parts.len() == 1 && parts[0] == query;
    let finder = memchr::memmem::Finder::new(query.as_bytes());
    all.filter(|slot| fields.iter().all(|found| found[*slot as usize] != 0))
        .filter_map(|slot| {
            let entry = of_type(slot)?;
            let holds = |text: &Option<Box<str>>| {
                text.as_ref().is_some_and(|text| finder.find(text.as_bytes()).is_some())
            };
            let together = if is_one_word {
                Some(fields[0][slot as usize].trailing_zeros() as usize)
            } else {
                entry.lower.iter().position(holds)
            };
            let entity = &*entry.entity;
            match together {
                Some(field) => Some(EntityHit { entity, field: FIELDS[field], rank: field }),
                // A query without letters or digits has no words to match separately.
                None if parts.is_empty() => None,
                None => {
                    let field = fields.iter().map(|found| found[slot as usize].trailing_zeros()).max()?;
                    let field = field as usize;
                    Some(EntityHit { entity, field: FIELDS[field], rank: FIELDS.len() + field })
                }
            }
        })
        .collect()
}
