//! Computes how many targets each relation of a bundle covers, for reports.

use crate::{Bundle, BundleEntity};
use shared_protocol::OrderedValue;
use std::collections::BTreeSet;

/// The maximum number of uncovered targets that are listed.
const MAX_UNCOVERED_IDS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationCoverage {
    /// `Requirement->Feature:realizesFeatureIds`
    pub relation: String,
    pub from: String,
    pub to: String,
    /// The ids of targets without a reference; the first hundred.
    pub uncovered: Vec<String>,
    pub covered: usize,
    pub total: usize,
}

impl RelationCoverage {
    /// Returns the covered percentage, rounded; 100 when there are no targets.
    pub fn percent(&self) -> usize {
        (self.covered * 200 + self.total).checked_div(self.total * 2).unwrap_or(100)
    }

    /// Returns one line for a terminal.
    pub fn to_line(&self) -> String {
        format!("{}: {}/{} targets covered ({}%)", self.relation, self.covered, self.total, self.percent())
    }

    pub fn to_data(&self) -> OrderedValue {
        OrderedValue::map([("totalTargets", self.total.into()), ("coveredTargets", self.covered.into())])
    }
}

impl Bundle {
    /// Returns the coverage of each relation: the number of possible targets that have a reference.
    pub fn coverage(&self) -> Vec<RelationCoverage> {
        self.relations()
            .iter()
            .map(|relation| {
                let named: BTreeSet<&str> = self
                    .entities_of(&relation.from_entity)
                    .flat_map(|entity| {
                        crate::model::checks::referenced_ids(entity.data(), &relation.from_field)
                    })
                    .filter(|id| self.entity(&relation.to_entity, id).is_some())
                    .collect();
                RelationCoverage {
                    relation: format!(
                        "{}->{}:{}",
                        relation.from_entity, relation.to_entity, relation.from_field
                    ),
                    from: relation.from_entity.clone(),
                    to: relation.to_entity.clone(),
                    uncovered: self
                        .entities_of(&relation.to_entity)
                        .map(BundleEntity::id)
                        .filter(|id| !named.contains(id))
                        .take(MAX_UNCOVERED_IDS)
                        .map(str::to_owned)
                        .collect(),
                    covered: named.len(),
                    total: self.entities_of(&relation.to_entity).count(),
                }
            })
            .collect()
    }
}
