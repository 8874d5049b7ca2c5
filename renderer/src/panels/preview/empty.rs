//! What the panel says while there is nothing to show, and the ways to begin.

use crate::{
    commands::{CommandId, find},
    previews::{routes, showable, shown_words},
    view::{Action, View},
    widgets::muted_ui,
};
use egui::{Button, RichText, ScrollArea, Ui, vec2};
use shared_protocol::previews::Shown;

pub(super) fn unavailable_ui(ui: &mut Ui, view: &View<'_>, why: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| {
        ui.set_max_width(300.0);
        ui.label(RichText::new("No preview on this machine").strong());
        ui.add_space(4.0);
        ui.add(egui::Label::new(RichText::new(why).small().color(view.theme.text_muted)).wrap());
    });
}

pub(super) fn empty_ui(ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
    ui.add_space((ui.available_height() * 0.28).max(24.0));
    ui.vertical_centered(|ui| {
        ui.set_max_width(300.0);
        ui.label(RichText::new("Nothing is shown yet").strong());
        ui.add_space(4.0);
        let text = "A preview draws a page of an interface board, or a component by itself, as the real thing: \
                    it can be used, inspected and tried with other values.";
        ui.add(egui::Label::new(RichText::new(text).small().color(view.theme.text_muted)).wrap());
        ui.add_space(12.0);
        if let Some(shown) = showable(view) {
            let text = format!("Preview {}", shown_words(view, &shown));
            let button = Button::new(RichText::new(text).color(view.theme.accent_text)).fill(view.theme.accent);
            if ui.add(button.min_size(vec2(160.0, 30.0))).clicked() {
                actions.push(Action::StartPreview(shown));
            }
            ui.add_space(6.0);
        }
        let chooses = !routes(view).is_empty() || !view.previews.components.is_empty();
        if chooses {
            ui.menu_button("Choose what to show", |ui| start_menu_ui(ui, view, actions));
        } else {
            muted_ui(ui, view.theme, "Draw a page on an interface board, or put component files into components/.");
        }
        if let Some(keys) = find(CommandId::PreviewSelection).and_then(|def| def.keys.first()) {
            ui.add_space(10.0);
            muted_ui(ui, view.theme, format!("{} shows what is selected.", keys.text()));
        }
    });
}

/// Pages first, then components with their variants.
pub(super) fn start_menu_ui(ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
    ui.set_min_width(200.0);
    let mut start = |ui: &mut Ui, shown: Shown, text: String| {
        if ui.button(text).clicked() {
            actions.push(Action::StartPreview(shown));
            ui.close();
        }
    };
    ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
        let pages = routes(view);
        if !pages.is_empty() {
            muted_ui(ui, view.theme, "Pages");
            for page in pages {
                start(ui, Shown::Route(page.id), page.label.clone());
            }
        }
        if !view.previews.components.is_empty() {
            muted_ui(ui, view.theme, "Components");
            for component in &view.previews.components {
                let id = component.id.clone();
                start(ui, Shown::Component { component: id.clone() }, component.title.clone());
                for variant in &component.variants {
                    let shown = Shown::Variant { component: id.clone(), variant: variant.clone() };
                    start(ui, shown, format!("    {} · {variant}", component.title));
                }
            }
        }
    });
}
