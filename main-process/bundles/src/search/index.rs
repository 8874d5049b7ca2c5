//! The inverted index of one bundle.

use super::{FIELDS, field_text, words};
use crate::model::Entity;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

/// Longer words are cut; nobody searches for more.
const LONGEST_WORD: usize = 64;

/// The number of an entity in the index.
pub(super) type Slot = u32;

#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// For each word, who holds it: the entity's slot and a bit for each field.
    words: BTreeMap<Box<str>, Vec<(Slot, u8)>>,
    slots: HashMap<Arc<str>, Slot>,
    /// What each slot stands for.
    pub(super) entities: Vec<Option<Arc<Entity>>>,
    free: Vec<Slot>,
    order: OnceLock<Vec<Slot>>,
}

impl Index {
    pub(crate) fn add(&mut self, entity: &Arc<Entity>) {
        self.remove(entity);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entities.push(None);
            u32::try_from(self.entities.len() - 1).unwrap_or(u32::MAX)
        });
        self.slots.insert(entity.id.clone(), slot);
        self.entities[slot as usize] = Some(entity.clone());
        for (word, fields) in words_of(entity) {
            match self.words.get_mut(word.as_str()) {
                Some(holders) => holders.push((slot, fields)),
                None => drop(self.words.insert(word.into(), vec![(slot, fields)])),
            }
        }
        self.order = OnceLock::new();
    }

    pub(crate) fn remove(&mut self, entity: &Entity) {
        let Some(slot) = self.slots.remove(&entity.id) else { return };
        for (word, _) in words_of(entity) {
            if let Some(holders) = self.words.get_mut(word.as_str()) {
                holders.retain(|(holder, _)| *holder != slot);
                if holders.is_empty() {
                    self.words.remove(word.as_str());
                }
            }
        }
        self.entities[slot as usize] = None;
        self.free.push(slot);
        self.order = OnceLock::new();
    }

    /// For each slot, in which fields a part of a word occurs.
    pub(super) fn fields_with(&self, part: &str) -> Vec<u8> {
        let mut fields = vec![0; self.entities.len()];
        let part: String = part.chars().take(LONGEST_WORD).collect();
        let finder = memchr::memmem::Finder::new(part.as_bytes());
        for (_, holders) in self.words.iter().filter(|(word, _)| finder.find(word.as_bytes()).is_some()) {
            for (slot, found) in holders {
                fields[*slot as usize] |= found;
            }
        }
        fields
    }

    /// All slots, by type and id as a person would sort them.
    pub(super) fn order(&self) -> &[Slot] {
        self.order.get_or_init(|| {
            let mut order: Vec<(Vec<u32>, Slot)> = self
                .entities
                .iter()
                .enumerate()
                .filter_map(|(slot, entity)| {
                    let entity = entity.as_ref()?;
                    let mut key = crate::collation::key(&entity.entity_type);
                    key.push(0);
                    key.extend(crate::collation::key(&entity.id));
                    Some((key, u32::try_from(slot).ok()?))
                })
                .collect();
            order.sort();
            order.into_iter().map(|(_, slot)| slot).collect()
        })
    }
}

/// The words of an entity, each with a bit for every field it is in.
fn words_of(entity: &Entity) -> BTreeMap<String, u8> {
    let mut found: BTreeMap<String, u8> = BTreeMap::new();
    for field in 0..FIELDS.len() {
        if let Some(text) = field_text(entity, field) {
            for word in words(&text.to_lowercase()) {
                let word = word.chars().take(LONGEST_WORD).collect();
                *found.entry(word).or_default() |= 1 << field;
            }
        }
    }
    found
}
