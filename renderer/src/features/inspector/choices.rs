//! Controls with a fixed choice. A click sends the value at once.

use super::{
    controls::{PropField, hover_ui, paint_combo_arrow, small_button_ui},
    fields::ShownValue,
    variables::variable_ui,
};
use egui::{Response, RichText, Ui};
use shared_protocol::PropValue;
use std::sync::Arc;

pub(super) fn boolean_ui(ui: &mut Ui, field: PropField<'_>) -> Response {
    let PropField { cx, prop, .. } = field;
    let value = field.shown();
    let default = prop.default.as_ref().and_then(PropValue::as_bool).unwrap_or(false);
    let mut on = field.effective().and_then(PropValue::as_bool).unwrap_or(default);
    ui.horizontal(|ui| {
        let text = if prop.required { format!("{} *", prop.label) } else { prop.label.clone() };
        let mut checkbox = egui::Checkbox::new(&mut on, text);
        checkbox = checkbox.indeterminate(value == ShownValue::Mixed);
        let response = ui.add(checkbox).accessible_name(prop.label.as_str());
        hover_ui(&response, cx.view, prop);
        if response.changed() {
            field.set(Some(on.into()));
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if cx.view.is_overriding {
                return;
            }
            variable_ui(ui, field);
            if value != ShownValue::Unset
                && small_button_ui(ui, "Reset", &format!("Reset {}", prop.label)).clicked()
            {
                field.set(None);
            }
        });
        response
    })
    .inner
}

pub(super) fn select_ui(ui: &mut Ui, field: PropField<'_>) -> Response {
    let PropField { cx, prop, .. } = field;
    let value = field.shown();
    let chosen = match &value {
        ShownValue::Set(value) => value.as_text(),
        ShownValue::Unset | ShownValue::Mixed => None,
    };
    let title = |wanted: &str| {
        let choice = prop.options.iter().find(|choice| &*choice.value == wanted);
        choice.map_or_else(|| wanted.to_owned(), |choice| choice.label.clone())
    };
    let text = match (&value, chosen, prop.default.as_ref().and_then(PropValue::as_text)) {
        (ShownValue::Mixed, ..) => RichText::new("Mixed").color(cx.view.theme.text_subtle),
        (_, Some(chosen), _) => RichText::new(title(chosen)),
        (_, None, Some(default)) => {
            RichText::new(format!("{} (default)", title(default))).color(cx.view.theme.text_subtle)
        }
        (_, None, None) => RichText::new("Choose…").color(cx.view.theme.text_subtle),
    };
    let combo =
        egui::ComboBox::from_id_salt("select").selected_text(text).width(ui.available_width()).truncate();
    let combo = combo.icon(paint_combo_arrow);
    let response = combo.show_ui(ui, |ui| {
        for choice in &prop.options {
            let item = ui.selectable_label(chosen == Some(&*choice.value), choice.label.as_str());
            let item =
                if choice.description.is_empty() { item } else { item.on_hover_text(&choice.description) };
            if item.clicked() {
                let value = PropValue::Text(Arc::clone(&choice.value));
                field.set(Some(value));
            }
        }
    });
    response.response.accessible_name(prop.label.as_str())
}

pub(super) fn multiselect_ui(ui: &mut Ui, field: PropField<'_>) -> Option<Response> {
    let PropField { prop, .. } = field;
    let chosen: Vec<&str> = match field.effective() {
        Some(PropValue::List(items)) => items.iter().filter_map(PropValue::as_text).collect(),
        _ => Vec::new(),
    };
    let mut first = None;
    for choice in &prop.options {
        let mut on = chosen.contains(&&*choice.value);
        let response = ui.checkbox(&mut on, choice.label.as_str());
        if response.changed() {
            // In the order of the type, so that equal choices are equal values.
            let kept = prop.options.iter().filter(|other| {
                if other.value == choice.value { on } else { chosen.contains(&&*other.value) }
            });
            let value =
                PropValue::List(kept.map(|choice| PropValue::Text(Arc::clone(&choice.value))).collect());
            field.set(Some(value));
        }
        first.get_or_insert(response);
    }
    first
}
