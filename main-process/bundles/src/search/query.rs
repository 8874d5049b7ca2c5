//! Answering a query: first what holds it as it is written, by the field it is found in, then what holds all its words.

use super::{FIELDS, field_text, index::Slot, words};
use crate::model::{Bundle, Entity};

pub(crate) struct Hit<'a> {
    pub(crate) entity: &'a Entity,
    /// The best field it was found in.
    pub(crate) field: &'static str,
    /// Smaller is better; within one rank, entities are in order.
    pub(crate) rank: usize,
}

/// What a bundle holds of a query, unsorted by rank but in order within each.
pub(crate) fn search<'a>(bundle: &'a Bundle, query: &str, entity_type: Option<&str>) -> Vec<Hit<'a>> {
    let query = query.trim().to_lowercase();
    let index = &bundle.search;
    let parts: Vec<&str> = words(&query).collect();
    let of_type = |slot: Slot| {
        let entity = index.entities[slot as usize].as_deref()?;
        entity_type.is_none_or(|wanted| entity.entity_type() == wanted).then_some(entity)
    };
    let all = index.order().iter().copied();
    if query.is_empty() {
        let hits = all.filter_map(|slot| Some(Hit { entity: of_type(slot)?, field: FIELDS[0], rank: 0 }));
        return hits.collect();
    }
    let fields: Vec<Vec<u8>> = parts.iter().map(|part| index.fields_with(part)).collect();
    let is_one_word = parts.len() == 1 && parts[0] == query;
    all.filter(|slot| fields.iter().all(|found| found[*slot as usize] != 0))
        .filter_map(|slot| {
            let entity = of_type(slot)?;
            let together = if is_one_word {
                Some(fields[0][slot as usize].trailing_zeros() as usize)
            } else {
                (0..FIELDS.len()).find(|field| {
                    field_text(entity, *field).is_some_and(|text| text.to_lowercase().contains(&query))
                })
            };
            match together {
                Some(field) => Some(Hit { entity, field: FIELDS[field], rank: field }),
                // A query of signs alone has no words to be found apart.
                None if parts.is_empty() => None,
                None => {
                    let field = fields.iter().map(|found| found[slot as usize].trailing_zeros()).max()?;
                    let field = field as usize;
                    Some(Hit { entity, field: FIELDS[field], rank: FIELDS.len() + field })
                }
            }
        })
        .collect()
}
