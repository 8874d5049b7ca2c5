//! Calls a tool from its page, with JSON arguments, and shows the result. The call is a decision bound to the definition
//! shown, and is recorded in the audit log like an agent's call.

use super::{
    describe, notice_ui,
    pending_requests::{ManagedServersContext, ServerRequestPurpose},
};
use crate::{
    view::{FrameView, ManagedServerResponse},
    widgets::{copyable_text_ui, disclosure_ui, focus_stroke, muted_ui},
    wording::paragraph,
};
use egui::{Button, RichText, TextEdit, Ui};
use serde_json::{Map, Value, json};
use shared_protocol::{
    Refusal,
    decisions::CallTool,
    managed_servers::{ToolCall, ToolCallResult, ToolView},
    messages::ProblemSeverity,
};

/// The maximum numbers of characters of the arguments, and of a result that is shown.
const MAX_ARGUMENT_CHARS: usize = 64 << 10;
const MAX_RESULT_CHARS: usize = 16_000;
const RESULT_HEIGHT: f32 = 200.0;

#[derive(Default)]
pub(super) struct ToolCallForm {
    is_open: bool,
    /// `None` until the section is first opened.
    arguments: Option<String>,
    result: Option<Result<ToolCallResult, String>>,
}

impl ToolCallForm {
    pub(super) fn receive(&mut self, result: Result<ToolCallResult, &Refusal>) {
        self.result = Some(result.map_err(describe));
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, tool: &ToolView) {
        if !disclosure_ui(ui, cx.view.theme, "Try it…", None, &mut self.is_open) {
            return;
        }
        let text = self.arguments.get_or_insert_with(|| skeleton(&tool.input_schema));
        let edit = TextEdit::multiline(text)
            .code_editor()
            .char_limit(MAX_ARGUMENT_CHARS)
            .desired_rows(4)
            .desired_width(f32::INFINITY);
        focus_stroke(ui, cx.view.theme, |ui| ui.add(edit)).accessible_name("Arguments as JSON");
        let read = serde_json::from_str::<Map<String, Value>>(text).map_err(|error| error.to_string());
        let purpose = ServerRequestPurpose::Call(tool.exposed.clone());
        let is_busy = cx.is_open(&purpose);
        ui.horizontal_wrapped(|ui| {
            let call = ui.add_enabled(read.is_ok() && !is_busy, Button::new("Call tool"));
            if call.on_hover_text("Sends this call to the server immediately").clicked() {
                self.result = None;
                let call = ToolCall {
                    tool: tool.exposed.clone(),
                    arguments: text.clone(),
                    definition: Some(tool.hash.clone()),
                };
                let name = tool.exposed.clone();
                let respond = move |result| ManagedServerResponse::Called(name.clone(), result);
                cx.send(CallTool { call }, purpose, respond);
            }
            match &read {
                Err(why) => {
                    drop(muted_ui(ui, cx.view.theme, format!("The arguments are not a JSON object: {why}")))
                }
                Ok(_) if is_busy => drop(muted_ui(ui, cx.view.theme, "Calling…")),
                Ok(_) => {}
            }
        });
        match &self.result {
            None => {}
            Some(Err(why)) => notice_ui(ui, cx.view, ProblemSeverity::Error, why),
            Some(Ok(result)) => answer_ui(ui, cx.view, result),
        }
    }
}

fn answer_ui(ui: &mut Ui, view: &FrameView<'_>, result: &ToolCallResult) {
    let words = if result.is_error { "Error:" } else { "Result:" };
    muted_ui(ui, view.theme, words);
    let text = result_text(&result.json);
    egui::ScrollArea::vertical().id_salt("answer").max_height(RESULT_HEIGHT).auto_shrink([false, true]).show(
        ui,
        |ui| {
            copyable_text_ui(ui, RichText::new(text).monospace());
        },
    );
}

/// The text blocks of a result as plain text; other blocks as JSON.
fn result_text(json: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    let content = value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let blocks = content.iter().map(|block| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => block.to_string(),
    });
    let whole = blocks.collect::<Vec<_>>().join("\n");
    let mut text: String = whole.chars().take(MAX_RESULT_CHARS).collect();
    if text.len() < whole.len() {
        text.push_str("\n… (truncated)");
    }
    paragraph(&text)
}

/// A JSON object with the required arguments to fill in.
fn skeleton(schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let empty = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(""),
    };
    let members: Map<String, Value> =
        required.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), empty(name))).collect();
    serde_json::to_string_pretty(&members).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_be_given_is_there_to_be_filled_in() {
        let schema = r#"{"properties": {"path": {"type": "string"}, "n": {"type": "integer"}, "x": {}}, "required": ["path", "n"]}"#;
        assert_eq!(serde_json::from_str::<Value>(&skeleton(schema)).unwrap(), json!({"path": "", "n": 0}));
        assert_eq!(skeleton("not json"), "{}");
    }

    #[test]
    fn an_answer_is_shown_as_it_reads_and_hides_nothing() {
        let answer = json!({"content": [{"type": "text", "text": "one\ntwo\u{202e}"}, {"type": "image", "data": "x"}]});
        let text = result_text(&answer.to_string());
        assert!(text.starts_with("one\ntwo\\u{202e}\n") && text.contains("\"image\""), "{text}");
    }
}
