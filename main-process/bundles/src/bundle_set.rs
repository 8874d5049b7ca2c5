//! The loaded bundles, and the selection of one by id.

use crate::{Bundle, BundleEntity, BundleLoadError, search, yaml};
use rayon::prelude::*;
use shared_protocol::{OrderedValue, Refusal, RefusalCode};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The maximum size of `bundles.yaml`, and the maximum number of bundles in it.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;
const MAX_BUNDLES: usize = 200;

/// The location and name of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleSource {
    pub id: String,
    pub folder: PathBuf,
    pub tags: Vec<String>,
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleConfigError {
    #[error("{path}: {problem}")]
    Unreadable { path: String, problem: String },
}

impl BundleSource {
    /// Names each bundle after its folder; a second one with the same name gets the suffix `-2`.
    pub fn of_folders(folders: &[PathBuf]) -> Vec<Self> {
        let mut taken = BTreeSet::new();
        folders
            .iter()
            .map(|folder| {
                let resolved = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                let name =
                    resolved.file_name().map_or("bundle".into(), |name| name.to_string_lossy().into_owned());
                let mut id = name.clone();
                let mut number = 2;
                while !taken.insert(id.clone()) {
                    id = format!("{name}-{number}");
                    number += 1;
                }
                Self { id, folder: folder.clone(), tags: Vec::new(), description: None }
            })
            .collect()
    }

    /// Reads the bundles from a `bundles.yaml`; relative paths are resolved against its folder.
    pub fn of_config(path: &Path) -> Result<Vec<Self>, BundleConfigError> {
        let wrong =
            |problem: String| BundleConfigError::Unreadable { path: path.display().to_string(), problem };
        let size = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
        if size > MAX_CONFIG_BYTES {
            return Err(wrong(format!("larger than {MAX_CONFIG_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let config = yaml::read(&text).map_err(|error| wrong(error.to_string()))?;
        let entries = config
            .get("bundles")
            .and_then(OrderedValue::as_list)
            .ok_or_else(|| wrong("expected a list under `bundles`".to_owned()))?;
        if entries.len() > MAX_BUNDLES {
            return Err(wrong(format!("names more than {MAX_BUNDLES} bundles")));
        }
        let beside = path.parent().unwrap_or(Path::new(""));
        let mut sources: Vec<Self> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let text = |key: &str| {
                let found = entry.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
                found.ok_or_else(|| wrong(format!("`bundles[{index}].{key}` must be a text")))
            };
            let (id, folder) = (text("id")?, beside.join(text("path")?));
            let tags = entry.get("tags").and_then(OrderedValue::as_list).unwrap_or_default();
            let tags = tags.iter().filter_map(OrderedValue::as_text).map(str::to_owned).collect();
            let description = entry.text("description").map(str::to_owned);
            if sources.iter().any(|known| known.id == id) {
                return Err(wrong(format!("duplicate id {id:?}: give each bundle its own id")));
            }
            sources.push(Self { id, folder, tags, description });
        }
        Ok(sources)
    }
}

/// All loaded bundles, in the order of their sources. Clones share them; a changed bundle is copied first.
#[derive(Debug, Clone, Default)]
pub struct Bundles {
    list: Vec<Arc<Bundle>>,
    failed: Vec<(BundleSource, BundleLoadError)>,
}

impl Bundles {
    /// Loads bundles in parallel. A bundle that cannot be loaded is listed in [`Bundles::load_failures`] and does not affect
    /// the others.
    pub fn load(sources: &[BundleSource]) -> Self {
        let loaded: Vec<_> = sources
            .par_iter()
            .map(|source| {
                let mut bundle = Bundle::load(&source.id, &source.folder)?;
                bundle.tags.clone_from(&source.tags);
                bundle.description.clone_from(&source.description);
                Ok(bundle)
            })
            .collect();
        let mut bundles = Self::default();
        for (source, loaded) in sources.iter().zip(loaded) {
            match loaded {
                Ok(bundle) => bundles.list.push(Arc::new(bundle)),
                Err(error) => bundles.failed.push((source.clone(), error)),
            }
        }
        bundles
    }

    /// Adds a bundle, or replaces the one with the same id.
    pub fn insert(&mut self, bundle: Arc<Bundle>) {
        match self.list.iter_mut().find(|known| known.id() == bundle.id()) {
            Some(known) => *known = bundle,
            None => self.list.push(bundle),
        }
    }

    pub fn remove(&mut self, id: &str) {
        self.list.retain(|bundle| bundle.id() != id);
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Bundle> {
        self.list.iter().map(|bundle| &**bundle)
    }

    /// The bundles as shared pointers.
    pub fn bundles(&self) -> &[Arc<Bundle>] {
        &self.list
    }

    /// The bundles that could not be loaded, with the reason.
    pub fn load_failures(&self) -> &[(BundleSource, BundleLoadError)] {
        &self.failed
    }

    pub fn get(&self, id: &str) -> Option<&Bundle> {
        self.iter().find(|bundle| bundle.id() == id)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut Bundle> {
        self.list.iter_mut().find(|bundle| bundle.id() == id).map(Arc::make_mut)
    }

    /// Reloads a file that changed on disk. Returns whether it belongs to a loaded bundle.
    pub fn reload_file(&mut self, path: &Path) -> Result<bool, BundleLoadError> {
        let mut any = false;
        for bundle in self.list.iter_mut().filter(|bundle| path.starts_with(bundle.root())) {
            any |= Arc::make_mut(bundle).reload_file(path)?;
        }
        Ok(any)
    }

    /// Checks every file of every bundle and reloads those that changed. Returns their number.
    pub fn refresh(&mut self) -> Result<usize, BundleLoadError> {
        self.list.iter_mut().try_fold(0, |count, bundle| Ok(count + Arc::make_mut(bundle).refresh()?))
    }

    /// Searches one bundle or all, best match first.
    pub fn search(
        &self,
        bundle_id: Option<&str>,
        query: &str,
    ) -> Result<Vec<(&Bundle, &BundleEntity)>, Refusal> {
        let hits = self.search_ranked(bundle_id, query, None)?;
        Ok(hits.into_iter().map(|(bundle, hit)| (bundle, hit.entity)).collect())
    }

    pub(crate) fn search_ranked(
        &self,
        bundle_id: Option<&str>,
        query: &str,
        entity_type: Option<&str>,
    ) -> Result<Vec<(&Bundle, search::EntityHit<'_>)>, Refusal> {
        let searched: Vec<&Bundle> = match bundle_id {
            Some(_) => vec![self.resolve(bundle_id)?],
            None => self.iter().collect(),
        };
        let mut hits = Vec::new();
        for bundle in searched {
            hits.extend(search::search(bundle, query, entity_type).into_iter().map(|hit| (bundle, hit)));
        }
        // A stable sort keeps the order of each bundle within a rank.
        hits.sort_by(|(a, hit_a), (b, hit_b)| hit_a.rank.cmp(&hit_b.rank).then_with(|| a.id().cmp(b.id())));
        Ok(hits)
    }

    pub(crate) fn ids_value(&self) -> OrderedValue {
        OrderedValue::texts(self.iter().map(Bundle::id))
    }

    /// Returns the bundle with the id, or the only bundle when no id is given.
    pub(crate) fn resolve(&self, id: Option<&str>) -> Result<&Bundle, Refusal> {
        match (id, self.list.as_slice()) {
            (Some(id), _) => self.get(id).ok_or_else(|| {
                Refusal::new(RefusalCode::NotFound, format!("Bundle not found: {id}"))
                    .details([("bundleId", id.into()), ("availableBundles", self.ids_value())])
            }),
            (None, [only]) => Ok(only),
            (None, []) => {
                Err(Refusal::new(RefusalCode::NotFound, "No bundle is loaded: name one when starting"))
            }
            (None, _) => Err(Refusal::new(
                RefusalCode::BadRequest,
                "Multiple bundles loaded. Please specify bundleId.",
            )
            .field("bundleId")
            .details([("availableBundles", self.ids_value())])),
        }
    }
}
