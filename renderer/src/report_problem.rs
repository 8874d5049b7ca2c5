//! *Help → Report a problem…*: shows a problem report to read and copy. Nothing is sent.

use crate::widgets::{muted_ui, page_modal_ui};
use canvas::theme::WorkbenchTheme;
use egui::{Context, RichText, TextEdit};

const REPORT_INSTRUCTIONS: &str = "Copy this report into a new issue on the project's issue tracker and describe the steps that led to \
the problem. Draftboard sends nothing: review the report first, and remove anything you do not want to share.";

#[derive(Debug, Default)]
pub(crate) struct ProblemReportDialog {
    /// `None` until main answers.
    text: Option<String>,
    copied: bool,
}

impl ProblemReportDialog {
    pub(crate) fn receive(&mut self, text: String) {
        self.text = Some(text);
    }

    /// Returns `false` when the dialog closes.
    pub(crate) fn show_ui(&mut self, context: &Context, theme: &WorkbenchTheme) -> bool {
        page_modal_ui(context, "report a problem", 680.0, |ui| {
            ui.label(RichText::new("Report a problem").heading());
            ui.add_space(8.0);
            muted_ui(ui, theme, REPORT_INSTRUCTIONS);
            ui.add_space(8.0);
            let mut shown = self.text.as_deref().unwrap_or("Collecting the report…");
            egui::ScrollArea::vertical()
                .max_height((context.content_rect().height() - 280.0).max(120.0))
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    let text = TextEdit::multiline(&mut shown).code_editor().desired_width(f32::INFINITY);
                    ui.add(text);
                });
            ui.add_space(8.0);
            let mut open = true;
            ui.horizontal(|ui| {
                let label = if self.copied { "Copied" } else { "Copy report" };
                let copy = ui.add_enabled(self.text.is_some(), egui::Button::new(label));
                if let Some(text) = self.text.as_ref().filter(|_| copy.clicked()) {
                    context.copy_text(text.clone());
                    self.copied = true;
                }
                open = !ui.button("Close").clicked();
            });
            open
        })
    }
}
