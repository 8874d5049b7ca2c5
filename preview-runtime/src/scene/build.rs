//! Building the elements of a scene.

use super::{
    Content, Control, ControlKind, Element, Fit, Flow, Interaction, Key, Placed, Scene, Tree, controls,
    props_of,
};
use crate::look;
use components::{
    Align, Border, Bound, Colour, Component, EvalError, Justify, Kind, Library, MAX_TEXT, Node, Place,
    Radius, Scope, Sides, Space, Style, StyleSheet, Token, TypeStep, Value, Weight, visible,
};
use serde_json::Map;
use shared_protocol::preview::{MAX_INSTANCES, OverrideStatus, PreviewProblem, SceneInstance, Target};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// What one build may cost. Crossing a bound ends the build where it is, with a problem.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub elements: usize,
    pub depth: usize,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { elements: 20_000, depth: 96, time: Duration::from_millis(250) }
    }
}

const MAX_PROBLEMS: usize = 100;

/// The elements, what went wrong, and how each override went.
pub fn build(
    library: &Library,
    scene: &Scene,
    interaction: &Interaction,
    limits: &Limits,
) -> (Tree, Vec<PreviewProblem>, Vec<OverrideStatus>) {
    let mut children: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut top = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (index, instance) in scene.instances.iter().enumerate() {
        match &instance.parent {
            // A parent that comes later or is not there could close a circle.
            Some(parent) if seen.contains(parent.as_str()) => {
                children.entry(parent.as_str()).or_default().push(index);
            }
            _ => top.push(index),
        }
        seen.insert(&instance.id);
    }
    let mut builder = Builder {
        library,
        scene,
        interaction,
        limits,
        children,
        tree: Tree::default(),
        problems: Vec::new(),
        statuses: vec![OverrideStatus::InstanceMissing; scene.overrides.len()],
        shown: BTreeMap::new(),
        started: Instant::now(),
        stopped: false,
    };
    let roots = match &scene.target {
        Target::Route { .. } => {
            let mut roots = Vec::new();
            for index in top {
                roots.extend(builder.scene_instance(index, None, Inherited::default(), 0));
            }
            roots
        }
        Target::Component { component } => builder.alone(component, None),
        Target::Variant { component, variant } => builder.alone(component, Some(variant)),
    };
    builder.tree.roots = roots;
    (builder.tree, builder.problems, builder.statuses)
}

/// What children take over from their parents.
#[derive(Debug, Clone, Copy)]
struct Inherited {
    colour: Colour,
    text: TypeStep,
    weight: Weight,
}

impl Default for Inherited {
    fn default() -> Self {
        Self { colour: Colour::Token(Token::Text), text: TypeStep::Body, weight: Weight::Regular }
    }
}

/// What goes into the slots of a component.
#[derive(Clone, Copy)]
enum Fill<'c> {
    Nothing,
    /// Instances of the page.
    Instances(&'c [usize]),
    /// Nodes of the component that shows this one.
    Nodes {
        children: &'c [Node],
        slots: &'c [(Arc<str>, Vec<Node>)],
        outer: &'c Frame<'c>,
    },
}

/// One component that is being built.
#[derive(Clone)]
struct Frame<'c> {
    component: &'c Component,
    scope: Scope,
    fill: Fill<'c>,
    /// In the tree.
    instance: usize,
    depth: usize,
}

struct Builder<'a> {
    library: &'a Library,
    scene: &'a Scene,
    interaction: &'a Interaction,
    limits: &'a Limits,
    children: BTreeMap<&'a str, Vec<usize>>,
    tree: Tree,
    problems: Vec<PreviewProblem>,
    statuses: Vec<OverrideStatus>,
    /// How often an instance has shown the component of one of its places.
    shown: BTreeMap<(usize, Place), usize>,
    started: Instant,
    stopped: bool,
}

impl<'a> Builder<'a> {
    /// A component by itself, in the middle of nothing.
    fn alone(&mut self, component: &str, variant: Option<&String>) -> Vec<usize> {
        let mut props = Map::new();
        if let (Some(variant), Some(found)) = (variant, self.library.get(component)) {
            match found.variant(variant) {
                Some(variant) => props = variant.props.clone(),
                None => {
                    let message = format!("there is no variant `{}`", visible(variant, 60));
                    self.problem(&found.file, Place::START, message, None);
                }
            }
        }
        let instance = SceneInstance {
            id: component.to_owned(),
            component: component.to_owned(),
            props,
            parent: None,
            slot: None,
        };
        self.instance(&instance, Fill::Nothing, None, Inherited::default(), 0)
    }

    fn scene_instance(
        &mut self,
        index: usize,
        parent: Option<usize>,
        inherited: Inherited,
        depth: usize,
    ) -> Vec<usize> {
        let scene = self.scene;
        let Some(instance) = scene.instances.get(index) else { return Vec::new() };
        let inside = self.children.get(instance.id.as_str()).cloned().unwrap_or_default();
        self.instance(instance, Fill::Instances(&inside), parent, inherited, depth)
    }

    fn instance(
        &mut self,
        instance: &SceneInstance,
        fill: Fill<'_>,
        parent: Option<usize>,
        inherited: Inherited,
        depth: usize,
    ) -> Vec<usize> {
        let library = self.library;
        let Some(component) = library.get(&instance.component) else {
            return self.unknown(instance, fill, parent, inherited, depth);
        };
        let props = component.with_defaults(&instance.props);
        let props = props_of(&instance.id, props, &self.scene.overrides, &mut self.statuses);
        let Some(index) =
            self.place(&instance.id, &instance.component, parent, &component.file, component.view.place)
        else {
            return Vec::new();
        };
        let scope = Scope::of_props(components::from_json(&serde_json::Value::Object(props)));
        let frame = Frame { component, scope, fill, instance: index, depth };
        let roots = self.node(&component.view, &frame, inherited, Key::of(&instance.id));
        if let Some(placed) = self.tree.instances.get_mut(index) {
            placed.roots.clone_from(&roots);
        }
        roots
    }

    /// A type for which there is no component: a box with its name, around what it holds.
    fn unknown(
        &mut self,
        instance: &SceneInstance,
        fill: Fill<'_>,
        parent: Option<usize>,
        inherited: Inherited,
        depth: usize,
    ) -> Vec<usize> {
        let Some(index) = self.place(&instance.id, &instance.component, parent, "", Place::START) else {
            return Vec::new();
        };
        let muted = Inherited { colour: Colour::Token(Token::Muted), text: TypeStep::Caption, ..inherited };
        let name = visible(&instance.component, 60);
        let mut children: Vec<usize> =
            self.element(Content::Text(name.into()), Style::default(), muted).into_iter().collect();
        if let Fill::Instances(inside) = fill {
            for child in inside {
                if depth < self.limits.depth {
                    children.extend(self.scene_instance(*child, Some(index), inherited, depth + 1));
                }
            }
        }
        let style = Style {
            gap: Some(Space(8.0)),
            padding: Some(Sides { top: 12.0, right: 12.0, bottom: 12.0, left: 12.0 }),
            border: Some(Border::Thin),
            border_colour: Some(Colour::Token(Token::BorderStrong)),
            radius: Some(Radius::Medium),
            ..Style::default()
        };
        let roots: Vec<usize> =
            self.element(Content::Box(Flow::Column), style, inherited).into_iter().collect();
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
        at: Place,
    ) -> Option<usize> {
        if self.tree.instances.len() >= MAX_INSTANCES {
            self.stop(file, at, format!("more than {MAX_INSTANCES} instances on one screen"));
        }
        if self.stopped {
            return None;
        }
        self.tree.instances.push(Placed {
            id: id.to_owned(),
            component: component.to_owned(),
            parent,
            file: file.to_owned(),
            line: at.line,
            roots: Vec::new(),
        });
        Some(self.tree.instances.len() - 1)
    }

    /// Recursive, which the limit on depth bounds.
    fn node(&mut self, node: &Node, frame: &Frame<'_>, inherited: Inherited, key: Key) -> Vec<usize> {
        if self.stopped || !self.within_budget(node, frame) {
            return Vec::new();
        }
        let frame = &Frame { depth: frame.depth + 1, ..frame.clone() };
        match self.try_node(node, frame, inherited, key) {
            Ok(elements) => elements,
            Err(error) => {
                let instance = self.id_of(frame.instance);
                self.problem(&frame.component.file, error.place, error.to_string(), instance);
                self.mark().into_iter().collect()
            }
        }
    }

    fn within_budget(&mut self, node: &Node, frame: &Frame<'_>) -> bool {
        let file = &frame.component.file;
        if frame.depth >= self.limits.depth {
            self.stop(file, node.place, format!("nested more than {} levels deep", self.limits.depth));
        } else if self.tree.elements.len() >= self.limits.elements {
            self.stop(file, node.place, format!("more than {} elements on one screen", self.limits.elements));
        } else if self.tree.elements.len().is_multiple_of(64) && self.started.elapsed() > self.limits.time {
            self.stop(file, node.place, format!("took longer than {} ms", self.limits.time.as_millis()));
        }
        !self.stopped
    }

    fn nodes(&mut self, nodes: &[Node], frame: &Frame<'_>, inherited: Inherited, key: Key) -> Vec<usize> {
        let mut elements = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            elements.extend(self.node(node, frame, inherited, key.step(index)));
        }
        elements
    }

    fn try_node(
        &mut self,
        node: &Node,
        frame: &Frame<'_>,
        inherited: Inherited,
        key: Key,
    ) -> Result<Vec<usize>, EvalError> {
        match &node.kind {
            Kind::Each { items, item, index } => {
                let list = items.eval(&frame.scope)?;
                let values = list.try_iter().map_err(|_| not(items, node, "a list"))?;
                let mut elements = Vec::new();
                for (position, value) in values.enumerate() {
                    let mut scope = frame.scope.with(item, value);
                    if let Some(index) = index {
                        scope = scope.with(index, Value::from(position));
                    }
                    let inner = Frame { scope, ..frame.clone() };
                    elements.extend(self.nodes(&node.children, &inner, inherited, key.step(position)));
                    if self.stopped {
                        break;
                    }
                }
                Ok(elements)
            }
            Kind::If { condition, otherwise } => {
                let (nodes, step) = if condition.eval(&frame.scope)?.is_true() {
                    (&node.children, 0)
                } else {
                    (otherwise, 1)
                };
                Ok(self.nodes(nodes, frame, inherited, key.step(step)))
            }
            Kind::Slot { name } => Ok(self.slot(name, node, frame, inherited, key)),
            Kind::Component { component, props, slots } => {
                let mut set = Map::new();
                for (name, bound) in props {
                    let value = bound.eval(&frame.scope)?;
                    set.insert(name.to_string(), components::to_json(&value));
                }
                Ok(self.nested(component, set, node, slots, frame, inherited))
            }
            _ => self.box_of(node, frame, inherited, key),
        }
    }

    fn slot(
        &mut self,
        name: &str,
        node: &Node,
        frame: &Frame<'_>,
        inherited: Inherited,
        key: Key,
    ) -> Vec<usize> {
        match frame.fill {
            Fill::Instances(inside) => {
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
            Fill::Nodes { children, slots, outer } => {
                let nodes = if name == "children" {
                    children
                } else {
                    slots.iter().find(|(slot, _)| **slot == *name).map_or(&[][..], |(_, nodes)| nodes)
                };
                if nodes.is_empty() {
                    return self.nodes(&node.children, frame, inherited, key);
                }
                let outer = Frame { depth: frame.depth, ..outer.clone() };
                self.nodes(nodes, &outer, inherited, key.step(name.len()))
            }
            Fill::Nothing => self.nodes(&node.children, frame, inherited, key),
        }
    }

    /// A component that another shows. Its id says where: the instance around it, and the line.
    fn nested(
        &mut self,
        component: &str,
        props: Map<String, serde_json::Value>,
        node: &Node,
        slots: &[(Arc<str>, Vec<Node>)],
        frame: &Frame<'_>,
        inherited: Inherited,
    ) -> Vec<usize> {
        let around = self.id_of(frame.instance).unwrap_or_default();
        let times = self.shown.entry((frame.instance, node.place)).or_default();
        let mut id = format!("{around}/{}", node.place.line);
        if *times > 0 {
            id = format!("{id}.{times}");
        }
        *times += 1;
        let instance = SceneInstance { id, component: component.to_owned(), props, parent: None, slot: None };
        let fill = Fill::Nodes { children: &node.children, slots, outer: frame };
        let first = self.tree.instances.len();
        let roots = self.instance(&instance, fill, Some(frame.instance), inherited, frame.depth);
        if let Some(placed) = self.tree.instances.get_mut(first) {
            // Where it is shown, rather than where it is defined.
            placed.file.clone_from(&frame.component.file);
            placed.line = node.place.line;
        }
        roots
    }

    /// A node that has a box of its own.
    fn box_of(
        &mut self,
        node: &Node,
        frame: &Frame<'_>,
        inherited: Inherited,
        key: Key,
    ) -> Result<Vec<usize>, EvalError> {
        let control = self.control(node, frame, key)?;
        let mut style = controls::base(&node.kind);
        style.overlay(&node.style.resolve(&frame.scope)?);
        let mut ring = false;
        if let Some(control) = &control {
            let mut over = |sheet: &Option<StyleSheet>, holds: bool| -> Result<bool, EvalError> {
                if let (Some(sheet), true) = (sheet, holds) {
                    style.overlay(&sheet.resolve(&frame.scope)?);
                }
                Ok(sheet.is_some() && holds)
            };
            let live = !control.disabled;
            let states = &node.states;
            over(&states.hover, live && self.interaction.hovered.contains(&key))?;
            let focused = live && self.interaction.focused == Some(key);
            ring = focused && !over(&states.focus, focused)?;
            over(&states.pressed, live && self.interaction.pressed == Some(key))?;
            let shown = over(&states.disabled, control.disabled)?;
            if control.disabled && !shown && !matches!(control.kind, ControlKind::Plain) {
                style.opacity = Some(components::Opacity(0.5));
            }
        }
        let inherited = Inherited {
            colour: style.colour.unwrap_or(inherited.colour),
            text: style.text.unwrap_or(inherited.text),
            weight: style.weight.unwrap_or(inherited.weight),
        };
        let content = match &node.kind {
            Kind::Text { text } => Content::Text(shown(&text.eval(&frame.scope)?)),
            Kind::Icon { icon } => {
                let name = icon.eval(&frame.scope)?;
                let name = name.as_str().unwrap_or_default();
                if name.is_empty() {
                    return Ok(Vec::new());
                }
                Content::Icon(look::icon(name).ok_or_else(|| not(icon, node, "the name of an icon"))?)
            }
            Kind::Image { source, fit } => {
                let fit = match fit.eval(&frame.scope)?.as_str() {
                    Some("contain") => Fit::Contain,
                    Some("fill") => Fit::Fill,
                    _ => Fit::Cover,
                };
                Content::Picture { path: shown(&source.eval(&frame.scope)?), fit }
            }
            Kind::Column => Content::Box(Flow::Column),
            Kind::Box if node.children.len() > 1 => Content::Box(Flow::Column),
            Kind::Grid => Content::Box(Flow::Grid),
            Kind::Stack => Content::Box(Flow::Stack),
            _ => Content::Box(Flow::Row),
        };
        let Some(index) = self.element(content, style, inherited) else {
            return Ok(Vec::new());
        };
        let children = match &control {
            Some(control) if !matches!(control.kind, ControlKind::Plain | ControlKind::Button { .. }) => {
                self.inside_of(control, node, frame, inherited)?
            }
            _ => self.nodes(&node.children, frame, inherited, key),
        };
        if let Some(element) = self.tree.elements.get_mut(index) {
            element.children = children;
            element.control = control;
            element.ring = ring;
        }
        Ok(vec![index])
    }

    fn control(&self, node: &Node, frame: &Frame<'_>, key: Key) -> Result<Option<Control>, EvalError> {
        let scope = &frame.scope;
        let flag = |bound: &Option<Bound>| -> Result<bool, EvalError> {
            bound.as_ref().map_or(Ok(false), |bound| bound.eval(scope).map(|value| value.is_true()))
        };
        let text = |bound: &Option<Bound>| -> Result<Arc<str>, EvalError> {
            bound.as_ref().map_or(Ok("".into()), |bound| bound.eval(scope).map(|value| shown(&value)))
        };
        let typed = self.interaction.typed.get(&key);
        let (kind, disabled) = match &node.kind {
            Kind::Button { disabled, action } => {
                let action = text(action)?;
                let action = if action.is_empty() { "press".into() } else { action };
                (ControlKind::Button { action }, flag(disabled)?)
            }
            Kind::Input { value, disabled, .. } => {
                let value = match typed {
                    Some(super::Typed::Text(text)) => text.as_str().into(),
                    _ => text(value)?,
                };
                (ControlKind::Input { value }, flag(disabled)?)
            }
            Kind::Checkbox { checked, disabled } => {
                let ticked = match typed {
                    Some(super::Typed::Ticked(ticked)) => *ticked,
                    _ => flag(checked)?,
                };
                (ControlKind::Checkbox { ticked }, flag(disabled)?)
            }
            Kind::Select { value, options, disabled, .. } => {
                let list = options.eval(scope)?;
                let items = list.try_iter().map_err(|_| not(options, node, "a list of texts"))?;
                let options = items.take(controls::MAX_OPTIONS).map(|item| shown(&item)).collect();
                let value = match typed {
                    Some(super::Typed::Text(text)) => text.as_str().into(),
                    _ => text(value)?,
                };
                (ControlKind::Select { value, options }, flag(disabled)?)
            }
            _ if node.states.hover.is_some() || node.states.pressed.is_some() => (ControlKind::Plain, false),
            _ => return Ok(None),
        };
        Ok(Some(Control { key, disabled, kind, instance: frame.instance }))
    }

    /// What an input, a checkbox or a select shows.
    fn inside_of(
        &mut self,
        control: &Control,
        node: &Node,
        frame: &Frame<'_>,
        inherited: Inherited,
    ) -> Result<Vec<usize>, EvalError> {
        let focused = self.interaction.focused == Some(control.key) && !control.disabled;
        let muted = Inherited { colour: Colour::Token(Token::Faint), ..inherited };
        let (placeholder, secret) = match &node.kind {
            Kind::Input { placeholder, secret, .. } => (placeholder.as_ref(), secret.as_ref()),
            Kind::Select { placeholder, .. } => (placeholder.as_ref(), None),
            _ => (None, None),
        };
        let placeholder =
            placeholder.map(|bound| bound.eval(&frame.scope).map(|value| shown(&value))).transpose()?;
        let secret = secret.map(|bound| bound.eval(&frame.scope).map(|value| value.is_true())).transpose()?;
        let mut inside = Vec::new();
        let one_line = Style { lines: Some(components::Count(1)), ..Style::default() };
        match &control.kind {
            ControlKind::Checkbox { ticked: true } => {
                if let Some(check) = look::icon("check") {
                    inside.extend(self.element(Content::Icon(check), controls::tick(), inherited));
                }
            }
            ControlKind::Input { value } | ControlKind::Select { value, .. } => {
                let empty = value.is_empty();
                let text = match (empty, secret) {
                    (true, _) => placeholder.unwrap_or_default(),
                    (false, Some(true)) => "•".repeat(value.chars().count().min(200)).into(),
                    (false, _) => Arc::clone(value),
                };
                let look = if empty { muted } else { inherited };
                let caret = focused && matches!(control.kind, ControlKind::Input { .. });
                let mut content = self.element(Content::Text(text), one_line, look);
                let caret = caret
                    .then(|| self.element(Content::Box(Flow::Row), controls::caret(), inherited))
                    .flatten();
                // The caret stands before a placeholder and after what was typed.
                let parts = if empty { [caret, content.take()] } else { [content.take(), caret] };
                inside.extend(parts.into_iter().flatten());
                if matches!(control.kind, ControlKind::Select { .. }) {
                    let grow = Style { grow: Some(components::Share(1.0)), ..Style::default() };
                    inside.extend(self.element(Content::Box(Flow::Row), grow, inherited));
                    if let Some(down) = look::icon("chevron-down") {
                        inside.extend(self.element(Content::Icon(down), controls::chevron(), muted));
                    }
                }
            }
            _ => {}
        }
        Ok(inside)
    }

    fn element(&mut self, content: Content, style: Style, inherited: Inherited) -> Option<usize> {
        // One more than the limit is harmless; the next node stops.
        if self.stopped {
            return None;
        }
        self.tree.elements.push(Element {
            content,
            colour: style.colour.unwrap_or(inherited.colour),
            text: style.text.unwrap_or(inherited.text),
            weight: style.weight.unwrap_or(inherited.weight),
            style,
            children: Vec::new(),
            control: None,
            ring: false,
        });
        Some(self.tree.elements.len() - 1)
    }

    /// Stands where an expression failed.
    fn mark(&mut self) -> Option<usize> {
        let inherited = Inherited {
            colour: Colour::Token(Token::OnDangerSoft),
            text: TypeStep::Caption,
            weight: Weight::Regular,
        };
        let style = Style {
            background: Some(Colour::Token(Token::DangerSoft)),
            padding: Some(Sides { top: 2.0, right: 6.0, bottom: 2.0, left: 6.0 }),
            radius: Some(Radius::Small),
            align: Some(Align::Center),
            justify: Some(Justify::Center),
            ..Style::default()
        };
        let text = self.element(Content::Text("error".into()), Style::default(), inherited)?;
        let mark = self.element(Content::Box(Flow::Row), style, inherited)?;
        self.tree.elements.get_mut(mark)?.children = vec![text];
        Some(mark)
    }

    fn id_of(&self, instance: usize) -> Option<String> {
        self.tree.instances.get(instance).map(|placed| placed.id.clone())
    }

    fn stop(&mut self, file: &str, place: Place, message: String) {
        if !self.stopped {
            self.stopped = true;
            self.problem(file, place, format!("the page is cut off here: {message}"), None);
        }
    }

    fn problem(&mut self, file: &str, place: Place, message: String, instance: Option<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            let message = visible(&message, 400);
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

/// A value as a text to show.
fn shown(value: &Value) -> Arc<str> {
    match value.as_str() {
        Some(text) => visible(text, MAX_TEXT).into(),
        None if value.is_none() || value.is_undefined() => "".into(),
        None => visible(&value.to_string(), MAX_TEXT).into(),
    }
}

fn not(bound: &Bound, node: &Node, expected: &str) -> EvalError {
    let (expression, place) = match bound {
        Bound::Computed(expression) => (expression.text().to_owned(), expression.place()),
        Bound::Fixed(value) => (visible(&value.to_string(), 60), node.place),
    };
    EvalError { expression, reason: format!("is not {expected}"), place }
}
