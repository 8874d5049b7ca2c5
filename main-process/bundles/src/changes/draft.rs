//! A bundle with unwritten changes: later changes of a batch see the results of earlier ones.

use crate::{Bundle, files::BundlePath, model::EntityReference};
use shared_protocol::OrderedValue;
use std::{collections::BTreeMap, sync::Arc};

/// An entity after the changes so far.
#[derive(Debug, Clone)]
pub(super) struct EntityDraft {
    pub(super) kind: usize,
    pub(super) path: BundlePath,
    /// The current content of the file; `None` if it is new.
    pub(super) before: Option<Arc<str>>,
    /// The entity; `None` once it is deleted.
    pub(super) data: Option<OrderedValue>,
    /// Whether it was deleted and created again, so that none of its old text is kept.
    pub(super) is_new: bool,
    pub(super) references: Vec<EntityReference>,
}

pub(super) struct EntityDrafts<'a> {
    pub(super) bundle: &'a Bundle,
    /// Drafts by id, with the order in which they were first touched.
    touched: BTreeMap<String, (usize, EntityDraft)>,
}

impl<'a> EntityDrafts<'a> {
    pub(super) fn new(bundle: &'a Bundle) -> Self {
        Self { bundle, touched: BTreeMap::new() }
    }

    /// Returns the type of the entity with an id.
    pub(super) fn type_of(&self, id: &str) -> Option<&str> {
        match self.touched.get(id) {
            Some((_, draft)) => draft.data.as_ref().map(|_| &*self.bundle.kinds[draft.kind].name),
            None => self.bundle.entity_by_id(id).map(|entity| entity.entity_type()),
        }
    }

    /// Returns a draft of the entity with a type and an id.
    pub(super) fn get_or_load(&self, kind: usize, id: &str) -> Option<EntityDraft> {
        if let Some((_, draft)) = self.touched.get(id) {
            return (draft.kind == kind && draft.data.is_some()).then(|| draft.clone());
        }
        let entity = self.bundle.entity(&self.bundle.kinds[kind].name, id)?;
        let (_, file) = self.bundle.file_of(id)?;
        Some(EntityDraft {
            kind,
            path: BundlePath::parse(entity.path()).ok()?,
            before: Some(file.source.clone()),
            data: Some(entity.data().clone()),
            is_new: false,
            references: entity.references.clone(),
        })
    }

    /// Returns the draft of an entity that this batch deleted.
    pub(super) fn find_deleted(&self, id: &str) -> Option<&EntityDraft> {
        self.touched.get(id).map(|(_, draft)| draft).filter(|draft| draft.data.is_none())
    }

    /// Returns whether a file or another draft already uses a path.
    pub(super) fn is_taken(&self, kind: usize, path: &BundlePath) -> bool {
        let (_, name) = path.split();
        self.touched.values().any(|(_, draft)| draft.path == *path && draft.data.is_some())
            || (self.bundle.kinds[kind].files.contains_key(name)
                && !self.touched.values().any(|(_, draft)| draft.path == *path))
    }

    pub(super) fn set(&mut self, id: &str, mut draft: EntityDraft) {
        if let Some(data) = &draft.data {
            draft.references = crate::model::references(data, &self.bundle.rules_of(draft.kind));
        } else {
            draft.references = Vec::new();
        }
        let order = self.touched.len();
        match self.touched.get_mut(id) {
            Some((_, known)) => *known = draft,
            None => drop(self.touched.insert(id.to_owned(), (order, draft))),
        }
    }

    /// Returns the references to an id from other entities: type, id and field, in the order of all references.
    pub(super) fn referrers(&self, id: &str) -> Vec<(String, String, String)> {
        let mut found: Vec<(String, String, String)> = self
            .bundle
            .incoming(id)
            .filter(|edge| edge.from.id() != id && !self.touched.contains_key(edge.from.id()))
            .map(|edge| {
                (edge.from.entity_type().to_owned(), edge.from.id().to_owned(), edge.field.to_owned())
            })
            .collect();
        for (from, (_, draft)) in self.touched.iter().filter(|(from, _)| *from != id) {
            for reference in draft.references.iter().filter(|reference| &*reference.target == id) {
                let kind = &self.bundle.kinds[draft.kind].name;
                let field = &self.bundle.rules[reference.rule as usize].field;
                found.push((kind.to_string(), from.clone(), field.clone()));
            }
        }
        found
    }

    /// All drafts, in the order in which they were first touched.
    pub(super) fn touched_entities(&self) -> Vec<(&str, &EntityDraft)> {
        let mut touched: Vec<_> = self.touched.iter().collect();
        touched.sort_by_key(|(_, (order, _))| *order);
        touched.into_iter().map(|(id, (_, draft))| (id.as_str(), draft)).collect()
    }

    pub(super) fn get(&self, id: &str) -> Option<&EntityDraft> {
        self.touched.get(id).map(|(_, draft)| draft)
    }
}
