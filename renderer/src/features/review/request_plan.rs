//! The plan of an agent's request to apply or destroy, shown in full, destructive changes first, above the agent's
//! reasons. Accepting applies exactly this plan.

use super::{
    ProposalReview, ReviewInput,
    trial::{self, TrialPlanTarget, change_ui, form_ui, warning_ui},
    words,
};
use crate::{
    features::{review::ReviewContext, terraform::words as run_words},
    view::WindowAction,
    widgets::muted_ui,
};
use egui::{RichText, Ui};
use shared_protocol::{
    messages::ProblemSeverity, proposal::ProposedAction, requests::CancelRun,
    terraform::ApplyRequestPlanState,
};

fn form_words(planned: TrialPlanTarget) -> &'static str {
    match planned.takes_credentials {
        true => {
            "Runs terraform plan with your credentials on the board as it is, and saves the plan. Nothing is changed."
        }
        false => "Runs terraform plan on the board as it is, and saves the plan. Nothing is changed.",
    }
}

pub(super) fn plan_ui(ui: &mut Ui, cx: &ReviewContext<'_>, opened: &ProposalReview, typed: &mut ReviewInput) {
    let proposal = opened.proposal();
    let Some(ProposedAction::Run { board, .. }) = proposal.brief.act.as_ref().filter(|_| opened.applies())
    else {
        return;
    };
    if !proposal.brief.needs_decision() {
        return;
    }
    let brief = &proposal.brief;
    let planned = TrialPlanTarget {
        proposal: brief.id,
        version: brief.version,
        hash: proposal.hash,
        board: *board,
        takes_credentials: trial::takes_credentials(cx.view.snapshot, *board),
    };
    ui.add_space(6.0);
    ui.label(RichText::new("Plan by Draftboard").strong());
    let mut button = None;
    match proposal.plan.as_ref().map(|plan| &plan.state) {
        None => {
            muted_ui(ui, cx.view.theme, "Not planned yet. Press Plan, read the plan, then decide.");
            button = Some("Plan");
        }
        Some(ApplyRequestPlanState::Needed { reason }) => {
            warning_ui(ui, cx.view.theme, ProblemSeverity::Warning, &words::line(reason));
            button = Some("Plan");
        }
        Some(ApplyRequestPlanState::Failed { reason }) => {
            let text = format!("The plan failed: {}", words::line(reason));
            warning_ui(ui, cx.view.theme, ProblemSeverity::Error, &text);
            muted_ui(
                ui,
                cx.view.theme,
                "The request cannot be accepted. The Terraform panel shows the output.",
            );
            button = Some("Plan again");
        }
        Some(ApplyRequestPlanState::Planning { run }) => {
            ui.horizontal_wrapped(|ui| {
                ui.label("Planning…");
                if let Some(run) = run.filter(|_| ui.small_button("Cancel the plan").clicked()) {
                    cx.act(WindowAction::request(CancelRun { run }));
                }
            });
        }
        Some(ApplyRequestPlanState::Ready { counts, changes, .. }) => {
            if changes.is_empty() {
                ui.label("No changes: the real resources match the board.");
            } else {
                ui.label(run_words::describe_planned(*counts));
            }
            for change in changes {
                change_ui(ui, cx, *board, change, typed);
            }
            ui.add_space(4.0);
            muted_ui(ui, cx.view.theme, "Accepting applies exactly this plan. It is valid for an hour.");
        }
    }
    if typed.plan.is_for(*board) && button.is_some() {
        form_ui(ui, cx, planned, &mut typed.plan, form_words(planned));
        return;
    }
    if let Some(text) = button
        && ui.button(text).on_hover_text(form_words(planned)).clicked()
    {
        trial::request(cx, planned, Vec::new());
    }
}

/// Returns why a request to apply or destroy cannot be accepted yet.
pub(super) fn obstacle(opened: &ProposalReview) -> Option<String> {
    if !opened.applies() {
        return None;
    }
    match &opened.proposal().plan {
        None => Some("Not planned yet. Press Plan first.".to_owned()),
        Some(plan) => plan.obstacle().map(|why| words::line(&why)),
    }
}
