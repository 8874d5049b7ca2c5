//! What window and terminals see of spec bundles, and what they may ask for. Entities and schemas are the user's own shapes:
//! they travel as JSON text.

use crate::{BoardId, Revision, messages::Severity};
use serde::{Deserialize, Serialize};

/// Entities that a search answers at once.
pub const MAX_FOUND: u32 = 200;

/// One entity of one bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityRef {
    pub bundle: String,
    pub entity_type: String,
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BundleRequest {
    /// Every entity of a bundle in brief. Answered by [`BundleAnswer::Entities`].
    Entities {
        bundle: String,
    },
    Entity(EntityRef),
    /// A schema, to make a new entity of its type. Answered by [`BundleAnswer::Schema`].
    Schema {
        bundle: String,
        entity_type: String,
    },
    Search {
        /// All bundles when absent.
        bundle: Option<String>,
        query: String,
        limit: u32,
    },
    Diagnostics {
        bundle: String,
    },
    Coverage {
        bundle: String,
    },
    /// The domain knowledge as Markdown. Answered by text.
    Knowledge {
        bundle: String,
    },
    /// Changes in the words of `apply_changes`, as a JSON array. A dry run is answered by [`BundleAnswer::Checked`], a change by
    /// `Applied`: one operation, undoable.
    Change {
        bundle: String,
        changes: String,
        dry_run: bool,
    },
    /// Draws a bundle, or what is around one of its entities, as a spec board. One operation; answered by [`BundleAnswer::Map`].
    DrawMap {
        bundle: String,
        around: Option<EntityRef>,
        depth: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BundleAnswer {
    Entities {
        revision: Revision,
        entities: Vec<EntitySummary>,
    },
    Entity(Box<EntityView>),
    Schema(Box<SchemaView>),
    Found(Vec<EntitySummary>),
    Diagnostics(Vec<BundleDiagnostic>),
    Coverage(Vec<Coverage>),
    /// What a change would do: nothing was written.
    Checked {
        possible: bool,
        diagnostics: Vec<BundleDiagnostic>,
        files: Vec<String>,
    },
    Map {
        board: BoardId,
        revision: Revision,
    },
}

/// Sent when the workspace is opened and whenever something of it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundlesView {
    pub bundles: Vec<BundleView>,
    /// Folders that should hold a bundle and do not, each with the reason.
    pub failed: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleView {
    pub id: String,
    pub title: String,
    /// From the workspace's folder.
    pub folder: String,
    /// Differs whenever anything in the bundle does: what was asked for under another is old.
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
    /// The category of the type definition, or nothing.
    pub category: Option<String>,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntitySummary {
    pub entity: EntityRef,
    pub title: String,
    pub status: Option<String>,
    /// Errors and warnings about it.
    pub errors: u32,
    pub warnings: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SchemaView {
    /// JSON, with the display hints as they stand in the file.
    pub schema: String,
    pub id_field: String,
    /// Which fields name other entities: path, and the types that may stand there.
    pub references: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityView {
    pub entity: EntityRef,
    pub title: String,
    /// From the bundle's folder.
    pub file: String,
    /// JSON, members in the order of the file.
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
    /// None when there is no such entity.
    pub title: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleDiagnostic {
    pub severity: Severity,
    pub message: String,
    pub bundle: String,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub file: Option<String>,
    pub path: Option<String>,
    pub source: Option<String>,
    pub code: Option<String>,
}

/// How many of the possible targets of a relation something refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// `Requirement->Feature:realizesFeatureIds`
    pub relation: String,
    pub from: String,
    pub to: String,
    pub covered: u64,
    pub total: u64,
    /// The targets that nothing refers to, by id; the first hundred.
    pub uncovered: Vec<String>,
}
