//! A tool call that an agent requests: server, tool name and every argument as it will be sent, above the agent's own
//! words.

use super::{ProposalReview, words};
use crate::{
    view::FrameView,
    widgets::{copyable_text_ui, inset_ui, muted_ui, named_text_ui},
};
use egui::{Margin, RichText, Ui};
use shared_protocol::proposal::ProposedAction;

/// The height of the arguments before they scroll.
const HEIGHT: f32 = 220.0;

pub(super) fn call_ui(ui: &mut Ui, view: &FrameView<'_>, opened: &ProposalReview) {
    let Some(ProposedAction::Call { tool, from, arguments, destructive, .. }) = &opened.proposal().brief.act
    else {
        return;
    };
    let theme = view.theme;
    ui.add_space(4.0);
    named_text_ui(ui, theme, "Server", &words::line(from));
    named_text_ui(ui, theme, "Tool", &words::line(tool));
    if *destructive {
        muted_ui(ui, theme, "The tool is annotated as destructive.");
    }
    let given = argument_lines(arguments);
    if given.is_empty() {
        muted_ui(ui, theme, "No arguments");
        return;
    }
    muted_ui(ui, theme, "All arguments");
    inset_ui(ui, theme, Margin::symmetric(8, 6), |ui| {
        egui::ScrollArea::vertical()
            .id_salt("arguments")
            .max_height(HEIGHT)
            .min_scrolled_height(HEIGHT)
            .auto_shrink([false, true])
            .show(ui, |ui| {
                for (name, value) in &given {
                    if !name.is_empty() {
                        muted_ui(ui, theme, name);
                    }
                    copyable_text_ui(ui, RichText::new(value).monospace());
                }
            });
    });
}

/// Returns each argument with its value: strings as plain text with line breaks, everything else as JSON. Input that
/// is not an object is returned unchanged.
fn argument_lines(arguments: &str) -> Vec<(String, String)> {
    let Ok(object) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments) else {
        return vec![(String::new(), words::paragraph(arguments))];
    };
    let value = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) if !text.is_empty() => words::paragraph(text),
        other => words::paragraph(&serde_json::to_string_pretty(other).unwrap_or_default()),
    };
    object.iter().map(|(name, given)| (words::line(name), value(given))).collect()
}

#[cfg(test)]
mod tests {
    use super::argument_lines;

    #[test]
    fn arguments_are_written_as_people_read_them_and_hide_nothing() {
        let found = argument_lines(
            "{\"path\":\"/srv/a\",\"text\":\"one\\ntwo\\u202e\",\"deep\":{\"n\":1},\"empty\":\"\"}",
        );
        let pairs: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert!(pairs.contains(&("path", "/srv/a")));
        assert!(pairs.contains(&("text", "one\ntwo\\u{202e}")));
        assert!(pairs.contains(&("deep", "{\n  \"n\": 1\n}")));
        assert!(pairs.contains(&("empty", "\"\"")));
        assert_eq!(argument_lines("[1"), [(String::new(), "[1".to_owned())]);
        assert!(argument_lines("{}").is_empty());
    }
}
