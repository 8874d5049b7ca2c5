//! Reloads the files that changed on disk, and only those.

use super::{Bundle, BundleLoadError};
use crate::files::BundlePath;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

impl Bundle {
    /// Reloads a path: a single entity file, or the whole bundle for a configuration file. Ignores other paths. `path`
    /// is absolute or relative to the bundle. Returns whether anything was reloaded.
    pub fn reload_file(&mut self, path: &Path) -> Result<bool, BundleLoadError> {
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

    /// The folders to watch for changes of the bundle.
    pub fn watched_folders(&self) -> BTreeSet<PathBuf> {
        let of_files = self.configuration.iter().map(|(path, _)| path.split().0.join("/"));
        let of_entities =
            self.kinds.iter().filter_map(|kind| kind.folder.as_ref()).map(|folder| folder.to_string());
        of_files.chain(of_entities).map(|folder| self.root().join(folder)).collect()
    }

    /// Checks the stamp of every file and reloads those that changed. Returns their number.
    pub fn refresh(&mut self) -> Result<usize, BundleLoadError> {
        if self.configuration_changed() {
            self.reload_all()?;
            return Ok(self.entity_count());
        }
        let changed = self.changed_entities();
        for (kind, name) in &changed {
            self.reload_entity(*kind, name);
        }
        // Detects folders that appeared or disappeared.
        for kind in 0..self.kinds.len() {
            let before = self.kinds[kind].folder_problem.is_some();
            if self.open_kind_folder(kind).is_none() != before {
                self.findings = std::sync::OnceLock::new();
            }
        }
        Ok(changed.len())
    }

    /// Updates a bundle of caller-stored texts: new content, or `None` for a removed file. Paths are relative to the
    /// bundle. Returns whether any path belongs to the bundle; always `false` for a bundle on disk.
    pub fn set_texts(
        &mut self,
        edits: impl IntoIterator<Item = (String, Option<Arc<str>>)>,
    ) -> Result<bool, BundleLoadError> {
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

    /// Returns the ids of the entities in a file, to determine the effect of a change. Returns `None` for a
    /// configuration file, which affects the whole bundle.
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

    /// Returns an updated copy of the bundle, or `None` if nothing changed on disk.
    pub(crate) fn reload_if_changed(&self) -> Result<Option<Self>, BundleLoadError> {
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
                // Files over the limit stay excluded until the bundle is loaded again.
                let is_new = known.is_none() && kind.over_limit.is_none();
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

    fn reload_all(&mut self) -> Result<(), BundleLoadError> {
        let mut fresh = Self::from_files(&self.id, self.files.clone())?;
        fresh.tags = std::mem::take(&mut self.tags);
        fresh.description = self.description.take();
        *self = fresh;
        Ok(())
    }
}
