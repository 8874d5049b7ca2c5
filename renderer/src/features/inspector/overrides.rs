//! Overrides in the inspector: values that replace props of a preview until they are cleared or saved to the board and
//! the components.

use super::controls::small_button_ui;
use crate::{
    features::inspector::InspectorContext,
    view::{FrameView, IsolatedComponent, WindowAction},
    widgets::small_text_ui,
};
use authority::overrides::set_at_path;
use egui::{Label, RichText, Ui};
use shared_protocol::{
    BoardKind, Command, Node, NodeId, NodeName, Override, OverrideKey, OverrideResolution, OverrideScope,
    OverrideSelector, PropKey, PropValue, SetOverride, TypeDef, TypeId, registry::PropDef, v0::JsonPointer,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The node id that stands for a component in its own preview, which is on no board.
const STAND_IN: NodeId = NodeId::from_bits(0);

fn alone_at<'a>(view: &FrameView<'a>, node: NodeId) -> Option<IsolatedComponent<'a>> {
    view.isolated_component().filter(|_| node == STAND_IN)
}

/// The scope of an override: a component in its own preview has its own.
fn scope_of(node: NodeId) -> OverrideScope {
    if node == STAND_IN { OverrideScope::Component } else { OverrideScope::App }
}

/// The instance of an override: the component in its own preview, the part that is selected in the preview, or the
/// node.
pub(super) fn instance_of(view: &FrameView<'_>, node: NodeId) -> Arc<str> {
    match (alone_at(view, node), view.part()) {
        (Some(alone), _) => Arc::from(alone.instance),
        (None, Some(part)) => Arc::from(part.instance.as_str()),
        (None, None) => Arc::from(node.to_string()),
    }
}

/// The type of the part that is selected in the preview.
pub(super) fn part_type<'a>(view: &FrameView<'a>) -> Option<&'a TypeDef> {
    let id = TypeId::parse(view.part()?.component.as_str()).ok()?;
    view.snapshot.registry().get(&id)
}

/// The component in its own preview as a node, with its overrides applied.
pub(super) fn as_node(view: &FrameView<'_>) -> Option<Node> {
    let alone = view.isolated_component()?;
    let type_id = TypeId::parse(alone.component).ok()?;
    let def = view.snapshot.registry().get(&type_id)?;
    let mut node = Node {
        id: STAND_IN,
        board: view.board?,
        name: NodeName::parse("component").ok()?,
        label: def.title.clone(),
        parent: None,
        type_id,
        props: BTreeMap::new(),
        references: BTreeMap::new(),
        variables: BTreeSet::new(),
    };
    apply_overrides_to(view, &mut node);
    Some(node)
}

/// Sets the props of the instance that differ from the default, with overrides applied.
fn apply_overrides_to(view: &FrameView<'_>, node: &mut Node) {
    let (scope, instance) = (scope_of(node.id), instance_of(view, node.id));
    let is_on_board = node.id != STAND_IN && view.part().is_none();
    if !is_on_board {
        node.props.clear();
    }
    if !is_on_board && let Ok(found) = view.snapshot.instance(scope, &instance) {
        let is_default = |key: &PropKey, value: &PropValue| {
            found.def.prop(key.as_str()).is_some_and(|prop| prop.default.as_ref() == Some(value))
        };
        let set = found.props.iter().filter(|(key, value)| !is_default(key, value));
        node.props = set.map(|(key, value)| (key.clone(), value.clone())).collect();
    }
    for (key, over) in view.snapshot.overrides_for(scope, &instance) {
        // An override that does not apply is listed as an orphan below.
        let _ = set_at_path(&mut node.props, &key.path, &over.value);
    }
}

fn key_of(view: &FrameView<'_>, node: NodeId, key: &PropKey) -> Option<OverrideKey> {
    let path = JsonPointer::parse(format!("/{key}")).ok()?;
    Some(OverrideKey::new(scope_of(node), instance_of(view, node), path))
}

/// Sets an override of a prop on all these nodes, or clears it.
pub(super) fn set_override(
    view: &FrameView<'_>,
    nodes: &[NodeId],
    key: &PropKey,
    value: Option<PropValue>,
) -> Command {
    let keys = nodes.iter().filter_map(|node| key_of(view, *node, key));
    match value {
        None => Command::ClearOverrides(OverrideSelector::These(keys.collect())),
        Some(value) => {
            let alone = nodes.first().and_then(|node| alone_at(view, *node));
            let component = match (alone, view.part()) {
                (Some(alone), _) => Some(Arc::from(alone.component)),
                (None, part) => part.map(|part| Arc::from(part.component.as_str())),
            };
            let set = keys.map(|key| SetOverride {
                scope: key.scope,
                instance: key.instance,
                path: key.path,
                value: value.clone(),
                component: component.clone(),
                locator: None,
            });
            Command::SetOverrides { set: set.collect() }
        }
    }
}

/// The override of a whole prop while overrides are set.
pub(super) fn override_value_for<'a>(
    view: &FrameView<'a>,
    node: NodeId,
    key: &PropKey,
) -> Option<&'a PropValue> {
    let key = key_of(view, node, key).filter(|_| view.is_overriding)?;
    view.snapshot.override_for(&key).map(|(_, over)| &over.value)
}

/// The node with its overrides applied. For a part, the props come from the component around it.
pub(super) fn as_shown(view: &FrameView<'_>, node: &Node) -> Node {
    let mut shown = node.clone();
    if let Some(type_id) = view.part().and_then(|part| TypeId::parse(part.component.as_str()).ok()) {
        shown.type_id = type_id;
    }
    apply_overrides_to(view, &mut shown);
    shown
}

/// Switches the controls between props of the board and overrides.
pub(super) fn switch_ui(ui: &mut Ui, cx: &InspectorContext<'_>, def: &TypeDef) {
    let interface = cx.view.board_kind() == Some(BoardKind::Interface) && !def.props.is_empty();
    if !interface || !cx.view.is_previewing || cx.view.visible_preview.is_none() {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        for (on, word, tip) in [
            (false, "Props", "Set the props on the board"),
            (true, "Overrides", "Try values in the preview without changing the board"),
        ] {
            let chosen = cx.view.is_overriding == on;
            let name = format!("Set {}", word.to_lowercase());
            let choice = ui.selectable_label(chosen, word).accessible_name(name).on_hover_text(tip);
            if choice.clicked() && !chosen {
                cx.act(WindowAction::SetOverriding(on));
            }
        }
    });
    if let Some(part) = cx.view.part() {
        let text = format!("Part: {} · {}:{}", part.component, part.file, part.line);
        small_text_ui(ui, cx.view.theme.text_muted, text);
    }
}

/// The badge below an overridden prop, with a reset button.
pub(super) fn badge_ui(ui: &mut Ui, cx: &InspectorContext<'_>, nodes: &[NodeId], prop: &PropDef) {
    let mut keys: Vec<OverrideKey> = Vec::new();
    for node in nodes {
        let instance = instance_of(cx.view, *node);
        let all = cx.view.snapshot.overrides_for(scope_of(*node), &instance).into_iter().map(|(key, _)| key);
        keys.extend(
            all.filter(|key| key.path.tokens().next().as_deref() == Some(prop.key.as_str())).cloned(),
        );
    }
    if keys.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        let colour = cx.view.theme.accent;
        let (dot, _) = ui.allocate_exact_size(egui::Vec2::splat(8.0), egui::Sense::hover());
        ui.painter().circle_filled(dot.center(), 3.0, colour);
        ui.label(RichText::new("Overridden").small().color(colour));
        if !cx.view.is_overriding
            && let Some(over) = keys.last().and_then(|key| cx.view.snapshot.override_at(key))
        {
            let text = RichText::new(short(&over.value)).small().color(cx.view.theme.text_muted);
            ui.add(Label::new(text).truncate());
        }
        if small_button_ui(ui, "Reset", &format!("Reset the override of {}", prop.label)).clicked() {
            cx.act(Command::ClearOverrides(OverrideSelector::These(keys)));
        }
    });
}

/// All overrides of the subject and of its parts.
pub(super) fn section_ui(ui: &mut Ui, cx: &InspectorContext<'_>, node: NodeId) {
    let scope = scope_of(node);
    let instance = instance_of(cx.view, node);
    let owner = instance.split('/').next().unwrap_or_default();
    let is_bound = |key: &OverrideKey, over: &Override| {
        let applies = match cx.view.snapshot.resolve_override(key, over) {
            OverrideResolution::Applies(instance) => instance,
            OverrideResolution::Orphaned(_) => Arc::clone(&key.instance),
        };
        applies.split('/').next() == Some(owner)
    };
    let all: Vec<(&OverrideKey, &Arc<Override>)> = cx
        .view
        .snapshot
        .overrides()
        .filter(|(key, over)| key.scope == scope && is_bound(key, over))
        .collect();
    if all.is_empty() {
        return;
    }
    let count = all.len();
    ui.label(RichText::new(format!("Overrides ({count})")).small().strong().color(cx.view.theme.text));
    for (key, over) in &all {
        if let Some(action) = override_row_ui(ui, cx.view, key, over, false) {
            cx.act(action);
        }
    }
    ui.horizontal(|ui| {
        let keys = || OverrideSelector::These(all.iter().map(|(key, _)| (*key).clone()).collect());
        let save = ui.button("Save to source").on_hover_text("Writes them to the board and the components");
        if save.clicked() {
            cx.act(WindowAction::Promote(keys()));
        }
        if ui.button("Clear").accessible_name("Clear these overrides").clicked() {
            cx.act(Command::ClearOverrides(keys()));
        }
    });
    ui.add_space(4.0);
    ui.separator();
}

/// One override: prop, value, why it does not apply, and a clear button. Returns the action of a click.
pub(crate) fn override_row_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    key: &OverrideKey,
    over: &Override,
    names_instance: bool,
) -> Option<WindowAction> {
    let theme = view.theme;
    let mut action = None;
    let what = if names_instance {
        authority::overrides::describe_key(view.snapshot, key)
    } else {
        let path = key.path.tokens().collect::<Vec<_>>().join(".");
        if key.is_nested_part() { format!("{path} (within)") } else { path }
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let clear = crate::widgets::close_button_ui(ui, theme, &format!("Clear {what}"));
        if clear.clicked() {
            let these = OverrideSelector::These(vec![key.clone()]);
            action = Some(WindowAction::Run(Command::ClearOverrides(these)));
        }
        let name =
            ui.add(Label::new(RichText::new(&what).small().color(theme.text)).sense(egui::Sense::click()));
        if name.clicked()
            && let Some(node) =
                authority::overrides::node_of(key).filter(|id| view.snapshot.node(*id).is_some())
        {
            action = Some(WindowAction::Reveal(shared_protocol::ElementId::Node(node)));
        }
        ui.add(Label::new(RichText::new(short(&over.value)).small().color(theme.text_muted)).truncate());
    });
    if let OverrideResolution::Orphaned(reason) = view.snapshot.resolve_override(key, over) {
        ui.horizontal(|ui| {
            ui.add_space(26.0);
            let text = format!("Does not apply: {}.", reason.describe());
            small_text_ui(ui, theme.warning, text);
        });
    } else if let Some(why) = view.unsaved.get(key) {
        ui.horizontal(|ui| {
            ui.add_space(26.0);
            let text = format!("Not saved to source: {why}.");
            small_text_ui(ui, theme.danger, text);
        });
    }
    action
}

fn short(value: &PropValue) -> String {
    shared_protocol::text::truncate_chars(&value.to_string(), 60)
}
