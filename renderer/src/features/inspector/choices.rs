//! Controls with a fixed choice. A click sends the value at once.

use super::{
    InspectedNodes,
    controls::{hover_ui, paint_combo_arrow, push, small_button_ui},
    fields::{ShownValue, set, shown_value},
    variables::variable_ui,
};
use crate::features::inspector::InspectorContext;
use egui::{Response, RichText, Ui};
use shared_protocol::{PropValue, registry::PropDef};
use std::sync::Arc;

pub(super) fn boolean_ui(
    ui: &mut Ui,
    cx: &InspectorContext<'_>,
    subjects: &InspectedNodes<'_>,
    prop: &PropDef,
) -> Response {
    let value = shown_value(subjects.nodes, &prop.key);
    let default = prop.default.as_ref().and_then(PropValue::as_bool).unwrap_or(false);
    let mut on = match value {
        ShownValue::Set(value) => value.as_bool().unwrap_or(default),
        ShownValue::Unset | ShownValue::Mixed => default,
    };
    ui.horizontal(|ui| {
        let text = if prop.required { format!("{} *", prop.label) } else { prop.label.clone() };
        let mut checkbox = egui::Checkbox::new(&mut on, text);
        checkbox = checkbox.indeterminate(value == ShownValue::Mixed);
        let response = ui.add(checkbox).accessible_name(prop.label.as_str());
        hover_ui(&response, cx.view, prop);
        if response.changed() {
            push(set(cx.view, subjects.ids, subjects.def, &prop.key, Some(on.into())), cx);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if cx.view.is_overriding {
                return;
            }
            variable_ui(ui, cx, subjects, prop);
            if value != ShownValue::Unset
                && small_button_ui(ui, "Reset", &format!("Reset {}", prop.label)).clicked()
            {
                push(set(cx.view, subjects.ids, subjects.def, &prop.key, None), cx);
            }
        });
        response
    })
    .inner
}

pub(super) fn select_ui(
    ui: &mut Ui,
    cx: &InspectorContext<'_>,
    subjects: &InspectedNodes<'_>,
    prop: &PropDef,
) -> Response {
    let value = shown_value(subjects.nodes, &prop.key);
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
                push(set(cx.view, subjects.ids, subjects.def, &prop.key, Some(value)), cx);
            }
        }
    });
    response.response.accessible_name(prop.label.as_str())
}

pub(super) fn multiselect_ui(
    ui: &mut Ui,
    cx: &InspectorContext<'_>,
    subjects: &InspectedNodes<'_>,
    prop: &PropDef,
) -> Option<Response> {
    let value = match shown_value(subjects.nodes, &prop.key) {
        ShownValue::Set(value) => Some(value),
        ShownValue::Unset => prop.default.as_ref(),
        ShownValue::Mixed => None,
    };
    let chosen: Vec<&str> = match value {
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
            push(set(cx.view, subjects.ids, subjects.def, &prop.key, Some(value)), cx);
        }
        first.get_or_insert(response);
    }
    first
}
