//! The panel of the open proposal: risks first, then the agent's reasons, the elements with their ticks, the
//! consequences, and the decision at the bottom.

use super::{
    ProposalReview, ReviewFeature, ReviewInput, call, clashes, decide, elements::stable_ui, header,
    request_plan,
};
use crate::{
    features::review::{ReviewContext, ReviewReply},
    panel_id::PanelId,
    tour::targets::{TourTarget, record_target},
    view::{FrameView, WindowAction},
    widgets::{empty_state_ui, more_ui, muted_ui, severity_mark_ui, small_text_ui},
    wording::unix_millis,
};
use canvas::ProposedChangeSign;
use egui::{CornerRadius, Frame, Margin, Panel, RichText, Stroke, Ui, vec2};
use shared_protocol::text::count_noun;
use shared_protocol::{ProposalState, decisions::RebaseProposal, messages::ProblemSeverity};

const MAX_REASONS: usize = 12;

impl ReviewFeature {
    pub(crate) fn proposal_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>) {
        let Self { review: opened, input: typed, .. } = self;
        let Some(opened) = opened.as_mut() else {
            empty_state_ui(ui, cx.view.theme, "No proposal is open", "Open one from the review queue.");
            ui.vertical_centered(|ui| {
                if ui.button("Show the queue").clicked() {
                    cx.act(WindowAction::ShowPanel(PanelId::Review));
                }
            });
            return;
        };
        opened.follow_plan(&cx.view.terraform.requests);
        let stamp =
            cx.view.review.proposals.iter().find(|brief| brief.id == opened.id()).map(|brief| brief.stamp);
        let decision_blocker = opened.decision_blocker(stamp, unix_millis());
        let frame = Frame::new().fill(cx.view.theme.surface_panel).inner_margin(Margin::symmetric(0, 8));
        if !opened.is_over() {
            let decision = Panel::bottom("decision").frame(frame).show(ui, |ui| {
                decide::decide_ui(ui, cx, opened, decision_blocker.as_deref());
            });
            record_target(ui, TourTarget::Decision, decision.response.rect);
        }
        egui::CentralPanel::no_frame().show(ui, |ui| {
            let mut area = egui::ScrollArea::vertical().auto_shrink([false, false]).id_salt(opened.id());
            if std::mem::take(&mut opened.go_to_top) {
                area = area.vertical_scroll_offset(0.0);
            }
            area.show(ui, |ui| {
                ui.set_width(ui.available_width() - 6.0);
                header::header_ui(ui, cx.view, opened);
                if !opened.is_over() {
                    banner_ui(ui, cx, opened);
                }
                call::call_ui(ui, cx.view, opened);
                request_plan::plan_ui(ui, cx, opened, typed);
                header::rationale_ui(ui, cx.view.theme, opened);
                // Changes that cannot happen any more are not shown.
                if !opened.is_over() {
                    stable_ui(ui, "elements", |ui| opened.elements_ui(ui, cx, typed));
                    ui.spacing_mut().item_spacing.y = 0.0;
                    stable_ui(ui, "consequences", |ui| opened.consequences_ui(ui, cx, typed));
                }
                stable_ui(ui, "comments", |ui| opened.comments_ui(ui, cx, typed));
                steps_ui(ui, cx.view, opened, typed);
                ui.add_space(12.0);
            });
        });
    }
}

/// Warnings that come before everything else.
fn banner_ui(ui: &mut Ui, cx: &ReviewContext<'_>, opened: &mut ProposalReview) {
    if opened.newer_version().is_some() {
        return changed_ui(ui, cx.view, opened);
    }
    let brief = &opened.proposal().brief;
    let (id, version) = (brief.id, brief.version);
    let conflicts = &opened.proposal().conflicts;
    let (title, reasons, can_look) = match &brief.state {
        _ if !conflicts.is_empty() => {
            let mut reasons = conflicts.clone();
            if let ProposalState::Stale { why } = &brief.state {
                reasons.splice(0..0, why.iter().cloned());
                reasons.dedup();
            }
            ("The proposal conflicts with the current workspace", reasons, brief.needs_decision())
        }
        ProposalState::Stale { why } => ("The workspace changed since this was proposed", why.clone(), true),
        ProposalState::Draft => ("Draft: the ghosts update as the agent writes", Vec::new(), false),
        _ => return,
    };
    let clashes = &opened.proposal().clashes;
    notice_ui(ui, cx.view, title, |ui| {
        reasons_ui(ui, cx.view, &reasons);
        clashes::clashes_ui(ui, cx.view.theme, clashes);
        if can_look {
            let again = ui.button("Rebase");
            if again
                .on_hover_text("Rebases the proposal on the current workspace, as a new version")
                .clicked()
            {
                cx.request(RebaseProposal { proposal: id, version }, ReviewReply::Rebased);
            }
        }
    });
}

/// Lists the differences of a newer version. Nothing can be decided before the reviewer has opened it.
fn changed_ui(ui: &mut Ui, view: &FrameView<'_>, opened: &mut ProposalReview) {
    let changed = opened.describe_changes_since();
    let version = opened.newer_version().map_or(0, |newer| newer.brief.version);
    let mut looked = false;
    notice_ui(ui, view, "Changed while you were reviewing", |ui| {
        for (kind, text) in changed.iter().take(MAX_REASONS) {
            ui.horizontal_top(|ui| {
                header::sign_ui(ui, view.theme, ProposedChangeSign::from_kind(*kind), 5.5);
                ui.add(egui::Label::new(RichText::new(text).small()).wrap());
            });
        }
        more_ui(ui, view.theme, changed.len(), MAX_REASONS);
        looked = ui.button(format!("View version {version}")).clicked();
    });
    if looked {
        opened.show_newer();
    }
}

fn reasons_ui(ui: &mut Ui, view: &FrameView<'_>, reasons: &[String]) {
    for reason in reasons.iter().take(MAX_REASONS) {
        small_text_ui(ui, view.theme.text_muted, super::words::line(reason));
    }
    more_ui(ui, view.theme, reasons.len(), MAX_REASONS);
}

fn notice_ui(ui: &mut Ui, view: &FrameView<'_>, title: &str, content: impl FnOnce(&mut Ui)) {
    let theme = view.theme;
    ui.add_space(4.0);
    Frame::new()
        .stroke(Stroke::new(1.0, theme.warning))
        .corner_radius(CornerRadius::same(6))
        .inner_margin(Margin::symmetric(10, 8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_top(|ui| {
                severity_mark_ui(ui, theme, vec2(14.0, 18.0), ProblemSeverity::Warning);
                ui.add(egui::Label::new(title).wrap());
            });
            content(ui);
        });
}

/// The calls of the agent and the edits of reviewers, one line each.
fn steps_ui(ui: &mut Ui, view: &FrameView<'_>, opened: &ProposalReview, typed: &mut ReviewInput) {
    let steps = &opened.proposal().steps;
    if steps.is_empty() {
        return;
    }
    if typed.section_ui(ui, view.theme, "Steps", Some(steps.len())) {
        for step in steps.iter().take(200) {
            let text = match &step.by_reviewer {
                Some(by) => format!("{} (edited by {})", step.summary, super::words::line(by)),
                None => step.summary.clone(),
            };
            small_text_ui(ui, view.theme.text_muted, text);
        }
        if steps.len() > 200 {
            muted_ui(ui, view.theme, format!("and {}", count_noun(steps.len() - 200, "more step")));
        }
    }
}
