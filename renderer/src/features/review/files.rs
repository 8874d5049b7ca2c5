//! File differences, line by line and in full. Long ones scroll.

use super::header::sign_ui;
use crate::widgets::{inset_ui, muted_ui};
use canvas::{ProposedChangeSign, theme::WorkbenchTheme};
use egui::{FontId, Label, Margin, RichText, ScrollArea, TextStyle, TextWrapMode, Ui};
use shared_protocol::review::FileLineCounts;

/// The height of a text before it scrolls.
const HEIGHT: f32 = 260.0;
/// The maximum number of characters of a value without scrolling.
const SHORT: usize = 600;

pub(super) fn files_ui(ui: &mut Ui, theme: &WorkbenchTheme, files: &[FileLineCounts]) {
    for file in files {
        muted_ui(ui, theme, format!("{}  +{} −{}, in full", file.path, file.added, file.removed));
        // The line above shows the file name already.
        let lines: Vec<&str> = file.text.lines().skip(2).collect();
        inset_ui(ui, theme, Margin::symmetric(8, 6), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let size = TextStyle::Small.resolve(ui.style()).size;
            let font = FontId::monospace(size);
            let row = ui.fonts_mut(|fonts| fonts.row_height(&font));
            ScrollArea::both()
                .id_salt(("file", &file.path))
                .max_height(HEIGHT)
                .min_scrolled_height(HEIGHT)
                .auto_shrink([false, true])
                .show_rows(ui, row, lines.len(), |ui, shown| {
                    for line in &lines[shown] {
                        let colour = match line.chars().next() {
                            Some('+') => theme.success,
                            Some('-') => theme.danger,
                            Some('@') => theme.text_subtle,
                            _ => theme.text_muted,
                        };
                        let text = RichText::new(*line).font(font.clone()).color(colour);
                        ui.add(Label::new(text).wrap_mode(TextWrapMode::Extend).selectable(true));
                    }
                });
        });
    }
}

/// Shows a value with its sign, struck through when it is removed.
pub(super) fn value_ui(ui: &mut Ui, theme: &WorkbenchTheme, sign: ProposedChangeSign, value: Option<&str>) {
    let Some(value) = value else { return };
    let text = RichText::new(if value.is_empty() { "empty" } else { value }).monospace();
    let text = match sign {
        ProposedChangeSign::Removed => text.strikethrough().color(theme.text_muted),
        _ => text.color(theme.text),
    };
    let label = |ui: &mut Ui| drop(ui.add(Label::new(text).wrap()));
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        sign_ui(ui, theme, sign, 4.5);
        if value.len() <= SHORT {
            return label(ui);
        }
        inset_ui(ui, theme, Margin::symmetric(8, 6), |ui| {
            let salt = if sign == ProposedChangeSign::Removed { "before" } else { "after" };
            ScrollArea::vertical()
                .id_salt(salt)
                .max_height(HEIGHT)
                .min_scrolled_height(HEIGHT)
                .auto_shrink([false, true])
                .show(ui, label);
        });
    });
}
