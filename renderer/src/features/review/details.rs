//! One element in detail: fields before and after, risks, dependencies, comments, and the gesture that confirms a
//! removal.

use super::{
    ProposalReview, ReviewInput,
    files::{files_ui, value_ui},
    request_plan, words,
};
use crate::{
    features::review::{ReviewContext, ReviewMessage},
    view::FrameView,
    widgets::{focus_stroke, muted_ui, small_text_ui},
};
use canvas::{ProposedChangeSign, theme::WorkbenchTheme};
use egui::{CornerRadius, Frame, Margin, TextEdit, Ui};
use shared_protocol::{ProposalSubject, proposal::ElementChangeKind, review::ProposedElement};

impl ProposalReview {
    pub(super) fn details_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ReviewContext<'_>,
        subject: &ProposalSubject,
        typed: &mut ReviewInput,
    ) {
        let Some(element) = self.element(subject).cloned() else { return };
        let theme = cx.view.theme;
        let to_gesture = std::mem::take(&mut self.go_to_gesture);
        let mut confirmed = false;
        Frame::new()
            .fill(theme.surface_inset)
            .corner_radius(CornerRadius::same(4))
            .inner_margin(Margin { left: 10, right: 8, top: 6, bottom: 8 })
            .outer_margin(Margin { left: 0, right: 0, top: 2, bottom: 6 })
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                let cause = self.cause_to_tick(subject).map(|cause| cause.text.clone());
                // The confirmation is directly below the clicked row.
                if element.destructive && cause.is_none() && self.can_tick() && !self.is_selected(subject) {
                    match request_plan::obstacle(self).filter(|_| *subject == ProposalSubject::Act) {
                        // The request has no plan to confirm yet.
                        Some(why) => drop(muted_ui(ui, theme, why)),
                        None => {
                            if to_gesture {
                                typed.hold_button.focus();
                            }
                            confirmed = gesture_ui(ui, cx.view, &element, typed);
                        }
                    }
                }
                self.needs_ui(ui, theme, &element);
                if let Some(cause) = cause {
                    let text = format!("Side effect of another removal. Include that one first: {cause}");
                    small_text_ui(ui, theme.text_muted, text);
                }
                for risk in &element.risks {
                    muted_ui(ui, theme, format!("{}: {}", risk.label(), words::risk_words(*risk)));
                }
                differences_ui(ui, theme, &element);
                if element.board.is_some() {
                    ui.horizontal_wrapped(|ui| {
                        if ui.button("Show on the board").clicked() {
                            cx.send(ReviewMessage::Jump(subject.clone()));
                        }
                    });
                }
                self.comments_on_ui(ui, cx, Some(subject), typed);
            });
        if confirmed {
            self.confirm(subject);
            typed.name.clear();
        }
    }

    fn needs_ui(&self, ui: &mut Ui, theme: &WorkbenchTheme, element: &ProposedElement) {
        let needs: Vec<&str> = element
            .needs
            .iter()
            .filter_map(|need| self.element(need))
            .map(|need| need.text.as_str())
            .collect();
        if needs.is_empty() {
            return;
        }
        let more = needs.len().saturating_sub(6);
        let start = if element.kind == ElementChangeKind::Removed { "Removed with it" } else { "Requires" };
        let mut text = format!("{start}: {}", needs[..needs.len() - more].join("; "));
        if more > 0 {
            text.push_str(&format!("; and {more} more"));
        }
        small_text_ui(ui, theme.text_muted, text);
    }
}

/// Shows each field before and after, then the files line by line. Nothing is left out, because accepting takes all of
/// it.
pub(super) fn differences_ui(ui: &mut Ui, theme: &WorkbenchTheme, element: &ProposedElement) {
    for difference in &element.differences {
        ui.push_id(&difference.field, |ui| {
            muted_ui(ui, theme, difference.field.as_str());
            value_ui(ui, theme, ProposedChangeSign::Removed, difference.before.as_deref());
            value_ui(ui, theme, ProposedChangeSign::Added, difference.after.as_deref());
        });
    }
    files_ui(ui, theme, &element.files);
}

/// Holding the button or typing the name confirms a removal. A single click or key does not.
fn gesture_ui(ui: &mut Ui, view: &FrameView<'_>, element: &ProposedElement, typed: &mut ReviewInput) -> bool {
    let theme = view.theme;
    let name = name_of(view, element);
    let held = typed.hold_button.button_ui(
        ui,
        theme,
        "Hold to include",
        &format!("Hold to include {}", element.text),
    );
    muted_ui(
        ui,
        theme,
        format!("Hold it with the pointer or the space bar, or type {name} and press Enter."),
    );
    let edit = TextEdit::singleline(&mut typed.name).hint_text(name.as_str()).desired_width(f32::INFINITY);
    let field = focus_stroke(ui, theme, |ui| ui.add(edit)).accessible_name("Name of the removed element");
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    held || (entered && typed.name.trim() == name)
}

/// The name that a person types to confirm a removal.
fn name_of(view: &FrameView<'_>, element: &ProposedElement) -> String {
    let name = match &element.subject {
        ProposalSubject::Node(id) => view.snapshot.node(*id).map(|node| node.name.to_string()),
        ProposalSubject::Board(id) => view.snapshot.board(*id).map(|board| board.name.to_string()),
        ProposalSubject::Source(path) => path.as_str().rsplit('/').next().map(str::to_owned),
        ProposalSubject::Override(key) => key.path.tokens().last(),
        _ => None,
    };
    name.unwrap_or_else(|| "include".to_owned())
}
