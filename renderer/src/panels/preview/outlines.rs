//! Outlines of selected and hovered instances. The window draws them over the page from the rectangles that main sends.

use super::stage::PageStage;
use crate::{
    view::{FrameView, WindowAction},
    widgets::small_font,
};
use egui::{Align2, Color32, CornerRadius, Pos2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use shared_protocol::{
    preview_sessions::{PreviewInstanceBox, PreviewSessionView},
    preview_wire::PreviewMode,
};

pub(super) fn outlines_ui(
    ui: &Ui,
    view: &FrameView<'_>,
    session: &PreviewSessionView,
    instances: &[PreviewInstanceBox],
    stage: PageStage,
    over: Option<Pos2>,
) {
    let inspects = session.mode == PreviewMode::Inspect;
    let theme = view.theme;
    let nodes = view.selected_nodes();
    let chosen = session.selected.as_ref().filter(|selected| {
        // A newer selection on the board takes precedence.
        nodes.is_empty() || selected.node.is_none_or(|node| nodes.contains(&node))
    });
    for instance in instances {
        let is_chosen = chosen.is_some_and(|chosen| chosen.instance == instance.id);
        let on_board = instance.node.is_some_and(|node| nodes.contains(&node));
        if let Some(rect) = stage.to_window(instance.rect, instance.clip).filter(|_| is_chosen || on_board) {
            // The node that contains the selected instance keeps a thin outline.
            let width = if is_chosen || chosen.is_none() { 2.0 } else { 1.0 };
            outline(ui, rect, Stroke::new(width, theme.accent));
            if inspects && (is_chosen || chosen.is_none()) {
                label(ui, stage, rect, &title(view, instance), theme.accent, theme.accent_text);
            }
        }
    }
    let hovered = match over {
        Some(at) if inspects => instance_at(instances, at),
        _ => None,
    };
    if let Some(instance) = hovered.filter(|instance| chosen.is_none_or(|one| one.instance != instance.id))
        && let Some(rect) = stage.to_window(instance.rect, instance.clip)
    {
        ui.painter().rect_filled(rect, 0, theme.accent.gamma_multiply(0.10));
        outline(ui, rect, Stroke::new(1.0, theme.accent));
        label(ui, stage, rect, &title(view, instance), theme.surface_raised, theme.text);
    }
}

/// The innermost instance under the point; of several, the one drawn last.
fn instance_at(instances: &[PreviewInstanceBox], at: Pos2) -> Option<&PreviewInstanceBox> {
    let inside = |[x, y, w, h]: [f32; 4]| Rect::from_min_size(pos2(x, y), vec2(w, h)).contains(at);
    instances.iter().rev().find(|instance| inside(instance.rect) && inside(instance.clip))
}

fn outline(ui: &Ui, rect: Rect, stroke: Stroke) {
    ui.painter().rect_stroke(rect, CornerRadius::ZERO, stroke, StrokeKind::Middle);
}

fn title(view: &FrameView<'_>, instance: &PreviewInstanceBox) -> String {
    let component = view.previews.components.iter().find(|component| component.id == instance.component);
    component.map_or_else(|| instance.component.clone(), |component| component.title.clone())
}

/// Draws the label above the rectangle if the page has space there, or else inside it.
fn label(ui: &Ui, stage: PageStage, rect: Rect, text: &str, ground: Color32, colour: Color32) {
    let text: String = text.chars().take(40).collect();
    let galley = ui.painter().layout_no_wrap(text, small_font(ui), colour);
    let size = galley.size() + vec2(8.0, 2.0);
    let above = rect.top() - size.y >= stage.rect.top();
    let top = if above { rect.top() - size.y } else { rect.top() };
    let left = rect.left().min(stage.rect.right() - size.x).max(stage.rect.left());
    let chip = Rect::from_min_size(pos2(left, top), size);
    ui.painter().rect_filled(chip, CornerRadius::same(2), ground);
    let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), chip).min;
    ui.painter().galley(at, galley, colour);
}

/// The instances from the page to the selected one, outermost first.
pub(super) fn path<'i>(instances: &'i [PreviewInstanceBox], id: &str) -> Vec<&'i PreviewInstanceBox> {
    let mut path = Vec::new();
    let mut at = instances.iter().find(|instance| instance.id == id);
    while let Some(instance) = at {
        path.push(instance);
        // The limit ends the loop when a hostile list is circular.
        at = instance
            .parent
            .as_ref()
            .filter(|_| path.len() < 64)
            .and_then(|parent| instances.iter().find(|other| other.id == *parent));
    }
    path.reverse();
    path
}

/// The path as a row of small buttons, and the source location of the innermost instance.
pub(super) fn path_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    session: &PreviewSessionView,
    instances: &[PreviewInstanceBox],
) {
    use shared_protocol::requests::SelectInstance;
    let Some(selected) = &session.selected else { return };
    let steps = path(instances, &selected.instance);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (number, instance) in steps.iter().enumerate() {
            if number > 0 {
                ui.label(egui::RichText::new("›").small().color(view.theme.text_subtle));
            }
            let last = number + 1 == steps.len();
            let colour = if last { view.theme.text } else { view.theme.text_muted };
            let text = egui::RichText::new(title(view, instance)).small().color(colour);
            let step = ui.add(egui::Button::new(text).frame_when_inactive(false));
            if step.clicked() && !last {
                let instance = Some(instance.id.clone());
                view.act(WindowAction::request(SelectInstance { session: session.id, instance }));
            }
        }
        let place = format!("{}:{}", selected.file, selected.line);
        ui.add_space(6.0);
        let text = egui::RichText::new(place).small().monospace().color(view.theme.text_subtle);
        ui.add(egui::Label::new(text).truncate());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(id: &str, parent: Option<&str>, rect: [f32; 4]) -> PreviewInstanceBox {
        PreviewInstanceBox {
            id: id.to_owned(),
            component: "ui.card".to_owned(),
            parent: parent.map(str::to_owned),
            node: None,
            rect,
            clip: [0.0, 0.0, 100.0, 100.0],
        }
    }

    #[test]
    fn the_innermost_is_found_and_the_way_to_it() {
        let instances = [
            instance("page", None, [0.0, 0.0, 100.0, 200.0]),
            instance("card", Some("page"), [10.0, 10.0, 50.0, 150.0]),
            instance("button", Some("card"), [20.0, 20.0, 10.0, 10.0]),
            instance("other", Some("gone"), [70.0, 20.0, 10.0, 10.0]),
        ];
        let at = |x, y| instance_at(&instances, pos2(x, y)).map(|found| found.id.as_str());
        assert_eq!(at(25.0, 25.0), Some("button"));
        assert_eq!(at(15.0, 15.0), Some("card"));
        assert_eq!(at(15.0, 120.0), None, "cut off");
        assert_eq!(at(f32::NAN, 1.0), None);
        let ids: Vec<&str> = path(&instances, "button").iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["page", "card", "button"]);
        assert_eq!(path(&instances, "other").len(), 1);
        let circle = [instance("a", Some("b"), [0.0; 4]), instance("b", Some("a"), [0.0; 4])];
        assert_eq!(path(&circle, "a").len(), 64, "a hostile list ends");
    }
}
