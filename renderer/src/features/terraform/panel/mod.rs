//! The Terraform of the board: what can be run, what runs and ran, what a plan would change.

mod history;
mod output;
mod plan;
mod progress;
mod toolbar;

pub(crate) use plan::rank;

use crate::{
    terraform_answers::{is_going, shown_run},
    view::{Action, View},
    widgets::{empty_state_ui, muted_ui, paint_severity},
};
use egui::{RichText, Sense, Ui, Vec2, vec2};
use shared_protocol::{BoardKind, messages::Severity, terraform::RunView};

/// Narrower than this, the history is a list to drop down.
const ROOMY: f32 = 620.0;
const HISTORY: f32 = 230.0;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Shows {
    #[default]
    Runs,
    Changes,
}

#[derive(Default)]
pub(crate) struct TerraformPanel {
    pub(crate) shows: Shows,
    changes: plan::ChangeList,
}

impl TerraformPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let Some(board) = view.infrastructure() else { return not_for_this_ui(ui, view, actions) };
        toolbar::toolbar_ui(ui, view, &mut self.shows, actions);
        if let Some(Err(why)) = &view.terraform.program {
            notice_ui(ui, view, why);
        }
        let told = view.deployed();
        if let Some(interrupted) = told.and_then(|told| told.interrupted.as_deref()) {
            notice_ui(ui, view, interrupted);
        }
        let history = view.known.history(board);
        let newest = told.and_then(|told| told.run.as_ref());
        let run = shown_run(view.known.chosen, newest, history);
        // What ended has no place above the changes; what goes on has.
        if let Some(run) = run.filter(|run| self.shows == Shows::Runs || is_going(run)) {
            progress::progress_ui(ui, view, run, self.shows, actions);
        }
        match self.shows {
            Shows::Runs => runs_ui(ui, view, run, actions),
            Shows::Changes => self.changes.show_ui(ui, view, board, actions),
        }
    }
}

fn runs_ui(ui: &mut Ui, view: &View<'_>, run: Option<&RunView>, actions: &mut Vec<Action>) {
    let Some(run) = run else {
        let text = "Plan shows what Terraform would do. Nothing changes in the real world until you apply.";
        return empty_state_ui(ui, view.theme, "Nothing has run yet", text);
    };
    let room = ui.available_rect_before_wrap();
    if room.width() < ROOMY {
        return output::output_ui(ui, view, run);
    }
    let (left, right) = room.split_left_right_at_x(room.left() + HISTORY);
    let column =
        |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
    ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
        history::history_ui(ui, view, run, actions);
    });
    ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, view.theme.border));
    ui.scope_builder(column(right.with_min_x(right.left() + 8.0)), |ui| output::output_ui(ui, view, run));
}

/// Boards of other kinds have none.
fn not_for_this_ui(ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
    let text =
        "Open an infrastructure board: its nodes become Terraform, and it can be planned and applied here.";
    empty_state_ui(ui, view.theme, "This board does not become Terraform", text);
    ui.vertical_centered(|ui| {
        if ui.button("New infrastructure board…").clicked() {
            actions.push(Action::NewBoard(BoardKind::Infrastructure));
        }
    });
}

/// Something that a person has to know before anything else.
pub(super) fn notice_ui(ui: &mut Ui, view: &View<'_>, text: &str) {
    let theme = view.theme;
    egui::Frame::new().fill(theme.hover).corner_radius(6).inner_margin(egui::Margin::symmetric(8, 5)).show(
        ui,
        |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_top(|ui| {
                let (mark, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
                paint_severity(ui.painter(), mark.center() + vec2(0.0, 1.0), theme, Severity::Warning);
                ui.add(egui::Label::new(RichText::new(text).color(theme.text)).wrap());
            });
        },
    );
}

/// For what has nothing to show because it could not be had.
pub(in super::super) fn refused_ui(ui: &mut Ui, view: &View<'_>, why: &str) {
    notice_ui(ui, view, why);
    muted_ui(ui, view.theme, "It is tried again when something on the board changes.");
}
