//! Colours: a swatch with a mixer beside the text field.

use super::{InspectorFeature, controls::PropField};
use crate::view::FrameView;
use egui::{
    Color32, CornerRadius, Popup, PopupCloseBehavior, Role, Sense, Slider, Stroke, StrokeKind, Ui,
    WidgetInfo, vec2,
};
use shared_protocol::PropValue;

impl InspectorFeature {
    pub(super) fn colour_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, subjects, prop } = field;
        ui.horizontal_top(|ui| {
            let value = field.effective().and_then(PropValue::as_text);
            let stored =
                value.and_then(|text| Color32::from_hex(text).ok()).unwrap_or(cx.view.theme.surface_card);
            let picked = self.picked_colour.take_if(|(key, _)| *key == prop.key).map(|(_, colour)| colour);
            let mut colour = picked.unwrap_or(stored);
            let changed = swatch_ui(ui, cx.view, &prop.label, &mut colour);
            // While the pointer is down the colour changes only here; releasing it sends the value.
            let touched = (changed || picked.is_some()) && colour != stored;
            if touched && ui.input(|input| input.pointer.any_down()) {
                self.picked_colour = Some((prop.key.clone(), colour));
                self.try_out(cx, subjects.ids, &prop.key, PropValue::text(hex(colour)));
            } else if touched {
                self.editing = None;
                self.reset_preview(cx);
                let hex = hex(colour);
                field.set(Some(PropValue::text(hex)));
            }
            ui.vertical(|ui| self.plain_text_ui(ui, field));
        });
    }
}

fn hex(colour: Color32) -> String {
    let [r, g, b, _] = colour.to_srgba_unmultiplied();
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A swatch with a popup to mix the colour. egui's own picker shows an emoji that no embedded font has.
fn swatch_ui(ui: &mut Ui, view: &FrameView<'_>, label: &str, colour: &mut Color32) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(36.0, ui.spacing().interact_size.y), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::ColorWell, ui.is_enabled(), format!("{label} swatch")));
    let corners = CornerRadius::same(6);
    let edge =
        Stroke::new(1.0, if response.hovered() { view.theme.border_strong } else { view.theme.border });
    ui.painter().rect(rect, corners, *colour, edge, StrokeKind::Inside);
    crate::widgets::focus_ring(ui, view.theme, rect, &response);
    let mixed = Popup::menu(&response).close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
        ui.spacing_mut().slider_width = 160.0;
        let [mut red, mut green, mut blue, _] = colour.to_srgba_unmultiplied();
        let mut changed = false;
        for (word, channel) in [("Red", &mut red), ("Green", &mut green), ("Blue", &mut blue)] {
            changed |= ui.add(Slider::new(channel, 0..=255).text(word)).changed();
        }
        *colour = Color32::from_rgb(red, green, blue);
        changed
    });
    mixed.is_some_and(|mixed| mixed.inner)
}
