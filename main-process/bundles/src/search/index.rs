//! The inverted index of one bundle.

use super::{FIELDS, field_text, split_words};
use crate::model::BundleEntity;
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

/// The index of an entity in the search index.
pub(super) type SearchIndexSlot = u32;

#[derive(Debug, Clone, Default)]
pub(crate) struct EntityIndex {
    /// For each word, the slots of the entities that contain it, with a bit per field. Shared between clones.
    words: HashMap<Arc<str>, Arc<Vec<(SearchIndexSlot, u8)>>>,
    slots: HashMap<Arc<str>, SearchIndexSlot>,
    pub(super) entries: Vec<Option<Arc<IndexedEntity>>>,
    free: Vec<SearchIndexSlot>,
    order: OnceLock<Vec<SearchIndexSlot>>,
}

/// An indexed entity with its fields in lower case.
#[derive(Debug)]
pub(super) struct IndexedEntity {
    pub(super) entity: Arc<BundleEntity>,
    pub(super) lower: [Option<Box<str>>; FIELDS.len()],
}

impl IndexedEntity {
    fn new(entity: &Arc<BundleEntity>) -> Self {
        let lower =
            std::array::from_fn(|field| field_text(entity, field).map(|text| text.to_lowercase().into()));
        Self { entity: entity.clone(), lower }
    }

    /// Returns its distinct words, each with a bit per field that contains it.
    fn weighted_words(&self) -> Vec<(&str, u8)> {
        let mut found: Vec<(&str, u8)> = Vec::with_capacity(64);
        for (field, text) in self.lower.iter().enumerate() {
            found.extend(text.iter().flat_map(|text| split_words(text)).map(|word| (word, 1 << field)));
        }
        found.sort_unstable();
        found.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 |= later.1;
            }
            same
        });
        found
    }
}

impl EntityIndex {
    pub(crate) fn add(&mut self, entity: &Arc<BundleEntity>) {
        self.remove(entity);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        let entry = Arc::new(IndexedEntity::new(entity));
        for (word, fields) in entry.weighted_words() {
            match self.words.get_mut(word) {
                Some(holders) => Arc::make_mut(holders).push((slot, fields)),
                None => drop(self.words.insert(word.into(), Arc::new(vec![(slot, fields)]))),
            }
        }
        self.slots.insert(entity.id.clone(), slot);
        self.entries[slot as usize] = Some(entry);
        self.order = OnceLock::new();
    }

    pub(crate) fn remove(&mut self, entity: &BundleEntity) {
        let Some(slot) = self.slots.remove(&entity.id) else { return };
        let Some(entry) = self.entries[slot as usize].take() else { return };
        for (word, _) in entry.weighted_words() {
            if let Some(holders) = self.words.get_mut(word) {
                Arc::make_mut(holders).retain(|(holder, _)| *holder != slot);
                if holders.is_empty() {
                    self.words.remove(word);
                }
            }
        }
        self.free.push(slot);
        self.order = OnceLock::new();
    }

    /// Returns, for each slot, the fields that contain a word with `part` in it.
    pub(super) fn fields_with(&self, part: &str) -> Vec<u8> {
        let mut fields = vec![0; self.entries.len()];
        let finder = memchr::memmem::Finder::new(part.as_bytes());
        for (_, holders) in self.words.iter().filter(|(word, _)| finder.find(word.as_bytes()).is_some()) {
            for (slot, found) in holders.iter() {
                fields[*slot as usize] |= found;
            }
        }
        fields
    }

    /// All slots, sorted by type and id in natural order.
    pub(super) fn order(&self) -> &[SearchIndexSlot] {
        self.order.get_or_init(|| {
            let keyed = self.entries.iter().enumerate().filter_map(|(slot, entry)| {
                let entity = &entry.as_ref()?.entity;
                let mut key = crate::collation::sort_key(&entity.entity_type);
                key.push(0);
                key.extend(crate::collation::sort_key(&entity.id));
                Some((key, u32::try_from(slot).ok()?))
            });
            let mut order: Vec<(Vec<u32>, SearchIndexSlot)> = keyed.collect();
            order.sort_unstable();
            order.into_iter().map(|(_, slot)| slot).collect()
        })
    }
}
