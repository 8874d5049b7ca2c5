//! The build cache: instances with unchanged props and state are reused instead of evaluated again.
//!
//! Only page instances without children are cached, which covers most of them. The comparison includes everything that
//! affects the result. A library change clears the cache.

use super::{
    ElementKey, ElementTree, PlacedInstance, PreviewInteraction, SceneElement, build::InheritedStyle,
};
use components::Component;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The last build of each instance, by id.
#[derive(Default)]
pub struct BuildCache {
    fragments: BTreeMap<String, CachedInstance>,
    /// The available pictures.
    pictures: BTreeSet<String>,
}

struct CachedInstance {
    component: Arc<Component>,
    props: Map<String, Value>,
    inherited: InheritedStyle,
    depth: usize,
    /// Indices are relative to the first element and instance of the fragment.
    elements: Vec<SceneElement>,
    instances: Vec<PlacedInstance>,
    roots: Vec<usize>,
    /// The keys of its controls. Interaction with one of them invalidates the fragment.
    keys: Vec<ElementKey>,
}

pub(super) struct InstanceSource<'s> {
    pub(super) id: &'s str,
    pub(super) component: &'s Arc<Component>,
    pub(super) props: &'s Map<String, Value>,
    pub(super) inherited: InheritedStyle,
    pub(super) depth: usize,
}

impl BuildCache {
    pub fn clear(&mut self) {
        self.fragments.clear();
    }

    pub(crate) fn has_picture(&mut self, path: &str) {
        self.pictures.insert(path.to_owned());
    }

    pub(super) fn lacks(&self, picture: &str) -> bool {
        !self.pictures.contains(picture)
    }

    /// Removes instances that no longer exist. Called after a build.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.fragments.retain(|id, _| is_there(id));
    }

    pub(super) fn len(&self) -> usize {
        self.fragments.len()
    }

    /// Copies an unchanged instance into the tree. Returns its outermost elements.
    pub(super) fn take_entry(
        &self,
        source: &InstanceSource<'_>,
        interaction: &PreviewInteraction,
        parent: Option<usize>,
        tree: &mut ElementTree,
    ) -> Option<Vec<usize>> {
        let kept = self.fragments.get(source.id)?;
        let same = Arc::ptr_eq(&kept.component, source.component)
            && kept.inherited == source.inherited
            && kept.depth == source.depth
            && kept.props == *source.props;
        if !same || kept.keys.iter().any(|key| interaction.touches(*key)) {
            return None;
        }
        let (first, first_instance) = (tree.elements.len(), tree.instances.len());
        tree.elements.extend(kept.elements.iter().cloned().map(|mut element| {
            element.children.iter_mut().for_each(|child| *child += first);
            if let Some(control) = &mut element.control {
                control.instance += first_instance;
            }
            element
        }));
        tree.instances.extend(kept.instances.iter().cloned().map(|mut placed| {
            placed.parent = placed.parent.map(|parent| parent + first_instance);
            placed.roots.iter_mut().for_each(|root| *root += first);
            placed
        }));
        if let Some(outermost) = tree.instances.get_mut(first_instance) {
            outermost.parent = parent;
        }
        Some(kept.roots.iter().map(|root| root + first).collect())
    }

    /// Caches the instance that was just built: all elements and instances of the tree from these indices on.
    pub(super) fn store(
        &mut self,
        source: &InstanceSource<'_>,
        interaction: &PreviewInteraction,
        (first, first_instance): (usize, usize),
        roots: &[usize],
        tree: &ElementTree,
    ) {
        let mut elements: Vec<SceneElement> = tree.elements.get(first..).unwrap_or_default().to_vec();
        let mut instances: Vec<PlacedInstance> =
            tree.instances.get(first_instance..).unwrap_or_default().to_vec();
        let mut keys = Vec::new();
        for element in &mut elements {
            element.children.iter_mut().for_each(|child| *child -= first);
            if let Some(control) = &mut element.control {
                control.instance -= first_instance;
                keys.push(control.key);
            }
        }
        if keys.iter().any(|key| interaction.touches(*key)) {
            self.fragments.remove(source.id);
            return;
        }
        for (index, placed) in instances.iter_mut().enumerate() {
            placed.parent = placed.parent.filter(|_| index > 0).map(|parent| parent - first_instance);
            placed.roots.iter_mut().for_each(|root| *root -= first);
        }
        let fragment = CachedInstance {
            component: Arc::clone(source.component),
            props: source.props.clone(),
            inherited: source.inherited,
            depth: source.depth,
            elements,
            instances,
            roots: roots.iter().map(|root| root - first).collect(),
            keys,
        };
        self.fragments.insert(source.id.to_owned(), fragment);
    }
}
