//! Text fields of the inspector, over the stored value or over the buffer while a person types.

use super::{
    InspectorFeature,
    controls::PropField,
    fields::{FieldEdit, FieldPart, InspectorField, ShownValue, interpret},
};
use crate::{
    features::inspector::InspectorContext,
    view::FrameView,
    widgets::{small_text_ui, validity_stroke},
};
use egui::{Key, RichText, TextEdit, Ui};
use shared_protocol::{PropValue, registry::PropKind};

/// The appearance of a text field.
#[derive(Debug, Clone, Default)]
pub(super) struct TextFieldStyle {
    pub(super) hint: String,
    pub(super) rows: usize,
    pub(super) code: bool,
    pub(super) masked: bool,
    pub(super) unit: String,
    /// The amount that the up and down keys add.
    pub(super) step: Option<f64>,
    /// Space left free at the right.
    pub(super) spare: f32,
    /// Takes the keyboard when it appears.
    pub(super) grab_focus: bool,
}

impl InspectorFeature {
    /// Text fields for every kind that is edited in one field.
    pub(super) fn plain_text_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, subjects, prop } = field;
        let value = field.shown();
        let json = matches!(prop.kind, PropKind::Object | PropKind::Json);
        let current = match value {
            ShownValue::Set(value) if json => pretty(value),
            ShownValue::Set(value) => value.to_string(),
            ShownValue::Unset | ShownValue::Mixed => String::new(),
        };
        let hint = match (&value, &prop.default) {
            (ShownValue::Mixed, _) => "Mixed".to_owned(),
            (_, Some(default)) => default.to_string(),
            (_, None) => prop.placeholder.clone(),
        };
        let look = TextFieldStyle {
            hint,
            rows: if prop.kind == PropKind::Multiline || json { 3 } else { 1 },
            code: json || prop.kind == PropKind::Cidr,
            masked: prop.sensitive && !self.revealed.contains(&prop.key),
            unit: prop.unit.clone(),
            step: (prop.kind == PropKind::Number).then(|| prop.step.unwrap_or(1.0)),
            spare: 0.0,
            grab_focus: self.focus_request.as_ref() == Some(&prop.key),
        };
        let field = subjects.subject.field(FieldPart::Prop(prop.key.clone()));
        self.text_ui(ui, cx, &prop.label, field, &current, &look);
    }

    /// A text field over the stored value or the buffer, with its message below.
    pub(super) fn text_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        name: &str,
        field: InspectorField,
        current: &str,
        look: &TextFieldStyle,
    ) {
        let widget = ui.make_persistent_id(("text", format!("{field:?}")));
        let mut editing = self.editing.take_if(|editing| editing.field == field);
        let mut text =
            editing.as_mut().map_or_else(|| current.to_owned(), |editing| std::mem::take(&mut editing.text));
        let bad = editing.as_ref().is_some_and(|editing| editing.problem.is_some());

        let response = field_ui(ui, cx.view, name, widget, &mut text, look, bad);
        if look.grab_focus && editing.is_none() {
            response.request_focus();
        }
        if response.has_focus()
            && let Some(step) = look.step
        {
            step_by_keys(ui, step, &mut text);
        }
        if editing.is_none() && (response.has_focus() || response.changed()) {
            // Commits the field that was focused before.
            self.commit_text(cx);
            let began_with = current.to_owned();
            editing = Some(FieldEdit {
                field: field.clone(),
                widget,
                text: String::new(),
                began_with,
                problem: None,
            });
        }
        if response.lost_focus() {
            // The text is committed in the next frame.
            ui.request_repaint();
        }
        if let Some(mut editing) = editing {
            let new_row = matches!(field.part, FieldPart::NewListItem(_) | FieldPart::NewTag(_))
                && text.trim().is_empty();
            editing.problem = if text == editing.began_with || new_row {
                None
            } else {
                interpret(cx.view, &field, &text).err()
            };
            if let Some(problem) = &editing.problem {
                small_text_ui(ui, cx.view.theme.danger, problem);
            }
            editing.text = text;
            self.editing = Some(editing);
        }
    }
}

fn field_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    name: &str,
    widget: egui::Id,
    text: &mut String,
    look: &TextFieldStyle,
    bad: bool,
) -> egui::Response {
    let width = (ui.available_width() - look.spare).max(24.0);
    let edit = if look.rows > 1 {
        TextEdit::multiline(text).desired_rows(look.rows)
    } else {
        TextEdit::singleline(text)
    };
    let edit = edit
        .id(widget)
        .hint_text(RichText::new(&look.hint).color(view.theme.text_subtle))
        .desired_width(width)
        .password(look.masked)
        .margin(egui::Margin::symmetric(8, 5));
    let edit = if look.code { edit.font(egui::TextStyle::Monospace) } else { edit };
    let edit = if look.unit.is_empty() {
        edit
    } else {
        edit.suffix(RichText::new(&look.unit).color(view.theme.text_subtle))
    };
    validity_stroke(ui, view.theme, !bad, |ui| ui.add(edit)).accessible_name(name)
}

/// Up and down change a number by its step.
fn step_by_keys(ui: &Ui, step: f64, text: &mut String) {
    let (up, down) = ui.input(|input| (input.num_presses(Key::ArrowUp), input.num_presses(Key::ArrowDown)));
    if up == down {
        return;
    }
    let now: f64 = text.trim().parse().unwrap_or_default();
    let next = now + step * (up as f64 - down as f64);
    if let Some(value) = PropValue::number(next) {
        *text = value.to_string();
    }
}

fn pretty(value: &PropValue) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_json())
}
