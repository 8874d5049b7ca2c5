//! Conflicts between a proposal and the workspace: each field at the time of the proposal, now, and as proposed.

use super::files::value_ui;
use crate::widgets::muted_ui;
use canvas::{ProposedChangeSign, theme::WorkbenchTheme};
use egui::{RichText, Ui};
use shared_protocol::review::{FieldClash, MAX_CLASHES};

pub(super) fn clashes_ui(ui: &mut Ui, theme: &WorkbenchTheme, clashes: &[FieldClash]) {
    for clash in clashes {
        ui.push_id((&clash.subject, &clash.field), |ui| {
            ui.label(RichText::new(format!("{} of {}", clash.field, clash.name)).small());
            moment_ui(
                ui,
                theme,
                "When it was proposed",
                ProposedChangeSign::Removed,
                clash.before.as_deref(),
            );
            let now = match &clash.by {
                Some(by) => format!("Now, by {by}"),
                None => "Now".to_owned(),
            };
            moment_ui(ui, theme, &now, ProposedChangeSign::Changed, clash.now.as_deref());
            moment_ui(ui, theme, "Proposed", ProposedChangeSign::Added, clash.proposed.as_deref());
        });
    }
    if clashes.len() >= MAX_CLASHES {
        muted_ui(ui, theme, "There may be more conflicts.");
    }
}

fn moment_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    words: &str,
    sign: ProposedChangeSign,
    value: Option<&str>,
) {
    muted_ui(ui, theme, words);
    value_ui(ui, theme, sign, Some(value.unwrap_or("nothing")));
}
