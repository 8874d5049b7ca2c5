//! Applies lint rules to a bundle.

use super::{LintCheck, LintRule};
use crate::{
    BundleFinding,
    diagnostic::BundleFindingSource,
    model::{Bundle, BundleEntity, checks::referenced_ids},
};
use shared_protocol::OrderedValue;
use std::collections::HashMap;

/// The maximum characters of a description that counts as atomic.
const MAX_ATOMIC_CHARS: usize = 500;

impl LintRule {
    pub(crate) fn check(&self, bundle: &Bundle, found: &mut Vec<BundleFinding>) {
        match &self.check {
            LintCheck::Pattern { targets, field, pattern } => for_each_entity(bundle, targets, |entity| {
                let Some(value) = entity.data.text(field) else { return };
                if !pattern.is_match(value).unwrap_or(false) {
                    let message = format!(
                        "Field \"{field}\" on {} \"{}\" does not match pattern {}",
                        entity.entity_type,
                        entity.id,
                        pattern.as_str()
                    );
                    found.push(self.finding(entity, message).with_path(field.as_str()));
                }
            }),
            LintCheck::HasLink { from, field, least } => {
                for entity in bundle.entities_of(from) {
                    if referenced_ids(&entity.data, field).count() < *least {
                        let message = format!(
                            "{from} \"{}\" must have at least {least} link(s) via \"{field}\"",
                            entity.id
                        );
                        found.push(self.finding(entity, message).with_path(field.as_str()));
                    }
                }
            }
            LintCheck::Coverage { from, to, field, least } => {
                self.coverage(bundle, from, to, field, *least, found)
            }
            LintCheck::NoBrokenReference => {
                for edge in bundle.edges().filter(|edge| bundle.entity_by_id(edge.to_id).is_none()) {
                    let message = format!(
                        "Reference from {} \"{}\" via \"{}\" points to missing {} \"{}\"",
                        edge.from.entity_type, edge.from.id, edge.field, edge.to_type, edge.to_id
                    );
                    found.push(self.finding(edge.from, message).with_path(edge.field));
                }
            }
            LintCheck::RequiredField { targets, field, message } => {
                for_each_entity(bundle, targets, |entity| {
                    if is_blank(entity.data.get(field)) {
                        let message = message.clone().unwrap_or_else(|| {
                            let (kind, id) = (&entity.entity_type, &entity.id);
                            format!("Required field \"{field}\" is missing or empty on {kind} \"{id}\"")
                        });
                        found.push(self.finding(entity, message).with_path(field.as_str()));
                    }
                })
            }
            LintCheck::EnumValue { targets, field, allowed, message } => {
                for_each_entity(bundle, targets, |entity| {
                    let Some(value) = entity.data.text(field) else { return };
                    if !allowed.iter().any(|known| known == value) {
                        let message = message.clone().unwrap_or_else(|| {
                            let allowed = allowed.join(", ");
                            format!("Field \"{field}\" has invalid value \"{value}\". Allowed: {allowed}")
                        });
                        found.push(self.finding(entity, message).with_path(field.as_str()));
                    }
                })
            }
            LintCheck::Quality { targets, .. } => {
                for_each_entity(bundle, targets, |entity| self.quality(entity, found));
            }
            LintCheck::DescriptiveId { targets } => {
                let all: Vec<String> = bundle.entity_types().map(str::to_owned).collect();
                let targets = if targets.is_empty() { &all } else { targets };
                for_each_entity(bundle, targets, |entity| {
                    if let Some(prefix) = numeric_suffix(&entity.id) {
                        let message = format!(
                            "Entity ID \"{}\" uses numeric suffix only. Prefer descriptive IDs like \"{prefix}-{}\"",
                            entity.id,
                            example(prefix)
                        );
                        found.push(self.finding(entity, message));
                    }
                });
            }
            LintCheck::RedundantBidirectionalLink => {
                for edge in bundle.edges().filter(|edge| &*edge.from.id >= edge.to_id) {
                    let back = bundle.entity_by_id(edge.to_id).is_some_and(|target| {
                        target.references.iter().any(|reference| reference.target == edge.from.id)
                    });
                    if back {
                        let message = format!(
                            "Redundant bidirectional link: {} \"{}\" links to {} \"{}\" via \"{}\", but \"{}\" already links back. Consider removing one direction.",
                            edge.from.entity_type,
                            edge.from.id,
                            edge.to_type,
                            edge.to_id,
                            edge.field,
                            edge.to_id
                        );
                        found.push(self.finding(edge.from, message).with_path(edge.field));
                    }
                }
            }
        }
    }

    fn finding(&self, entity: &BundleEntity, message: String) -> BundleFinding {
        self.finding_of(entity, message, "")
    }

    fn finding_of(&self, entity: &BundleEntity, message: String, suffix: &str) -> BundleFinding {
        BundleFinding::new(self.severity, message)
            .of_entity(&entity.entity_type, &entity.id)
            .with_source(BundleFindingSource::Lint, format!("{}{suffix}", self.name))
    }

    fn coverage(
        &self,
        bundle: &Bundle,
        from: &str,
        to: &str,
        field: &str,
        least: usize,
        found: &mut Vec<BundleFinding>,
    ) {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for entity in bundle.entities_of(from) {
            for target in referenced_ids(&entity.data, field) {
                *counts.entry(target).or_default() += 1;
            }
        }
        for entity in bundle.entities_of(to) {
            if counts.get(&*entity.id).copied().unwrap_or(0) < least {
                let message = format!(
                    "{to} \"{}\" must be linked from at least {least} \"{from}\" via \"{field}\"",
                    entity.id
                );
                found.push(self.finding(entity, message).with_path(field));
            }
        }
    }

    fn quality(&self, entity: &BundleEntity, found: &mut Vec<BundleFinding>) {
        let LintCheck::Quality { atomic, traceable, complete, verifiable, .. } = &self.check else { return };
        let (kind, id) = (&entity.entity_type, &entity.id);
        let has = |field: &str| referenced_ids(&entity.data, field).next().is_some();
        let has_features = has("realizesFeatureIds") || has("featureIds");
        let description = entity.data.text("description").unwrap_or_default();
        if *atomic && description.chars().count() > MAX_ATOMIC_CHARS {
            let message = format!(
                "{kind} \"{id}\" may not be atomic: description exceeds {MAX_ATOMIC_CHARS} characters. Consider splitting into smaller requirements."
            );
            found.push(self.finding_of(entity, message, ".atomic").with_path("description"));
        }
        if *traceable && !has_features && !has("covered_by_scenarios") {
            let message = format!(
                "{kind} \"{id}\" has no traceability links (realizesFeatureIds or covered_by_scenarios is empty)."
            );
            found.push(self.finding_of(entity, message, ".traceable").with_path("realizesFeatureIds"));
        }
        if *complete {
            for field in ["title", "description", "kind", "category"] {
                if is_blank(entity.data.get(field)) {
                    let message = format!("{kind} \"{id}\" is incomplete: missing \"{field}\" field.");
                    found.push(self.finding_of(entity, message, ".complete").with_path(field));
                }
            }
        }
        if *verifiable && !has("acceptanceCriteria") && !has_features {
            let message = format!(
                "{kind} \"{id}\" may not be verifiable: no acceptanceCriteria and no linked features."
            );
            found.push(self.finding_of(entity, message, ".verifiable"));
        }
    }
}

fn for_each_entity(bundle: &Bundle, targets: &[String], mut check: impl FnMut(&BundleEntity)) {
    targets.iter().flat_map(|target| bundle.entities_of(target)).for_each(&mut check);
}

fn is_blank(value: Option<&OrderedValue>) -> bool {
    match value {
        None | Some(OrderedValue::Null) => true,
        Some(OrderedValue::Text(text)) => text.trim().is_empty(),
        Some(OrderedValue::List(items)) => items.is_empty(),
        Some(_) => false,
    }
}

/// Returns the prefix of an id that has only a number: `REQ` for `REQ-001`.
fn numeric_suffix(id: &str) -> Option<&str> {
    let (prefix, number) = id.split_once('-')?;
    let is_prefix = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_prefix && is_number).then_some(prefix)
}

fn example(prefix: &str) -> &'static str {
    match prefix {
        "FEAT" => "user-auth",
        "REQ" => "password-min-length",
        "TASK" => "implement-login",
        _ => "descriptive-name",
    }
}
