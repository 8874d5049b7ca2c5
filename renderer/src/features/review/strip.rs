//! The bar above the board while a proposal is open: its title, its presentation, and a close button.

use super::{
    ReviewFeature,
    opened::{ProposalPresentation, ProposalReview},
    words,
};
use crate::{
    features::review::{ReviewContext, ReviewMessage},
    tour::targets::{TourTarget, record_target},
    view::FrameView,
    widgets::close_button_ui,
};
use egui::{Align, Frame, Layout, Margin, RichText, Ui};
use shared_protocol::ProposalState;

impl ReviewFeature {
    /// Returns whether the button that shows the proposed state is held down. `blinking`: it is shown now.
    pub(crate) fn strip_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>, blinking: bool) -> bool {
        let Some(opened) = &mut self.review else { return false };
        let theme = cx.view.theme;
        let frame = Frame::new().fill(theme.selection).inner_margin(Margin::symmetric(12, 4));
        let held = frame.show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.set_min_height(26.0);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let close = if opened.is_followed { "Hide these ghosts" } else { "Close the proposal" };
                    if close_button_ui(ui, theme, close).clicked() {
                        cx.send(ReviewMessage::Close);
                    }
                    let held = if opened.is_over() {
                        false
                    } else if opened.is_followed {
                        follow_notice_ui(ui, opened, cx);
                        false
                    } else {
                        looks_ui(ui, opened)
                    };
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        title_ui(ui, cx.view, opened, blinking)
                    });
                    held
                })
                .inner
            })
            .inner
        });
        record_target(ui, TourTarget::Ghosts, held.response.rect);
        held.inner
    }
}

fn title_ui(ui: &mut Ui, view: &FrameView<'_>, opened: &ProposalReview, blinking: bool) {
    let brief = &opened.proposal().brief;
    let what = match (&brief.state, opened.look, blinking) {
        (_, ProposalPresentation::Edit, _) => "Editing proposal",
        (_, _, true) => "Board after proposal",
        (ProposalState::Draft, ..) => "Draft",
        _ => "Proposal",
    };
    let text = format!("{what} {} · {}", brief.number, words::title(brief));
    ui.add(egui::Label::new(RichText::new(&text).strong()).truncate()).on_hover_text(&text);
    let here = opened.proposed.as_ref().zip(view.board).and_then(|(proposed, board)| proposed.board(board));
    let shows_all = blinking || opened.look == ProposalPresentation::SideBySide;
    if here.is_none() && opened.proposed.is_some() {
        truncated_note_ui(ui, view, "· nothing on this board".to_owned());
    } else if let Some(scope) = opened.partial_scope("· For").filter(|_| shows_all) {
        let text = RichText::new(scope).small().color(view.theme.warning);
        ui.add(egui::Label::new(text).truncate());
    } else if opened.is_followed {
        truncated_note_ui(ui, view, format!("· {}", words::proposer_label(&brief.proposer)));
    }
}

/// Truncates where a narrow board has no room.
fn truncated_note_ui(ui: &mut Ui, view: &FrameView<'_>, text: String) {
    ui.add(egui::Label::new(RichText::new(text).small().color(view.theme.text_muted)).truncate());
}

fn follow_notice_ui(ui: &mut Ui, opened: &ProposalReview, cx: &ReviewContext<'_>) {
    let text = if opened.proposal().brief.needs_decision() { "Review…" } else { "Open" };
    if ui.button(text).clicked() {
        cx.send(ReviewMessage::Open(opened.id()));
    }
    if let Some(first) = opened.proposal().elements.iter().find(|element| element.board.is_some())
        && ui.button("Show it").on_hover_text("Goes to the proposed changes on the board").clicked()
    {
        cx.send(ReviewMessage::Jump(first.subject.clone()));
    }
}

/// The three presentations, and a button that shows the proposed state while held. Returns whether it is held.
fn looks_ui(ui: &mut Ui, opened: &mut ProposalReview) -> bool {
    let drawn = opened.proposed.is_some();
    let held = ui
        .add_enabled(
            drawn && opened.look == ProposalPresentation::Overlay,
            egui::Button::new("Hold to show proposed state"),
        )
        .on_hover_text("Or hold B")
        .is_pointer_button_down_on();
    for (look, word) in [
        (ProposalPresentation::List, "List"),
        (ProposalPresentation::SideBySide, "Side by side"),
        (ProposalPresentation::Overlay, "Overlay"),
    ] {
        let can = drawn || look == ProposalPresentation::List || look == ProposalPresentation::Overlay;
        let chosen = opened.look == look;
        if ui.add_enabled(can, egui::Button::selectable(chosen, word)).clicked() {
            opened.look = look;
        }
    }
    held
}
