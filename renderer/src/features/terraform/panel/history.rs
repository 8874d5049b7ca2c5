//! The recorded runs, newest first.

use super::progress::{paint_state, select_run};
use crate::{
    features::terraform::{TerraformContext, TerraformMessage, words},
    terraform_answers::shown_run,
    widgets::{ListRow, ROW_HEIGHT, list_rows_ui, paint_ends, row_ui},
    wording::{ago, unix_millis},
};
use egui::{Sense, Ui, pos2};
use shared_protocol::terraform::{TerraformRunState, TerraformRunView};

pub(super) fn history_ui(ui: &mut Ui, cx: &TerraformContext<'_>, current: &TerraformRunView) {
    let Some(board) = cx.view.board else { return };
    let (history, now) = (cx.view.terraform_answers.history(board), unix_millis());
    let going = cx.view.deployed().and_then(|told| told.run.as_ref());
    let newest = shown_run(None, going, history).map(|run| run.id);
    // A new run is shown before the list is fetched again.
    let ahead = going.filter(|run| history.iter().all(|known| known.id != run.id));
    let runs: Vec<&TerraformRunView> = ahead.into_iter().chain(history).collect();
    list_rows_ui(ui, ROW_HEIGHT, runs.len(), |ui, range| {
        for run in runs.get(range).unwrap_or_default() {
            // The list may be older than the state that main sends.
            let run = going.filter(|going| going.id == run.id).unwrap_or(run);
            let name = format!("Run {}", describe_run(run, now));
            let row = ListRow { name: &name, selected: run.id == current.id, sense: Sense::click() };
            let response = row_ui(ui, cx.view.theme, row, |ui, room| {
                paint_state(ui.painter(), pos2(room.left() + 7.0, room.center().y), cx.view.theme, run.state);
                let room = room.with_min_x(room.left() + 22.0);
                let (time, title) = (ago(now, run.started), words::operation(run.operation));
                let theme = cx.view.theme;
                paint_ends(ui, room, (title, theme.text), (&time, theme.text_muted));
            });
            let response = if run.log.is_empty() {
                response
            } else {
                response.on_hover_text(format!("Log in {}", run.log))
            };
            if response.clicked() {
                cx.send(TerraformMessage::ShowRun(select_run(run.id, newest)));
            }
        }
    });
}

/// `Plan, failed, 2 min ago`.
pub(super) fn describe_run(run: &TerraformRunView, now: u64) -> String {
    let state = match run.state {
        TerraformRunState::Running => "running",
        TerraformRunState::Cancelling => "cancelling",
        TerraformRunState::Succeeded { .. } => "succeeded",
        TerraformRunState::Failed { .. } => "failed",
        TerraformRunState::Cancelled { .. } => "cancelled",
        TerraformRunState::Interrupted => "interrupted",
    };
    format!("{}, {state}, {}", words::operation(run.operation), ago(now, run.started))
}
