//! Picks the control for each kind of property, with its label, badges and buttons. The controls themselves are in the
//! files beside this one.

use super::{
    InspectedNodes, InspectorFeature, choices,
    deployment::prop_findings_ui,
    fields::{ShownValue, set, shown_value},
    overrides,
    variables::variable_ui,
};
use crate::{
    features::inspector::InspectorContext,
    view::{FrameView, WindowAction},
    widgets::{muted_ui, small_text_ui},
};
use egui::{RichText, Ui};
use shared_protocol::{
    PropValue, Refusal, RefusalCode,
    registry::{ExposureLevel, PropDef, PropKind},
};

#[derive(Clone, Copy)]
pub(super) struct PropField<'a> {
    pub(super) cx: &'a InspectorContext<'a>,
    pub(super) subjects: &'a InspectedNodes<'a>,
    pub(super) prop: &'a PropDef,
}

impl<'a> PropField<'a> {
    pub(super) fn shown(self) -> ShownValue<'a> {
        shown_value(self.subjects.nodes, &self.prop.key)
    }

    /// The common value or else the default; `None` when the nodes differ.
    pub(super) fn effective(self) -> Option<&'a PropValue> {
        match self.shown() {
            ShownValue::Set(value) => Some(value),
            ShownValue::Unset => self.prop.default.as_ref(),
            ShownValue::Mixed => None,
        }
    }

    /// Sets the value on all nodes, or shows the reason as a notice.
    pub(super) fn set(self, value: Option<PropValue>) {
        let Self { cx, subjects, prop } = self;
        cx.act(match set(cx.view, subjects.ids, subjects.def, &prop.key, value) {
            Ok(command) => WindowAction::Run(command),
            Err(why) => WindowAction::Refuse(Refusal::new(RefusalCode::ValidationError, why)),
        });
    }
}

impl InspectorFeature {
    pub(super) fn prop_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, subjects, prop } = field;
        let wanted = self.focus_request.as_ref() == Some(&prop.key);
        let shown = ui.push_id(prop.key.as_str(), |ui| {
            ui.add_space(3.0);
            ui.spacing_mut().item_spacing.y = 3.0;
            match prop.exposure {
                ExposureLevel::Opaque => fixed_ui(ui, cx.view, prop, "Not editable here", &prop.reason),
                ExposureLevel::ReadOnly => {
                    let value = match field.shown() {
                        ShownValue::Set(value) => self.format_value(prop, value),
                        ShownValue::Unset => {
                            prop.default.as_ref().map_or_else(|| "—".to_owned(), PropValue::to_string)
                        }
                        ShownValue::Mixed => "Differs".to_owned(),
                    };
                    fixed_ui(ui, cx.view, prop, &value, "Read only");
                }
                ExposureLevel::Editable if cx.view.is_overriding && prop.kind == PropKind::Reference => {
                    fixed_ui(ui, cx.view, prop, "References are set on the board", "Cannot be overridden");
                }
                ExposureLevel::Editable if prop.kind == PropKind::Slot => {
                    fixed_ui(ui, cx.view, prop, "Put nodes inside this one", "Filled by nesting");
                }
                ExposureLevel::Editable => self.editable_ui(ui, field),
            }
            overrides::badge_ui(ui, cx, subjects.ids, prop);
            prop_findings_ui(ui, cx.view, subjects.ids, &prop.key);
        });
        if wanted {
            shown.response.scroll_to_me(Some(egui::Align::Center));
        }
    }

    fn editable_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { prop, .. } = field;
        let wanted = self.focus_request.as_ref() == Some(&prop.key);
        if prop.kind != PropKind::Boolean {
            self.label_ui(ui, field);
        }
        let control = match prop.kind {
            PropKind::Boolean => Some(choices::boolean_ui(ui, field)),
            PropKind::Select => Some(choices::select_ui(ui, field)),
            PropKind::Multiselect => choices::multiselect_ui(ui, field),
            PropKind::Reference => super::pickers::reference_ui(ui, field),
            PropKind::Tags | PropKind::List => {
                if wanted {
                    self.adding = Some(prop.key.clone());
                }
                if prop.kind == PropKind::Tags {
                    self.tags_ui(ui, field);
                } else {
                    self.list_ui(ui, field);
                }
                None
            }
            PropKind::Colour => {
                self.colour_ui(ui, field);
                None
            }
            _ => {
                self.plain_text_ui(ui, field);
                if prop.kind == PropKind::Number {
                    self.slider_ui(ui, field);
                }
                None
            }
        };
        if let (true, Some(control)) = (wanted, control) {
            control.request_focus();
        }
        super::variables::default_note_ui(ui, field);
    }

    /// The label with its marks and buttons: required, variable, reveal, reset.
    fn label_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, prop, .. } = field;
        let theme = cx.view.theme;
        line_ui(ui, |ui| {
            let text = if prop.required { format!("{} *", prop.label) } else { prop.label.clone() };
            let label = muted_ui(ui, theme, text);
            hover_ui(&label, cx.view, prop);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if !cx.view.is_overriding {
                    variable_ui(ui, field);
                }
                // An override has its own reset button.
                let set_value = !cx.view.is_overriding && field.shown() != ShownValue::Unset;
                if set_value && small_button_ui(ui, "Reset", &format!("Reset {}", prop.label)).clicked() {
                    self.editing = None;
                    field.set(None);
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

    fn format_value(&self, prop: &PropDef, value: &PropValue) -> String {
        if prop.sensitive { "••••••".to_owned() } else { value.to_string() }
    }
}

/// A value that cannot be edited, and the reason.
fn fixed_ui(ui: &mut Ui, view: &FrameView<'_>, prop: &PropDef, value: &str, why: &str) {
    let label = muted_ui(ui, view.theme, prop.label.as_str());
    hover_ui(&label, view, prop);
    ui.add(egui::Label::new(RichText::new(value).color(view.theme.text)).truncate());
    if !why.is_empty() {
        small_text_ui(ui, view.theme.text_subtle, why);
    }
}

pub(super) fn hover_ui(response: &egui::Response, view: &FrameView<'_>, prop: &PropDef) {
    if prop.description.is_empty() {
        return;
    }
    response.clone().on_hover_ui(|ui| {
        ui.set_max_width(280.0);
        ui.label(&prop.description);
        let more = if prop.required { "Required" } else { prop.kind.describe() };
        muted_ui(ui, view.theme, more);
    });
}

/// A line of small text with buttons of the same height.
fn line_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 16.0;
        ui.spacing_mut().button_padding = egui::vec2(4.0, 0.0);
        ui.horizontal(content);
    });
}

/// The arrow of a combo box, as quiet as its text.
pub(crate) fn paint_combo_arrow(
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
