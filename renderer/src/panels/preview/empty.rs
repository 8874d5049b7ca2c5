//! The empty state of the preview panel, and the menu to start a preview.

use crate::{
    commands::{CommandId, find},
    preview_display::{preview_target, routes, target_label},
    view::{FrameView, WindowAction},
    widgets::{muted_ui, primary_button, small_text_ui},
};
use egui::{RichText, ScrollArea, Ui, vec2};
use shared_protocol::preview_sessions::PreviewTarget;

pub(super) fn unavailable_ui(ui: &mut Ui, view: &FrameView<'_>, why: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| {
        ui.set_max_width(300.0);
        ui.label(RichText::new("Previews are not available on this machine").strong());
        ui.add_space(4.0);
        small_text_ui(ui, view.theme.text_muted, why);
    });
}

pub(super) fn empty_ui(ui: &mut Ui, view: &FrameView<'_>) {
    ui.add_space((ui.available_height() * 0.28).max(24.0));
    ui.vertical_centered(|ui| {
        ui.set_max_width(300.0);
        ui.label(RichText::new("No preview open").strong());
        ui.add_space(4.0);
        let text = "A preview renders a page of an interface board, or a single component. You can use it, inspect it \
                    and try other values.";
        small_text_ui(ui, view.theme.text_muted, text);
        ui.add_space(12.0);
        if let Some(shown) = preview_target(view) {
            let text = format!("Preview {}", target_label(view, &shown));
            let button = primary_button(view.theme, text);
            if ui.add(button.min_size(vec2(160.0, 30.0))).clicked() {
                view.act(WindowAction::StartPreview(shown));
            }
            ui.add_space(6.0);
        }
        let chooses = !routes(view).is_empty() || !view.previews.components.is_empty();
        if chooses {
            ui.menu_button("Choose a page or component", |ui| start_menu_ui(ui, view));
        } else {
            muted_ui(ui, view.theme, "Add a page to an interface board, or add component files to components/.");
        }
        if let Some(keys) = find(CommandId::PreviewSelection).and_then(|def| def.keys.first()) {
            ui.add_space(10.0);
            muted_ui(ui, view.theme, format!("{} previews the selection.", keys.text()));
        }
    });
}

/// Pages first, then components with their variants.
pub(super) fn start_menu_ui(ui: &mut Ui, view: &FrameView<'_>) {
    ui.set_min_width(200.0);
    let start = |ui: &mut Ui, shown: PreviewTarget, text: String| {
        if ui.button(text).clicked() {
            view.act(WindowAction::StartPreview(shown));
            ui.close();
        }
    };
    ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
        let pages = routes(view);
        if !pages.is_empty() {
            muted_ui(ui, view.theme, "Pages");
            for page in pages {
                start(ui, PreviewTarget::Route(page.id), page.label.clone());
            }
        }
        if !view.previews.components.is_empty() {
            muted_ui(ui, view.theme, "Components");
            for component in &view.previews.components {
                let id = component.id.clone();
                start(ui, PreviewTarget::Component { component: id.clone() }, component.title.clone());
                for variant in &component.variants {
                    let shown = PreviewTarget::Variant { component: id.clone(), variant: variant.clone() };
                    start(ui, shown, format!("    {} · {variant}", component.title));
                }
            }
        }
    });
}
