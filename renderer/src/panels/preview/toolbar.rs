//! The controls of the selected session.

use super::{PreviewPanel, drawer::PreviewDrawerTab};
use crate::{
    commands::{CommandId, find},
    features::inspector::paint_combo_arrow,
    preview_display::{PreviewDevice, PreviewZoom, routes},
    view::{ActionQueue, FrameView, WindowAction},
    widgets::toolbar_gap_ui,
};
use egui::{Button, ComboBox, Frame, Margin, RichText, Ui, vec2};
use shared_protocol::{
    preview_sessions::{PreviewSessionStatus, PreviewSessionView},
    preview_wire::PreviewMode,
    requests::{NavigatePreview, RestartPreview, SetPreviewMode, StopPreview},
};

impl PreviewPanel {
    pub(super) fn toolbar_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
        let margin = Margin { left: 8, right: 8, top: 4, bottom: 4 };
        let bar = Frame::new().fill(view.theme.surface_panel).inner_margin(margin).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            ui.spacing_mut().button_padding = vec2(7.0, 2.0);
            ui.spacing_mut().interact_size.y = 24.0;
            ui.horizontal_wrapped(|ui| {
                modes_ui(ui, session, view.actions);
                toolbar_gap_ui(ui, view.theme, 7.0);
                page_ui(ui, view, session);
                self.device_ui(ui, session);
            });
            ui.horizontal_wrapped(|ui| {
                ends_ui(ui, session, view.actions);
                toolbar_gap_ui(ui, view.theme, 7.0);
                self.openers_ui(ui, view, session);
            });
        });
        let line = egui::Stroke::new(1.0, view.theme.border);
        ui.painter().hline(bar.response.rect.x_range(), bar.response.rect.bottom(), line);
    }

    fn device_ui(&mut self, ui: &mut Ui, session: &PreviewSessionView) {
        let before = self.display_settings(session);
        let mut choice = before;
        let name = match choice.device {
            PreviewDevice::Custom { width, height } => format!("{width} × {height}"),
            device => device.name().to_owned(),
        };
        let list = combo("device", name, 74.0).show_ui(ui, |ui| {
            for device in PreviewDevice::OFFERED {
                let text = match device.size() {
                    Some([width, height]) => format!("{} · {width} × {height}", device.name()),
                    None => "Fit · panel size".to_owned(),
                };
                ui.selectable_value(&mut choice.device, device, text);
            }
        });
        list.response.accessible_name("Device");
        let list = combo("zoom", zoom_words(choice.zoom), 62.0).show_ui(ui, |ui| {
            for zoom in PreviewZoom::OFFERED {
                ui.selectable_value(&mut choice.zoom, zoom, zoom.name());
            }
        });
        list.response.accessible_name("Scale");
        let (word, next) =
            if choice.dark { ("Dark", "Switch to light") } else { ("Light", "Switch to dark") };
        let look = ui.add(Button::new(word)).accessible_name(next).on_hover_text(next);
        if look.clicked() {
            choice.dark = !choice.dark;
        }
        if choice != before {
            self.choose(session, choice);
        }
    }

    /// The buttons that open the drawer below the page.
    fn openers_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
        let problems = session.problems.len() + session.quarantined.len();
        let words = |word: &str, count: usize| match count {
            0 => word.to_owned(),
            count => format!("{word} ({count})"),
        };
        let overrides = view.snapshot.overrides().count();
        for (shows, text) in [
            (PreviewDrawerTab::Overrides, words("Overrides", overrides)),
            (PreviewDrawerTab::Problems, words("Problems", problems)),
            (PreviewDrawerTab::Log, "Log".to_owned()),
        ] {
            let on = self.below.shows == Some(shows);
            let colour = match shows {
                PreviewDrawerTab::Problems if problems > 0 => view.theme.danger,
                _ if on => view.theme.text,
                _ => view.theme.text_muted,
            };
            let button = ui.selectable_label(on, RichText::new(text).color(colour));
            if button.clicked() {
                self.below.shows = if on { None } else { Some(shows) };
            }
        }
    }
}

fn zoom_words(zoom: PreviewZoom) -> String {
    match zoom {
        PreviewZoom::Whole => "Whole".to_owned(),
        zoom => zoom.name(),
    }
}

/// A combo box in the style of the inspector.
fn combo(name: &str, text: String, width: f32) -> ComboBox<'static> {
    ComboBox::from_id_salt(name).selected_text(text).width(width).truncate().icon(paint_combo_arrow)
}

/// The buttons for the modes interact and inspect.
fn modes_ui(ui: &mut Ui, session: &PreviewSessionView, actions: &ActionQueue) {
    let key = find(CommandId::PreviewInspect).and_then(|def| def.keys.first()).map(|keys| keys.text());
    let choose = format!("Click a part of the page to select it ({})", key.unwrap_or_default());
    for (mode, word, tip) in [
        (PreviewMode::Interact, "Interact", "Use the page: click, type, scroll".to_owned()),
        (PreviewMode::Inspect, "Inspect", choose),
    ] {
        let on = session.mode == mode;
        if ui.selectable_label(on, word).on_hover_text(tip).clicked() && !on {
            actions.push(WindowAction::request(SetPreviewMode { session: session.id, mode }));
        }
    }
}

fn page_ui(ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
    let Some(route) = session.route else { return };
    let label = view.snapshot.node(route).map_or("—", |node| node.label.as_str());
    let list = combo("page", label.to_owned(), 84.0).show_ui(ui, |ui| {
        for page in routes(view) {
            if ui.selectable_label(page.id == route, &page.label).clicked() && page.id != route {
                view.act(WindowAction::request(NavigatePreview { session: session.id, route: page.id }));
            }
        }
    });
    list.response.accessible_name("Page");
}

fn ends_ui(ui: &mut Ui, session: &PreviewSessionView, actions: &ActionQueue) {
    let ended = matches!(session.state, PreviewSessionStatus::Stopped | PreviewSessionStatus::Failed(_));
    let word = if ended { "Start" } else { "Restart" };
    if ui.button(word).on_hover_text("Starts the page again and discards entered values").clicked() {
        actions.push(WindowAction::request(RestartPreview { session: session.id }));
    }
    let stop = ui.add_enabled(!ended, Button::new("Stop"));
    if stop.on_hover_text("Stops the process and keeps the session").clicked() {
        actions.push(WindowAction::request(StopPreview { session: session.id }));
    }
}
