//! The proposal as a list over the full width: each element with its fields before and after.

use super::{ProposalReview, ReviewFeature, details, header};
use crate::{
    features::review::ReviewContext,
    view::{FrameView, WindowAction},
    widgets::{focus_ring, muted_ui},
};
use canvas::ProposedChangeSign;
use egui::{CornerRadius, Frame, Margin, RichText, Sense, Ui, WidgetInfo, vec2};
use shared_protocol::{ProposalSubject, review::ProposedElement};

/// The maximum width of a line in points.
const MAX_WIDTH_POINTS: f32 = 860.0;
/// The maximum number of elements with their fields; later ones show one line.
const MAX_DETAILED_ELEMENTS: usize = 200;

impl ReviewFeature {
    pub(crate) fn list_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>) {
        let Some(opened) = &mut self.review else { return };
        Frame::new().fill(cx.view.theme.surface_panel).inner_margin(Margin::symmetric(16, 10)).show(
            ui,
            |ui| {
                egui::ScrollArea::vertical().auto_shrink([false, false]).id_salt("list").show(ui, |ui| {
                    ui.set_width(ui.available_width().min(MAX_WIDTH_POINTS));
                    if opened.is_over() {
                        ui.label(super::words::outcome(&opened.proposal().brief));
                        return;
                    }
                    let listed: Vec<ProposedElement> = opened.listed_elements().cloned().collect();
                    for (place, element) in listed.iter().enumerate() {
                        if element_ui(ui, cx.view, opened, element, place < MAX_DETAILED_ELEMENTS) {
                            let subject: ProposalSubject = element.subject.clone();
                            opened.focus_subject(Some(subject));
                            cx.act(WindowAction::ShowPanel(crate::panel_id::PanelId::Proposal));
                        }
                    }
                    let placed = opened.layout_changes().count();
                    if placed > 0 {
                        ui.horizontal(|ui| {
                            header::sign_ui(ui, cx.view.theme, ProposedChangeSign::Moved, 6.5);
                            let what = shared_protocol::text::count_noun(placed, "element");
                            muted_ui(ui, cx.view.theme, format!("moves or resizes {what}"));
                        });
                    }
                    if listed.is_empty() && placed == 0 {
                        muted_ui(ui, cx.view.theme, "No changes on boards.");
                    }
                });
            },
        );
    }
}

/// Returns whether the row was clicked.
fn element_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    opened: &ProposalReview,
    element: &ProposedElement,
    in_full: bool,
) -> bool {
    let theme = view.theme;
    let row = ui.horizontal(|ui| {
        ui.set_min_height(26.0);
        header::sign_ui(ui, theme, ProposedChangeSign::from_kind(element.kind), 6.5);
        let text = RichText::new(&element.text);
        let text = if opened.is_selected(&element.subject) { text } else { text.color(theme.text_muted) };
        ui.add(egui::Label::new(text).wrap());
        ui.spacing_mut().item_spacing.x = 4.0;
        header::chips_ui(ui, theme, &element.risks);
    });
    let rect = row.response.rect;
    let response = ui.interact(rect, ui.make_persistent_id(("line", &element.subject)), Sense::click());
    let focused = opened.focus.as_ref() == Some(&element.subject);
    let name = format!("Line {}", element.text);
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, focused, &name));
    focus_ring(ui, theme, rect, &response);
    if focused {
        let mark = egui::Rect::from_min_size(rect.min - vec2(8.0, 0.0), vec2(3.0, rect.height()));
        ui.painter().rect_filled(mark, CornerRadius::same(1), theme.focus);
    }
    if in_full && !(element.differences.is_empty() && element.files.is_empty()) {
        ui.push_id(("fields", &element.subject), |ui| {
            ui.indent("fields", |ui| details::differences_ui(ui, theme, element));
        });
        ui.add_space(4.0);
    }
    response.clicked()
}
