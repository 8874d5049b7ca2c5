//! A definition before and after, line by line: what went with a minus, what came with a plus, on a wash of their colours.

use crate::{
    review::words::{line, paragraph},
    view::View,
    widgets::muted_ui,
};
use authority::{LineChange, compare_lines};
use egui::{Color32, CornerRadius, Frame, Label, Margin, RichText, Ui};
use shared_protocol::upstreams::DefinitionChange;

/// Parts of a definition, and lines of one part, that are shown.
const MOST_PARTS: usize = 60;
const MOST_LINES: usize = 200;

pub(super) fn changes_ui(ui: &mut Ui, view: &View<'_>, changes: &[DefinitionChange]) {
    for change in changes.iter().take(MOST_PARTS) {
        muted_ui(ui, view.theme, line(&change.path));
        let before = paragraph(change.before.as_deref().unwrap_or_default());
        let after = paragraph(change.after.as_deref().unwrap_or_default());
        let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let lines = compare_lines(&before, &after);
            for each in lines.iter().take(MOST_LINES) {
                match *each {
                    LineChange::Same(at) => line_ui(ui, view, ' ', after.get(at), None),
                    LineChange::Added(at) => line_ui(ui, view, '+', after.get(at), Some(view.theme.added())),
                    LineChange::Removed(at) => {
                        line_ui(ui, view, '−', before.get(at), Some(view.theme.removed()))
                    }
                }
            }
            if lines.len() > MOST_LINES {
                muted_ui(ui, view.theme, format!("and {} more lines", lines.len() - MOST_LINES));
            }
        });
    }
    if changes.len() > MOST_PARTS {
        muted_ui(ui, view.theme, format!("and {} more parts", changes.len() - MOST_PARTS));
    }
}

fn line_ui(ui: &mut Ui, view: &View<'_>, sign: char, text: Option<&&str>, wash: Option<Color32>) {
    let Some(text) = text else { return };
    let colour = if sign == ' ' { view.theme.text_muted } else { view.theme.text };
    let fill = wash.unwrap_or(Color32::TRANSPARENT);
    Frame::new().fill(fill).corner_radius(CornerRadius::ZERO).inner_margin(Margin::symmetric(6, 1)).show(
        ui,
        |ui| {
            ui.set_width(ui.available_width());
            let text = RichText::new(format!("{sign} {text}")).monospace().color(colour);
            ui.add(Label::new(text).selectable(true).wrap());
        },
    );
}
