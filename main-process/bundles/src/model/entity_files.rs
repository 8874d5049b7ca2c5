//! Reads entities from their files.

use super::{Bundle, BundleEntity, bundle::EntityFile, graph::ReferenceRule};
use crate::{
    BundleFinding,
    files::{BundleFileError, BundleFileStamp, BundleFolder, MAX_FILE_BYTES},
    yaml,
};
use rayon::prelude::*;
use shared_protocol::OrderedValue;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The maximum number of files per entity type, and the maximum bytes of all entities of a bundle.
const MAX_FILES_PER_TYPE: usize = 100_000;
const MAX_ENTITY_BYTES: u64 = 64 * 1024 * 1024;

impl Bundle {
    /// Reads all entities type by type, the files of a type in parallel.
    pub(super) fn load_entities(&mut self) {
        let mut bytes = 0;
        for kind in 0..self.kinds.len() {
            let Some(folder) = self.open_kind_folder(kind) else { continue };
            let names = match folder.yaml_names() {
                Ok(names) => names,
                Err(problem) => {
                    self.set_folder_problem(kind, &problem);
                    continue;
                }
            };
            // Most bundles fit. File sizes are checked in advance only for one that does not.
            let (read, left_out) = match self.read_files(kind, &folder, &names, MAX_ENTITY_BYTES - bytes) {
                Some(read) => (read, None),
                None => {
                    let fitting = count_fitting(&folder, &names, MAX_ENTITY_BYTES - bytes);
                    let read = self.read_files(kind, &folder, &names[..fitting], u64::MAX);
                    (read.unwrap_or_default(), names.get(fitting))
                }
            };
            self.kinds[kind].over_limit = left_out.map(|first| {
                let message = format!(
                    "\"{first}\" and the files after it are left out: a type may have {MAX_FILES_PER_TYPE} files, a bundle {MAX_ENTITY_BYTES} bytes of entities"
                );
                BundleFinding::error(message).of_type(&self.kinds[kind].name)
            });
            for (name, file) in read {
                bytes = (bytes + file.source.len() as u64).min(MAX_ENTITY_BYTES);
                self.set_file(kind, &name, Some(file));
            }
        }
    }

    /// Reads files in parallel. Returns `None` if there are too many or they exceed `most` bytes.
    fn read_files(
        &self,
        kind: usize,
        folder: &BundleFolder,
        names: &[String],
        most: u64,
    ) -> Option<Vec<(Arc<str>, EntityFile)>> {
        if names.len() > MAX_FILES_PER_TYPE {
            return None;
        }
        let rules = self.rules_of(kind);
        let bytes = AtomicU64::new(0);
        names
            .par_iter()
            .map(|name| {
                let file = self.read_entity(kind, &rules, folder, name);
                let before = bytes.fetch_add(file.source.len() as u64, Ordering::Relaxed);
                (before + file.source.len() as u64 <= most).then(|| (Arc::from(name.as_str()), file))
            })
            .collect()
    }

    /// Opens the folder of a type, and records the problem if that fails.
    pub(super) fn open_kind_folder(&mut self, kind: usize) -> Option<BundleFolder> {
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

    fn set_folder_problem(&mut self, kind: usize, problem: &BundleFileError) {
        let path = self.absolute_path(&self.kinds[kind].info.directory);
        let kind = &mut self.kinds[kind];
        let message = format!("Failed to read directory for entity type \"{}\": {problem}", kind.name);
        kind.folder_problem = Some(BundleFinding::error(message).of_type(&kind.name).in_file(path));
    }

    pub(super) fn read_entity(
        &self,
        kind: usize,
        rules: &[(u32, &ReferenceRule)],
        folder: &BundleFolder,
        name: &str,
    ) -> EntityFile {
        let known = &self.kinds[kind];
        let path =
            if folder.path.as_str().is_empty() { name.to_owned() } else { format!("{}/{name}", folder.path) };
        let wrong = |message: String| {
            Err(Box::new(BundleFinding::error(message).of_type(&known.name).in_file(path.clone())))
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
                        Ok(Arc::new(BundleEntity::new(&id, &known.name, path.clone(), data, rules, schema)))
                    }
                };
                EntityFile { stamp: file.stamp, source: file.text.into(), content }
            }
        }
    }
}

/// Returns how many files fit into `most` bytes. A file over the size limit is not read and counts as empty.
fn count_fitting(folder: &BundleFolder, names: &[String], most: u64) -> usize {
    let mut bytes = 0;
    let fits = |name: &&String| {
        let size = folder.stamp(name).map_or(0, BundleFileStamp::size);
        bytes += if size > MAX_FILE_BYTES { 0 } else { size };
        bytes <= most
    };
    names.iter().take(MAX_FILES_PER_TYPE).take_while(fits).count()
}

/// Returns the id and the data from the text of an entity file, or the reason why it is invalid.
pub(crate) fn parse_entity(text: &str, id_field: &str, path: &str) -> Result<(String, OrderedValue), String> {
    let data = yaml::read(text).map_err(|error| format!("Failed to parse YAML for \"{path}\": {error}"))?;
    match data.get(id_field).and_then(OrderedValue::as_text) {
        Some(id) => Ok((id.to_owned(), data)),
        None if data.as_map().is_some() || data.as_list().is_some() => {
            Err(format!("Missing or non-string id field \"{id_field}\" in \"{path}\""))
        }
        None => Err(format!("YAML document in \"{path}\" is not an object")),
    }
}
