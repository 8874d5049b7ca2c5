//! The graph of references between entities, in both directions.
//!
//! The order is part of the contract: by rule, then by the entity that contains the reference, then in file order. The
//! relations of the type definition come first, followed by references that only schemas declare.

use super::{Bundle, BundleEntity, bundle::EntityFileKey, definition::BundleTypeDefinition};
use crate::schema::{EntitySchema, SchemaPathStep};
use std::{collections::BTreeMap, sync::Arc};

/// A rule for references from entities of one type.
#[derive(Debug, Clone)]
pub(crate) struct ReferenceRule {
    /// The type that contains the reference, as the index of its kind.
    pub(crate) from: usize,
    pub(crate) steps: Vec<SchemaPathStep>,
    /// The name of the field; dotted for nested fields.
    pub(crate) field: String,
    /// The type to report for a missing target.
    pub(crate) to: String,
    /// The target types that the schema allows; any type if empty.
    pub(crate) allowed: Vec<String>,
}

/// A reference from one entity to another, which may not exist.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceEdge<'a> {
    pub from: &'a BundleEntity,
    pub field: &'a str,
    pub to_type: &'a str,
    pub to_id: &'a str,
    pub(crate) pointer: &'a str,
}

/// The position of an edge in the order of all edges.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReferenceEdgeKey {
    pub(crate) rule: u32,
    pub(crate) from: EntityFileKey,
    /// Its index among the references of its entity.
    pub(crate) index: u32,
}

/// The edges to each id, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct IncomingEdges(imbl::HashMap<Arc<str>, Vec<ReferenceEdgeKey>>);

impl IncomingEdges {
    pub(crate) fn add(&mut self, key: &EntityFileKey, entity: &BundleEntity) {
        for (edge, target) in edge_keys(key, entity) {
            let edges = self.0.entry(target.clone()).or_default();
            // While a bundle loads, entities arrive in order but rules do not.
            let at = edges.partition_point(|known| *known < edge);
            edges.insert(at, edge);
        }
    }

    pub(crate) fn remove(&mut self, key: &EntityFileKey, entity: &BundleEntity) {
        for (edge, target) in edge_keys(key, entity) {
            if let Some(edges) = self.0.get_mut(target) {
                edges.retain(|known| *known != edge);
                if edges.is_empty() {
                    self.0.remove(target);
                }
            }
        }
    }

    fn edges_to(&self, id: &str) -> &[ReferenceEdgeKey] {
        self.0.get(id).map_or(&[], Vec::as_slice)
    }
}

fn edge_keys<'a>(
    key: &EntityFileKey,
    entity: &'a BundleEntity,
) -> impl Iterator<Item = (ReferenceEdgeKey, &'a Arc<str>)> {
    let key = key.clone();
    entity.references.iter().enumerate().map(move |(index, reference)| {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        (ReferenceEdgeKey { rule: reference.rule, from: key.clone(), index }, &reference.target)
    })
}

/// Returns the rules of a bundle: its relations, then references that schemas declare and no relation covers.
pub(crate) fn reference_rules(
    definition: Option<&BundleTypeDefinition>,
    kinds: &[Arc<str>],
    schemas: &BTreeMap<String, EntitySchema>,
) -> Vec<ReferenceRule> {
    let kind_of = |name: &str| kinds.iter().position(|kind| **kind == *name);
    let declared = |kind: &str| schemas.get(kind).map_or(&[][..], |schema| &schema.references);
    let mut rules = Vec::new();
    for relation in definition.map_or(&[][..], |definition| &definition.relations) {
        let Some(from) = kind_of(&relation.from_entity) else { continue };
        let of_schema = declared(&relation.from_entity)
            .iter()
            .find(|reference| !reference.is_nested() && reference.field() == relation.from_field);
        rules.push(ReferenceRule {
            from,
            steps: vec![SchemaPathStep::Member(relation.from_field.as_str().into())],
            field: relation.from_field.clone(),
            to: relation.to_entity.clone(),
            allowed: of_schema.map(|reference| reference.targets.clone()).unwrap_or_default(),
        });
    }
    let of_relations = rules.len();
    for (from, kind) in kinds.iter().enumerate() {
        for reference in declared(kind) {
            let field = reference.field();
            let covered = !reference.is_nested()
                && rules[..of_relations].iter().any(|rule| rule.from == from && rule.field == field);
            if !covered {
                let to = reference.targets.first().cloned().unwrap_or_else(|| "entity".to_owned());
                let (steps, allowed) = (reference.steps.clone(), reference.targets.clone());
                rules.push(ReferenceRule { from, steps, field, to, allowed });
            }
        }
    }
    rules
}

impl Bundle {
    /// All references, in order.
    pub fn edges(&self) -> impl Iterator<Item = ReferenceEdge<'_>> {
        self.rules.iter().enumerate().flat_map(move |(rule, declared)| {
            let rule = u32::try_from(rule).unwrap_or(u32::MAX);
            self.entities_of_kind(declared.from).flat_map(move |entity| {
                let start = entity.references.partition_point(|reference| reference.rule < rule);
                entity.references[start..]
                    .iter()
                    .take_while(move |reference| reference.rule == rule)
                    .map(move |reference| self.edge(entity, reference))
            })
        })
    }

    /// The references from an entity, in order.
    pub fn outgoing<'a>(&'a self, entity: &'a BundleEntity) -> impl Iterator<Item = ReferenceEdge<'a>> {
        entity.references.iter().map(move |reference| self.edge(entity, reference))
    }

    /// The references to an id, in order.
    pub fn incoming<'a>(&'a self, id: &str) -> impl Iterator<Item = ReferenceEdge<'a>> {
        self.incoming.edges_to(id).iter().filter_map(move |key| {
            let entity = self.entity_at(&key.from)?;
            Some(self.edge(entity, entity.references.get(key.index as usize)?))
        })
    }

    pub(crate) fn is_referenced(&self, id: &str) -> bool {
        !self.incoming.edges_to(id).is_empty()
    }

    fn edge<'a>(
        &'a self,
        entity: &'a BundleEntity,
        reference: &'a super::EntityReference,
    ) -> ReferenceEdge<'a> {
        let rule = &self.rules[reference.rule as usize];
        let to_type =
            self.entity_by_id(&reference.target).map_or(rule.to.as_str(), BundleEntity::entity_type);
        ReferenceEdge {
            from: entity,
            field: &rule.field,
            to_type,
            to_id: &reference.target,
            pointer: &reference.pointer,
        }
    }
}

impl Bundle {
    /// Returns the references from an entity (`true`) and to it (`false`), in the order of all references. A
    /// self-reference appears once.
    pub(crate) fn edges_around<'a>(&'a self, entity: &'a BundleEntity) -> Vec<(ReferenceEdge<'a>, bool)> {
        let own_key = self.file_of(&entity.id).map(|(key, _)| key);
        let mut outgoing = entity.references.iter().enumerate().peekable();
        let mut edges = Vec::new();
        for key in self.incoming.edges_to(&entity.id) {
            if Some(&key.from) == own_key {
                continue;
            }
            while let Some((_, reference)) = outgoing.next_if(|(index, reference)| {
                let own = (reference.rule, own_key, *index);
                own < (key.rule, Some(&key.from), key.index as usize)
            }) {
                edges.push((self.edge(entity, reference), true));
            }
            if let Some(from) = self.entity_at(&key.from)
                && let Some(reference) = from.references.get(key.index as usize)
            {
                edges.push((self.edge(from, reference), false));
            }
        }
        edges.extend(outgoing.map(|(_, reference)| (self.edge(entity, reference), true)));
        edges
    }
}
