//! The status line of a run: state, progress and a cancel button.

use super::TerraformTab;
use crate::{
    features::terraform::{TerraformContext, TerraformMessage, words},
    terraform_answers::{TerraformReply, is_in_progress, shown_run},
    view::FrameView,
    widgets::{paint_line, paint_severity, small_font},
    wording::unix_millis,
};
use canvas::theme::WorkbenchTheme;
use egui::{Align2, Painter, Pos2, Rect, RichText, Role, Sense, Shape, Stroke, Ui, WidgetInfo, vec2};
use shared_protocol::{
    messages::ProblemSeverity,
    requests::CancelRun,
    terraform::{TerraformRunId, TerraformRunState, TerraformRunView},
};
use std::time::Duration;

const HEIGHT: f32 = 28.0;
const BAR: f32 = 130.0;

pub(super) fn progress_ui(
    ui: &mut Ui,
    cx: &TerraformContext<'_>,
    run: &TerraformRunView,
    shows: TerraformTab,
) {
    let going = is_in_progress(run);
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), HEIGHT),
        egui::Layout::right_to_left(egui::Align::Center),
        |ui| {
            ui.set_height(HEIGHT);
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.spacing_mut().interact_size.y = 24.0;
            if going {
                cancel_ui(ui, run, cx);
            }
            if shows == TerraformTab::Runs {
                copy_ui(ui, cx.view, run);
                if ui.available_width() < super::ROOMY - 120.0 {
                    chooser_ui(ui, cx, run);
                }
            }
            if let Some((done, all)) = run.progress.filter(|_| going) {
                bar_ui(ui, cx.view, done, all);
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                let (mark, _) = ui.allocate_exact_size(vec2(16.0, 16.0), Sense::hover());
                paint_state(ui.painter(), mark.center(), cx.view.theme, run.state);
                let text = words::summary(run, unix_millis());
                ui.add(egui::Label::new(RichText::new(&text).color(cx.view.theme.text)).truncate())
                    .on_hover_text(&text);
            });
        },
    );
    if going {
        // Updates the elapsed seconds.
        ui.ctx().request_repaint_after(Duration::from_secs(1));
    }
}

fn cancel_ui(ui: &mut Ui, run: &TerraformRunView, cx: &TerraformContext<'_>) {
    let waiting = run.state == TerraformRunState::Cancelling;
    let text = if waiting { "Cancelling…" } else { "Cancel" };
    let button = ui.add_enabled(!waiting, egui::Button::new(text)).accessible_name(format!("{text} the run"));
    let hint = "Stops Terraform after its current step; kills it if it does not stop";
    if button.on_hover_text(hint).clicked() {
        cx.request(CancelRun { run: run.id }, TerraformReply::Cancelled);
    }
}

fn copy_ui(ui: &mut Ui, view: &FrameView<'_>, run: &TerraformRunView) {
    let output = view.terraform_answers.lines.lines_of(run.id).filter(|output| !output.lines.is_empty());
    let button = ui.add_enabled(output.is_some(), egui::Button::new("Copy output"));
    if let Some(output) = output.filter(|_| button.clicked()) {
        let lines: Vec<&str> = output.lines.iter().map(|line| line.text.as_str()).collect();
        ui.ctx().copy_text(lines.join("\n"));
    }
}

/// The history as a drop-down list.
fn chooser_ui(ui: &mut Ui, cx: &TerraformContext<'_>, run: &TerraformRunView) {
    let Some(board) = cx.view.board else { return };
    let history = cx.view.terraform_answers.history(board);
    let newest =
        shown_run(None, cx.view.deployed().and_then(|told| told.run.as_ref()), history).map(|run| run.id);
    ui.menu_button("History", |ui| {
        for each in history.iter().take(20) {
            let text = super::history::describe_run(each, unix_millis());
            if ui.selectable_label(each.id == run.id, text).clicked() {
                cx.send(TerraformMessage::ShowRun(select_run(each.id, newest)));
            }
        }
    });
}

/// Choosing the newest run follows later runs.
pub(super) fn select_run(run: TerraformRunId, newest: Option<TerraformRunId>) -> Option<TerraformRunId> {
    Some(run).filter(|_| Some(run) != newest)
}

fn bar_ui(ui: &mut Ui, view: &FrameView<'_>, done: u64, all: u64) {
    let theme = view.theme;
    let (rect, response) = ui.allocate_exact_size(vec2(BAR, 18.0), Sense::hover());
    let words = format!("{done} of {all}");
    response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, format!("Progress {words}")));
    let share = if all == 0 { 0.0 } else { (done as f32 / all as f32).clamp(0.0, 1.0) };
    let track =
        Rect::from_center_size(rect.center(), vec2(rect.width(), 4.0)).with_max_x(rect.right() - 56.0);
    ui.painter().rect_filled(track, 2, theme.pressed);
    ui.painter().rect_filled(track.with_max_x(track.left() + track.width() * share), 2, theme.accent);
    let room = rect.with_min_x(track.right() + 6.0);
    paint_line(ui, room, Align2::RIGHT_CENTER, &words, small_font(ui), theme.text_muted);
}

/// The state of a run as a sign: tick, cross, bar, or a dot while it runs.
pub(super) fn paint_state(painter: &Painter, centre: Pos2, theme: &WorkbenchTheme, state: TerraformRunState) {
    let disc = |colour| painter.circle_filled(centre, 6.0, colour);
    let glyph = Stroke::new(1.6, theme.status_text);
    match state {
        TerraformRunState::Running | TerraformRunState::Cancelling => {
            painter.circle_stroke(centre, 5.2, Stroke::new(1.5, theme.accent));
            painter.circle_filled(centre, 2.5, theme.accent);
        }
        TerraformRunState::Succeeded { .. } => {
            disc(theme.success);
            let points = vec![centre + vec2(-3.0, 0.2), centre + vec2(-0.8, 2.4), centre + vec2(3.0, -2.2)];
            painter.add(Shape::line(points, glyph));
        }
        TerraformRunState::Failed { .. } => {
            disc(theme.danger);
            painter.line_segment([centre + vec2(-2.4, -2.4), centre + vec2(2.4, 2.4)], glyph);
            painter.line_segment([centre + vec2(-2.4, 2.4), centre + vec2(2.4, -2.4)], glyph);
        }
        TerraformRunState::Interrupted => paint_severity(painter, centre, theme, ProblemSeverity::Warning),
        TerraformRunState::Cancelled { .. } => {
            disc(theme.text_subtle);
            let bar = Stroke::new(1.6, theme.surface_panel);
            painter.line_segment([centre - vec2(3.0, 0.0), centre + vec2(3.0, 0.0)], bar);
        }
    }
}
