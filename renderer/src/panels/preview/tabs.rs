//! One tab per session, and a menu to start another.

use super::empty::start_menu_ui;
use crate::{
    preview_display::state_words,
    view::{FrameView, WindowAction},
    widgets::{TabButton, close_button_ui, tab_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{Color32, Frame, Margin, RichText, ScrollArea, Sense, Ui, vec2};
use shared_protocol::{
    preview_sessions::{MAX_PREVIEW_SESSIONS, PreviewSessionStatus, PreviewSessionView},
    requests::ClosePreview,
};

const TAB_HEIGHT: f32 = 26.0;

pub(super) fn tabs_ui(ui: &mut Ui, view: &FrameView<'_>, chosen: &PreviewSessionView) {
    let theme = view.theme;
    Frame::new()
        .fill(theme.surface_panel)
        .inner_margin(Margin { left: 6, right: 6, top: 2, bottom: 0 })
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ScrollArea::horizontal().id_salt("preview tabs").show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.set_height(TAB_HEIGHT);
                    ui.spacing_mut().item_spacing.x = 2.0;
                    for session in &view.previews.sessions {
                        session_ui(ui, view, session, session.id == chosen.id);
                    }
                    if view.previews.sessions.len() < MAX_PREVIEW_SESSIONS {
                        let add = egui::Button::new(RichText::new("+").color(theme.text_muted)).frame(false);
                        let menu = egui::containers::menu::MenuButton::from_button(add);
                        let (response, _) = menu.ui(ui, |ui| start_menu_ui(ui, view));
                        response
                            .accessible_name("New preview")
                            .on_hover_text("Preview another page or component");
                    }
                });
            });
        });
}

fn session_ui(ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView, chosen: bool) {
    let theme = view.theme;
    let (dot, _) = ui.allocate_exact_size(vec2(10.0, TAB_HEIGHT), Sense::hover());
    ui.painter().circle_filled(dot.center() + vec2(2.0, 0.0), 3.0, state_colour(theme, &session.state));
    let title: String = session.title.chars().take(32).collect();
    let tab = TabButton {
        id: ui.scope_id().with(session.id),
        text: &title,
        is_selected: chosen,
        sense: Sense::click(),
    };
    let response = tab_ui(ui, theme, tab);
    let response = response.on_hover_text(format!("{} · {}", session.title, state_words(&session.state)));
    if response.clicked() {
        view.act(WindowAction::LookAt(session.id));
    }
    if chosen && close_button_ui(ui, theme, &format!("Close {title}")).clicked() {
        view.act(WindowAction::request(ClosePreview { session: session.id }));
    }
}

fn state_colour(theme: &WorkbenchTheme, state: &PreviewSessionStatus) -> Color32 {
    match state {
        PreviewSessionStatus::Creating | PreviewSessionStatus::Loading | PreviewSessionStatus::Reloading => {
            theme.accent
        }
        PreviewSessionStatus::Ready => theme.success,
        PreviewSessionStatus::Stopped => theme.text_subtle,
        PreviewSessionStatus::Failed(_) => theme.danger,
    }
}
