//! One control per kind of property: labels and texts here, choices and rows beside it.

use super::{
    Inspector, Subjects, choices,
    fields::{Editing, Field, Part, Shown, Subject, interpret, set, shown},
};
use crate::{
    view::{Action, View},
    widgets::muted_ui,
};
use egui::{Key, RichText, TextEdit, Ui};
use shared_protocol::{
    Value,
    registry::{Exposure, PropDef, PropKind},
};

/// How a text field looks.
#[derive(Debug, Clone, Default)]
pub(super) struct TextLook {
    pub(super) hint: String,
    pub(super) rows: usize,
    pub(super) code: bool,
    pub(super) masked: bool,
    pub(super) unit: String,
    /// What the up and down keys add.
    pub(super) step: Option<f64>,
    /// Room left free at the right.
    pub(super) spare: f32,
    /// Takes the keyboard when it appears.
    pub(super) grab_focus: bool,
}

impl Inspector {
    pub(super) fn prop_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &Subjects<'_>,
        prop: &PropDef,
        actions: &mut Vec<Action>,
    ) {
        let wanted = self.wanted.as_ref() == Some(&prop.key);
        let shown = ui.push_id(prop.key.as_str(), |ui| {
            ui.add_space(3.0);
            ui.spacing_mut().item_spacing.y = 3.0;
            match prop.exposure {
                Exposure::Opaque => fixed_ui(ui, view, prop, "Not editable here", &prop.reason),
                Exposure::ReadOnly => {
                    let value = match shown(subjects.nodes, &prop.key) {
                        Shown::Set(value) => self.readable(prop, value),
                        Shown::Unset => {
                            prop.default.as_ref().map_or_else(|| "—".to_owned(), Value::to_string)
                        }
                        Shown::Mixed => "Differs".to_owned(),
                    };
                    fixed_ui(ui, view, prop, &value, "Read only");
                }
                Exposure::Editable if prop.kind == PropKind::Slot => {
                    fixed_ui(ui, view, prop, "Put nodes inside this one", "Filled by nesting");
                }
                Exposure::Editable => self.editable_ui(ui, view, subjects, prop, actions),
            }
        });
        if wanted {
            shown.response.scroll_to_me(Some(egui::Align::Center));
        }
    }

    fn editable_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &Subjects<'_>,
        prop: &PropDef,
        actions: &mut Vec<Action>,
    ) {
        let wanted = self.wanted.as_ref() == Some(&prop.key);
        if prop.kind != PropKind::Boolean {
            self.label_ui(ui, view, subjects, prop, actions);
        }
        let control = match prop.kind {
            PropKind::Boolean => Some(choices::boolean_ui(ui, view, subjects, prop, actions)),
            PropKind::Select => Some(choices::select_ui(ui, view, subjects, prop, actions)),
            PropKind::Multiselect => choices::multiselect_ui(ui, view, subjects, prop, actions),
            PropKind::Reference => super::pickers::reference_ui(ui, view, subjects, prop, actions),
            PropKind::Tags | PropKind::List => {
                if wanted {
                    self.adding = Some(prop.key.clone());
                }
                if prop.kind == PropKind::Tags {
                    self.tags_ui(ui, view, subjects, prop, actions);
                } else {
                    self.list_ui(ui, view, subjects, prop, actions);
                }
                None
            }
            PropKind::Colour => {
                self.colour_ui(ui, view, subjects, prop, actions);
                None
            }
            _ => {
                self.plain_text_ui(ui, view, subjects, prop, 0.0, actions);
                None
            }
        };
        if let (true, Some(control)) = (wanted, control) {
            control.request_focus();
        }
    }

    /// The label with what belongs to it: required, reveal, reset.
    fn label_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &Subjects<'_>,
        prop: &PropDef,
        actions: &mut Vec<Action>,
    ) {
        let theme = view.theme;
        line_ui(ui, |ui| {
            let text = if prop.required { format!("{} *", prop.label) } else { prop.label.clone() };
            let label = muted_ui(ui, theme, text);
            hover_ui(&label, view, prop);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let set_value = shown(subjects.nodes, &prop.key) != Shown::Unset;
                if set_value && small_button_ui(ui, "Reset", &format!("Reset {}", prop.label)).clicked() {
                    self.editing = None;
                    push(set(view, subjects.ids, subjects.def, &prop.key, None), actions);
                }
                if prop.sensitive {
                    let revealed = self.revealed.contains(&prop.key);
                    let word = if revealed { "Hide" } else { "Reveal" };
                    if small_button_ui(ui, word, &format!("{word} {}", prop.label)).clicked() {
                        if revealed {
                            self.revealed.remove(&prop.key);
                        } else {
                            self.revealed.insert(prop.key.clone());
                        }
                    }
                }
            });
        });
    }

    /// Texts of every kind that is written in one field.
    fn plain_text_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &Subjects<'_>,
        prop: &PropDef,
        spare: f32,
        actions: &mut Vec<Action>,
    ) {
        let value = shown(subjects.nodes, &prop.key);
        let json = matches!(prop.kind, PropKind::Object | PropKind::Json);
        let current = match value {
            Shown::Set(value) if json => pretty(value),
            Shown::Set(value) => value.to_string(),
            Shown::Unset | Shown::Mixed => String::new(),
        };
        let hint = match (&value, &prop.default) {
            (Shown::Mixed, _) => "They differ".to_owned(),
            (_, Some(default)) => default.to_string(),
            (_, None) => prop.placeholder.clone(),
        };
        let look = TextLook {
            hint,
            rows: if prop.kind == PropKind::Multiline || json { 3 } else { 1 },
            code: json || prop.kind == PropKind::Cidr,
            masked: prop.sensitive && !self.revealed.contains(&prop.key),
            unit: prop.unit.clone(),
            step: (prop.kind == PropKind::Number).then(|| prop.step.unwrap_or(1.0)),
            spare,
            grab_focus: self.wanted.as_ref() == Some(&prop.key),
        };
        let field = Field::new(Subject::Nodes(subjects.ids.to_vec()), Part::Prop(prop.key.clone()));
        self.text_ui(ui, view, &prop.label, field, &current, &look, actions);
    }

    /// A text field over what is stored, or over the buffer while it is typed in. The message stands below.
    #[expect(clippy::too_many_arguments, reason = "every text of the inspector goes through here")]
    pub(super) fn text_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        name: &str,
        field: Field,
        current: &str,
        look: &TextLook,
        actions: &mut Vec<Action>,
    ) {
        let widget = ui.make_persistent_id(("text", format!("{field:?}")));
        let mut editing = self.editing.take_if(|editing| editing.field == field);
        let mut text =
            editing.as_mut().map_or_else(|| current.to_owned(), |editing| std::mem::take(&mut editing.text));
        let bad = editing.as_ref().is_some_and(|editing| editing.problem.is_some());

        let response = field_ui(ui, view, name, widget, &mut text, look, bad);
        if look.grab_focus && editing.is_none() {
            response.request_focus();
        }
        if response.has_focus()
            && let Some(step) = look.step
        {
            step_by_keys(ui, step, &mut text);
        }
        if editing.is_none() && (response.has_focus() || response.changed()) {
            // The field that was typed in before is done with.
            self.finish(view, actions);
            let began_with = current.to_owned();
            editing = Some(Editing {
                field: field.clone(),
                widget,
                text: String::new(),
                began_with,
                problem: None,
            });
        }
        if response.lost_focus() {
            // What was typed is taken over in the next frame.
            ui.request_repaint();
        }
        if let Some(mut editing) = editing {
            let new_row =
                matches!(field.part, Part::NewListItem(_) | Part::NewTag(_)) && text.trim().is_empty();
            editing.problem = if text == editing.began_with || new_row {
                None
            } else {
                interpret(view, &field, &text).err()
            };
            if let Some(problem) = &editing.problem {
                ui.add(egui::Label::new(RichText::new(problem).small().color(view.theme.danger)).wrap());
            }
            editing.text = text;
            self.editing = Some(editing);
        }
    }

    fn colour_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &Subjects<'_>,
        prop: &PropDef,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal_top(|ui| {
            let value = match shown(subjects.nodes, &prop.key) {
                Shown::Set(value) => value.as_text(),
                Shown::Unset => prop.default.as_ref().and_then(Value::as_text),
                Shown::Mixed => None,
            };
            let stored =
                value.and_then(|text| egui::Color32::from_hex(text).ok()).unwrap_or(view.theme.surface_card);
            let picked = self.picked.take_if(|(key, _)| *key == prop.key).map(|(_, colour)| colour);
            let mut colour = picked.unwrap_or(stored);
            let changed = choices::swatch_ui(ui, view, &prop.label, &mut colour);
            // While the pointer is down the colour runs along here only; what is sent is where it is let go.
            let touched = (changed || picked.is_some()) && colour != stored;
            if touched && ui.input(|input| input.pointer.any_down()) {
                self.picked = Some((prop.key.clone(), colour));
            } else if touched {
                self.editing = None;
                let [r, g, b, _] = colour.to_srgba_unmultiplied();
                let hex = format!("#{r:02x}{g:02x}{b:02x}");
                push(set(view, subjects.ids, subjects.def, &prop.key, Some(Value::text(hex))), actions);
            }
            ui.vertical(|ui| self.plain_text_ui(ui, view, subjects, prop, 0.0, actions));
        });
    }

    fn readable(&self, prop: &PropDef, value: &Value) -> String {
        if prop.sensitive { "••••••".to_owned() } else { value.to_string() }
    }
}

fn field_ui(
    ui: &mut Ui,
    view: &View<'_>,
    name: &str,
    widget: egui::Id,
    text: &mut String,
    look: &TextLook,
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
    let response = ui
        .scope(|ui| {
            let focus = if bad { view.theme.danger } else { view.theme.focus };
            ui.visuals_mut().selection.stroke = egui::Stroke::new(1.5, focus);
            if bad {
                let widgets = &mut ui.visuals_mut().widgets;
                for state in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active] {
                    state.bg_stroke = egui::Stroke::new(1.0, view.theme.danger);
                }
            }
            ui.add(edit)
        })
        .inner;
    response.accessible_name(name)
}

/// Up and down change a number by its step.
fn step_by_keys(ui: &Ui, step: f64, text: &mut String) {
    let (up, down) = ui.input(|input| (input.num_presses(Key::ArrowUp), input.num_presses(Key::ArrowDown)));
    if up == down {
        return;
    }
    let now: f64 = text.trim().parse().unwrap_or_default();
    let next = now + step * (up as f64 - down as f64);
    if let Some(value) = Value::number(next) {
        *text = value.to_string();
    }
}

/// What can be looked at only, and why.
fn fixed_ui(ui: &mut Ui, view: &View<'_>, prop: &PropDef, value: &str, why: &str) {
    let label = muted_ui(ui, view.theme, prop.label.as_str());
    hover_ui(&label, view, prop);
    ui.add(egui::Label::new(RichText::new(value).color(view.theme.text)).truncate());
    if !why.is_empty() {
        ui.add(egui::Label::new(RichText::new(why).small().color(view.theme.text_subtle)).wrap());
    }
}

pub(super) fn hover_ui(response: &egui::Response, view: &View<'_>, prop: &PropDef) {
    if prop.description.is_empty() {
        return;
    }
    response.clone().on_hover_ui(|ui| {
        ui.set_max_width(280.0);
        ui.label(&prop.description);
        let more = if prop.required { "Required" } else { prop.kind.word() };
        muted_ui(ui, view.theme, more);
    });
}

/// A line of small text with buttons of its height.
fn line_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 16.0;
        ui.spacing_mut().button_padding = egui::vec2(4.0, 0.0);
        ui.horizontal(content);
    });
}

/// The arrow of a combo box, no louder than its text.
pub(super) fn paint_combo_arrow(
    ui: &Ui,
    rect: egui::Rect,
    visuals: &egui::style::WidgetVisuals,
    _is_open: bool,
) {
    let (c, stroke) = (rect.center(), egui::Stroke::new(1.5, visuals.fg_stroke.color.gamma_multiply(0.7)));
    let points = vec![c + egui::vec2(-4.0, -2.0), c + egui::vec2(0.0, 2.0), c + egui::vec2(4.0, -2.0)];
    ui.painter().add(egui::Shape::line(points, stroke));
}

pub(super) fn small_button_ui(ui: &mut Ui, text: &str, name: &str) -> egui::Response {
    ui.add(egui::Button::new(RichText::new(text).small()).frame_when_inactive(false)).accessible_name(name)
}

/// The command, or the reason as a notice.
pub(super) fn push(result: Result<shared_protocol::Command, String>, actions: &mut Vec<Action>) {
    actions.push(match result {
        Ok(command) => Action::Run(command),
        Err(why) => refuse(why),
    });
}

fn refuse(why: String) -> Action {
    Action::Refuse(shared_protocol::Refusal::new(shared_protocol::Code::ValidationError, why))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_json())
}
