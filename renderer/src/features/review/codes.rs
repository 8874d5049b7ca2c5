//! ConfirmationCodes that confirm a decision from a terminal. Only the window shows them, so only a person at the window can read
//! them.

use super::words;
use crate::{
    features::review::{ReviewContext, ReviewReply},
    widgets::muted_ui,
    wording::unix_millis,
};
use egui::{Align, Frame, Layout, Margin, RichText, Ui};
use shared_protocol::{decisions::DropCode, review::ConfirmationCode};
use std::time::Duration;

pub(crate) fn codes_ui(ui: &mut Ui, cx: &ReviewContext<'_>) {
    let now = unix_millis();
    for shown in cx.view.review.codes.iter().filter(|shown| shown.expires > now) {
        code_ui(ui, cx, shown, now);
    }
    // The countdown needs a repaint every second.
    if !cx.view.review.codes.is_empty() {
        ui.ctx().request_repaint_after(Duration::from_secs(1));
    }
}

fn code_ui(ui: &mut Ui, cx: &ReviewContext<'_>, shown: &ConfirmationCode, now: u64) {
    let theme = cx.view.theme;
    ui.push_id(&shown.code, |ui| {
        Frame::new().fill(theme.selection).inner_margin(Margin::symmetric(12, 5)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.set_min_height(30.0);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let cancel =
                        ui.button("Cancel").accessible_name(format!("Cancel the code {}", shown.code));
                    if cancel.on_hover_text("Invalidates the code").clicked() {
                        cx.request(DropCode { code: shown.code.clone() }, ReviewReply::Done);
                    }
                    let seconds = (shown.expires - now) / 1000;
                    muted_ui(ui, theme, format!("{seconds} s left"));
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        let code =
                            RichText::new(&shown.code).monospace().strong().size(19.0).color(theme.text);
                        ui.label(code);
                        let text = format!("is the code to {} from a terminal", words::line(&shown.purpose));
                        ui.add(egui::Label::new(text.as_str()).truncate()).on_hover_text(&text);
                    });
                });
            });
        });
    });
}
