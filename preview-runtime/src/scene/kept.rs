//! What was built before: instances whose props and state are as they were are taken over instead of evaluated again.
//!
//! Only instances of the page that hold no others are kept, which most are. Whatever could make one look different is
//! part of the comparison; when the library changes, all is forgotten.

use super::{Element, Interaction, Key, Placed, Tree, build::Inherited};
use components::Component;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Instances as they were last built, by id.
#[derive(Default)]
pub struct Kept {
    fragments: BTreeMap<String, Fragment>,
    /// Pictures that can be shown.
    pictures: BTreeSet<String>,
}

struct Fragment {
    component: Arc<Component>,
    props: Map<String, Value>,
    inherited: Inherited,
    depth: usize,
    /// Numbered from its own first element and instance.
    elements: Vec<Element>,
    instances: Vec<Placed>,
    roots: Vec<usize>,
    /// Of its controls: what is done to one of them changes how it looks.
    keys: Vec<Key>,
}

/// What an instance is built from.
pub(super) struct Source<'s> {
    pub(super) id: &'s str,
    pub(super) component: &'s Arc<Component>,
    pub(super) props: &'s Map<String, Value>,
    pub(super) inherited: Inherited,
    pub(super) depth: usize,
}

impl Kept {
    pub fn clear(&mut self) {
        self.fragments.clear();
    }

    /// A picture is there from now on.
    pub(crate) fn has_picture(&mut self, path: &str) {
        self.pictures.insert(path.to_owned());
    }

    pub(super) fn lacks(&self, picture: &str) -> bool {
        !self.pictures.contains(picture)
    }

    /// Forgets instances that are no more. To be called after a build.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.fragments.retain(|id, _| is_there(id));
    }

    pub(super) fn len(&self) -> usize {
        self.fragments.len()
    }

    /// Puts the instance into the tree as it was, if nothing about it has changed. Gives its outermost elements.
    pub(super) fn take(
        &self,
        source: &Source<'_>,
        interaction: &Interaction,
        parent: Option<usize>,
        tree: &mut Tree,
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

    /// Keeps what was just built: all elements and instances of the tree from these on.
    pub(super) fn keep(
        &mut self,
        source: &Source<'_>,
        interaction: &Interaction,
        (first, first_instance): (usize, usize),
        roots: &[usize],
        tree: &Tree,
    ) {
        let mut elements: Vec<Element> = tree.elements.get(first..).unwrap_or_default().to_vec();
        let mut instances: Vec<Placed> = tree.instances.get(first_instance..).unwrap_or_default().to_vec();
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
        let fragment = Fragment {
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
