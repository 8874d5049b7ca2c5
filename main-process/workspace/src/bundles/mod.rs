//! The spec bundles of a workspace: loaded from the texts that are part of the state, and read again when an operation changes
//! one of them. Only the texts that an operation touches are read again.
//!
//! Owns: the folders that are bundles, their ids, and the revision of their last change. The model of a bundle belongs to the
//! crate `bundles`; writing its files belongs to the sources of the workspace.

mod answers;
mod change;
mod map;
mod view;

pub(super) use map::MapDrawing;

use super::notices::{NoticeTopic, WorkspaceNotices};
use authority::Snapshot;
use bundles::{Bundle, BundleLoadError, Bundles};
use journal::folder_in_pattern;
use shared_protocol::{BoardId, Change, SourcePath};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

const NO_MANIFEST: &str = "it has no sdd-bundle.yaml";

/// The bundles as of one revision. Equal places are equal bundles. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct SpecBundles {
    loaded: Arc<Bundles>,
    /// By folder, which is also the order in which they are listed.
    places: BTreeMap<SourcePath, SpecBundleFolder>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SpecBundleFolder {
    id: String,
    /// The revision of the last operation that changed anything in it.
    generation: u64,
    /// The reason why it cannot be used.
    problem: Option<String>,
}

impl PartialEq for SpecBundles {
    fn eq(&self, other: &Self) -> bool {
        self.places == other.places
    }
}

/// New texts of a bundle's files, by their paths within it.
type BundleFileTexts = Vec<(String, Option<Arc<str>>)>;

impl SpecBundles {
    /// The bundles in the folders that the patterns name.
    pub(super) fn load(patterns: &[String], state: &Snapshot) -> Self {
        let patterns = parse_patterns(patterns);
        let files = state.sources().map(|(path, _)| path);
        let folders: BTreeSet<SourcePath> = files
            .flat_map(|file| patterns.iter().filter_map(|pattern| folder_in_pattern(pattern, file)))
            .collect();
        let mut bundles = Self::default();
        bundles.take_folders(folders, state);
        bundles
    }

    /// The bundles after an operation; `None` when it leaves them as they are. `state` has the operation already.
    pub(super) fn updated(&self, patterns: &[String], state: &Snapshot, changes: &[Change]) -> Option<Self> {
        if !changes.iter().any(|change| matches!(change, Change::Source { .. })) {
            return None;
        }
        let patterns = parse_patterns(patterns);
        let mut touched: BTreeMap<SourcePath, BundleFileTexts> = BTreeMap::new();
        for change in changes {
            let Change::Source { path, after, .. } = change else { continue };
            for folder in patterns.iter().filter_map(|pattern| folder_in_pattern(pattern, path)) {
                let within = path.as_str()[folder.as_str().len() + 1..].to_owned();
                touched.entry(folder).or_default().push((within, after.clone()));
            }
        }
        if touched.is_empty() {
            return None;
        }
        let mut next = self.clone();
        let mut folders: BTreeSet<SourcePath> = self.places.keys().cloned().collect();
        for (folder, texts) in touched {
            match state.sources_in(&folder).next() {
                Some(_) => drop(folders.insert(folder.clone())),
                None => drop(folders.remove(&folder)),
            }
            next.update_bundle(&folder, texts, state);
        }
        next.take_folders(folders, state);
        Some(next)
    }

    /// Updates one known bundle. One that cannot be used is loaded again from the start.
    fn update_bundle(&mut self, folder: &SourcePath, texts: BundleFileTexts, state: &Snapshot) {
        let Some(place) = self.places.get_mut(folder) else { return };
        place.generation = state.revision().0;
        let bundles = Arc::make_mut(&mut self.loaded);
        let followed = match bundles.get_mut(&place.id) {
            Some(bundle) => bundle.set_texts(texts).map(drop),
            None => load(&place.id, folder, state).map(|bundle| bundles.insert(bundle)),
        };
        place.problem = followed.err().map(|error| problem(&error));
        if place.problem.is_some() {
            bundles.remove(&place.id);
        }
    }

    /// Makes these folders the bundles: loads new ones, drops others, and keeps all of them in order.
    fn take_folders(&mut self, folders: BTreeSet<SourcePath>, state: &Snapshot) {
        let ids = ids(&folders);
        let is_same = self.places.len() == ids.len()
            && self
                .places
                .iter()
                .zip(&ids)
                .all(|((folder, place), (other, id))| folder == other && place.id == *id);
        let in_order = self.loaded.iter().map(Bundle::id).eq(self
            .places
            .values()
            .filter(|place| place.problem.is_none())
            .map(|place| place.id.as_str()));
        if is_same && in_order {
            return;
        }
        let known = std::mem::take(self);
        let mut bundles = Bundles::default();
        for (folder, id) in ids {
            let before = known.places.get(&folder).filter(|place| place.id == id);
            let kept = known.loaded.bundles().iter().find(|bundle| before.is_some() && bundle.id() == id);
            let loaded = match kept {
                Some(bundle) => Ok(Arc::clone(bundle)),
                None => load(&id, &folder, state),
            };
            let problem = loaded.as_ref().err().map(problem);
            let generation = before.map_or(state.revision().0, |place| place.generation);
            if let Ok(bundle) = loaded {
                bundles.insert(bundle);
            }
            self.places.insert(folder, SpecBundleFolder { id, generation, problem });
        }
        self.loaded = Arc::new(bundles);
    }

    /// The changes of maps that follow from a change of bundles; see [`map::map_changes`].
    pub(super) fn maps_in_step(
        &self,
        after: &Self,
        state: &Snapshot,
        changes: &[Change],
        is_held: impl Fn(BoardId) -> bool,
        seed: u64,
    ) -> Vec<Change> {
        map::map_changes(state, self, after, changes, is_held, seed).unwrap_or_else(|refusal| {
            // The bundle change is kept; the map can be redrawn.
            tracing::warn!(%refusal, "a map was not kept in step");
            Vec::new()
        })
    }

    pub fn bundles(&self) -> &Arc<Bundles> {
        &self.loaded
    }

    /// The folder of a bundle, relative to the workspace.
    fn folder_of(&self, id: &str) -> Option<&SourcePath> {
        self.places.iter().find(|(_, place)| place.id == id).map(|(folder, _)| folder)
    }

    /// Folders that hold files and no bundle that can be used, each with the reason.
    pub(super) fn load_failures(&self) -> impl Iterator<Item = (&SourcePath, &str)> {
        self.places.iter().filter_map(|(folder, place)| Some((folder, place.problem.as_deref()?)))
    }

    /// Sets notices for bundles that cannot be used, and for defects that disable a part of one. Ordinary findings belong to
    /// the bundle and are requested separately.
    pub(super) fn update_notices(&self, notices: &mut WorkspaceNotices) {
        notices.clear_all(|topic| matches!(topic, NoticeTopic::Bundle(_)));
        // A folder without a manifest may have another purpose; the list of bundles has it all the same.
        for (folder, problem) in self.load_failures().filter(|(_, problem)| *problem != NO_MANIFEST) {
            let text = format!("{folder} cannot be used as a bundle: {problem}");
            notices.set(NoticeTopic::Bundle(folder.to_string()), text);
        }
        for (folder, place) in &self.places {
            let Some(bundle) = self.loaded.get(&place.id) else { continue };
            let disabled: Vec<String> = bundle.disabled_parts().map(|finding| finding.message).collect();
            let Some(first) = disabled.first() else { continue };
            let more = match disabled.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let text = format!("{folder} was loaded only in part: {first}{more}");
            notices.set(NoticeTopic::Bundle(folder.to_string()), text);
        }
    }
}

fn parse_patterns(patterns: &[String]) -> Vec<SourcePath> {
    patterns.iter().filter_map(|pattern| SourcePath::parse(pattern.as_str()).ok()).collect()
}

/// The id of a bundle is the name of its folder; a second one of the same name gets `-2`.
fn ids(folders: &BTreeSet<SourcePath>) -> BTreeMap<SourcePath, String> {
    let mut taken = BTreeSet::new();
    let mut ids = BTreeMap::new();
    for folder in folders {
        let name = folder.as_str().rsplit('/').next().unwrap_or_default();
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let id = std::iter::once(name.to_owned()).chain(numbered).find(|id| !taken.contains(id));
        let id = id.unwrap_or_default();
        taken.insert(id.clone());
        ids.insert(folder.clone(), id);
    }
    ids
}

fn load(id: &str, folder: &SourcePath, state: &Snapshot) -> Result<Arc<Bundle>, BundleLoadError> {
    let within = |path: &SourcePath| path.as_str()[folder.as_str().len() + 1..].to_owned();
    let texts = state.sources_in(folder).map(|(path, text)| (within(path), Arc::clone(text)));
    // People and agents see this path: relative, because the path of the workspace is private.
    Bundle::from_texts(id, Path::new(folder.as_str()), texts.collect()).map(Arc::new)
}

fn problem(error: &BundleLoadError) -> String {
    match error {
        BundleLoadError::NoManifest { .. } => NO_MANIFEST.to_owned(),
        BundleLoadError::Unreadable { problem, .. } => problem.clone(),
    }
}
