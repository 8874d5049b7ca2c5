//! The drawer below the page (overrides, problems, log) and the path of the selected instance.

use super::{PreviewPanel, outlines};
use crate::{
    features::inspector::override_row_ui,
    view::{FrameView, WindowAction},
    widgets::{muted_ui, severity_mark_ui, small_text_ui},
};
use egui::{Frame, Label, Margin, Panel, RichText, ScrollArea, Sense, Ui, Vec2};
use shared_protocol::{
    Command, ElementId, OverrideResolution, OverrideSelector,
    messages::ProblemSeverity,
    preview_sessions::{PreviewSessionView, PreviewSourceProblem},
    preview_wire::PreviewMode,
};

const MAX_OVERRIDE_ROWS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreviewDrawerTab {
    Overrides,
    Problems,
    Log,
}

#[derive(Debug, Default)]
pub(super) struct PreviewDrawer {
    pub(super) shows: Option<PreviewDrawerTab>,
}

impl PreviewPanel {
    pub(super) fn below_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
        let margin = Margin { left: 10, right: 8, top: 6, bottom: 6 };
        let frame = Frame::new().fill(view.theme.surface_panel).inner_margin(margin);
        if let Some(shows) = self.below.shows {
            let height = (ui.available_height() * 0.3).clamp(80.0, 180.0);
            Panel::bottom("below the preview").frame(frame).exact_size(height).show(ui, |ui| match shows {
                PreviewDrawerTab::Log => self.log.show_ui(ui, view, session),
                PreviewDrawerTab::Problems => problems_ui(ui, view, session),
                PreviewDrawerTab::Overrides => overrides_ui(ui, view),
            });
        }
        if session.mode == PreviewMode::Inspect && session.selected.is_some() {
            let instances = self.screens.instances(session.id);
            Panel::bottom("path in the preview").frame(frame).show(ui, |ui| {
                outlines::path_ui(ui, view, session, instances);
            });
        }
    }
}

/// The problems of the session with file and line; a click reveals the node.
fn problems_ui(ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
    if session.problems.is_empty() && session.quarantined.is_empty() {
        muted_ui(ui, view.theme, "No problems in this preview.");
        return;
    }
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for component in &session.quarantined {
            let what = format!(
                "{component} is disabled because it crashed the preview twice. Restart the preview to try again."
            );
            row_ui(ui, view, &what, "");
        }
        for problem in &session.problems {
            let PreviewSourceProblem { file, line, column, message, instance } = problem;
            let place = if file.is_empty() { String::new() } else { format!("{file}:{line}:{column}") };
            let row = row_ui(ui, view, message, &place);
            let node =
                instance.as_ref().and_then(|id| id.split('/').next().and_then(|node| node.parse().ok()));
            if let Some(node) = node.filter(|_| row.clicked()) {
                view.act(WindowAction::Reveal(ElementId::Node(node)));
            }
        }
    });
}

fn row_ui(ui: &mut Ui, view: &FrameView<'_>, what: &str, place: &str) -> egui::Response {
    let theme = view.theme;
    let row = ui.horizontal_top(|ui| {
        severity_mark_ui(ui, theme, Vec2::splat(14.0), ProblemSeverity::Error);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            small_text_ui(ui, theme.text, what);
            if !place.is_empty() {
                ui.add(
                    Label::new(RichText::new(place).small().monospace().color(theme.text_subtle)).truncate(),
                );
            }
        });
    });
    row.response.interact(Sense::click())
}

/// All overrides of the workspace, orphaned ones first.
fn overrides_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let snapshot = view.snapshot;
    let mut all: Vec<_> = snapshot
        .overrides()
        .map(|(key, over)| {
            (matches!(snapshot.resolve_override(key, over), OverrideResolution::Applies(_)), key, over)
        })
        .collect();
    if all.is_empty() {
        let text = "No overrides yet. Select Overrides in the inspector to try other values.";
        muted_ui(ui, view.theme, text);
        return;
    }
    all.sort_by_key(|(applies, key, _)| (*applies, *key));
    let orphaned = all.iter().filter(|(applies, ..)| !applies).count();
    ui.horizontal(|ui| {
        let save = ui.add_enabled(orphaned < all.len(), egui::Button::new("Save to source"));
        let save = save
            .accessible_name("Save all to source")
            .on_hover_text("Writes all overrides that apply to the boards and component files");
        if save.clicked() {
            let keys = all.iter().filter(|(applies, ..)| *applies).map(|(_, key, _)| (*key).clone());
            view.act(WindowAction::Promote(OverrideSelector::These(keys.collect())));
        }
        if ui.button("Clear all").clicked() {
            view.act(Command::ClearOverrides(OverrideSelector::All));
        }
        if orphaned > 0 && ui.button(format!("Clear {orphaned} orphaned")).clicked() {
            view.act(Command::ClearOverrides(OverrideSelector::Orphaned));
        }
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (_, key, over) in all.into_iter().take(MAX_OVERRIDE_ROWS) {
            view.actions.extend(override_row_ui(ui, view, key, over, true));
        }
    });
}
