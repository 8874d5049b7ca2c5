//! Builds the elements of a scene (instances, loops, conditions, slots and nested components) within a budget.

use super::{
    BuildCache, ElementContent, ElementFlow, ElementKey, ElementTree, PlacedInstance, PreviewInteraction,
    PreviewScene, boxes::type_mismatch, build_cache::InstanceSource, props_of,
};
use components::{
    Border, Colour, ColourToken, Component, ComponentLibrary, ComponentPart, ExpressionError,
    ExpressionScope, RadiusStep, SourcePosition, Style, StyleInsets, StyleRadius, StyleSpacing, TypeStep,
    Value, ViewNode, ViewNodeKind, Weight, visible_text,
};
use serde_json::Map;
use shared_protocol::preview_wire::{
    MAX_PREVIEW_ID_CHARS, MAX_SCREEN_INSTANCES, PreviewProblem, SceneInstance, SceneOverrideStatus,
    SceneTarget,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// The budget of one build. Exceeding a limit truncates the build and reports a problem.
#[derive(Debug, Clone, Copy)]
pub struct BuildLimits {
    pub elements: usize,
    pub depth: usize,
    pub time: Duration,
}

impl Default for BuildLimits {
    fn default() -> Self {
        Self { elements: 20_000, depth: 96, time: Duration::from_millis(250) }
    }
}

const MAX_BUILD_PROBLEMS: usize = 100;

/// Builds a scene. Returns the elements, the problems and the status of each override. With a cache, instances that were
/// built before from the same library are reused, and missing pictures are problems.
pub fn build(
    library: &ComponentLibrary,
    scene: &PreviewScene,
    interaction: &PreviewInteraction,
    limits: &BuildLimits,
    cache: Option<&mut BuildCache>,
) -> (ElementTree, Vec<PreviewProblem>, Vec<SceneOverrideStatus>) {
    let mut children: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut top = Vec::new();
    let (mut seen, mut twice): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    for (index, instance) in scene.instances.iter().enumerate() {
        match &instance.parent {
            // A parent that comes later or does not exist could form a cycle.
            Some(parent) if seen.contains(parent.as_str()) => {
                children.entry(parent.as_str()).or_default().push(index);
            }
            _ => top.push(index),
        }
        // Instances with the same id share their interaction state, so neither is cached.
        if !seen.insert(&instance.id) {
            twice.insert(instance.id.as_str());
        }
    }
    // The id of a nested component begins with the id of its outermost instance.
    twice.extend(scene.overrides.iter().filter_map(|over| over.instance.split('/').next()));
    let mut builder = SceneBuilder {
        library,
        scene,
        interaction,
        limits,
        children,
        tree: ElementTree::default(),
        problems: Vec::new(),
        statuses: vec![SceneOverrideStatus::InstanceMissing; scene.overrides.len()],
        shown: BTreeMap::new(),
        cache,
        own: twice,
        started: Instant::now(),
        steps: 0,
        stopped: false,
    };
    let roots = match &scene.target {
        SceneTarget::Route { .. } => {
            let mut roots = Vec::new();
            for index in top {
                roots.extend(builder.scene_instance(index, None, InheritedStyle::default(), 0));
            }
            roots
        }
        SceneTarget::Component { component } => builder.build_component(component, None),
        SceneTarget::Variant { component, variant } => builder.build_component(component, Some(variant)),
    };
    builder.tree.roots = roots;
    let list = builder.open_list();
    builder.tree.roots.extend(list);
    if let Some(kept) = builder.cache.as_mut().filter(|kept| kept.len() > scene.instances.len()) {
        kept.retain(|id| seen.contains(id));
    }
    (builder.tree, builder.problems, builder.statuses)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct InheritedStyle {
    pub(super) colour: Colour,
    pub(super) text: TypeStep,
    pub(super) weight: Weight,
}

impl Default for InheritedStyle {
    fn default() -> Self {
        Self { colour: Colour::Token(ColourToken::Text), text: TypeStep::Body, weight: Weight::Regular }
    }
}

#[derive(Clone, Copy)]
pub(super) enum SlotContent<'c> {
    Nothing,
    /// Instances of the page.
    Instances(&'c [usize]),
    /// Nodes of the component that contains this one.
    Nodes {
        children: &'c [ViewNode],
        slots: &'c [(Arc<str>, Vec<ViewNode>)],
        outer: &'c ComponentBuildContext<'c>,
    },
}

/// The context of a component during the build.
#[derive(Clone)]
pub(super) struct ComponentBuildContext<'c> {
    component: &'c Component,
    pub(super) scope: ExpressionScope,
    fill: SlotContent<'c>,
    /// The index in the tree.
    pub(super) instance: usize,
    depth: usize,
    /// The iterations of the enclosing loops, as written in ids: `[2][0]`.
    turns: Option<Arc<str>>,
}

pub(super) struct SceneBuilder<'a> {
    library: &'a ComponentLibrary,
    scene: &'a PreviewScene,
    pub(super) interaction: &'a PreviewInteraction,
    limits: &'a BuildLimits,
    children: BTreeMap<&'a str, Vec<usize>>,
    pub(super) tree: ElementTree,
    problems: Vec<PreviewProblem>,
    statuses: Vec<SceneOverrideStatus>,
    /// How often an instance has built the component at one place in the same iteration. A slot can be rendered twice.
    shown: BTreeMap<(usize, SourcePosition, Option<Arc<str>>), usize>,
    cache: Option<&'a mut BuildCache>,
    /// Instances that are never cached.
    own: BTreeSet<&'a str>,
    started: Instant,
    /// The number of visited nodes.
    steps: usize,
    pub(super) stopped: bool,
}

impl<'a> SceneBuilder<'a> {
    fn build_component(&mut self, component: &str, variant: Option<&String>) -> Vec<usize> {
        let mut props = Map::new();
        let id = variant.map_or_else(|| component.to_owned(), |variant| format!("{component}@{variant}"));
        if let (Some(variant), Some(found)) = (variant, self.library.get(component)) {
            match found.variant(variant) {
                Some(variant) => props = variant.props.clone(),
                None => {
                    let message = format!("unknown variant `{}`", visible_text(variant, 60));
                    self.problem(&found.file, SourcePosition::START, message, None);
                }
            }
        }
        let instance = SceneInstance { id, component: component.to_owned(), props, parent: None, slot: None };
        self.instance(&instance, SlotContent::Nothing, None, InheritedStyle::default(), 0)
    }

    fn scene_instance(
        &mut self,
        index: usize,
        parent: Option<usize>,
        inherited: InheritedStyle,
        depth: usize,
    ) -> Vec<usize> {
        let scene = self.scene;
        let Some(instance) = scene.instances.get(index) else { return Vec::new() };
        let inside = self.children.get(instance.id.as_str()).cloned().unwrap_or_default();
        let library = self.library;
        let component = library.get(&instance.component);
        let (Some(component), true, false) = (component, inside.is_empty(), self.own.contains(&*instance.id))
        else {
            return self.instance(instance, SlotContent::Instances(&inside), parent, inherited, depth);
        };
        let source = InstanceSource { id: &instance.id, component, props: &instance.props, inherited, depth };
        if !self.stopped
            && self.has_room()
            && let Some(kept) = &self.cache
            && let Some(roots) = kept.take_entry(&source, self.interaction, parent, &mut self.tree)
        {
            return roots;
        }
        let first = (self.tree.elements.len(), self.tree.instances.len());
        let problems = self.problems.len();
        let roots = self.instance(instance, SlotContent::Instances(&inside), parent, inherited, depth);
        if let (Some(kept), false, true) = (&mut self.cache, self.stopped, self.problems.len() == problems) {
            kept.store(&source, self.interaction, first, &roots, &self.tree);
        }
        roots
    }

    /// Returns whether the build is far enough from its limits that reused instances cannot exceed them.
    fn has_room(&self) -> bool {
        self.tree.elements.len() < self.limits.elements / 2
            && self.tree.instances.len() < MAX_SCREEN_INSTANCES / 2
    }

    fn instance(
        &mut self,
        instance: &SceneInstance,
        fill: SlotContent<'_>,
        parent: Option<usize>,
        inherited: InheritedStyle,
        depth: usize,
    ) -> Vec<usize> {
        let library = self.library;
        let Some(component) = library.get(&instance.component) else {
            return self.unknown(instance, fill, parent, inherited, depth);
        };
        let Some(index) =
            self.place(&instance.id, &instance.component, parent, &component.file, component.view.place)
        else {
            return Vec::new();
        };
        let scope = if self.scene.overrides.iter().any(|over| over.instance == instance.id) {
            let props = component.with_defaults(&instance.props);
            let props = props_of(&instance.id, props, &self.scene.overrides, &mut self.statuses);
            ExpressionScope::for_props(components::from_json(&serde_json::Value::Object(props)))
        } else {
            ExpressionScope::for_instance(component, &instance.props)
        };
        let frame = ComponentBuildContext { component, scope, fill, instance: index, depth, turns: None };
        let roots = self.node(&component.view, &frame, inherited, ElementKey::hash(&instance.id));
        if let Some(placed) = self.tree.instances.get_mut(index) {
            placed.roots.clone_from(&roots);
        }
        roots
    }

    /// Builds a placeholder for a type without a component: a box with its name around its children.
    fn unknown(
        &mut self,
        instance: &SceneInstance,
        fill: SlotContent<'_>,
        parent: Option<usize>,
        inherited: InheritedStyle,
        depth: usize,
    ) -> Vec<usize> {
        let Some(index) = self.place(&instance.id, &instance.component, parent, "", SourcePosition::START)
        else {
            return Vec::new();
        };
        let muted = InheritedStyle {
            colour: Colour::Token(ColourToken::Muted),
            text: TypeStep::Caption,
            ..inherited
        };
        let name = visible_text(&instance.component, 60);
        let mut children: Vec<usize> =
            self.element(ElementContent::Text(name.into()), Style::default(), muted).into_iter().collect();
        if let SlotContent::Instances(inside) = fill {
            for child in inside {
                if depth < self.limits.depth {
                    children.extend(self.scene_instance(*child, Some(index), inherited, depth + 1));
                }
            }
        }
        let style = Style {
            gap: Some(StyleSpacing(8.0)),
            padding: Some(StyleInsets { top: 12.0, right: 12.0, bottom: 12.0, left: 12.0 }),
            border: Some(Border::Thin),
            border_colour: Some(Colour::Token(ColourToken::BorderStrong)),
            radius: Some(StyleRadius::Step(RadiusStep::Medium)),
            ..Style::default()
        };
        let roots: Vec<usize> =
            self.element(ElementContent::Box(ElementFlow::Column), style, inherited).into_iter().collect();
        if let Some(element) = roots.first().and_then(|root| self.tree.elements.get_mut(*root)) {
            element.children = children;
        }
        if let Some(placed) = self.tree.instances.get_mut(index) {
            placed.roots.clone_from(&roots);
        }
        roots
    }

    fn place(
        &mut self,
        id: &str,
        component: &str,
        parent: Option<usize>,
        file: &str,
        at: SourcePosition,
    ) -> Option<usize> {
        if self.tree.instances.len() >= MAX_SCREEN_INSTANCES {
            self.stop(file, at, format!("more than {MAX_SCREEN_INSTANCES} instances on one screen"));
        }
        if self.stopped {
            return None;
        }
        self.tree.instances.push(PlacedInstance {
            id: id.to_owned(),
            component: component.to_owned(),
            parent,
            file: file.to_owned(),
            line: at.line,
            roots: Vec::new(),
        });
        Some(self.tree.instances.len() - 1)
    }

    /// Recursion is bounded by the depth limit.
    fn node(
        &mut self,
        node: &ViewNode,
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
        key: ElementKey,
    ) -> Vec<usize> {
        if self.stopped || !self.within_budget(node, frame) {
            return Vec::new();
        }
        let frame = &ComponentBuildContext { depth: frame.depth + 1, ..frame.clone() };
        match self.try_node(node, frame, inherited, key) {
            Ok(elements) => elements,
            Err(error) => {
                let instance = self.id_of(frame.instance);
                self.problem(&frame.component.file, error.place, error.to_string(), instance);
                self.build_error_marker().into_iter().collect()
            }
        }
    }

    fn within_budget(&mut self, node: &ViewNode, frame: &ComponentBuildContext<'_>) -> bool {
        let file = &frame.component.file;
        self.steps += 1;
        if frame.depth >= self.limits.depth {
            self.stop(file, node.place, format!("nested more than {} levels deep", self.limits.depth));
        } else if self.tree.elements.len() >= self.limits.elements {
            self.stop(file, node.place, format!("more than {} elements on one screen", self.limits.elements));
        } else if self.steps.is_multiple_of(64) && self.started.elapsed() > self.limits.time {
            self.stop(file, node.place, format!("took longer than {} ms", self.limits.time.as_millis()));
        }
        !self.stopped
    }

    pub(super) fn nodes(
        &mut self,
        nodes: &[ViewNode],
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
        key: ElementKey,
    ) -> Vec<usize> {
        let mut elements = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            elements.extend(self.node(node, frame, inherited, key.step(index)));
        }
        elements
    }

    fn try_node(
        &mut self,
        node: &ViewNode,
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
        key: ElementKey,
    ) -> Result<Vec<usize>, ExpressionError> {
        match &node.kind {
            ViewNodeKind::Each { items, item, index } => {
                let list = items.eval(&frame.scope)?;
                let values = list.try_iter().map_err(|_| type_mismatch(items, node, "a list"))?;
                let mut elements = Vec::new();
                for (position, value) in values.enumerate() {
                    let mut scope = frame.scope.with_variable(item, value);
                    if let Some(index) = index {
                        scope = scope.with_variable(index, Value::from(position));
                    }
                    let around = frame.turns.as_deref().unwrap_or_default();
                    let turns = Some(Arc::from(format!("{around}[{position}]")));
                    let inner = ComponentBuildContext { scope, turns, ..frame.clone() };
                    elements.extend(self.nodes(&node.children, &inner, inherited, key.step(position)));
                    if self.stopped {
                        break;
                    }
                }
                Ok(elements)
            }
            ViewNodeKind::If { condition, otherwise } => {
                let (nodes, step) = if condition.eval(&frame.scope)?.is_true() {
                    (&node.children, 0)
                } else {
                    (otherwise, 1)
                };
                Ok(self.nodes(nodes, frame, inherited, key.step(step)))
            }
            ViewNodeKind::Slot { name } => Ok(self.slot(name, node, frame, inherited, key)),
            ViewNodeKind::Component { component, props, slots, part } => {
                let mut set = Map::new();
                for (name, bound) in props {
                    let value = bound.eval(&frame.scope)?;
                    set.insert(name.to_string(), components::to_json(&value));
                }
                let id = self.id_within(frame, part, node.place);
                let instance = SceneInstance {
                    id,
                    component: component.to_string(),
                    props: set,
                    parent: None,
                    slot: None,
                };
                Ok(self.nested(&instance, node, slots, frame, inherited))
            }
            _ => self.box_of(node, frame, inherited, key),
        }
    }

    fn slot(
        &mut self,
        name: &str,
        node: &ViewNode,
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
        key: ElementKey,
    ) -> Vec<usize> {
        match frame.fill {
            SlotContent::Instances(inside) => {
                let scene = self.scene;
                let wanted: Vec<usize> = inside
                    .iter()
                    .copied()
                    .filter(|index| {
                        let slot = scene.instances.get(*index).and_then(|child| child.slot.as_deref());
                        slot.unwrap_or("children") == name
                    })
                    .collect();
                if wanted.is_empty() {
                    return self.nodes(&node.children, frame, inherited, key);
                }
                let mut elements = Vec::new();
                for index in wanted {
                    elements.extend(self.scene_instance(index, Some(frame.instance), inherited, frame.depth));
                }
                elements
            }
            SlotContent::Nodes { children, slots, outer } => {
                let nodes = if name == "children" {
                    children
                } else {
                    slots.iter().find(|(slot, _)| **slot == *name).map_or(&[][..], |(_, nodes)| nodes)
                };
                if nodes.is_empty() {
                    return self.nodes(&node.children, frame, inherited, key);
                }
                let outer = ComponentBuildContext { depth: frame.depth, ..outer.clone() };
                self.nodes(nodes, &outer, inherited, key.step(name.len()))
            }
            SlotContent::Nothing => self.nodes(&node.children, frame, inherited, key),
        }
    }

    /// Returns the id of a nested component: the id of the enclosing instance, the part name and the loop iterations.
    fn id_within(
        &mut self,
        frame: &ComponentBuildContext<'_>,
        part: &ComponentPart,
        place: SourcePosition,
    ) -> String {
        let around = self.id_of(frame.instance).unwrap_or_default();
        let times = self.shown.entry((frame.instance, place, frame.turns.clone())).or_default();
        let turns = frame.turns.as_deref().unwrap_or_default();
        let mut id = format!("{around}/{}{turns}", part.name);
        if *times > 0 {
            id = format!("{id}~{times}");
        }
        *times += 1;
        if id.len() > MAX_PREVIEW_ID_CHARS {
            // The id stays stable between renders; it is too deep to be overridden.
            let owner = id.split('/').next().unwrap_or_default();
            id = format!("{owner}/~{}", ElementKey::hash(&id));
        }
        id
    }

    /// Builds a component inside another component.
    fn nested(
        &mut self,
        instance: &SceneInstance,
        node: &ViewNode,
        slots: &[(Arc<str>, Vec<ViewNode>)],
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
    ) -> Vec<usize> {
        let fill = SlotContent::Nodes { children: &node.children, slots, outer: frame };
        let first = self.tree.instances.len();
        let roots = self.instance(instance, fill, Some(frame.instance), inherited, frame.depth);
        if let Some(placed) = self.tree.instances.get_mut(first) {
            // The location of the use, not of the definition.
            placed.file.clone_from(&frame.component.file);
            placed.line = node.place.line;
        }
        roots
    }

    /// Reports a missing picture with its location. The rest of the page is not affected.
    pub(super) fn check_picture(&mut self, path: &str, node: &ViewNode, frame: &ComponentBuildContext<'_>) {
        if !path.is_empty() && self.cache.as_ref().is_some_and(|kept| kept.lacks(path)) {
            let path = visible_text(path, 200);
            let message = format!("picture {path} not found; expected a PNG file in the workspace");
            let instance = self.id_of(frame.instance);
            self.problem(&frame.component.file, node.place, message, instance);
        }
    }

    fn id_of(&self, instance: usize) -> Option<String> {
        self.tree.instances.get(instance).map(|placed| placed.id.clone())
    }

    fn stop(&mut self, file: &str, place: SourcePosition, message: String) {
        if !self.stopped {
            self.stopped = true;
            self.problem(file, place, format!("the page is truncated here: {message}"), None);
        }
    }

    fn problem(&mut self, file: &str, place: SourcePosition, message: String, instance: Option<String>) {
        if self.problems.len() < MAX_BUILD_PROBLEMS {
            let message = visible_text(&message, 400);
            self.problems.push(PreviewProblem {
                file: file.to_owned(),
                line: place.line,
                column: place.column,
                message,
                instance,
            });
        }
    }
}
