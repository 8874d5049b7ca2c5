//! The status bar: save state, counts, problems, review queue, cost, agents and zoom.

use crate::{
    commands::CommandId,
    panel_id::PanelId,
    panels::problems::counts,
    view::{FrameView, WindowAction},
    widgets::severity_mark_ui,
};
use egui::{Align, Button, Layout, RichText, Sense, Ui, Vec2};
use shared_protocol::text::count_noun;
use shared_protocol::{messages::ProblemSeverity, proposal::Risk};

pub(crate) fn status_bar_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    zoom: Option<f32>,
    cost_ui: impl FnOnce(&mut Ui),
) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.spacing_mut().button_padding = egui::vec2(4.0, 2.0);
        saved_ui(ui, view);
        dot_ui(ui, view);
        counts_ui(ui, view);
        dot_ui(ui, view);
        problems_ui(ui, view);
        review_ui(ui, view);
        cost_ui(ui);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(zoom) = zoom {
                let percent = format!("{:.0}%", zoom * 100.0);
                let button = Button::new(RichText::new(&percent).small()).frame_when_inactive(false);
                let button = ui.add(button).accessible_name(format!("Zoom {percent}"));
                if button.on_hover_text("Zoom to 100%").clicked() {
                    view.act(CommandId::ZoomFull);
                }
            }
            crate::agents::pill::pill_ui(ui, view);
            let path = RichText::new(view.root).small().color(view.theme.text_subtle);
            ui.add(egui::Label::new(path).truncate());
        });
    });
}

fn dot_ui(ui: &mut Ui, view: &FrameView<'_>) {
    ui.label(RichText::new("·").small().color(view.theme.text_subtle));
}

fn saved_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let (theme, revision) = (view.theme, view.snapshot.revision());
    let saved = view.status.saved >= revision;
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(10.0), Sense::hover());
    if saved {
        ui.painter().circle_filled(rect.center(), 3.5, theme.success);
        ui.label(RichText::new(format!("Saved · rev {revision}")).small().color(theme.text_muted));
    } else {
        // An open ring, so that colour alone never carries the state.
        ui.painter().circle_stroke(rect.center(), 3.2, egui::Stroke::new(1.5, theme.warning));
        let text = RichText::new(format!("Unsaved · rev {revision}")).small().color(theme.text);
        if ui
            .add(Button::new(text).frame_when_inactive(false))
            .on_hover_text("Saves all changes to files")
            .clicked()
        {
            view.act(CommandId::Save);
        }
    }
}

fn counts_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let (nodes, edges) = view.counts;
    let text = format!("{} · {}", count_noun(nodes, "node"), count_noun(edges, "edge"));
    ui.label(RichText::new(text).small().color(view.theme.text_muted));
}

fn problems_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let (errors, warnings) = counts(view);
    let text = match (errors, warnings) {
        (0, 0) => "No problems".to_owned(),
        (errors, 0) => count_noun(errors, "error"),
        (0, warnings) => count_noun(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", count_noun(errors, "error"), count_noun(warnings, "warning")),
    };
    if errors + warnings > 0 {
        let severity = if errors > 0 { ProblemSeverity::Error } else { ProblemSeverity::Warning };
        severity_mark_ui(ui, view.theme, Vec2::splat(12.0), severity);
    }
    let text = RichText::new(text).small().color(view.theme.text_muted);
    if ui.add(Button::new(text).frame_when_inactive(false)).on_hover_text("Show problems").clicked() {
        view.act(WindowAction::Do(CommandId::Panel(PanelId::Problems)));
    }
}

/// The number of undecided proposals, visible in every layout.
fn review_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let waiting = view.review.undecided_count();
    if waiting == 0 {
        return;
    }
    dot_ui(ui, view);
    let is_grave = view
        .review
        .proposals
        .iter()
        .any(|brief| brief.needs_decision() && brief.risks.contains(&Risk::Destructive));
    if is_grave {
        severity_mark_ui(ui, view.theme, Vec2::splat(12.0), ProblemSeverity::Warning);
    }
    let text = RichText::new(format!("{waiting} to review")).small().color(view.theme.text);
    let name = format!("{} to review", count_noun(waiting, "proposal"));
    let button = ui.add(Button::new(text).frame_when_inactive(false)).accessible_name(name);
    let hint = if is_grave {
        "Open the review queue. At least one proposal removes something."
    } else {
        "Open the review queue"
    };
    if button.on_hover_text(hint).clicked() {
        view.act(WindowAction::ShowPanel(PanelId::Review));
    }
}
