//! The card over the page while the session is not ready.

use crate::{
    view::{FrameView, WindowAction},
    widgets::{full_width_ui, inset_ui, muted_ui, primary_button},
    wording::unix_millis,
};
use egui::{Align, Frame, Label, Layout, Rect, RichText, Spinner, Stroke, Ui, UiBuilder, Vec2, vec2};
use shared_protocol::{
    preview_sessions::{PreviewFailure, PreviewSessionStatus, PreviewSessionView},
    requests::RestartPreview,
};
use std::time::Duration;

const CARD_WIDTH: f32 = 300.0;

pub(super) fn state_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    session: &PreviewSessionView,
    rect: Rect,
    has_frame: bool,
    long: bool,
) {
    match &session.state {
        PreviewSessionStatus::Ready => {}
        PreviewSessionStatus::Creating => waiting_ui(ui, view, rect, "Starting the preview…"),
        PreviewSessionStatus::Loading if !has_frame || long => {
            waiting_ui(ui, view, rect, "Loading the page…")
        }
        PreviewSessionStatus::Reloading if long => waiting_ui(ui, view, rect, "Reloading…"),
        PreviewSessionStatus::Loading | PreviewSessionStatus::Reloading => {}
        PreviewSessionStatus::Stopped => card_ui(ui, view, rect, 96.0, |ui| {
            ui.vertical_centered(|ui| {
                ui.label(RichText::new("Stopped").strong());
                ui.add_space(8.0);
                start_button_ui(ui, view, session, "Start");
            });
        }),
        PreviewSessionStatus::Failed(failed) => failed_ui(ui, view, session, rect, failed),
    }
}

fn waiting_ui(ui: &mut Ui, view: &FrameView<'_>, rect: Rect, words: &str) {
    card_ui(ui, view, rect, 48.0, |ui| {
        ui.horizontal(|ui| {
            ui.add(Spinner::new().size(16.0).color(view.theme.accent));
            ui.label(words);
        });
    });
}

fn failed_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    session: &PreviewSessionView,
    rect: Rect,
    failed: &PreviewFailure,
) {
    let theme = view.theme;
    card_ui(ui, view, rect, 220.0, |ui| {
        ui.label(RichText::new("The preview failed").strong().color(theme.danger));
        ui.add(Label::new(&failed.what).wrap());
        for component in &session.quarantined {
            muted_ui(ui, theme, format!("{component} is disabled: it crashed the preview twice."));
        }
        let last = failed.detail.len().saturating_sub(4);
        if !failed.detail.is_empty() {
            inset_ui(ui, theme, 6, |ui| {
                for line in failed.detail.get(last..).unwrap_or_default() {
                    let text = RichText::new(line).small().monospace().color(theme.text_muted);
                    ui.add(Label::new(text).truncate());
                }
            });
        }
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            start_button_ui(ui, view, session, "Restart");
            if let Some(at) = failed.again_at {
                let left = at.saturating_sub(unix_millis());
                muted_ui(ui, theme, format!("Restarts in {} s", left.div_ceil(1000)));
                ui.ctx().request_repaint_after(Duration::from_millis(500));
            }
        });
    });
}

fn start_button_ui(ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView, word: &str) {
    let button = primary_button(view.theme, word).min_size(vec2(88.0, 28.0));
    if ui.add(button).accessible_name(format!("{word} the preview")).clicked() {
        view.act(WindowAction::request(RestartPreview { session: session.id }));
    }
}

/// A card in the middle of the device, over the last frame.
fn card_ui(ui: &mut Ui, view: &FrameView<'_>, rect: Rect, height: f32, content: impl FnOnce(&mut Ui)) {
    let width = CARD_WIDTH.min(ui.clip_rect().width() - 16.0).max(120.0);
    let middle = rect.intersect(ui.clip_rect()).center();
    let room = Rect::from_center_size(middle, Vec2::new(width, height));
    let mut child = ui.new_child(UiBuilder::new().max_rect(room).layout(Layout::top_down(Align::Min)));
    let edge = Stroke::new(1.0, view.theme.border);
    let frame = Frame::new().fill(view.theme.surface_raised).stroke(edge).corner_radius(8).inner_margin(14);
    full_width_ui(&mut child, frame, content);
}
