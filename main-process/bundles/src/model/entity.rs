//! An entity, as read from its file.

use super::graph::ReferenceRule;
use crate::{
    Data,
    schema::{EntitySchema, SchemaFinding, Step},
};
use std::sync::Arc;

/// The maximum number of references in one entity.
const MOST_REFERENCES: usize = 10_000;

#[derive(Debug)]
pub struct Entity {
    pub(crate) id: Arc<str>,
    pub(crate) entity_type: Arc<str>,
    /// The path of its file, relative to the bundle.
    pub(crate) path: String,
    pub(crate) data: Data,
    /// Its references, in the order of the rules.
    pub(crate) references: Vec<Reference>,
    pub(crate) findings: Vec<SchemaFinding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The index of the bundle's reference rule.
    pub(crate) rule: u32,
    pub(crate) target: Arc<str>,
    /// A JSON pointer to the reference.
    pub(crate) pointer: Box<str>,
}

impl Entity {
    pub(crate) fn new(
        id: &str,
        entity_type: &Arc<str>,
        path: String,
        data: Data,
        rules: &[(u32, &ReferenceRule)],
        schema: Option<&EntitySchema>,
    ) -> Self {
        let references = references(&data, rules);
        // The bundle itself may be described as an entity; its schema applies to the manifest.
        let findings = match schema {
            Some(schema) if &**entity_type != "Bundle" => schema.findings(&data),
            _ => Vec::new(),
        };
        Self { id: id.into(), entity_type: entity_type.clone(), path, data, references, findings }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn entity_type(&self) -> &str {
        &self.entity_type
    }

    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The path of its file, relative to the bundle.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The display title.
    pub fn title(&self) -> Option<&str> {
        ["title", "name", "statement"].into_iter().find_map(|field| self.data.text(field))
    }

    /// Returns its data preceded by `id` and `entityType`, which members of the same name override.
    pub(crate) fn to_data(&self) -> Data {
        let mut members = crate::data::Members::default();
        members.set("id", (&*self.id).into());
        members.set("entityType", (&*self.entity_type).into());
        for (key, value) in self.data.as_map().into_iter().flat_map(|map| map.iter()) {
            members.set(key, value.clone());
        }
        Data::Map(members)
    }
}

pub(crate) fn references(data: &Data, rules: &[(u32, &ReferenceRule)]) -> Vec<Reference> {
    let mut found = Vec::new();
    for (rule, declared) in rules {
        gather(data, &declared.steps, &mut String::new(), *rule, &mut found);
    }
    found
}

/// Collects the texts at the end of the steps. Accepts a single value in place of a list and a list in place of a
/// single value.
fn gather(data: &Data, steps: &[Step], pointer: &mut String, rule: u32, found: &mut Vec<Reference>) {
    if found.len() >= MOST_REFERENCES {
        return;
    }
    let length = pointer.len();
    let inside =
        |part: &str, data: &Data, steps: &[Step], pointer: &mut String, found: &mut Vec<Reference>| {
            pointer.push('/');
            pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
            gather(data, steps, pointer, rule, found);
            pointer.truncate(length);
        };
    match (steps.split_first(), data) {
        (Some((Step::Member(name), rest)), Data::Map(members)) => {
            if let Some(member) = members.get(name) {
                inside(name, member, rest, pointer, found);
            }
        }
        (Some((Step::Members, rest)), Data::Map(members)) => {
            members.iter().for_each(|(name, member)| inside(name, member, rest, pointer, found));
        }
        (Some((Step::Items, rest)), Data::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                inside(&index.to_string(), item, rest, pointer, found);
            }
        }
        (Some((Step::Items, rest)), Data::Text(_)) => gather(data, rest, pointer, rule, found),
        (None, Data::List(items)) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_text().is_some()) {
                inside(&index.to_string(), item, &[], pointer, found);
            }
        }
        (None, Data::Text(text)) if !text.trim().is_empty() => {
            found.push(Reference { rule, target: (**text).into(), pointer: pointer.as_str().into() });
        }
        _ => {}
    }
}
