//! A line diff of a tool definition: removed lines with a minus, added lines with a plus, on tinted backgrounds.

use crate::{
    view::FrameView,
    widgets::{copyable_text_ui, muted_ui},
    wording::{line, paragraph},
};
use authority::{LineChange, compare_lines};
use egui::{Color32, CornerRadius, Frame, Margin, RichText, Ui};
use shared_protocol::managed_servers::ToolDefinitionChange;

/// The maximum numbers of changed parts, and of lines per part, that are displayed.
const MAX_CHANGED_PARTS: usize = 60;
const MAX_LINES_PER_PART: usize = 200;

pub(super) fn changes_ui(ui: &mut Ui, view: &FrameView<'_>, changes: &[ToolDefinitionChange]) {
    for change in changes.iter().take(MAX_CHANGED_PARTS) {
        muted_ui(ui, view.theme, line(&change.path));
        let before = paragraph(change.before.as_deref().unwrap_or_default());
        let after = paragraph(change.after.as_deref().unwrap_or_default());
        let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let lines = compare_lines(&before, &after);
            for each in lines.iter().take(MAX_LINES_PER_PART) {
                match *each {
                    LineChange::Same(at) => line_ui(ui, view, ' ', after.get(at), None),
                    LineChange::Added(at) => {
                        line_ui(ui, view, '+', after.get(at), Some(view.theme.added_colour()))
                    }
                    LineChange::Removed(at) => {
                        line_ui(ui, view, '−', before.get(at), Some(view.theme.removed()))
                    }
                }
            }
            if lines.len() > MAX_LINES_PER_PART {
                muted_ui(ui, view.theme, format!("and {} more lines", lines.len() - MAX_LINES_PER_PART));
            }
        });
    }
    if changes.len() > MAX_CHANGED_PARTS {
        muted_ui(ui, view.theme, format!("and {} more parts", changes.len() - MAX_CHANGED_PARTS));
    }
}

fn line_ui(ui: &mut Ui, view: &FrameView<'_>, sign: char, text: Option<&&str>, wash: Option<Color32>) {
    let Some(text) = text else { return };
    let colour = if sign == ' ' { view.theme.text_muted } else { view.theme.text };
    let fill = wash.unwrap_or(Color32::TRANSPARENT);
    Frame::new().fill(fill).corner_radius(CornerRadius::ZERO).inner_margin(Margin::symmetric(6, 1)).show(
        ui,
        |ui| {
            ui.set_width(ui.available_width());
            let text = RichText::new(format!("{sign} {text}")).monospace().color(colour);
            copyable_text_ui(ui, text);
        },
    );
}
