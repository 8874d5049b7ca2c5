//! The scene that a session shows, made from the workspace: the instances of a page, their props and their overrides. Pure;
//! the messages that update a preview are the difference between two scenes.

use crate::previewed_workspace::PreviewedWorkspace;
use authority::Snapshot;
use serde_json::Map;
use shared_protocol::{
    Node, NodeId, OverrideResolution, OverrideScope, PropKey, PropValue,
    preview_sessions::{PreviewTarget, TransientPropValue},
    preview_wire::{MAX_SCREEN_INSTANCES, SceneInstance, SceneOverride, SceneTarget, ToPreview},
    v0::JsonPointer,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::SystemTime,
};
use workspace::SLOT;

/// A larger number of instances with changed props is sent as a whole scene.
const MAX_PROPS_MESSAGES: usize = 32;

const MAX_PAGE_PICTURES: usize = 64;

/// Everything that a preview shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageScene {
    pub(crate) target: SceneTarget,
    pub(crate) instances: Vec<SceneInstance>,
    pub(crate) overrides: Vec<SceneOverride>,
    /// Texts by file.
    pub(crate) components: BTreeMap<String, Arc<str>>,
    pub(crate) title: String,
    /// The reason why there is nothing to show.
    pub(crate) missing: Option<String>,
}

impl PageScene {
    pub(crate) fn build(
        workspace: &PreviewedWorkspace,
        shows: &PreviewTarget,
        tried: &[TransientPropValue],
        left_out: &BTreeSet<String>,
    ) -> Self {
        let (target, instances, title, missing) = match shows {
            PreviewTarget::Route(route) => {
                let target = SceneTarget::Route { route: route.to_string() };
                match workspace.page(*route) {
                    Some(page) => {
                        // A workspace with a component for pages defines their frame itself.
                        let with_page = workspace.component(page.type_id.as_str()).is_some();
                        let instances = instances(&workspace.snapshot, page, with_page);
                        (target, instances, workspace.title_of(page), None)
                    }
                    None => {
                        let missing = "The page is no longer on an interface board.".to_owned();
                        (target, Vec::new(), "Deleted page".to_owned(), Some(missing))
                    }
                }
            }
            PreviewTarget::Component { component } => {
                let (title, missing) = component_scene(workspace, component);
                (SceneTarget::Component { component: component.clone() }, Vec::new(), title, missing)
            }
            PreviewTarget::Variant { component, variant } => {
                let (title, missing) = component_scene(workspace, component);
                let target = SceneTarget::Variant { component: component.clone(), variant: variant.clone() };
                (target, Vec::new(), format!("{title}: {variant}"), missing)
            }
        };
        let left_out: BTreeSet<&str> =
            left_out.iter().filter_map(|id| Some(workspace.component(id)?.file.as_str())).collect();
        let components = workspace.texts().into_iter().filter(|(file, _)| !left_out.contains(file.as_str()));
        Self {
            target,
            instances,
            overrides: overrides(&workspace.snapshot, shows, tried),
            components: components.collect(),
            title,
            missing,
        }
    }

    /// The components on the page, each once, in the order of their first instances.
    pub(crate) fn used_components(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        self.instances
            .iter()
            .filter(|instance| seen.insert(instance.component.as_str()))
            .map(|instance| instance.component.clone())
            .collect()
    }

    /// The pictures that components or props refer to.
    pub(crate) fn pictures(&self) -> BTreeSet<String> {
        let props = self.instances.iter().flat_map(|instance| instance.props.values());
        let values = props.chain(self.overrides.iter().map(|over| &over.value)).map(ToString::to_string);
        let mut found = BTreeSet::new();
        for text in self.components.values().map(|text| text.to_string()).chain(values) {
            let is_path = |c: char| c.is_alphanumeric() || "_-./".contains(c);
            let named = text.split(|c| !is_path(c)).filter(|word| word.ends_with(".png") && word.len() > 4);
            found.extend(named.map(str::to_owned));
        }
        found.into_iter().take(MAX_PAGE_PICTURES).collect()
    }

    /// The same page with the instances of these components alone.
    #[must_use]
    pub(crate) fn restricted_to(mut self, components: &[String]) -> Self {
        self.instances.retain(|instance| components.contains(&instance.component));
        self
    }
}

fn component_scene(workspace: &PreviewedWorkspace, component: &str) -> (String, Option<String>) {
    match workspace.component(component) {
        Some(found) => (found.title.clone(), None),
        None => (component.to_owned(), Some(format!("The component `{component}` no longer exists."))),
    }
}

/// The instances on a page, containers before their children, siblings in reading order.
pub(crate) fn instances(snapshot: &Snapshot, page: &Node, with_page: bool) -> Vec<SceneInstance> {
    let mut found: Vec<SceneInstance> = Vec::new();
    let mut waiting: Vec<(NodeId, Option<String>)> = if with_page {
        vec![(page.id, None)]
    } else {
        children_in_order(snapshot, page).into_iter().rev().map(|node| (node, None)).collect()
    };
    while let Some((id, parent)) = waiting.pop() {
        let Some(node) = snapshot.node(id) else { continue };
        // Notes and frames are no part of an interface.
        let Some(def) = snapshot.type_of(node).filter(|def| def.boards.len() == 1) else { continue };
        if found.len() >= MAX_SCREEN_INSTANCES {
            break;
        }
        let mut props: Map<String, serde_json::Value> = node
            .props
            .iter()
            .filter(|(key, _)| def.prop(key.as_str()).is_some() && key.as_str() != SLOT)
            .map(|(key, value)| (key.to_string(), json(value)))
            .collect();
        for (key, targets) in &node.references {
            let paths = targets.iter().filter_map(|target| path_of(snapshot, *target));
            props.insert(key.to_string(), paths.collect::<Vec<_>>().join(", ").into());
        }
        let slot = node.props.iter().find(|(key, _)| key.as_str() == SLOT);
        let slot =
            slot.and_then(|(_, value)| value.as_text()).map(str::to_owned).filter(|_| parent.is_some());
        let own = id.to_string();
        for child in children_in_order(snapshot, node).into_iter().rev() {
            waiting.push((child, Some(own.clone())));
        }
        found.push(SceneInstance { id: own, component: node.type_id.to_string(), props, parent, slot });
    }
    found
}

fn children_in_order(snapshot: &Snapshot, container: &Node) -> Vec<NodeId> {
    let mut children: Vec<NodeId> = snapshot.children(container.board, Some(container.id)).collect();
    children.sort_by_key(|child| snapshot.placement(*child).map_or((0, 0), |place| (place.y, place.x)));
    children
}

fn path_of(snapshot: &Snapshot, page: NodeId) -> Option<String> {
    let node = snapshot.node(page)?;
    let path = PropKey::parse("path").ok().and_then(|key| snapshot.effective_prop(node, &key));
    Some(path.and_then(PropValue::as_text).map_or_else(|| node.name.to_string(), str::to_owned))
}

fn json(value: &PropValue) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Saved overrides, then tried values: a later one wins.
pub(crate) fn overrides(
    snapshot: &Snapshot,
    shows: &PreviewTarget,
    tried: &[TransientPropValue],
) -> Vec<SceneOverride> {
    let (scope, owner) = match shows {
        PreviewTarget::Route(_) => (OverrideScope::App, None),
        PreviewTarget::Component { component } => (OverrideScope::Component, Some(component.clone())),
        PreviewTarget::Variant { component, variant } => {
            (OverrideScope::Component, Some(format!("{component}@{variant}")))
        }
    };
    let kept = snapshot
        .overrides()
        .filter(|(key, _)| key.scope == scope && owner.as_ref().is_none_or(|owner| key.owner() == owner));
    let mut kept: Vec<(bool, SceneOverride)> = kept
        .filter_map(|(key, over)| match snapshot.resolve_override(key, over) {
            OverrideResolution::Applies(instance) => {
                let (path, value) = (key.path.clone(), json(&over.value));
                let is_named = instance == key.instance;
                Some((is_named, SceneOverride { instance: instance.to_string(), path, value }))
            }
            OverrideResolution::Orphaned(_) => None,
        })
        .collect();
    // An override that names its instance wins over one that was matched to it.
    kept.sort_by_key(|(is_named, _)| *is_named);
    let kept = kept.into_iter().map(|(_, over)| over);
    let tried = tried.iter().filter_map(|tried| {
        Some(SceneOverride {
            instance: tried.instance.clone(),
            path: JsonPointer::parse(tried.path.as_str()).ok()?,
            value: json(&tried.value),
        })
    });
    kept.chain(tried).take(MAX_SCREEN_INSTANCES).collect()
}

/// Time of change and size of a file; `None` for a missing one.
pub(crate) type PictureFileStamp = Option<(SystemTime, u64)>;

/// The scene that a preview was sent last.
#[derive(Debug, Default)]
pub(crate) struct LastSentScene {
    page: Option<PageScene>,
    pub(crate) revision: u64,
    /// The pictures that were sent, missing ones included.
    pub(crate) pictures: BTreeMap<String, PictureFileStamp>,
}

/// The messages that lead to a page.
#[derive(Debug, Default)]
pub(crate) struct SceneUpdate {
    pub(crate) messages: Vec<ToPreview>,
    /// Files or the page changed, so the screen is out of date until the next frame.
    pub(crate) reloads: bool,
}

impl LastSentScene {
    pub(crate) fn page(&self) -> Option<&PageScene> {
        self.page.as_ref()
    }

    /// Returns the messages that make the preview show this page, which counts as sent.
    pub(crate) fn update_to(&mut self, page: PageScene) -> SceneUpdate {
        let mut update = SceneUpdate::default();
        let none = BTreeMap::new();
        let before = self.page.as_ref().map_or(&none, |page| &page.components);
        for file in before.keys().filter(|file| !page.components.contains_key(*file)) {
            update.messages.push(ToPreview::ComponentRemoved { file: file.clone() });
        }
        for (file, text) in page.components.iter().filter(|(file, text)| before.get(*file) != Some(*text)) {
            update.messages.push(ToPreview::Component { file: file.clone(), text: text.to_string() });
        }
        update.reloads = !update.messages.is_empty();
        match self.page.as_ref().filter(|_| !update.reloads) {
            Some(before) if before.target == page.target && is_same_tree(before, &page) => {
                let changed: Vec<&SceneInstance> = before
                    .instances
                    .iter()
                    .zip(&page.instances)
                    .filter(|(before, after)| before.props != after.props)
                    .map(|(_, after)| after)
                    .collect();
                if changed.len() > MAX_PROPS_MESSAGES {
                    update.messages.push(scene(&page, &mut self.revision));
                } else {
                    for instance in changed {
                        self.revision += 1;
                        update.messages.push(ToPreview::Props {
                            revision: self.revision,
                            instance: instance.id.clone(),
                            props: instance.props.clone(),
                        });
                    }
                    if before.overrides != page.overrides {
                        self.revision += 1;
                        let (revision, overrides) = (self.revision, page.overrides.clone());
                        update.messages.push(ToPreview::Overrides { revision, overrides });
                    }
                }
            }
            before => {
                update.reloads |= before.is_none_or(|before| before.target != page.target);
                update.messages.push(scene(&page, &mut self.revision));
            }
        }
        self.page = Some(page);
        update
    }
}

fn is_same_tree(before: &PageScene, after: &PageScene) -> bool {
    let shape = |instance: &SceneInstance| {
        (instance.id.clone(), instance.component.clone(), instance.parent.clone(), instance.slot.clone())
    };
    before.instances.len() == after.instances.len()
        && before.instances.iter().zip(&after.instances).all(|(a, b)| shape(a) == shape(b))
}

fn scene(page: &PageScene, revision: &mut u64) -> ToPreview {
    *revision += 1;
    ToPreview::Scene {
        revision: *revision,
        target: page.target.clone(),
        instances: page.instances.clone(),
        overrides: page.overrides.clone(),
    }
}
