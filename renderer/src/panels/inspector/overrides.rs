//! Overrides in the inspector: values that are laid over the props of what a preview shows, until they are cleared or saved
//! to the board and the components.

use super::controls::small_button_ui;
use crate::view::{Action, View};
use authority::overrides::lay_over as lay_into;
use egui::{Label, RichText, Ui};
use shared_protocol::{
    BoardKind, Command, Node, NodeId, Override, OverrideKey, OverrideScope, PropKey, SetOverride, Standing,
    TypeDef, TypeId, Value, WhichOverrides, registry::PropDef, v0::JsonPointer,
};
use std::sync::Arc;

/// The instance that an override of this node is for: the node itself, or the part of it that is chosen in the preview.
pub(super) fn instance_of(view: &View<'_>, node: NodeId) -> Arc<str> {
    view.part().map_or_else(|| Arc::from(node.to_string()), |part| Arc::from(part.instance.as_str()))
}

/// The type of the part that is chosen in the preview.
pub(super) fn part_type<'a>(view: &View<'a>) -> Option<&'a TypeDef> {
    let id = TypeId::parse(view.part()?.component.as_str()).ok()?;
    view.snapshot.registry().get(&id)
}

fn key_of(view: &View<'_>, node: NodeId, key: &PropKey) -> Option<OverrideKey> {
    let path = JsonPointer::parse(format!("/{key}")).ok()?;
    Some(OverrideKey::new(OverrideScope::App, instance_of(view, node), path))
}

/// Lays a value over a prop of all these, or takes it away again.
pub(super) fn lay_over(view: &View<'_>, nodes: &[NodeId], key: &PropKey, value: Option<Value>) -> Command {
    let keys = nodes.iter().filter_map(|node| key_of(view, *node, key));
    match value {
        None => Command::ClearOverrides(WhichOverrides::These(keys.collect())),
        Some(value) => {
            let component = view.part().map(|part| Arc::from(part.component.as_str()));
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

/// What lies over a whole prop while overrides are set.
pub(super) fn laid_over<'a>(view: &View<'a>, node: NodeId, key: &PropKey) -> Option<&'a Value> {
    let key = key_of(view, node, key).filter(|_| view.is_overriding)?;
    view.snapshot.override_at(&key).map(|over| &over.value)
}

/// The node with what is laid over it; of a part, nothing but that.
pub(super) fn as_shown(view: &View<'_>, node: &Node) -> Node {
    let mut shown = node.clone();
    if let Some(part) = view.part() {
        shown.props.clear();
        if let Ok(type_id) = TypeId::parse(part.component.as_str()) {
            shown.type_id = type_id;
        }
    }
    let instance = instance_of(view, node.id);
    for (key, over) in view.snapshot.overrides_of(OverrideScope::App, &instance) {
        // What cannot be laid is an orphan, and named as one below.
        let _ = lay_into(&mut shown.props, &key.path, &over.value);
    }
    shown
}

/// Whether the controls set what the board says, or lay something over it.
pub(super) fn switch_ui(ui: &mut Ui, view: &View<'_>, def: &TypeDef, actions: &mut Vec<Action>) {
    let interface = view.board_kind() == Some(BoardKind::Interface) && !def.props.is_empty();
    if !interface || !view.is_previewing || view.looked_at.is_none() {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        for (on, word, tip) in [
            (false, "Props", "Set what the board says"),
            (true, "Overrides", "Try values in the preview without changing the board"),
        ] {
            let chosen = view.is_overriding == on;
            let name = format!("Set {}", word.to_lowercase());
            let choice = ui.selectable_label(chosen, word).accessible_name(name).on_hover_text(tip);
            if choice.clicked() && !chosen {
                actions.push(Action::SetOverriding(on));
            }
        }
    });
    if let Some(part) = view.part() {
        let text = format!("A part of it: {} · {}:{}", part.component, part.file, part.line);
        ui.add(Label::new(RichText::new(text).small().color(view.theme.text_muted)).wrap());
    }
}

/// Below a control whose prop has something laid over it: that it has, and the way back.
pub(super) fn badge_ui(
    ui: &mut Ui,
    view: &View<'_>,
    nodes: &[NodeId],
    prop: &PropDef,
    actions: &mut Vec<Action>,
) {
    let mut keys: Vec<OverrideKey> = Vec::new();
    for node in nodes {
        let instance = instance_of(view, *node);
        let all = view.snapshot.overrides_of(OverrideScope::App, &instance).map(|(key, _)| key);
        keys.extend(
            all.filter(|key| key.path.tokens().next().as_deref() == Some(prop.key.as_str())).cloned(),
        );
    }
    if keys.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        let colour = view.theme.accent;
        let (dot, _) = ui.allocate_exact_size(egui::Vec2::splat(8.0), egui::Sense::hover());
        ui.painter().circle_filled(dot.center(), 3.0, colour);
        ui.label(RichText::new("Overridden").small().color(colour));
        if !view.is_overriding
            && let Some(over) = keys.first().and_then(|key| view.snapshot.override_at(key))
        {
            let text = RichText::new(short(&over.value)).small().color(view.theme.text_muted);
            ui.add(Label::new(text).truncate());
        }
        if small_button_ui(ui, "Reset", &format!("Reset the override of {}", prop.label)).clicked() {
            actions.push(Action::Run(Command::ClearOverrides(WhichOverrides::These(keys))));
        }
    });
}

/// All overrides of the selected node and of what is within it.
pub(super) fn section_ui(ui: &mut Ui, view: &View<'_>, node: NodeId, actions: &mut Vec<Action>) {
    let owner = node.to_string();
    let all: Vec<(&OverrideKey, &Arc<Override>)> = view
        .snapshot
        .overrides()
        .filter(|(key, _)| key.scope == OverrideScope::App && key.owner() == owner)
        .collect();
    if all.is_empty() {
        return;
    }
    let count = all.len();
    ui.label(RichText::new(format!("Overrides ({count})")).small().strong().color(view.theme.text));
    for (key, over) in &all {
        row_ui(ui, view, key, over, false, actions);
    }
    ui.horizontal(|ui| {
        let keys = || WhichOverrides::These(all.iter().map(|(key, _)| (*key).clone()).collect());
        let save =
            ui.button("Save to source").on_hover_text("Makes them what the board and the components say");
        if save.clicked() {
            actions.push(Action::Promote(keys()));
        }
        if ui.button("Clear").accessible_name("Clear the overrides of this").clicked() {
            actions.push(Action::Run(Command::ClearOverrides(keys())));
        }
    });
    ui.add_space(4.0);
    ui.separator();
}

/// One override: what, to what, why it applies to nothing, and the way back.
pub(crate) fn row_ui(
    ui: &mut Ui,
    view: &View<'_>,
    key: &OverrideKey,
    over: &Override,
    names_instance: bool,
    actions: &mut Vec<Action>,
) {
    let theme = view.theme;
    let what = if names_instance {
        authority::overrides::words(view.snapshot, key)
    } else {
        let path = key.path.tokens().collect::<Vec<_>>().join(".");
        if key.is_within() { format!("{path} (within)") } else { path }
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let clear = crate::widgets::close_button_ui(ui, theme, &format!("Clear {what}"));
        if clear.clicked() {
            let these = WhichOverrides::These(vec![key.clone()]);
            actions.push(Action::Run(Command::ClearOverrides(these)));
        }
        let name =
            ui.add(Label::new(RichText::new(&what).small().color(theme.text)).sense(egui::Sense::click()));
        if name.clicked()
            && let Some(node) =
                authority::overrides::node_of(key).filter(|id| view.snapshot.node(*id).is_some())
        {
            actions.push(Action::Reveal(shared_protocol::ElementId::Node(node)));
        }
        ui.add(Label::new(RichText::new(short(&over.value)).small().color(theme.text_muted)).truncate());
    });
    if let Standing::Orphaned(reason) = view.snapshot.standing(key, over) {
        ui.horizontal(|ui| {
            ui.add_space(26.0);
            let text = format!("Applies to nothing: {}.", reason.words());
            ui.add(Label::new(RichText::new(text).small().color(theme.warning)).wrap());
        });
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
