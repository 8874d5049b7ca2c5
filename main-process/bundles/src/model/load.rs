//! Loads a bundle and its configuration files. Only a missing or unreadable manifest prevents loading; any other broken
//! part is disabled and reported as a finding.

use super::{Bundle, Definition, Kind, Manifest, graph};
use crate::{
    Data, Diagnostic, changes,
    diagnostic::Source,
    files::{BundleFiles, BundlePath, FileProblem, Stamp},
    lint,
    schema::{EntitySchema, ReadSchema},
    yaml,
};
use rayon::prelude::*;
use std::{collections::BTreeMap, path::Path, sync::Arc};

pub(crate) const MANIFEST: &str = "sdd-bundle.yaml";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("{MANIFEST} not found in {folder}: choose the folder that holds it")]
    NoManifest { folder: String },
    #[error("{folder}: {problem}")]
    Unreadable { folder: String, problem: String },
}

/// Reads the bundle's configuration files and records their stamps.
struct Setup<'a> {
    files: &'a BundleFiles,
    read: Vec<(BundlePath, Option<Stamp>)>,
}

impl Setup<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let path = BundlePath::parse(path).map_err(|problem| problem.to_string())?;
        let read = self.files.read(&path);
        self.read.push((path, read.as_ref().ok().map(|file| file.stamp)));
        read.map(|file| file.text).map_err(|problem| problem.to_string())
    }
}

impl Bundle {
    /// Loads the bundle in a folder. Completes a change that a crash interrupted first.
    pub fn load(id: &str, folder: &Path) -> Result<Self, LoadError> {
        let shown = folder.display().to_string();
        let files = BundleFiles::open(folder).map_err(|problem| match problem {
            FileProblem::Missing { .. } => LoadError::NoManifest { folder: shown.clone() },
            other => LoadError::Unreadable { folder: shown.clone(), problem: other.to_string() },
        })?;
        let recovered = changes::recover(&files);
        let mut bundle = Self::of_files(id, Arc::new(files))?;
        bundle.setup.definition.splice(0..0, recovered);
        Ok(bundle)
    }

    /// Creates a bundle from texts that the caller stores, by path relative to the bundle. Update it with
    /// [`Bundle::set_texts`]; changes are planned here and written by the caller. `root` is only displayed.
    pub fn of_texts(id: &str, root: &Path, texts: BTreeMap<String, Arc<str>>) -> Result<Self, LoadError> {
        Self::of_files(id, Arc::new(BundleFiles::of_texts(root.to_path_buf(), texts)))
    }

    pub(super) fn of_files(id: &str, files: Arc<BundleFiles>) -> Result<Self, LoadError> {
        let shown = files.root().display().to_string();
        let unreadable = |problem: String| LoadError::Unreadable { folder: shown.clone(), problem };
        let mut setup = Setup { files: &files, read: Vec::new() };
        let path = BundlePath::parse(MANIFEST).map_err(|problem| unreadable(problem.to_string()))?;
        let manifest = match files.read(&path) {
            Ok(file) => {
                setup.read.push((path, Some(file.stamp)));
                yaml::read(&file.text).map_err(|error| unreadable(format!("{MANIFEST}: {error}")))?
            }
            Err(FileProblem::Missing { .. }) => return Err(LoadError::NoManifest { folder: shown }),
            Err(problem) => return Err(unreadable(problem.to_string())),
        };
        let manifest =
            Manifest::of(manifest).ok_or_else(|| unreadable(format!("{MANIFEST} is not a mapping")))?;
        let mut bundle = Self::new(id, files.clone(), manifest);
        bundle.load_definition(&mut setup);
        bundle.load_domain_knowledge(&mut setup);
        bundle.load_schemas(&mut setup);
        bundle.load_lint(&mut setup);
        bundle.configuration = setup.read;
        bundle.load_entities();
        Ok(bundle)
    }

    pub(super) fn absolute(&self, path: &str) -> String {
        self.root().join(path).display().to_string()
    }

    fn load_definition(&mut self, setup: &mut Setup<'_>) {
        let path = self.manifest.definition_path().unwrap_or_default().to_owned();
        let read = setup
            .read(&path)
            .and_then(|text| serde_json::from_str::<Data>(&text).map_err(|error| error.to_string()));
        match read {
            Ok(data) => {
                let definition = Definition::of(data);
                let mut names = std::collections::BTreeSet::new();
                // Of duplicate types, the first is used.
                self.kinds = definition
                    .types
                    .iter()
                    .filter(|info| names.insert(info.name.clone()))
                    .map(|info| Kind::new(info.clone()))
                    .collect();
                self.definition = Some(definition);
            }
            Err(problem) => self.setup.definition.push(
                Diagnostic::error(format!("Failed to load bundle-type definition: {problem}"))
                    .in_file(self.absolute(&path))
                    .by(Source::Gate, "gate.bundleType.load"),
            ),
        }
    }

    fn load_domain_knowledge(&mut self, setup: &mut Setup<'_>) {
        let Some(path) = self.manifest.domain_knowledge_path().map(str::to_owned) else { return };
        match setup.read(&path) {
            Ok(text) => self.domain_knowledge = Some(text.into()),
            Err(problem) => self.setup.domain_knowledge.push(
                Diagnostic::warning(format!("Failed to load domain knowledge file: {problem}"))
                    .in_file(self.absolute(&path))
                    .by(Source::Gate, "gate.domainKnowledge.load"),
            ),
        }
    }

    fn load_schemas(&mut self, setup: &mut Setup<'_>) {
        let mut read: BTreeMap<String, ReadSchema> = BTreeMap::new();
        let mut problems = Vec::new();
        let paths: Vec<(String, String)> =
            self.manifest.schema_paths().map(|(name, path)| (name.to_owned(), path.to_owned())).collect();
        for (name, path) in &paths {
            match setup.read(path).and_then(ReadSchema::parse) {
                Ok(schema) => drop(read.insert(name.clone(), schema)),
                Err(problem) => problems.push((name.clone(), problem)),
            }
        }
        let all: Vec<&ReadSchema> = read.values().collect();
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
                Diagnostic::error(format!("Failed to compile JSON Schemas: {name}: {problem}")).of_type(&name)
            })
            .collect();
        let kinds: Vec<Arc<str>> = self.kinds.iter().map(|kind| kind.name.clone()).collect();
        self.rules = Arc::new(graph::rules(self.definition.as_ref(), &kinds, &self.schemas));
    }

    fn load_lint(&mut self, setup: &mut Setup<'_>) {
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
                let (rules, problems) = lint::rules(&config);
                self.lint = Arc::new(rules);
                self.setup.lint = problems;
            }
            Err(problem) => self.setup.lint.push(
                Diagnostic::warning(format!("Failed to load lint rules, so none apply: {problem}"))
                    .in_file(self.absolute(&path))
                    .by(Source::Gate, "gate.lintConfig.load"),
            ),
        }
    }
}
