//! Lists and tags: one row each, with buttons to add and remove.

use super::{
    InspectedNodes, InspectorFeature,
    controls::push,
    fields::{FieldPart, InspectorField, ShownValue, set, shown_value},
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

/// The width of the button that removes a row.
const REMOVE: f32 = 28.0;

impl InspectorFeature {
    pub(super) fn list_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        subjects: &InspectedNodes<'_>,
        prop: &PropDef,
    ) {
        let Some(value) = common(ui, cx.view, subjects, prop) else { return };
        let items: Vec<PropValue> = match value {
            Some(PropValue::List(items)) => items,
            _ => Vec::new(),
        };
        let subject = subjects.subject.clone();
        for (index, item) in items.iter().enumerate() {
            ui.push_id(index, |ui| {
                let name = format!("{} {}", prop.label, index + 1);
                let remove = with_remove_ui(ui, cx.view, &name, |ui| {
                    let field =
                        InspectorField::new(subject.clone(), FieldPart::ListItem(prop.key.clone(), index));
                    let look = TextFieldStyle { spare: REMOVE, ..TextFieldStyle::default() };
                    self.text_ui(ui, cx, &name, field, &item.to_string(), &look);
                });
                if remove {
                    self.editing = None;
                    let mut kept = items.clone();
                    kept.remove(index);
                    let value = (!kept.is_empty()).then_some(PropValue::List(kept));
                    push(set(cx.view, subjects.ids, subjects.def, &prop.key, value), cx);
                }
            });
        }
        let field = InspectorField::new(subject, FieldPart::NewListItem(prop.key.clone()));
        self.new_row_ui(ui, cx, prop, field, "New item", "Add item");
    }

    pub(super) fn tags_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        subjects: &InspectedNodes<'_>,
        prop: &PropDef,
    ) {
        let Some(value) = common(ui, cx.view, subjects, prop) else { return };
        let tags: BTreeMap<Arc<str>, PropValue> = match value {
            Some(PropValue::Object(tags)) => tags,
            _ => BTreeMap::new(),
        };
        let subject = subjects.subject.clone();
        for (key, value) in &tags {
            ui.push_id(key, |ui| {
                let remove = with_remove_ui(ui, cx.view, &format!("{} {key}", prop.label), |ui| {
                    let half = (ui.available_width() - REMOVE - 6.0) / 2.0;
                    ui.spacing_mut().item_spacing.x = 6.0;
                    let look =
                        TextFieldStyle { spare: ui.available_width() - half, ..TextFieldStyle::default() };
                    let field = InspectorField::new(
                        subject.clone(),
                        FieldPart::TagKey(prop.key.clone(), Arc::clone(key)),
                    );
                    self.text_ui(ui, cx, &format!("{} key {key}", prop.label), field, key, &look);
                    let look =
                        TextFieldStyle { hint: "Value".into(), spare: REMOVE, ..TextFieldStyle::default() };
                    let field = InspectorField::new(
                        subject.clone(),
                        FieldPart::TagValue(prop.key.clone(), Arc::clone(key)),
                    );
                    self.text_ui(ui, cx, &format!("{} {key}", prop.label), field, &value.to_string(), &look);
                });
                if remove {
                    self.editing = None;
                    let mut kept = tags.clone();
                    kept.remove(key);
                    let value = (!kept.is_empty()).then_some(PropValue::Object(kept));
                    push(set(cx.view, subjects.ids, subjects.def, &prop.key, value), cx);
                }
            });
        }
        let field = InspectorField::new(subject, FieldPart::NewTag(prop.key.clone()));
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

/// The common rows; `None` when the nodes differ, which the control states.
fn common(
    ui: &mut Ui,
    view: &FrameView<'_>,
    subjects: &InspectedNodes<'_>,
    prop: &PropDef,
) -> Option<Option<PropValue>> {
    match shown_value(subjects.nodes, &prop.key) {
        ShownValue::Set(value) => Some(Some(value.clone())),
        ShownValue::Unset => Some(prop.default.clone()),
        ShownValue::Mixed => {
            muted_ui(ui, view.theme, "Mixed values. Select one node to edit it.");
            None
        }
    }
}

/// Returns whether the row should be removed.
fn with_remove_ui(ui: &mut Ui, view: &FrameView<'_>, name: &str, content: impl FnOnce(&mut Ui)) -> bool {
    ui.horizontal_top(|ui| {
        content(ui);
        close_button_ui(ui, view.theme, &format!("Remove {name}")).clicked()
    })
    .inner
}
