//! The bundle: its parts, its registry of ids, and the insertion and removal of files.

use super::{
    BundleEntity, BundleManifest, BundleTypeDefinition, EntityTypeDefinition,
    graph::{IncomingEdges, ReferenceRule},
};
use crate::{
    BundleFinding,
    files::{BundleFileStamp, BundleFiles, BundlePath},
    lint::LintRule,
    schema::EntitySchema,
    search::EntityIndex,
};
use imbl::{HashMap, OrdMap};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
};

/// Cheap to clone with any number of entities: readers keep the state before a change.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub(crate) id: Arc<str>,
    pub(crate) tags: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) files: Arc<BundleFiles>,
    pub(crate) manifest: BundleManifest,
    pub(crate) definition: Option<BundleTypeDefinition>,
    /// The schemas that could be read, by entity type.
    pub(crate) schemas: BTreeMap<String, EntitySchema>,
    pub(crate) domain_knowledge: Option<Arc<str>>,
    pub(crate) lint: Arc<Vec<LintRule>>,
    pub(crate) rules: Arc<Vec<ReferenceRule>>,
    /// One for each entity type, in the order of the definition.
    pub(crate) kinds: Vec<LoadedEntityType>,
    pub(crate) setup: ConfigurationFindings,
    /// The files that claim an id, in load order. The first one owns it.
    claims: HashMap<Arc<str>, Vec<EntityFileKey>>,
    /// The entities that own their ids.
    registry: HashMap<Arc<str>, Arc<BundleEntity>>,
    pub(crate) incoming: IncomingEdges,
    pub(crate) search: EntityIndex,
    pub(crate) findings: OnceLock<Vec<BundleFinding>>,
    /// The bundle's configuration files with their stamps. A change of one reloads the whole bundle.
    pub(crate) configuration: Vec<(BundlePath, Option<BundleFileStamp>)>,
}

/// Findings from reading the configuration files, grouped by the order of the report.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigurationFindings {
    pub(crate) definition: Vec<BundleFinding>,
    pub(crate) domain_knowledge: Vec<BundleFinding>,
    pub(crate) schemas: Vec<BundleFinding>,
    pub(crate) lint: Vec<BundleFinding>,
}

/// An entity type and its files.
#[derive(Debug, Clone)]
pub(crate) struct LoadedEntityType {
    pub(crate) name: Arc<str>,
    pub(crate) info: EntityTypeDefinition,
    /// The folder of its files; `None` when the definition names no folder inside the bundle.
    pub(crate) folder: Option<BundlePath>,
    pub(crate) folder_problem: Option<BundleFinding>,
    /// Reported when there are more files than the limit.
    pub(crate) over_limit: Option<BundleFinding>,
    /// The files by name, which is also the load order.
    pub(crate) files: OrdMap<Arc<str>, EntityFile>,
    /// The files of the entities that own their id, by id.
    ids: OrdMap<Arc<str>, Arc<str>>,
}

/// A file in an entity type's folder.
#[derive(Debug, Clone)]
pub(crate) struct EntityFile {
    pub(crate) stamp: BundleFileStamp,
    /// The text as read. A change edits this text and is refused if the file differs from it.
    pub(crate) source: Arc<str>,
    pub(crate) content: Result<Arc<BundleEntity>, Box<BundleFinding>>,
}

/// The key of an entity file, ordered as files are loaded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntityFileKey {
    pub(crate) kind: u32,
    pub(crate) file: Arc<str>,
}

impl LoadedEntityType {
    pub(crate) fn new(info: EntityTypeDefinition) -> Self {
        let folder = info.folder();
        let folder_problem = folder.as_ref().err().map(|problem| {
            let message = format!("Failed to read directory for entity type \"{}\": {problem}", info.name);
            BundleFinding::error(message).of_type(&info.name)
        });
        Self {
            name: info.name.as_str().into(),
            info,
            folder: folder.ok(),
            folder_problem,
            over_limit: None,
            files: OrdMap::new(),
            ids: OrdMap::new(),
        }
    }

    /// The ids of its entities, sorted.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.ids.keys().map(|id| &**id)
    }

    /// Its entities, sorted by id.
    pub(crate) fn sorted_entities(&self) -> impl Iterator<Item = &BundleEntity> {
        self.ids.values().filter_map(|file| self.files.get(file)?.content.as_deref().ok())
    }

    pub(crate) fn get(&self, id: &str) -> Option<&BundleEntity> {
        self.files.get(self.ids.get(id)?)?.content.as_deref().ok()
    }
}

impl Bundle {
    pub(crate) fn new(id: &str, files: Arc<BundleFiles>, manifest: BundleManifest) -> Self {
        Self {
            id: id.into(),
            tags: Vec::new(),
            description: None,
            files,
            manifest,
            definition: None,
            schemas: BTreeMap::new(),
            domain_knowledge: None,
            lint: Arc::default(),
            rules: Arc::default(),
            kinds: Vec::new(),
            setup: ConfigurationFindings::default(),
            claims: HashMap::new(),
            registry: HashMap::new(),
            incoming: IncomingEdges::default(),
            search: EntityIndex::default(),
            findings: OnceLock::new(),
            configuration: Vec::new(),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder of the bundle.
    pub fn root(&self) -> &Path {
        self.files.root()
    }

    pub fn manifest(&self) -> &BundleManifest {
        &self.manifest
    }

    pub fn definition(&self) -> Option<&BundleTypeDefinition> {
        self.definition.as_ref()
    }

    /// The domain knowledge of the bundle, as Markdown.
    pub fn domain_knowledge(&self) -> Option<&str> {
        self.domain_knowledge.as_deref()
    }

    /// The names of the entity types, in the order of the definition.
    pub fn entity_types(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|kind| &*kind.name)
    }

    pub fn entity_count(&self) -> usize {
        self.kinds.iter().map(|kind| kind.ids.len()).sum()
    }

    pub(crate) fn kind(&self, entity_type: &str) -> Option<&LoadedEntityType> {
        self.kinds.iter().find(|kind| &*kind.name == entity_type)
    }

    pub(crate) fn kind_index(&self, entity_type: &str) -> Option<usize> {
        self.kinds.iter().position(|kind| &*kind.name == entity_type)
    }

    pub fn entity(&self, entity_type: &str, id: &str) -> Option<&BundleEntity> {
        self.kind(entity_type)?.get(id)
    }

    /// Returns the entity with an id, of any type.
    pub fn entity_by_id(&self, id: &str) -> Option<&BundleEntity> {
        self.registry.get(id).map(|entity| &**entity)
    }

    /// Returns the file that contains the entity with an id.
    pub(crate) fn file_of(&self, id: &str) -> Option<(&EntityFileKey, &EntityFile)> {
        let key = self.claims.get(id)?.first()?;
        Some((key, self.kinds.get(key.kind as usize)?.files.get(&key.file)?))
    }

    pub(crate) fn entity_at(&self, key: &EntityFileKey) -> Option<&BundleEntity> {
        self.kinds.get(key.kind as usize)?.files.get(&key.file)?.content.as_deref().ok()
    }

    /// The entities of one type, in load order.
    pub(crate) fn entities_of_kind(&self, kind: usize) -> impl Iterator<Item = &BundleEntity> {
        let files = self.kinds.get(kind).map(|kind| &kind.files);
        files.into_iter().flat_map(|files| files.values()).filter_map(|file| {
            let entity = file.content.as_ref().ok()?;
            self.owns_its_id(entity).then_some(&**entity)
        })
    }

    /// The entities of one type, in load order; none for an unknown type.
    pub fn entities_of(&self, entity_type: &str) -> impl Iterator<Item = &BundleEntity> {
        self.entities_of_kind(self.kind_index(entity_type).unwrap_or(usize::MAX))
    }

    /// All entities, in load order.
    pub fn entities(&self) -> impl Iterator<Item = &BundleEntity> {
        (0..self.kinds.len()).flat_map(|kind| self.entities_of_kind(kind))
    }

    /// Returns whether an entity owns its id and is not a later duplicate.
    pub(crate) fn owns_its_id(&self, entity: &Arc<BundleEntity>) -> bool {
        self.registry.get(&entity.id).is_some_and(|known| Arc::ptr_eq(known, entity))
    }

    /// Returns the reference rules of an entity type.
    pub(crate) fn rules_of(&self, kind: usize) -> Vec<(u32, &ReferenceRule)> {
        let numbered = self.rules.iter().enumerate();
        numbered
            .filter(|(_, rule)| rule.from == kind)
            .map(|(number, rule)| (u32::try_from(number).unwrap_or(u32::MAX), rule))
            .collect()
    }

    /// Replaces a file, or removes it when `file` is `None`, and updates all indexes.
    pub(crate) fn set_file(&mut self, kind: usize, name: &Arc<str>, file: Option<EntityFile>) {
        let Some(known) = self.kinds.get_mut(kind) else { return };
        let key = EntityFileKey { kind: u32::try_from(kind).unwrap_or(u32::MAX), file: name.clone() };
        let old = known.files.get(name).and_then(|file| file.content.as_ref().ok().cloned());
        if let Some(old) = old {
            self.release_claim(&key, &old);
        }
        let new = file.as_ref().and_then(|file| file.content.as_ref().ok().cloned());
        let files = &mut self.kinds[kind].files;
        match file {
            Some(file) => drop(files.insert(name.clone(), file)),
            None => drop(files.remove(name)),
        }
        if let Some(new) = new {
            self.claim(key, &new);
        }
        self.findings = OnceLock::new();
    }

    fn claim(&mut self, key: EntityFileKey, entity: &BundleEntity) {
        let claims = self.claims.entry(entity.id.clone()).or_default();
        let at = claims.partition_point(|known| *known < key);
        let before = (at == 0).then(|| claims.first().cloned()).flatten();
        claims.insert(at, key.clone());
        if let Some(later) = before {
            self.unregister(&later);
        }
        if at == 0 {
            self.register(&key);
        }
    }

    fn release_claim(&mut self, key: &EntityFileKey, entity: &BundleEntity) {
        let Some(claims) = self.claims.get_mut(&entity.id) else { return };
        let had_it = claims.first() == Some(key);
        claims.retain(|known| known != key);
        let next = claims.first().cloned();
        if claims.is_empty() {
            self.claims.remove(&entity.id);
        }
        if had_it {
            self.unregister(key);
            if let Some(next) = next {
                self.register(&next);
            }
        }
    }

    fn register(&mut self, key: &EntityFileKey) {
        let kind = &mut self.kinds[key.kind as usize];
        let Some(Ok(entity)) = kind.files.get(&key.file).map(|file| file.content.clone()) else { return };
        kind.ids.insert(entity.id.clone(), key.file.clone());
        self.registry.insert(entity.id.clone(), entity.clone());
        self.incoming.add(key, &entity);
        self.search.add(&entity);
    }

    fn unregister(&mut self, key: &EntityFileKey) {
        let kind = &mut self.kinds[key.kind as usize];
        let Some(Ok(entity)) = kind.files.get(&key.file).map(|file| file.content.clone()) else { return };
        kind.ids.remove(&entity.id);
        self.registry.remove(&entity.id);
        self.incoming.remove(key, &entity);
        self.search.remove(&entity);
    }
}
