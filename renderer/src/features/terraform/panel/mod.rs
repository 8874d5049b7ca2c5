//! The Terraform panel: buttons for runs, the output and history of runs, and the changes of a plan.

mod history;
mod output;
mod plan;
mod progress;
mod toolbar;

pub(crate) use plan::rank;

use crate::{
    features::terraform::TerraformContext,
    terraform_answers::{is_in_progress, shown_run},
    view::{FrameView, WindowAction},
    widgets::{empty_state_ui, full_width_ui, muted_ui, paint_severity},
};
use egui::{RichText, Sense, Ui, Vec2, vec2};
use shared_protocol::{
    BoardKind,
    messages::ProblemSeverity,
    terraform::{TerraformRunId, TerraformRunView},
};

/// Below this width the history is a drop-down list.
const ROOMY: f32 = 620.0;
const HISTORY: f32 = 230.0;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TerraformTab {
    #[default]
    Runs,
    Changes,
}

#[derive(Default)]
pub(crate) struct TerraformPanel {
    pub(super) tab: TerraformTab,
    /// The run whose output is shown, if it is not the newest.
    pub(super) chosen_run: Option<TerraformRunId>,
    changes: plan::PlanChangeList,
}

impl TerraformPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, cx: &TerraformContext<'_>) {
        let Some(board) = cx.view.infrastructure() else { return wrong_kind_ui(ui, cx) };
        toolbar::toolbar_ui(ui, cx, &mut self.tab);
        if let Some(Err(why)) = &cx.view.terraform.program {
            notice_ui(ui, cx.view, why);
        }
        let told = cx.view.deployed();
        if let Some(interrupted) = told.and_then(|told| told.interrupted.as_deref()) {
            notice_ui(ui, cx.view, interrupted);
        }
        let history = cx.view.terraform_answers.history(board);
        let newest = told.and_then(|told| told.run.as_ref());
        let run = shown_run(self.chosen_run, newest, history);
        // Above the changes only a running run is shown.
        if let Some(run) = run.filter(|run| self.tab == TerraformTab::Runs || is_in_progress(run)) {
            progress::progress_ui(ui, cx, run, self.tab);
        }
        match self.tab {
            TerraformTab::Runs => runs_ui(ui, cx, run),
            TerraformTab::Changes => self.changes.show_ui(ui, cx, board),
        }
    }
}

fn runs_ui(ui: &mut Ui, cx: &TerraformContext<'_>, run: Option<&TerraformRunView>) {
    let Some(run) = run else {
        let text = "Plan shows what Terraform would do. Real resources change only when you apply.";
        return empty_state_ui(ui, cx.view.theme, "No runs yet", text);
    };
    let room = ui.available_rect_before_wrap();
    if room.width() < ROOMY {
        return output::output_ui(ui, cx.view, run);
    }
    let (left, right) = room.split_left_right_at_x(room.left() + HISTORY);
    let column =
        |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
    ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
        history::history_ui(ui, cx, run);
    });
    ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, cx.view.theme.border));
    ui.scope_builder(column(right.with_min_x(right.left() + 8.0)), |ui| output::output_ui(ui, cx.view, run));
}

/// The empty state for other kinds of boards.
fn wrong_kind_ui(ui: &mut Ui, cx: &TerraformContext<'_>) {
    let text = "Open an infrastructure board to plan and apply it here.";
    empty_state_ui(ui, cx.view.theme, "No Terraform for this board", text);
    ui.vertical_centered(|ui| {
        if ui.button("New infrastructure board…").clicked() {
            cx.act(WindowAction::NewBoard(BoardKind::Infrastructure));
        }
    });
}

/// A warning above everything else.
pub(super) fn notice_ui(ui: &mut Ui, view: &FrameView<'_>, text: &str) {
    let theme = view.theme;
    let frame = egui::Frame::new().fill(theme.hover).corner_radius(6);
    full_width_ui(ui, frame.inner_margin(egui::Margin::symmetric(8, 5)), |ui| {
        ui.horizontal_top(|ui| {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
            paint_severity(ui.painter(), mark.center() + vec2(0.0, 1.0), theme, ProblemSeverity::Warning);
            ui.add(egui::Label::new(RichText::new(text).color(theme.text)).wrap());
        });
    });
}

/// The reason that there is nothing to show.
pub(in super::super) fn refused_ui(ui: &mut Ui, view: &FrameView<'_>, why: &str) {
    notice_ui(ui, view, why);
    muted_ui(ui, view.theme, "Draftboard tries again when the board changes.");
}
