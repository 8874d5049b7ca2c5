//! Reference pickers: the nodes that a property points at.

use super::{
    controls::PropField,
    fields::{set_references_command, targets},
};
use crate::{
    view::WindowAction,
    widgets::{close_button_ui, muted_ui, paint_type_mark},
};
use egui::{RichText, Sense, Ui, Vec2};
use shared_protocol::{ElementId, Node, NodeId};

/// The maximum number of listed nodes; the field above narrows the list.
const MAX_NODES: usize = 200;

pub(super) fn reference_ui(ui: &mut Ui, field: PropField<'_>) -> Option<egui::Response> {
    let PropField { cx, subjects, prop } = field;
    let Some(current) = targets(subjects.nodes, &prop.key) else {
        muted_ui(ui, cx.view.theme, "Mixed values. Select one node to edit it.");
        return None;
    };
    if prop.many {
        for &target in &current {
            target_ui(ui, field, &current, target);
        }
    }
    let text = match current.first().filter(|_| !prop.many).and_then(|id| cx.view.snapshot.node(*id)) {
        Some(node) => RichText::new(&node.label),
        None if prop.many => RichText::new("Add…").color(cx.view.theme.text_subtle),
        None => RichText::new("None").color(cx.view.theme.text_subtle),
    };
    let combo =
        egui::ComboBox::from_id_salt("reference").selected_text(text).width(ui.available_width()).truncate();
    let combo = combo.icon(super::controls::paint_combo_arrow);
    let response = combo.show_ui(ui, |ui| {
        let candidates = candidates(field, &current);
        if !prop.many && !current.is_empty() && ui.selectable_label(false, "None").clicked() {
            cx.act(set_references_command(subjects.ids, &prop.key, &[]));
        }
        if candidates.is_empty() {
            let kinds: Vec<&str> = prop.targets.iter().map(|pattern| pattern.as_str()).collect();
            muted_ui(ui, cx.view.theme, format!("No matching node on this board ({}).", kinds.join(", ")));
        }
        for node in candidates {
            let chosen = current.contains(&node.id);
            if ui.selectable_label(chosen, &node.label).on_hover_text(node.name.as_str()).clicked() {
                let mut next = if prop.many { current.clone() } else { Vec::new() };
                next.push(node.id);
                cx.act(set_references_command(subjects.ids, &prop.key, &next));
            }
        }
    });
    Some(response.response.accessible_name(prop.label.as_str()))
}

fn target_ui(ui: &mut Ui, field: PropField<'_>, current: &[NodeId], target: NodeId) {
    let PropField { cx, subjects, prop } = field;
    let Some(node) = cx.view.snapshot.node(target) else { return };
    ui.push_id(target.bits(), |ui| {
        ui.horizontal(|ui| {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::hover());
            paint_type_mark(ui.painter(), mark, cx.view.theme, cx.view.type_of(node));
            if ui.link(&node.label).on_hover_text("Show on the board").clicked() {
                cx.act(WindowAction::Reveal(ElementId::Node(target)));
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if close_button_ui(ui, cx.view.theme, &format!("Remove {} from {}", node.label, prop.label))
                    .clicked()
                {
                    let kept: Vec<NodeId> = current.iter().copied().filter(|id| *id != target).collect();
                    cx.act(set_references_command(subjects.ids, &prop.key, &kept));
                }
            });
        });
    });
}

/// Nodes of the board that the reference may point at, by label.
fn candidates<'a>(field: PropField<'a>, current: &[NodeId]) -> Vec<&'a Node> {
    let PropField { cx, subjects, prop } = field;
    let Some(board) = cx.view.board else { return Vec::new() };
    let mut found: Vec<&Node> = cx
        .view
        .snapshot
        .nodes_on(board)
        .map(AsRef::as_ref)
        .filter(|node| !subjects.ids.contains(&node.id))
        .filter(|node| !prop.many || !current.contains(&node.id))
        .filter(|node| {
            prop.targets.is_empty() || prop.targets.iter().any(|pattern| pattern.matches(&node.type_id))
        })
        .collect();
    found.sort_by(|a, b| a.label.cmp(&b.label).then_with(|| a.name.cmp(&b.name)));
    found.truncate(MAX_NODES);
    found
}
