//! Following the files: what changed on disk since it was read, and only that, is read again.

use super::{Bundle, LoadError};
use crate::files::BundlePath;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

impl Bundle {
    /// Reads again what a path stands for: an entity's file alone, the whole bundle for one of its own files, nothing for
    /// any other. `path` may be absolute or relative to the bundle. Tells whether anything was read.
    pub fn reload_file(&mut self, path: &Path) -> Result<bool, LoadError> {
        let relative = path.strip_prefix(self.root()).unwrap_or(path);
        let Some(path) = relative.to_str().and_then(|path| BundlePath::parse(path).ok()) else {
            return Ok(false);
        };
        if self.is_configuration(&path) {
            self.reload_all()?;
            return Ok(true);
        }
        let (folders, name) = path.split();
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        let kinds: Vec<usize> = (0..self.kinds.len())
            .filter(|&kind| self.kinds[kind].folder.as_ref().is_some_and(|folder| folder.parts() == folders))
            .collect();
        for &kind in kinds.iter().filter(|_| is_yaml) {
            self.reload_entity(kind, name);
        }
        Ok(is_yaml && !kinds.is_empty())
    }

    /// The folders in which something of the bundle may change, for whoever watches the disk.
    pub fn watched_folders(&self) -> BTreeSet<PathBuf> {
        let of_files = self.configuration.iter().map(|(path, _)| path.split().0.join("/"));
        let of_entities =
            self.kinds.iter().filter_map(|kind| kind.folder.as_ref()).map(|folder| folder.to_string());
        of_files.chain(of_entities).map(|folder| self.root().join(folder)).collect()
    }

    /// Looks at every file's stamp and reads again what changed. Tells how many files that were.
    pub fn refresh(&mut self) -> Result<usize, LoadError> {
        if self.configuration_changed() {
            self.reload_all()?;
            return Ok(self.entity_count());
        }
        let changed = self.changed_entities();
        for (kind, name) in &changed {
            self.reload_entity(*kind, name);
        }
        // A folder that came, or went.
        for kind in 0..self.kinds.len() {
            let before = self.kinds[kind].folder_problem.is_some();
            if self.open_kind_folder(kind).is_none() != before {
                self.findings = std::sync::OnceLock::new();
            }
        }
        Ok(changed.len())
    }

    /// Follows texts that somebody else keeps: their new content, or nothing where one is gone. Paths are relative to the
    /// bundle. Tells whether any was the bundle's; for a bundle on a disk none ever is.
    pub fn set_texts(
        &mut self,
        edits: impl IntoIterator<Item = (String, Option<Arc<str>>)>,
    ) -> Result<bool, LoadError> {
        let parsed =
            edits.into_iter().filter_map(|(path, text)| Some((BundlePath::parse(&path).ok()?, text)));
        let edits: Vec<(BundlePath, Option<Arc<str>>)> = parsed.collect();
        let Some(files) = self.files.with_texts(&edits) else { return Ok(false) };
        self.files = Arc::new(files);
        if edits.iter().any(|(path, _)| self.is_configuration(path)) {
            self.reload_all()?;
            return Ok(true);
        }
        let mut any = false;
        for (path, _) in &edits {
            any |= self.reload_file(Path::new(path.as_str()))?;
        }
        Ok(any)
    }

    fn is_configuration(&self, path: &BundlePath) -> bool {
        self.configuration.iter().any(|(known, _)| known == path)
    }

    /// The ids that a file gives rise to, to tell what a change of it concerns; nothing for one of the bundle's own files,
    /// which concerns everything.
    pub fn ids_in(&self, path: &str) -> Option<Vec<&str>> {
        let path = BundlePath::parse(path).ok()?;
        if self.is_configuration(&path) {
            return None;
        }
        let (folders, name) = path.split();
        let kinds = self
            .kinds
            .iter()
            .filter(|kind| kind.folder.as_ref().is_some_and(|folder| folder.parts() == folders));
        let entities = kinds.filter_map(|kind| kind.files.get(name)?.content.as_ref().ok());
        Some(entities.map(|entity| entity.id()).collect())
    }

    /// The bundle as it is on the disk now: this one if nothing changed.
    pub(crate) fn refreshed(&self) -> Result<Option<Self>, LoadError> {
        if !self.files.is_on_disk() {
            return Ok(None);
        }
        if !self.configuration_changed() && self.changed_entities().is_empty() {
            return Ok(None);
        }
        let mut fresh = self.clone();
        fresh.refresh()?;
        Ok(Some(fresh))
    }

    fn configuration_changed(&self) -> bool {
        self.configuration.iter().any(|(path, stamp)| {
            let (folders, name) = path.split();
            let now = BundlePath::parse(&folders.join("/"))
                .and_then(|folder| self.files.folder(&folder))
                .ok()
                .and_then(|folder| folder.stamp(name));
            now != *stamp
        })
    }

    /// The entity files that were added, changed or removed.
    fn changed_entities(&self) -> Vec<(usize, String)> {
        let mut changed = Vec::new();
        for (index, kind) in self.kinds.iter().enumerate() {
            let folder = kind.folder.as_ref().and_then(|path| self.files.folder(path).ok());
            let names: BTreeSet<String> = folder
                .as_ref()
                .and_then(|folder| folder.yaml_names().ok())
                .unwrap_or_default()
                .into_iter()
                .collect();
            let gone =
                kind.files.keys().filter(|name| !names.contains(&***name)).map(|name| name.to_string());
            changed.extend(gone.map(|name| (index, name)));
            for name in names {
                let known = kind.files.get(&*name).map(|file| file.stamp);
                let now = folder.as_ref().and_then(|folder| folder.stamp(&name));
                // What was left out for want of room stays out until the bundle is loaded again.
                let is_new = known.is_none() && kind.left_out.is_none();
                if is_new || (known.is_some() && known != now) {
                    changed.push((index, name));
                }
            }
        }
        changed
    }

    pub(crate) fn reload_entity(&mut self, kind: usize, name: &str) {
        let file = match self.open_kind_folder(kind) {
            Some(folder) if folder.stamp(name).is_some() => {
                let rules = self.rules.clone();
                let rules: Vec<_> = rules
                    .iter()
                    .enumerate()
                    .filter(|(_, rule)| rule.from == kind)
                    .map(|(number, rule)| (u32::try_from(number).unwrap_or(u32::MAX), rule))
                    .collect();
                Some(self.read_entity(kind, &rules, &folder, name))
            }
            _ => None,
        };
        self.set_file(kind, &Arc::from(name), file);
    }

    fn reload_all(&mut self) -> Result<(), LoadError> {
        let mut fresh = Self::of_files(&self.id, self.files.clone())?;
        fresh.tags = std::mem::take(&mut self.tags);
        fresh.description = self.description.take();
        *self = fresh;
        Ok(())
    }
}
