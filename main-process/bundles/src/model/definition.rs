//! The manifest and the type definition of a bundle. Both are read leniently: missing or malformed parts are ignored.

use crate::files::BundlePath;
use shared_protocol::OrderedValue;

/// The manifest, `sdd-bundle.yaml`.
#[derive(Debug, Clone)]
pub struct BundleManifest(OrderedValue);

impl BundleManifest {
    /// Returns the manifest in a document, or `None` if the document is not a mapping.
    pub(crate) fn from_document(document: OrderedValue) -> Option<Self> {
        document.as_map().is_some().then_some(Self(document))
    }

    pub fn data(&self) -> &OrderedValue {
        &self.0
    }

    /// Returns a text from `metadata`.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.0.get("metadata")?.text(key)
    }

    fn spec(&self, key: &str) -> Option<&OrderedValue> {
        self.0.get("spec")?.get(key)
    }

    pub(crate) fn definition_path(&self) -> Option<&str> {
        self.spec("bundleTypeDefinition")?.as_text()
    }

    /// The entity types with a schema, and the path of each schema.
    pub(crate) fn schema_paths(&self) -> impl Iterator<Item = (&str, &str)> {
        let documents =
            self.spec("schemas").and_then(|schemas| schemas.get("documents")).and_then(OrderedValue::as_map);
        documents
            .into_iter()
            .flat_map(|map| map.iter())
            .filter_map(|(name, path)| Some((name, path.as_text()?)))
    }

    pub(crate) fn schema_path(&self, entity_type: &str) -> Option<&str> {
        self.schema_paths().find(|(name, _)| *name == entity_type).map(|(_, path)| path)
    }

    pub(crate) fn domain_knowledge_path(&self) -> Option<&str> {
        self.spec("domainKnowledge")?.text("path")
    }

    pub(crate) fn lint_path(&self) -> Option<&str> {
        self.spec("lintConfig")?.text("path")
    }

    /// The file name pattern for new entities, if the manifest defines one.
    pub(crate) fn file_pattern(&self, entity_type: &str) -> Option<&str> {
        self.spec("layout")?.get("documents")?.get(entity_type)?.text("filePattern")
    }
}

/// The type definition: the entity types and the relations between them.
#[derive(Debug, Clone)]
pub struct BundleTypeDefinition {
    data: OrderedValue,
    pub(crate) types: Vec<EntityTypeDefinition>,
    pub(crate) relations: Vec<RelationDefinition>,
}

#[derive(Debug, Clone)]
pub(crate) struct EntityTypeDefinition {
    pub(crate) name: String,
    pub(crate) id_field: String,
    pub(crate) directory: String,
    pub(crate) file_pattern: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct RelationDefinition {
    pub(crate) name: String,
    pub(crate) from_entity: String,
    pub(crate) from_field: String,
    pub(crate) to_entity: String,
    pub(crate) multiplicity: Option<String>,
}

impl RelationDefinition {
    pub(crate) fn allows_one(&self) -> bool {
        self.multiplicity.as_deref() == Some("one")
    }
}

impl BundleTypeDefinition {
    pub(crate) fn from_data(data: OrderedValue) -> Self {
        let list = |key: &str| data.get(key).and_then(OrderedValue::as_list).unwrap_or_default().iter();
        let types = list("entities").filter_map(EntityTypeDefinition::from_data).collect();
        let relations = list("relations").filter_map(RelationDefinition::parse).collect();
        Self { types, relations, data }
    }

    pub fn data(&self) -> &OrderedValue {
        &self.data
    }
}

impl EntityTypeDefinition {
    fn from_data(data: &OrderedValue) -> Option<Self> {
        Some(Self {
            name: data.text("entityType")?.to_owned(),
            id_field: data.text("idField").unwrap_or("id").to_owned(),
            directory: data.text("directory")?.to_owned(),
            file_pattern: data.text("filePattern").map(str::to_owned),
        })
    }

    /// Returns the file name of a new entity: from the pattern of the manifest or the definition, otherwise the id and
    /// `.yaml`.
    pub(crate) fn file_name(&self, manifest: &BundleManifest, id: &str) -> String {
        let pattern =
            manifest.file_pattern(&self.name).or(self.file_pattern.as_deref()).unwrap_or("{id}.yaml");
        pattern.replacen("{id}", id, 1)
    }

    pub(crate) fn folder(&self) -> Result<BundlePath, crate::files::BundleFileError> {
        BundlePath::parse(&self.directory)
    }
}

impl RelationDefinition {
    fn parse(data: &OrderedValue) -> Option<Self> {
        Some(Self {
            name: data.text("name").unwrap_or_default().to_owned(),
            from_entity: data.text("fromEntity")?.to_owned(),
            from_field: data.text("fromField")?.to_owned(),
            to_entity: data.text("toEntity")?.to_owned(),
            multiplicity: data.text("multiplicity").map(str::to_owned),
        })
    }
}
