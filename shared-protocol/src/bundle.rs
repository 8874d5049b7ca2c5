//! Spec bundles as seen by the window and terminals, and their requests. Entities and schemas have user-defined
//! shapes and travel as JSON text.

use crate::messages::ProblemSeverity;
use serde::{Deserialize, Serialize};

/// The maximum number of search results.
pub const MAX_SEARCH_RESULTS: u32 = 200;

/// A reference to one entity of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityRef {
    pub bundle: String,
    pub entity_type: String,
    pub id: String,
}

/// All bundles. Sent when the workspace is opened and after every change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundlesView {
    pub bundles: Vec<BundleView>,
    /// Configured folders without a valid bundle: folder and reason.
    pub failed: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleView {
    pub id: String,
    pub title: String,
    /// The path relative to the workspace folder.
    pub folder: String,
    /// Changes whenever the bundle changes; responses for another generation are outdated.
    pub generation: u64,
    /// In the order of the type definition.
    pub types: Vec<EntityTypeView>,
    pub errors: u64,
    pub warnings: u64,
    pub has_knowledge: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityTypeView {
    pub name: String,
    pub title: String,
    /// The category in the type definition, if any.
    pub category: Option<String>,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntitySummary {
    pub entity: EntityRef,
    pub title: String,
    pub status: Option<String>,
    /// The numbers of errors and warnings about it.
    pub errors: u32,
    pub warnings: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SchemaView {
    /// JSON, with the display hints of the file.
    pub schema: String,
    pub id_field: String,
    /// The fields that refer to other entities: path and allowed types.
    pub references: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityView {
    pub entity: EntityRef,
    pub title: String,
    /// The path relative to the bundle folder.
    pub file: String,
    /// JSON, with members in file order.
    pub data: String,
    pub schema: SchemaView,
    pub outgoing: Vec<RelationView>,
    pub incoming: Vec<RelationView>,
    pub diagnostics: Vec<BundleDiagnostic>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelationView {
    pub field: String,
    pub entity: EntityRef,
    /// `None` when the entity does not exist.
    pub title: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleDiagnostic {
    pub severity: ProblemSeverity,
    pub message: String,
    pub bundle: String,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub file: Option<String>,
    pub path: Option<String>,
    pub source: Option<String>,
    pub code: Option<String>,
}

/// The share of possible targets of a relation that are referred to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelationCoverageView {
    /// The relation, such as `Requirement->Feature:realizesFeatureIds`.
    pub relation: String,
    pub from: String,
    pub to: String,
    pub covered: u64,
    pub total: u64,
    /// The ids of the first hundred uncovered targets.
    pub uncovered: Vec<String>,
}
