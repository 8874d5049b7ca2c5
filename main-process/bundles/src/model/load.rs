//! Loads a bundle and its configuration files. Only a missing or unreadable manifest prevents loading; any other broken
//! part is disabled and reported as a finding.

use super::{Bundle, BundleManifest, BundleTypeDefinition, LoadedEntityType, graph};
use crate::{
    BundleFinding, changes,
    diagnostic::BundleFindingSource,
    files::{BundleFileError, BundleFileStamp, BundleFiles, BundlePath},
    lint,
    schema::{EntitySchema, ParsedSchema},
    yaml,
};
use rayon::prelude::*;
use shared_protocol::OrderedValue;
use std::{collections::BTreeMap, path::Path, sync::Arc};

pub(crate) const MANIFEST: &str = "sdd-bundle.yaml";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleLoadError {
    #[error("{MANIFEST} not found in {folder}: choose the folder that contains it")]
    NoManifest { folder: String },
    #[error("{folder}: {problem}")]
    Unreadable { folder: String, problem: String },
}

/// Reads the bundle's configuration files and records their stamps.
struct ConfigurationReader<'a> {
    files: &'a BundleFiles,
    read: Vec<(BundlePath, Option<BundleFileStamp>)>,
}

impl ConfigurationReader<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let path = BundlePath::parse(path).map_err(|problem| problem.to_string())?;
        let read = self.files.read(&path);
        self.read.push((path, read.as_ref().ok().map(|file| file.stamp)));
        read.map(|file| file.text).map_err(|problem| problem.to_string())
    }
}

impl Bundle {
    /// Loads the bundle in a folder. Completes a change that a crash interrupted first.
    pub fn load(id: &str, folder: &Path) -> Result<Self, BundleLoadError> {
        let shown = folder.display().to_string();
        let files = BundleFiles::open(folder).map_err(|problem| match problem {
            BundleFileError::Missing { .. } => BundleLoadError::NoManifest { folder: shown.clone() },
            other => BundleLoadError::Unreadable { folder: shown.clone(), problem: other.to_string() },
        })?;
        let recovered = changes::recover(&files);
        let mut bundle = Self::from_files(id, Arc::new(files))?;
        bundle.setup.definition.splice(0..0, recovered);
        Ok(bundle)
    }

    /// Creates a bundle from texts that the caller stores, by path relative to the bundle. Update it with
    /// [`Bundle::set_texts`]; changes are planned here and written by the caller. `root` is only displayed.
    pub fn from_texts(
        id: &str,
        root: &Path,
        texts: BTreeMap<String, Arc<str>>,
    ) -> Result<Self, BundleLoadError> {
        Self::from_files(id, Arc::new(BundleFiles::from_texts(root.to_path_buf(), texts)))
    }

    pub(super) fn from_files(id: &str, files: Arc<BundleFiles>) -> Result<Self, BundleLoadError> {
        let shown = files.root().display().to_string();
        let unreadable = |problem: String| BundleLoadError::Unreadable { folder: shown.clone(), problem };
        let mut setup = ConfigurationReader { files: &files, read: Vec::new() };
        let path = BundlePath::parse(MANIFEST).map_err(|problem| unreadable(problem.to_string()))?;
        let manifest = match files.read(&path) {
            Ok(file) => {
                setup.read.push((path, Some(file.stamp)));
                yaml::read(&file.text).map_err(|error| unreadable(format!("{MANIFEST}: {error}")))?
            }
            Err(BundleFileError::Missing { .. }) => {
                return Err(BundleLoadError::NoManifest { folder: shown });
            }
            Err(problem) => return Err(unreadable(problem.to_string())),
        };
        let manifest = BundleManifest::from_document(manifest)
            .ok_or_else(|| unreadable(format!("{MANIFEST} is not a mapping")))?;
        let mut bundle = Self::new(id, files.clone(), manifest);
        bundle.load_definition(&mut setup);
        bundle.load_domain_knowledge(&mut setup);
        bundle.load_schemas(&mut setup);
        bundle.load_lint(&mut setup);
        bundle.configuration = setup.read;
        bundle.load_entities();
        Ok(bundle)
    }

    pub(super) fn absolute_path(&self, path: &str) -> String {
        self.root().join(path).display().to_string()
    }

    fn load_definition(&mut self, setup: &mut ConfigurationReader<'_>) {
        let path = self.manifest.definition_path().unwrap_or_default().to_owned();
        let read = setup
            .read(&path)
            .and_then(|text| serde_json::from_str::<OrderedValue>(&text).map_err(|error| error.to_string()));
        match read {
            Ok(data) => {
                let definition = BundleTypeDefinition::from_data(data);
                let mut names = std::collections::BTreeSet::new();
                // Of duplicate types, the first is used.
                self.kinds = definition
                    .types
                    .iter()
                    .filter(|info| names.insert(info.name.clone()))
                    .map(|info| LoadedEntityType::new(info.clone()))
                    .collect();
                self.definition = Some(definition);
            }
            Err(problem) => self.setup.definition.push(
                BundleFinding::error(format!("Failed to load bundle-type definition: {problem}"))
                    .in_file(self.absolute_path(&path))
                    .with_source(BundleFindingSource::Gate, "gate.bundleType.load"),
            ),
        }
    }

    fn load_domain_knowledge(&mut self, setup: &mut ConfigurationReader<'_>) {
        let Some(path) = self.manifest.domain_knowledge_path().map(str::to_owned) else { return };
        match setup.read(&path) {
            Ok(text) => self.domain_knowledge = Some(text.into()),
            Err(problem) => self.setup.domain_knowledge.push(
                BundleFinding::warning(format!("Failed to load domain knowledge file: {problem}"))
                    .in_file(self.absolute_path(&path))
                    .with_source(BundleFindingSource::Gate, "gate.domainKnowledge.load"),
            ),
        }
    }

    fn load_schemas(&mut self, setup: &mut ConfigurationReader<'_>) {
        let mut read: BTreeMap<String, ParsedSchema> = BTreeMap::new();
        let mut problems = Vec::new();
        let paths: Vec<(String, String)> =
            self.manifest.schema_paths().map(|(name, path)| (name.to_owned(), path.to_owned())).collect();
        for (name, path) in &paths {
            match setup.read(path).and_then(ParsedSchema::parse) {
                Ok(schema) => drop(read.insert(name.clone(), schema)),
                Err(problem) => problems.push((name.clone(), problem)),
            }
        }
        let all: Vec<&ParsedSchema> = read.values().collect();
        let compiled: Vec<(String, (EntitySchema, Option<String>))> = read
            .par_iter()
            .map(|(name, schema)| (name.clone(), EntitySchema::compile(schema, &all)))
            .collect();
        for (name, (schema, problem)) in compiled {
            problems.extend(problem.map(|problem| (name.clone(), problem)));
            self.schemas.insert(name, schema);
        }
        // Keeps the order of the manifest.
        problems.sort_by_key(|(name, _)| paths.iter().position(|(other, _)| other == name));
        self.setup.schemas = problems
            .into_iter()
            .map(|(name, problem)| {
                BundleFinding::error(format!("Failed to compile JSON Schemas: {name}: {problem}"))
                    .of_type(&name)
            })
            .collect();
        let kinds: Vec<Arc<str>> = self.kinds.iter().map(|kind| kind.name.clone()).collect();
        self.rules = Arc::new(graph::reference_rules(self.definition.as_ref(), &kinds, &self.schemas));
    }

    fn load_lint(&mut self, setup: &mut ConfigurationReader<'_>) {
        let Some(path) = self.manifest.lint_path().map(str::to_owned) else { return };
        let is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
        let read = setup.read(&path).and_then(|text| {
            if is_yaml {
                yaml::read(&text).map_err(|error| error.to_string())
            } else {
                serde_json::from_str(&text).map_err(|error| error.to_string())
            }
        });
        match read {
            Ok(config) => {
                let (rules, problems) = lint::parse_rules(&config);
                self.lint = Arc::new(rules);
                self.setup.lint = problems;
            }
            Err(problem) => self.setup.lint.push(
                BundleFinding::warning(format!("Failed to load lint rules, so none apply: {problem}"))
                    .in_file(self.absolute_path(&path))
                    .with_source(BundleFindingSource::Gate, "gate.lintConfig.load"),
            ),
        }
    }
}
