//! An entity, as read from its file.

use super::graph::ReferenceRule;
use crate::schema::{EntitySchema, SchemaFinding, SchemaPathStep};
use shared_protocol::{OrderedMembers, OrderedValue};
use std::sync::Arc;

/// The maximum number of references in one entity.
const MAX_REFERENCES: usize = 10_000;

#[derive(Debug)]
pub struct BundleEntity {
    pub(crate) id: Arc<str>,
    pub(crate) entity_type: Arc<str>,
    /// The path of its file, relative to the bundle.
    pub(crate) path: String,
    pub(crate) data: OrderedValue,
    /// Its references, in the order of the rules.
    pub(crate) references: Vec<EntityReference>,
    pub(crate) findings: Vec<SchemaFinding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityReference {
    /// The index of the bundle's reference rule.
    pub(crate) rule: u32,
    pub(crate) target: Arc<str>,
    /// A JSON pointer to the reference.
    pub(crate) pointer: Box<str>,
}

impl BundleEntity {
    pub(crate) fn new(
        id: &str,
        entity_type: &Arc<str>,
        path: String,
        data: OrderedValue,
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

    pub fn data(&self) -> &OrderedValue {
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
    pub(crate) fn to_data(&self) -> OrderedValue {
        let mut members = OrderedMembers::default();
        members.set("id", (&*self.id).into());
        members.set("entityType", (&*self.entity_type).into());
        for (key, value) in self.data.as_map().into_iter().flat_map(|map| map.iter()) {
            members.set(key, value.clone());
        }
        OrderedValue::Map(members)
    }
}

pub(crate) fn references(data: &OrderedValue, rules: &[(u32, &ReferenceRule)]) -> Vec<EntityReference> {
    let mut found = Vec::new();
    for (rule, declared) in rules {
        collect_references(data, &declared.steps, &mut String::new(), *rule, &mut found);
    }
    found
}

/// Collects the texts at the end of the steps. Accepts a single value in place of a list and a list in place of a
/// single value.
fn collect_references(
    data: &OrderedValue,
    steps: &[SchemaPathStep],
    pointer: &mut String,
    rule: u32,
    found: &mut Vec<EntityReference>,
) {
    if found.len() >= MAX_REFERENCES {
        return;
    }
    let length = pointer.len();
    let inside = |part: &str,
                  data: &OrderedValue,
                  steps: &[SchemaPathStep],
                  pointer: &mut String,
                  found: &mut Vec<EntityReference>| {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
        collect_references(data, steps, pointer, rule, found);
        pointer.truncate(length);
    };
    match (steps.split_first(), data) {
        (Some((SchemaPathStep::Member(name), rest)), OrderedValue::Map(members)) => {
            if let Some(member) = members.get(name) {
                inside(name, member, rest, pointer, found);
            }
        }
        (Some((SchemaPathStep::Members, rest)), OrderedValue::Map(members)) => {
            members.iter().for_each(|(name, member)| inside(name, member, rest, pointer, found));
        }
        (Some((SchemaPathStep::Items, rest)), OrderedValue::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                inside(&index.to_string(), item, rest, pointer, found);
            }
        }
        (Some((SchemaPathStep::Items, rest)), OrderedValue::Text(_)) => {
            collect_references(data, rest, pointer, rule, found)
        }
        (None, OrderedValue::List(items)) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_text().is_some()) {
                inside(&index.to_string(), item, &[], pointer, found);
            }
        }
        (None, OrderedValue::Text(text)) if !text.trim().is_empty() => {
            found.push(EntityReference { rule, target: (**text).into(), pointer: pointer.as_str().into() });
        }
        _ => {}
    }
}
