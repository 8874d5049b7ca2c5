//! Form controls for each kind of field. Input goes into the draft. Text that does not parse stays in its field with the
//! error and blocks saving.

use super::{
    answers::EntityList,
    draft::EntityFormDraft,
    entity_look::arrow_button_ui,
    entity_picker::EntityPicker,
    schema::{SchemaChoice, SchemaField, SchemaFieldKind},
    values::{block, in_line},
};
use crate::{
    markdown::markdown_ui,
    widgets::{close_button_ui, muted_ui, small_text_ui, validity_stroke},
};
use canvas::theme::WorkbenchTheme;
use egui::{Id, Margin, Response, RichText, TextEdit, TextStyle, Ui, vec2};
use serde_json::Number;
use shared_protocol::{OrderedMembers, OrderedValue, messages::ProblemSeverity};

pub(super) struct EntityForm<'a> {
    pub(super) theme: &'a WorkbenchTheme,
    pub(super) draft: &'a mut EntityFormDraft,
    /// The entities that references may name.
    pub(super) list: Option<&'a EntityList>,
    pub(super) picking: &'a mut EntityPicker,
    /// The base id of the controls, which keeps their ids stable while messages appear and disappear.
    pub(super) id: Id,
    pub(super) focus: Option<String>,
    pub(super) changed: bool,
}

/// The value that a control edits.
#[derive(Clone, Copy)]
pub(super) struct FormFieldRef<'a> {
    /// The JSON pointer inside the entity, such as `/rules/0/id`.
    pub(super) pointer: &'a str,
    /// The accessible name.
    pub(super) name: &'a str,
    pub(super) required: bool,
    pub(super) worst: Option<ProblemSeverity>,
}

/// The value of a field; `None` while it is not set.
type FormValue = Option<OrderedValue>;

impl EntityForm<'_> {
    pub(super) fn value_ui(
        &mut self,
        ui: &mut Ui,
        kind: &SchemaFieldKind,
        at: FormFieldRef<'_>,
        value: &mut FormValue,
    ) {
        if value.as_ref().is_some_and(|value| !fits(kind, value)) {
            return self.json_ui(ui, at, value);
        }
        match kind {
            SchemaFieldKind::Text | SchemaFieldKind::Date => self.text_ui(ui, kind, at, value),
            SchemaFieldKind::Long { markdown } => self.long_ui(ui, *markdown, at, value),
            SchemaFieldKind::Number { whole } => self.number_ui(ui, *whole, at, value),
            SchemaFieldKind::Boolean => self.boolean_ui(ui, at, value),
            SchemaFieldKind::Choice(choices) => self.choice_ui(ui, choices, at, value),
            SchemaFieldKind::Reference(types) => self.reference_ui(ui, types, at, value),
            SchemaFieldKind::List { of, .. } => self.list_ui(ui, of, at, value),
            SchemaFieldKind::Object { fields, .. } => self.object_ui(ui, fields, at, value),
            SchemaFieldKind::Json => self.json_ui(ui, at, value),
        }
    }

    fn text_ui(&mut self, ui: &mut Ui, kind: &SchemaFieldKind, at: FormFieldRef<'_>, value: &mut FormValue) {
        let mut text = value.as_ref().and_then(OrderedValue::as_text).unwrap_or_default().to_owned();
        let hint = if *kind == SchemaFieldKind::Date { "2026-01-31" } else { "" };
        let edit = TextEdit::singleline(&mut text).hint_text(hint);
        let edit = if *kind == SchemaFieldKind::Date {
            edit.desired_width(140.0)
        } else {
            edit.desired_width(ui.available_width())
        };
        if self.edit_ui(ui, edit, at).changed() {
            *value = (at.required || !text.is_empty()).then_some(OrderedValue::from(text));
            self.changed = true;
        }
    }

    fn long_ui(&mut self, ui: &mut Ui, markdown: bool, at: FormFieldRef<'_>, value: &mut FormValue) {
        let mut text = value.as_ref().and_then(OrderedValue::as_text).unwrap_or_default().to_owned();
        if markdown && self.draft.previews.contains(at.pointer) {
            return block(ui, self.theme, |ui| markdown_ui(ui, self.theme, &text));
        }
        let rows = text.lines().count().clamp(3, 18);
        let edit = TextEdit::multiline(&mut text).desired_rows(rows).desired_width(ui.available_width());
        if self.edit_ui(ui, edit, at).changed() {
            *value = (at.required || !text.is_empty()).then_some(OrderedValue::from(text));
            self.changed = true;
        }
    }

    fn number_ui(&mut self, ui: &mut Ui, whole: bool, at: FormFieldRef<'_>, value: &mut FormValue) {
        let stored =
            value.as_ref().filter(|value| **value != OrderedValue::Null).map(in_line).unwrap_or_default();
        let mut text = self.draft.texts.get(at.pointer).cloned().unwrap_or(stored);
        let edit = TextEdit::singleline(&mut text).desired_width(140.0);
        let response = self.edit_ui(ui, edit, at);
        if response.changed() {
            let read = read_number(&text, whole);
            self.typed_control(at, text, value, read);
        }
        self.unread_ui(ui, at);
    }

    /// The fallback control: edits any value as JSON.
    fn json_ui(&mut self, ui: &mut Ui, at: FormFieldRef<'_>, value: &mut FormValue) {
        let stored = value.as_ref().map(OrderedValue::to_pretty_json).unwrap_or_default();
        let mut text = self.draft.texts.get(at.pointer).cloned().unwrap_or(stored);
        let rows = text.lines().count().clamp(2, 14);
        let edit = TextEdit::multiline(&mut text)
            .font(TextStyle::Monospace)
            .desired_rows(rows)
            .hint_text("JSON")
            .desired_width(ui.available_width());
        let response = self.edit_ui(ui, edit, at);
        if response.changed() {
            let read = match text.trim() {
                "" => Ok(None),
                text => {
                    serde_json::from_str(text).map(Some).map_err(|error| format!("Invalid JSON: {error}."))
                }
            };
            self.typed_control(at, text, value, read);
        }
        self.unread_ui(ui, at);
    }

    /// Stores the raw text, and the value if it parses.
    fn typed_control(
        &mut self,
        at: FormFieldRef<'_>,
        text: String,
        value: &mut FormValue,
        read: Result<Option<OrderedValue>, String>,
    ) {
        self.changed = true;
        self.draft.texts.insert(at.pointer.to_owned(), text);
        match read {
            Ok(read) => {
                self.draft.unread.remove(at.pointer);
                *value = read;
            }
            Err(why) => drop(self.draft.unread.insert(at.pointer.to_owned(), why)),
        }
    }

    fn unread_ui(&self, ui: &mut Ui, at: FormFieldRef<'_>) {
        if let Some(why) = self.draft.unread.get(at.pointer) {
            small_text_ui(ui, self.theme.danger, why);
        }
    }

    fn boolean_ui(&mut self, ui: &mut Ui, at: FormFieldRef<'_>, value: &mut FormValue) {
        let now = value.as_ref().and_then(OrderedValue::as_bool);
        ui.horizontal(|ui| {
            let choices = [(Some(true), "Yes"), (Some(false), "No"), (None, "Not set")];
            for (choice, word) in choices.into_iter().filter(|(choice, _)| choice.is_some() || !at.required) {
                let button = ui.selectable_label(now == choice, word);
                if button.accessible_name(format!("{} {}", at.name, word.to_lowercase())).clicked()
                    && now != choice
                {
                    *value = choice.map(OrderedValue::Bool);
                    self.changed = true;
                }
            }
        });
    }

    fn choice_ui(
        &mut self,
        ui: &mut Ui,
        choices: &[SchemaChoice],
        at: FormFieldRef<'_>,
        value: &mut FormValue,
    ) {
        let now = value.as_ref().and_then(OrderedValue::as_text).unwrap_or_default().to_owned();
        let known = choices.iter().find(|choice| choice.value == now);
        let text = match known {
            Some(choice) => RichText::new(&choice.title),
            None if now.is_empty() => RichText::new("Choose…").color(self.theme.text_subtle),
            None => RichText::new(&now).color(self.theme.danger),
        };
        let combo =
            egui::ComboBox::from_id_salt(("choice", at.pointer)).selected_text(text).width(220.0).truncate();
        let response = combo.show_ui(ui, |ui| {
            if !at.required && ui.selectable_label(now.is_empty(), "Not set").clicked() && !now.is_empty() {
                *value = None;
                self.changed = true;
            }
            for choice in choices {
                let item = ui.selectable_label(choice.value == now, &choice.title);
                let item = if choice.description.is_empty() {
                    item
                } else {
                    item.on_hover_text(&choice.description)
                };
                if item.clicked() && choice.value != now {
                    *value = Some(choice.value.as_str().into());
                    self.changed = true;
                }
            }
        });
        self.with_label(response.response, at);
    }

    fn reference_ui(&mut self, ui: &mut Ui, types: &[String], at: FormFieldRef<'_>, value: &mut FormValue) {
        let now = value.as_ref().and_then(OrderedValue::as_text).unwrap_or_default().to_owned();
        ui.horizontal_wrapped(|ui| {
            if !now.is_empty() && self.picking.selected_entity_ui(ui, self.theme, self.list, &now, at.name) {
                *value = at.required.then(|| OrderedValue::from(""));
                self.changed = true;
            }
            let word = if now.is_empty() { "Choose…" } else { "Change…" };
            let button = ui.button(word).accessible_name(format!("Choose {}", at.name));
            let id = self.id.with(("pick", at.pointer));
            if let Some(picked) = self.picking.popup_ui(&button, id, self.theme, self.list, types, &[]) {
                *value = Some(OrderedValue::from(picked));
                self.changed = true;
            }
        });
    }

    fn list_ui(&mut self, ui: &mut Ui, of: &SchemaFieldKind, at: FormFieldRef<'_>, value: &mut FormValue) {
        let had = value.is_some();
        let mut items = match value.take() {
            Some(OrderedValue::List(items)) => items,
            _ => Vec::new(),
        };
        let was_empty = items.is_empty();
        match of {
            SchemaFieldKind::Reference(types) => self.references_ui(ui, types, at, &mut items),
            SchemaFieldKind::Choice(choices) => self.choices_ui(ui, choices, at, &mut items),
            of => self.items_ui(ui, of, at, &mut items),
        }
        // An untouched list stays as it was; an optional list that was emptied is removed.
        let keep = !items.is_empty() || (had && (was_empty || at.required));
        *value = keep.then_some(OrderedValue::List(items));
    }

    fn references_ui(
        &mut self,
        ui: &mut Ui,
        types: &[String],
        at: FormFieldRef<'_>,
        items: &mut Vec<OrderedValue>,
    ) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
            let mut gone = None;
            for (place, item) in items.iter().enumerate() {
                let id = in_line(item);
                if self.picking.selected_entity_ui(ui, self.theme, self.list, &id, at.name) {
                    gone = Some(place);
                }
            }
            if let Some(place) = gone {
                items.remove(place);
                self.changed = true;
            }
            let button = ui.button("Add…").accessible_name(format!("Add to {}", at.name));
            let id = self.id.with(("pick", at.pointer));
            let taken: Vec<String> = items.iter().map(in_line).collect();
            if let Some(picked) = self.picking.popup_ui(&button, id, self.theme, self.list, types, &taken) {
                items.push(OrderedValue::from(picked));
                self.changed = true;
            }
        });
    }

    fn choices_ui(
        &mut self,
        ui: &mut Ui,
        choices: &[SchemaChoice],
        at: FormFieldRef<'_>,
        items: &mut Vec<OrderedValue>,
    ) {
        ui.horizontal_wrapped(|ui| {
            for choice in choices {
                let place = items.iter().position(|item| item.as_text() == Some(&choice.value));
                let button = ui.selectable_label(place.is_some(), &choice.title);
                if button.accessible_name(format!("{} {}", at.name, choice.title)).clicked() {
                    match place {
                        Some(place) => drop(items.remove(place)),
                        None => items.push(choice.value.as_str().into()),
                    }
                    self.changed = true;
                }
            }
        });
    }

    fn items_ui(
        &mut self,
        ui: &mut Ui,
        of: &SchemaFieldKind,
        at: FormFieldRef<'_>,
        items: &mut Vec<OrderedValue>,
    ) {
        let (mut gone, mut up) = (None, None);
        let is_object = matches!(of, SchemaFieldKind::Object { .. });
        for (place, stored) in items.iter_mut().enumerate() {
            let pointer = format!("{}/{place}", at.pointer);
            let name = format!("{} {}", at.name, place + 1);
            let inner = FormFieldRef { pointer: &pointer, name: &name, required: true, worst: None };
            let mut item = Some(std::mem::take(stored));
            let buttons = |ui: &mut Ui, gone: &mut Option<usize>, up: &mut Option<usize>| {
                if close_button_ui(ui, self.theme, &format!("Remove {name}")).clicked() {
                    *gone = Some(place);
                }
                if place > 0
                    && arrow_button_ui(ui, self.theme, vec2(0.0, -1.0), &format!("Move {name} up")).clicked()
                {
                    *up = Some(place);
                }
            };
            if is_object {
                block(ui, self.theme, |ui| {
                    ui.horizontal(|ui| {
                        muted_ui(ui, self.theme, format!("{}", place + 1));
                        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                            buttons(ui, &mut gone, &mut up)
                        });
                    });
                    self.value_ui(ui, of, inner, &mut item);
                });
            } else {
                ui.horizontal_top(|ui| {
                    ui.allocate_ui_with_layout(
                        vec2((ui.available_width() - 60.0).max(60.0), 0.0),
                        egui::Layout::top_down(egui::Align::LEFT),
                        |ui| self.value_ui(ui, of, inner, &mut item),
                    );
                    ui.add_space(-4.0);
                    buttons(ui, &mut gone, &mut up);
                });
            }
            *stored = item.unwrap_or_else(|| of.blank());
        }
        if ui.button("Add item").accessible_name(format!("Add to {}", at.name)).clicked() {
            items.push(of.blank());
            self.focus = Some(format!("{}/{}", at.pointer, items.len() - 1));
            self.changed = true;
        }
        if let Some(place) = gone {
            items.remove(place);
        } else if let Some(place) = up {
            items.swap(place, place - 1);
        }
        if gone.or(up).is_some() {
            self.draft.forget_texts(&format!("{}/", at.pointer));
            self.changed = true;
        }
    }

    fn object_ui(
        &mut self,
        ui: &mut Ui,
        fields: &[SchemaField],
        at: FormFieldRef<'_>,
        value: &mut FormValue,
    ) {
        let had = value.is_some();
        let mut object = value.take().unwrap_or_else(|| OrderedValue::Map(OrderedMembers::default()));
        let was_empty = object.members().next().is_none();
        for field in fields {
            let pointer = format!("{}/{}", at.pointer, field.name);
            let name = format!("{} {}", at.name, field.label);
            let at = FormFieldRef { pointer: &pointer, name: &name, required: field.required, worst: None };
            self.label_ui(ui, field, at);
            let mut inner = object.lend(&field.name);
            self.value_ui(ui, &field.kind, at, &mut inner);
            object.set(&field.name, inner);
            ui.add_space(2.0);
        }
        let keep = object.members().next().is_some() || (had && (was_empty || at.required));
        *value = keep.then_some(object);
    }

    /// Draws the label above a control. Markdown fields also get a switch between writing and preview.
    pub(super) fn label_ui(&mut self, ui: &mut Ui, field: &SchemaField, at: FormFieldRef<'_>) {
        let mark = if field.required { " *" } else { "" };
        ui.horizontal(|ui| {
            ui.set_height(20.0);
            let label = muted_ui(ui, self.theme, format!("{}{mark}", field.label));
            if !field.description.is_empty() {
                label.on_hover_text(&field.description);
            }
            if field.kind == (SchemaFieldKind::Long { markdown: true }) {
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    self.preview_ui(ui, at)
                });
            }
        });
    }

    fn preview_ui(&mut self, ui: &mut Ui, at: FormFieldRef<'_>) {
        ui.spacing_mut().button_padding.y = 0.0;
        ui.spacing_mut().interact_size.y = 20.0;
        let on = self.draft.previews.contains(at.pointer);
        for (preview, word) in [(true, "Preview"), (false, "Write")] {
            let button = ui.selectable_label(preview == on, RichText::new(word).small());
            if button.accessible_name(format!("{word} {}", at.name)).clicked() {
                if preview {
                    self.draft.previews.insert(at.pointer.to_owned());
                } else {
                    self.draft.previews.remove(at.pointer);
                }
            }
        }
    }

    fn edit_ui(&mut self, ui: &mut Ui, edit: TextEdit<'_>, at: FormFieldRef<'_>) -> Response {
        let bad = at.worst == Some(ProblemSeverity::Error) || self.draft.unread.contains_key(at.pointer);
        let edit = edit.id(self.id.with(at.pointer)).margin(Margin::symmetric(8, 5));
        let response = validity_stroke(ui, self.theme, !bad, |ui| ui.add(edit));
        self.with_label(response, at)
    }

    fn with_label(&mut self, response: Response, at: FormFieldRef<'_>) -> Response {
        if self.focus.as_deref() == Some(at.pointer) {
            response.request_focus();
            self.focus = None;
        }
        response.accessible_name(at.name)
    }
}

/// Returns whether the control of this kind can show the value.
fn fits(kind: &SchemaFieldKind, value: &OrderedValue) -> bool {
    match kind {
        SchemaFieldKind::Text
        | SchemaFieldKind::Date
        | SchemaFieldKind::Long { .. }
        | SchemaFieldKind::Choice(_)
        | SchemaFieldKind::Reference(_) => {
            matches!(value, OrderedValue::Text(_))
        }
        SchemaFieldKind::Number { .. } => matches!(value, OrderedValue::Number(_) | OrderedValue::Null),
        SchemaFieldKind::Boolean => matches!(value, OrderedValue::Bool(_)),
        SchemaFieldKind::List { .. } => matches!(value, OrderedValue::List(_)),
        SchemaFieldKind::Object { .. } => matches!(value, OrderedValue::Map(_)),
        SchemaFieldKind::Json => true,
    }
}

fn read_number(text: &str, whole: bool) -> Result<Option<OrderedValue>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Ok(Some(OrderedValue::Number(number.into())));
    }
    let number = text.parse::<f64>().ok().filter(|_| !whole).and_then(Number::from_f64);
    match number {
        Some(number) => Ok(Some(OrderedValue::Number(number))),
        None if whole => Err("Enter a whole number.".to_owned()),
        None => Err("Enter a number.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_or_told() {
        let read = |text: &str, whole| read_number(text, whole).map(|read| read.map(|json| json.to_string()));
        assert_eq!(read(" 12 ", true), Ok(Some("12".into())));
        assert_eq!(read("12.5", false), Ok(Some("12.5".into())));
        assert_eq!(read("", true), Ok(None));
        assert!(read("12.5", true).is_err() && read("much", false).is_err() && read("inf", false).is_err());
    }
}
