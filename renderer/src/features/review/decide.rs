//! The decision: at the bottom of the panel, always visible, about exactly the changes that are shown. The button
//! names their number.

use super::{
    opened::{DecisionProgress, ProposalPresentation, ProposalReview},
    trial::scope_ui,
    words,
};
use crate::{
    features::review::{ReviewContext, ReviewReply},
    view::FrameView,
    widgets::{focus_stroke, muted_ui, primary_button, small_text_ui},
};
use egui::{Button, Key, TextEdit, Ui};
use shared_protocol::{
    decisions::{AcceptProposal, RejectProposal},
    proposal::ElementChangeKind,
};

pub(super) fn decide_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    opened: &mut ProposalReview,
    decision_blocker: Option<&str>,
) {
    ui.set_width(ui.available_width());
    if let Some(why) = decision_blocker {
        // A decision that was begun is not about this state.
        if opened.deciding != DecisionProgress::BundleProposalArguments {
            opened.deciding = DecisionProgress::Not;
        }
        muted_ui(ui, cx.view.theme, why);
    } else {
        // A note here moves nothing under the pointer.
        if let Some(note) = &opened.note {
            small_text_ui(ui, cx.view.theme.text, note);
        }
        muted_ui(ui, cx.view.theme, summary(opened));
        if opened.has_changes() {
            scope_ui(ui, cx.view.theme, opened.partial_scope("Plan and consequences are for"));
        }
    }
    if opened.look == ProposalPresentation::Edit {
        return editing_ui(ui, cx.view, opened);
    }
    // Separate ids, so that the keyboard focus does not pass to a button that takes the place of another.
    ui.add_enabled_ui(decision_blocker.is_none(), |ui| match opened.deciding.clone() {
        DecisionProgress::Not | DecisionProgress::BundleProposalArguments => {
            ui.push_id("plain", |ui| plain_ui(ui, cx, opened)).inner
        }
        DecisionProgress::Choosing { fresh } => {
            ui.push_id("choosing", |ui| choosing_ui(ui, cx, opened, fresh)).inner
        }
        DecisionProgress::Rejecting { reason, fresh } => {
            ui.push_id("rejecting", |ui| rejecting_ui(ui, cx, opened, reason, fresh)).inner
        }
    });
}

/// Counts the ticked elements by kind.
fn summary(opened: &ProposalReview) -> String {
    let chosen = opened.proposal().elements.iter().filter(|element| opened.is_selected(&element.subject));
    let (mut added, mut changed, mut removed, mut placed) = (0, 0, 0, 0);
    for element in chosen {
        *match element.kind {
            ElementChangeKind::Added => &mut added,
            ElementChangeKind::Changed => &mut changed,
            ElementChangeKind::Removed => &mut removed,
            ElementChangeKind::Placed => &mut placed,
        } += 1;
    }
    let counts = shared_protocol::review::ElementCounts { added, changed, removed, placed };
    match added + changed + removed + placed {
        0 => "Nothing is ticked.".to_owned(),
        _ => format!("Ticked: {}", words::counts(&counts)),
    }
}

fn accept_ui(ui: &mut Ui, cx: &ReviewContext<'_>, opened: &mut ProposalReview) -> egui::Response {
    let text = words::accept_words(opened.selected_subjects().len(), opened.proposal().elements.len());
    let decision_blocker = opened.accept_blocker();
    let theme = cx.view.theme;
    let is_free = decision_blocker.is_none();
    let button = if is_free && ui.is_enabled() { primary_button(theme, text) } else { Button::new(text) };
    let accept = ui.add_enabled(is_free, button);
    let accept = match decision_blocker {
        Some(why) => accept.on_disabled_hover_text(why),
        None => accept,
    };
    if accept.clicked() {
        cx.request(AcceptProposal { verdict: opened.verdict() }, ReviewReply::Decided);
        opened.deciding = DecisionProgress::BundleProposalArguments;
    }
    accept
}

fn plain_ui(ui: &mut Ui, cx: &ReviewContext<'_>, opened: &mut ProposalReview) {
    ui.horizontal_wrapped(|ui| {
        accept_ui(ui, cx, opened);
        if ui.button("Reject…").clicked() {
            opened.deciding = DecisionProgress::Rejecting { reason: String::new(), fresh: true };
        }
        let can_edit = opened.proposed.is_some() && opened.proposal().brief.act.is_none();
        let edit = ui.add_enabled(can_edit, Button::new("Edit…"));
        if edit.on_hover_text("Edit the proposal. Your edits are recorded under your name.").clicked() {
            opened.look = ProposalPresentation::Edit;
        }
    });
}

/// Opened by Enter. The focus is on the button that decides nothing.
fn choosing_ui(ui: &mut Ui, cx: &ReviewContext<'_>, opened: &mut ProposalReview, fresh: bool) {
    ui.horizontal_wrapped(|ui| {
        let back = ui.button("Decide later");
        if fresh {
            back.request_focus();
            opened.deciding = DecisionProgress::Choosing { fresh: false };
        }
        let left = ui.input(|input| input.key_pressed(Key::Escape));
        if (back.clicked() && !fresh) || left {
            back.surrender_focus();
            opened.deciding = DecisionProgress::Not;
        }
        accept_ui(ui, cx, opened);
        if ui.button("Reject…").clicked() {
            opened.deciding = DecisionProgress::Rejecting { reason: String::new(), fresh: true };
        }
    });
}

fn rejecting_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    opened: &mut ProposalReview,
    mut reason: String,
    fresh: bool,
) {
    let edit = TextEdit::multiline(&mut reason)
        .hint_text("What should change? The agent reads this.")
        .desired_rows(2)
        .desired_width(f32::INFINITY);
    let field = focus_stroke(ui, cx.view.theme, |ui| ui.add(edit)).accessible_name("Reason");
    if fresh {
        field.request_focus();
    }
    let says = !reason.trim().is_empty();
    let (mut rejected, mut left) = (false, false);
    ui.horizontal_wrapped(|ui| {
        let reject = ui.add_enabled(says, Button::new("Reject with this reason"));
        rejected = reject.on_disabled_hover_text("Give a reason for the agent").clicked();
        left = ui.button("Back").clicked();
    });
    if rejected {
        let brief = &opened.proposal().brief;
        let (proposal, version) = (brief.id, brief.version);
        let reason = reason.trim().to_owned();
        cx.request(RejectProposal { proposal, version, reason }, ReviewReply::Decided);
        opened.deciding = DecisionProgress::BundleProposalArguments;
    } else if left {
        opened.deciding = DecisionProgress::Not;
    } else {
        opened.deciding = DecisionProgress::Rejecting { reason, fresh: false };
    }
}

fn editing_ui(ui: &mut Ui, view: &FrameView<'_>, opened: &mut ProposalReview) {
    muted_ui(
        ui,
        view.theme,
        "You are editing the proposal on the board and in the inspector. Each change makes a new version; the workspace \
         itself stays as it is.",
    );
    if ui.button("Done editing").clicked() {
        opened.look = ProposalPresentation::Overlay;
    }
}
