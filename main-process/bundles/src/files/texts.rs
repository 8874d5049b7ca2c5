//! A bundle's files as texts that the caller stores, such as the state of a workspace.

use super::{BundleFileError, BundleFileStamp, BundlePath, StampedFileText};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    sync::Arc,
};

#[derive(Debug)]
pub(crate) struct TextFiles {
    /// The displayed folder of the bundle.
    root: PathBuf,
    texts: Arc<BTreeMap<BundlePath, Arc<str>>>,
}

/// The files directly in one folder.
pub(super) struct TextFolder {
    path: BundlePath,
    /// All texts, shared rather than copied.
    texts: Arc<BTreeMap<BundlePath, Arc<str>>>,
}

impl TextFiles {
    pub(super) fn new(root: PathBuf, texts: BTreeMap<String, Arc<str>>) -> Self {
        let texts = texts.into_iter().filter_map(|(path, text)| Some((BundlePath::parse(&path).ok()?, text)));
        Self { root, texts: Arc::new(texts.collect()) }
    }

    pub(super) fn with_edits(&self, edits: &[(BundlePath, Option<Arc<str>>)]) -> Self {
        let mut texts = BTreeMap::clone(&self.texts);
        for (path, text) in edits {
            match text {
                Some(text) => texts.insert(path.clone(), Arc::clone(text)),
                None => texts.remove(path),
            };
        }
        Self { root: self.root.clone(), texts: Arc::new(texts) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn read(&self, path: &BundlePath) -> Result<StampedFileText, BundleFileError> {
        read(self.texts.get(path), path)
    }

    /// Returns a folder. A missing folder is indistinguishable from an empty one.
    pub(super) fn folder(&self, path: &BundlePath) -> TextFolder {
        TextFolder { path: path.clone(), texts: Arc::clone(&self.texts) }
    }
}

impl TextFolder {
    pub(super) fn names(&self) -> Vec<String> {
        let folders = self.path.parts();
        let beneath = self.texts.range(self.path.clone()..);
        let beneath = beneath.take_while(|(other, _)| other.as_str().starts_with(self.path.as_str()));
        let inside = beneath.filter(|(other, _)| other.split().0 == folders);
        inside.map(|(path, _)| path.split().1.to_owned()).collect()
    }

    fn get(&self, name: &str) -> Option<&Arc<str>> {
        self.texts.get(&self.path.join(name).ok()?)
    }

    pub(super) fn stamp(&self, name: &str) -> Option<BundleFileStamp> {
        self.get(name).map(|text| stamp(text))
    }

    pub(super) fn read(&self, name: &str) -> Result<StampedFileText, BundleFileError> {
        read(self.get(name), &self.path.join(name)?)
    }
}

fn read(text: Option<&Arc<str>>, path: &BundlePath) -> Result<StampedFileText, BundleFileError> {
    let text = text.ok_or_else(|| BundleFileError::Missing { path: path.to_string() })?;
    Ok(StampedFileText { text: text.to_string(), stamp: stamp(text) })
}

/// Equal texts have equal stamps.
fn stamp(text: &str) -> BundleFileStamp {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    BundleFileStamp {
        inode: hasher.finish(),
        size: i64::try_from(text.len()).unwrap_or(i64::MAX),
        ..BundleFileStamp::default()
    }
}
