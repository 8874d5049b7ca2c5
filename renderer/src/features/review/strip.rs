//! The line over the board while a proposal is on it: what is shown, how, and the way out.

use super::{
    opened::{Look, Opened},
    words,
};
use crate::{
    tour::pointer::{Place, mark},
    view::{Action, View},
    widgets::close_button_ui,
};
use egui::{Align, Frame, Layout, Margin, RichText, Ui};
use shared_protocol::ProposalState;

/// `blinking`: the state as it would be is shown for as long as somebody holds the key.
pub(crate) fn strip_ui(
    ui: &mut Ui,
    view: &View<'_>,
    opened: &mut Opened,
    blinking: bool,
    actions: &mut Vec<Action>,
) -> bool {
    let theme = view.theme;
    let frame = Frame::new().fill(theme.selection).inner_margin(Margin::symmetric(12, 4));
    let held = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.set_min_height(26.0);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let close = if opened.is_followed { "Hide these ghosts" } else { "Close the proposal" };
                if close_button_ui(ui, theme, close).clicked() {
                    actions.push(Action::CloseProposal);
                }
                let held = if opened.is_over() {
                    false
                } else if opened.is_followed {
                    followed_ui(ui, opened, actions);
                    false
                } else {
                    looks_ui(ui, opened)
                };
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    title_ui(ui, view, opened, blinking)
                });
                held
            })
            .inner
        })
        .inner
    });
    mark(ui, Place::Ghosts, held.response.rect);
    held.inner
}

fn title_ui(ui: &mut Ui, view: &View<'_>, opened: &Opened, blinking: bool) {
    let brief = &opened.proposal().brief;
    let what = match (&brief.state, opened.look, blinking) {
        (_, Look::Edit, _) => "Editing proposal",
        (_, _, true) => "After proposal",
        (ProposalState::Draft, ..) => "Draft",
        _ => "Proposal",
    };
    let text = format!("{what} {} · {}", brief.number, words::title(brief));
    ui.add(egui::Label::new(RichText::new(&text).strong()).truncate()).on_hover_text(&text);
    let here = opened.proposed.as_ref().zip(view.board).and_then(|(proposed, board)| proposed.board(board));
    let shows_all = blinking || opened.look == Look::SideBySide;
    if here.is_none() && opened.proposed.is_some() {
        aside_ui(ui, view, "· nothing on this board".to_owned());
    } else if let Some(scope) = opened.partial_scope("· For").filter(|_| shows_all) {
        let text = RichText::new(scope).small().color(view.theme.warning);
        ui.add(egui::Label::new(text).truncate());
    } else if opened.is_followed {
        aside_ui(ui, view, format!("· {}", words::unverified(&brief.proposer)));
    }
}

/// Gives way where a narrow board has no room for it.
fn aside_ui(ui: &mut Ui, view: &View<'_>, text: String) {
    ui.add(egui::Label::new(RichText::new(text).small().color(view.theme.text_muted)).truncate());
}

fn followed_ui(ui: &mut Ui, opened: &Opened, actions: &mut Vec<Action>) {
    let text = if opened.proposal().brief.waits() { "Review…" } else { "Look closer" };
    if ui.button(text).clicked() {
        actions.push(Action::OpenProposal(opened.id()));
    }
    if let Some(first) = opened.proposal().elements.iter().find(|element| element.board.is_some())
        && ui.button("Show it").on_hover_text("Goes to where its ghosts are").clicked()
    {
        actions.push(Action::Jump(first.subject.clone()));
    }
}

/// The three views of one difference, and a button to hold. Gives back whether it is held.
fn looks_ui(ui: &mut Ui, opened: &mut Opened) -> bool {
    let drawn = opened.proposed.is_some();
    let held = ui
        .add_enabled(drawn && opened.look == Look::Overlay, egui::Button::new("Hold to see after"))
        .on_hover_text("Or hold B")
        .is_pointer_button_down_on();
    for (look, word) in [(Look::List, "List"), (Look::SideBySide, "Side by side"), (Look::Overlay, "Overlay")]
    {
        let can = drawn || look == Look::List || look == Look::Overlay;
        let chosen = opened.look == look;
        if ui.add_enabled(can, egui::Button::selectable(chosen, word)).clicked() {
            opened.look = look;
        }
    }
    held
}
