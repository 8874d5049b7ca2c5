//! Lists and tags: one row each, with buttons to add and remove.

use super::{
    InspectorFeature,
    controls::PropField,
    fields::{FieldPart, InspectorField, ShownValue},
    text::TextFieldStyle,
};
use crate::{
    features::inspector::InspectorContext,
    view::FrameView,
    widgets::{close_button_ui, muted_ui},
};
use egui::Ui;
use shared_protocol::{PropValue, registry::PropDef};
use std::{collections::BTreeMap, sync::Arc};

const REMOVE: f32 = 28.0;

impl InspectorFeature {
    pub(super) fn list_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, subjects, prop } = field;
        if is_mixed_ui(ui, field) {
            return;
        }
        let items: Vec<PropValue> = match field.effective().cloned() {
            Some(PropValue::List(items)) => items,
            _ => Vec::new(),
        };
        let subject = subjects.subject;
        for (index, item) in items.iter().enumerate() {
            ui.push_id(index, |ui| {
                let name = format!("{} {}", prop.label, index + 1);
                let remove = with_remove_ui(ui, cx.view, &name, |ui| {
                    let field = subject.field(FieldPart::ListItem(prop.key.clone(), index));
                    let look = TextFieldStyle { spare: REMOVE, ..TextFieldStyle::default() };
                    self.text_ui(ui, cx, &name, field, &item.to_string(), &look);
                });
                if remove {
                    self.editing = None;
                    let mut kept = items.clone();
                    kept.remove(index);
                    let value = (!kept.is_empty()).then_some(PropValue::List(kept));
                    field.set(value);
                }
            });
        }
        let field = subject.field(FieldPart::NewListItem(prop.key.clone()));
        self.new_row_ui(ui, cx, prop, field, "New item", "Add item");
    }

    pub(super) fn tags_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, subjects, prop } = field;
        if is_mixed_ui(ui, field) {
            return;
        }
        let tags: BTreeMap<Arc<str>, PropValue> = match field.effective().cloned() {
            Some(PropValue::Object(tags)) => tags,
            _ => BTreeMap::new(),
        };
        let subject = subjects.subject;
        for (key, value) in &tags {
            ui.push_id(key, |ui| {
                let remove = with_remove_ui(ui, cx.view, &format!("{} {key}", prop.label), |ui| {
                    let half = (ui.available_width() - REMOVE - 6.0) / 2.0;
                    ui.spacing_mut().item_spacing.x = 6.0;
                    let look =
                        TextFieldStyle { spare: ui.available_width() - half, ..TextFieldStyle::default() };
                    let field = subject.field(FieldPart::TagKey(prop.key.clone(), Arc::clone(key)));
                    self.text_ui(ui, cx, &format!("{} key {key}", prop.label), field, key, &look);
                    let look =
                        TextFieldStyle { hint: "Value".into(), spare: REMOVE, ..TextFieldStyle::default() };
                    let field = subject.field(FieldPart::TagValue(prop.key.clone(), Arc::clone(key)));
                    self.text_ui(ui, cx, &format!("{} {key}", prop.label), field, &value.to_string(), &look);
                });
                if remove {
                    self.editing = None;
                    let mut kept = tags.clone();
                    kept.remove(key);
                    let value = (!kept.is_empty()).then_some(PropValue::Object(kept));
                    field.set(value);
                }
            });
        }
        let field = subject.field(FieldPart::NewTag(prop.key.clone()));
        self.new_row_ui(ui, cx, prop, field, "New key", "Add tag");
    }

    /// The new row, or the button that adds one.
    fn new_row_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        prop: &PropDef,
        field: InspectorField,
        hint: &str,
        button: &str,
    ) {
        if self.adding.as_ref() == Some(&prop.key) {
            let look = TextFieldStyle {
                hint: hint.to_owned(),
                spare: REMOVE,
                grab_focus: true,
                ..TextFieldStyle::default()
            };
            self.text_ui(ui, cx, &format!("{} {}", prop.label, hint.to_lowercase()), field, "", &look);
        } else {
            let name = format!("{button} to {}", prop.label);
            if ui.add(egui::Button::new(egui::RichText::new(button).small())).accessible_name(name).clicked()
            {
                self.adding = Some(prop.key.clone());
            }
        }
    }
}

/// Returns whether the nodes differ, which it states.
fn is_mixed_ui(ui: &mut Ui, field: PropField<'_>) -> bool {
    let is_mixed = field.shown() == ShownValue::Mixed;
    if is_mixed {
        muted_ui(ui, field.cx.view.theme, "Mixed values. Select one node to edit it.");
    }
    is_mixed
}

/// Returns whether the row should be removed.
fn with_remove_ui(ui: &mut Ui, view: &FrameView<'_>, name: &str, content: impl FnOnce(&mut Ui)) -> bool {
    ui.horizontal_top(|ui| {
        content(ui);
        close_button_ui(ui, view.theme, &format!("Remove {name}")).clicked()
    })
    .inner
}
