//! The findings about a bundle, in the order of the contract: reading, schemas, references, orphans, multiplicity, lint.

use super::{Bundle, BundleEntity, RelationDefinition, bundle::ConfigurationFindings};
use crate::{BundleFinding, diagnostic::BundleFindingSource, schema::SchemaFinding};
use shared_protocol::OrderedValue;

impl Bundle {
    /// All findings about the bundle in its loaded state.
    pub fn diagnostics(&self) -> &[BundleFinding] {
        self.findings.get_or_init(|| self.collect_findings())
    }

    fn collect_findings(&self) -> Vec<BundleFinding> {
        let mut found = self.setup.definition.clone();
        self.check_files(&mut found);
        found.extend(self.setup.domain_knowledge.iter().cloned());
        found.extend(self.setup.schemas.iter().cloned());
        self.check_schemas(&mut found);
        self.check_reference_types(&mut found);
        self.check_broken_references(&mut found);
        self.check_orphans(&mut found);
        for relation in self.relations().iter().filter(|relation| relation.allows_one()) {
            self.check_multiplicity(relation, &mut found);
        }
        found.extend(self.setup.lint.iter().cloned());
        self.lint.iter().for_each(|rule| rule.check(self, &mut found));
        found
    }

    /// Findings about parts that are broken and therefore disabled: definition, schemas, lint rules, folders, entity
    /// files.
    pub fn disabled_parts(&self) -> impl Iterator<Item = BundleFinding> {
        let mut found = self.setup.definition.clone();
        self.check_files(&mut found);
        let ConfigurationFindings { definition: _, domain_knowledge, schemas, lint } = &self.setup;
        found.extend(domain_knowledge.iter().chain(schemas).chain(lint).cloned());
        found.into_iter()
    }

    pub(crate) fn relations(&self) -> &[RelationDefinition] {
        self.definition.as_ref().map_or(&[], |definition| &definition.relations)
    }

    fn check_files(&self, found: &mut Vec<BundleFinding>) {
        for kind in &self.kinds {
            found.extend(kind.folder_problem.iter().chain(&kind.over_limit).cloned());
            for file in kind.files.values() {
                match &file.content {
                    Err(problem) => found.push((**problem).clone()),
                    Ok(entity) if !self.owns_its_id(entity) => found.push(
                        BundleFinding::error(format!("Duplicate entity id \"{}\"", entity.id))
                            .of_entity(&kind.name, &entity.id)
                            .in_file(entity.path.as_str()),
                    ),
                    Ok(_) => {}
                }
            }
        }
    }

    fn check_schemas(&self, found: &mut Vec<BundleFinding>) {
        for (index, kind) in self.kinds.iter().enumerate() {
            let is_named = self.manifest.schema_path(&kind.name).is_some();
            for entity in self.entities_of_kind(index) {
                found.extend(entity.findings.iter().map(|finding| finding.to_finding(entity)));
                if !is_named && &*kind.name != "Bundle" {
                    found.push(
                        BundleFinding::error(format!(
                            "No schema registered for entity type \"{}\"",
                            kind.name
                        ))
                        .of_entity(&kind.name, &entity.id)
                        .in_file(entity.path.as_str())
                        .with_source(BundleFindingSource::Schema, "schema.missing"),
                    );
                }
            }
        }
    }

    fn check_reference_types(&self, found: &mut Vec<BundleFinding>) {
        for entity in self.entities() {
            for (reference, edge) in entity.references.iter().zip(self.outgoing(entity)) {
                let allowed = &self.rules[reference.rule as usize].allowed;
                let fits = allowed.is_empty() || allowed.iter().any(|name| name == edge.to_type);
                if !fits && self.entity_by_id(edge.to_id).is_some() {
                    let message = format!(
                        "Reference type mismatch: {} \"{}\" references {} \"{}\" via \"{}\", which allows {}",
                        entity.entity_type,
                        entity.id,
                        edge.to_type,
                        edge.to_id,
                        edge.field,
                        allowed.join(", ")
                    );
                    let diagnostic = BundleFinding::error(message).of_entity(&entity.entity_type, &entity.id);
                    found.push(
                        diagnostic
                            .with_path(pointer(edge.field, edge.pointer))
                            .with_source(BundleFindingSource::Schema, "ref-type-mismatch"),
                    );
                }
            }
        }
    }

    fn check_broken_references(&self, found: &mut Vec<BundleFinding>) {
        for edge in self.edges().filter(|edge| self.entity_by_id(edge.to_id).is_none()) {
            let message = format!(
                "Broken reference: {} \"{}\" references non-existent {} \"{}\" via \"{}\"",
                edge.from.entity_type, edge.from.id, edge.to_type, edge.to_id, edge.field
            );
            found.push(
                BundleFinding::error(message)
                    .of_entity(&edge.from.entity_type, &edge.from.id)
                    .with_path(pointer(edge.field, edge.pointer))
                    .with_source(BundleFindingSource::Schema, "broken-ref"),
            );
        }
    }

    fn check_orphans(&self, found: &mut Vec<BundleFinding>) {
        for entity in self.entities() {
            if entity.references.is_empty() && !self.is_referenced(&entity.id) {
                let message = format!(
                    "Orphan entity: {} \"{}\" has no relationships (neither references nor is referenced by other entities)",
                    entity.entity_type, entity.id
                );
                found.push(
                    BundleFinding::warning(message)
                        .of_entity(&entity.entity_type, &entity.id)
                        .in_file(entity.path.as_str())
                        .with_source(BundleFindingSource::Schema, "orphan-entity"),
                );
            }
        }
    }

    fn check_multiplicity(&self, relation: &RelationDefinition, found: &mut Vec<BundleFinding>) {
        let field = &relation.from_field;
        let is_required =
            self.schemas.get(&relation.from_entity).is_some_and(|schema| schema.requires(field));
        for entity in self.entities_of(&relation.from_entity) {
            let count = referenced_ids(&entity.data, field).count();
            let of_entity = |diagnostic: BundleFinding, code: &str| {
                let path = format!("/{field}");
                diagnostic
                    .of_entity(&entity.entity_type, &entity.id)
                    .with_path(path)
                    .with_source(BundleFindingSource::Schema, code)
            };
            if count > 1 {
                let message = format!(
                    "Multiplicity violation: {} \"{}\" has {count} values in \"{field}\" but relation \"{}\" allows at most one",
                    entity.entity_type, entity.id, relation.name
                );
                found.push(of_entity(BundleFinding::error(message), "multiplicity-too-many"));
            } else if count == 0 && is_required {
                let message = format!(
                    "Missing required relationship: {} \"{}\" should have a \"{}\" reference via \"{field}\" (relation: {})",
                    entity.entity_type, entity.id, relation.to_entity, relation.name
                );
                found.push(of_entity(BundleFinding::warning(message), "missing-required-ref"));
            }
        }
    }
}

/// Returns the non-blank texts in a field that contains one text or a list.
pub(crate) fn referenced_ids<'a>(data: &'a OrderedValue, field: &str) -> impl Iterator<Item = &'a str> {
    let values = match data.get(field) {
        Some(OrderedValue::List(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    values.iter().filter_map(OrderedValue::as_text).filter(|text| !text.trim().is_empty())
}

/// Returns the JSON pointer of a reference: without the list index for a top-level field, in full for a nested one.
fn pointer(field: &str, pointer: &str) -> String {
    if field.contains('.') { pointer.to_owned() } else { format!("/{field}") }
}

impl SchemaFinding {
    fn to_finding(&self, entity: &BundleEntity) -> BundleFinding {
        BundleFinding::error(self.message.as_str())
            .of_entity(&entity.entity_type, &entity.id)
            .in_file(entity.path.as_str())
            .with_path(self.path.as_str())
            .with_source(BundleFindingSource::Schema, self.code.as_str())
    }
}
