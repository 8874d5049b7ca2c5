//! Loading a bundle from its folder. Only a bundle without a manifest cannot be loaded; anything else that is broken
//! disables itself and is told as a finding.

use super::{
    Bundle, Definition, Entity, Kind, Manifest,
    bundle::EntityFile,
    graph::{self, ReferenceRule},
};
use crate::{
    Data, Diagnostic, changes,
    diagnostic::Source,
    files::{BundleFiles, BundlePath, FileProblem, OpenFolder, Stamp},
    lint,
    schema::{EntitySchema, ReadSchema},
    yaml,
};
use rayon::prelude::*;
use std::{collections::BTreeMap, path::Path, sync::Arc};

pub(crate) const MANIFEST: &str = "sdd-bundle.yaml";
/// How many files of one type are read.
const MOST_FILES: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("{MANIFEST} not found in {folder}: choose the folder that holds it")]
    NoManifest { folder: String },
    #[error("{folder}: {problem}")]
    Unreadable { folder: String, problem: String },
}

/// The reading of one of the bundle's own files.
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
    /// Loads the bundle in a folder. A change that a crash interrupted is finished first.
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

    /// A bundle whose files somebody else keeps: texts by their paths, relative to the bundle. It is followed with
    /// [`Bundle::set_text`]; changes to it are planned here and written by whoever keeps the texts. `root` is only shown.
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

    fn absolute(&self, path: &str) -> String {
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
                // A type that is there twice is one type: the first.
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
        // In the manifest's order.
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

    fn load_entities(&mut self) {
        for kind in 0..self.kinds.len() {
            let Some(folder) = self.open_kind_folder(kind) else { continue };
            let names = match folder.yaml_names() {
                Ok(names) => names,
                Err(problem) => {
                    self.set_folder_problem(kind, &problem);
                    continue;
                }
            };
            if names.len() > MOST_FILES {
                let problem = format!(
                    "more than {MOST_FILES} files; those after {} are left out",
                    names[MOST_FILES - 1]
                );
                self.set_folder_problem(
                    kind,
                    &FileProblem::Failed { path: folder.path.to_string(), problem },
                );
            }
            let rules = self.rules_of(kind);
            let read: Vec<(Arc<str>, EntityFile)> = names
                .into_par_iter()
                .take(MOST_FILES)
                .map(|name| {
                    let file = self.read_entity(kind, &rules, &folder, &name);
                    (Arc::from(name), file)
                })
                .collect();
            for (name, file) in read {
                self.set_file(kind, &name, Some(file));
            }
        }
    }

    /// The folder of a type, and its problem told if it cannot be opened.
    pub(super) fn open_kind_folder(&mut self, kind: usize) -> Option<OpenFolder> {
        let path = self.kinds[kind].folder.clone()?;
        match self.files.folder(&path) {
            Ok(folder) => {
                self.kinds[kind].folder_problem = None;
                Some(folder)
            }
            Err(problem) => {
                self.set_folder_problem(kind, &problem);
                None
            }
        }
    }

    fn set_folder_problem(&mut self, kind: usize, problem: &FileProblem) {
        let path = self.absolute(&self.kinds[kind].info.directory);
        let kind = &mut self.kinds[kind];
        let message = format!("Failed to read directory for entity type \"{}\": {problem}", kind.name);
        kind.folder_problem = Some(Diagnostic::error(message).of_type(&kind.name).in_file(path));
    }

    pub(super) fn read_entity(
        &self,
        kind: usize,
        rules: &[(u32, &ReferenceRule)],
        folder: &OpenFolder,
        name: &str,
    ) -> EntityFile {
        let known = &self.kinds[kind];
        let path =
            if folder.path.as_str().is_empty() { name.to_owned() } else { format!("{}/{name}", folder.path) };
        let wrong = |message: String| {
            Err(Box::new(Diagnostic::error(message).of_type(&known.name).in_file(path.clone())))
        };
        match folder.read(name) {
            Err(problem) => EntityFile {
                stamp: folder.stamp(name).unwrap_or_default(),
                source: "".into(),
                content: wrong(format!("Failed to read \"{path}\": {problem}")),
            },
            Ok(file) => {
                let content = match parse_entity(&file.text, &known.info.id_field, &path) {
                    Err(message) => wrong(message),
                    Ok((id, data)) => {
                        let schema = self.schemas.get(&*known.name);
                        Ok(Arc::new(Entity::new(&id, &known.name, path.clone(), data, rules, schema)))
                    }
                };
                EntityFile { stamp: file.stamp, source: file.text.into(), content }
            }
        }
    }
}

/// The id and the data in the text of an entity's file, or why it is none.
pub(crate) fn parse_entity(text: &str, id_field: &str, path: &str) -> Result<(String, Data), String> {
    let data = yaml::read(text).map_err(|error| format!("Failed to parse YAML for \"{path}\": {error}"))?;
    match data.get(id_field).and_then(Data::as_text) {
        Some(id) => Ok((id.to_owned(), data)),
        None if data.as_map().is_some() || data.as_list().is_some() => {
            Err(format!("Missing or non-string id field \"{id_field}\" in \"{path}\""))
        }
        None => Err(format!("YAML document in \"{path}\" is not an object")),
    }
}
