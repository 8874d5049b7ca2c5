//! The answers that the suite expects, as data.

use serde_json::{Value, json};

/// One red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// Silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

/// The tools of the suite with their input schemas.
pub(crate) fn tools() -> Vec<(&'static str, Value)> {
    let none = json!({ "type": "object", "properties": {} });
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let mut tools: Vec<(&'static str, Value)> = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_reconnection",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_request_state",
        "test_input_required_result_tampered_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_input_required_result_capabilities",
    ]
    .map(|name| (name, none.clone()))
    .to_vec();
    tools.push(("test_sampling", text("prompt")));
    tools.push(("test_elicitation", text("message")));
    tools.push((
        "test_custom_header",
        json!({ "type": "object", "properties": { "value": { "type": "string", "x-mcp-header": "Value" } }, "required": ["value"] }),
    ));
    tools.push(("json_schema_2020_12_tool", schema_2020_12()));
    tools
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
            }
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    })
}

pub(crate) fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Tools with a fixed answer.
pub(crate) fn fixed(tool: &str, arguments: &Value) -> Option<Value> {
    let picture = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    Some(match tool {
        "test_simple_text" => said("This is a simple text response for testing."),
        "test_image_content" => json!({ "content": [picture] }),
        "test_audio_content" => {
            json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] })
        }
        "test_embedded_resource" => json!({ "content": [embedded(
            "test://embedded-resource", "text/plain", "This is an embedded resource content."
        )] }),
        "test_multiple_content_types" => json!({ "content": [
            { "type": "text", "text": "Multiple content types test:" },
            picture,
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#)
        ] }),
        "test_error_handling" => {
            let mut answer = said("This tool intentionally returns an error for testing");
            answer["isError"] = json!(true);
            answer
        }
        "json_schema_2020_12_tool" | "test_logging_tool" => said("done"),
        "test_custom_header" => said(arguments["value"].as_str().unwrap_or_default()),
        _ => return None,
    })
}

fn embedded(uri: &str, mime: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": text } })
}

/// The form that a legacy tool asks its client to fill in.
pub(crate) fn form(tool: &str) -> Option<Value> {
    Some(match tool {
        "test_elicitation" => json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" }
            },
            "required": ["username", "email"]
        }),
        "test_elicitation_sep1034_defaults" => json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
                "verified": { "type": "boolean", "default": true }
            }
        }),
        "test_elicitation_sep1330_enums" => json!({
            "type": "object",
            "properties": {
                "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
                "titledSingle": { "type": "string", "oneOf": titled("Option") },
                "legacyEnum": {
                    "type": "string", "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"]
                },
                "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } },
                "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } }
            }
        }),
        _ => return None,
    })
}

fn titled(what: &str) -> Value {
    json!([
        { "const": "value1", "title": format!("First {what}") },
        { "const": "value2", "title": format!("Second {what}") },
        { "const": "value3", "title": format!("Third {what}") }
    ])
}

pub(crate) fn resources() -> Vec<(&'static str, &'static str)> {
    vec![
        ("test://static-text", "text/plain"),
        ("test://static-binary", "image/png"),
        ("test://watched-resource", "text/plain"),
    ]
}

pub(crate) const TEMPLATE: &str = "test://template/{id}/data";

pub(crate) fn resource(uri: &str) -> Option<Value> {
    let contents = match uri {
        "test://static-text" => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource." })
        }
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        "test://watched-resource" => json!({ "uri": uri, "mimeType": "text/plain", "text": "Watched." }),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string();
            json!({ "uri": uri, "mimeType": "application/json", "text": text })
        }
    };
    Some(json!({ "contents": [contents] }))
}

/// The prompts with their arguments.
pub(crate) fn prompts() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("test_simple_prompt", vec![]),
        ("test_prompt_with_arguments", vec!["arg1", "arg2"]),
        ("test_prompt_with_embedded_resource", vec!["resourceUri"]),
        ("test_prompt_with_image", vec![]),
        ("test_input_required_result_prompt", vec![]),
    ]
}

pub(crate) fn prompt(name: &str, arguments: &Value) -> Option<Value> {
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default();
    let user = |content: Value| json!({ "role": "user", "content": content });
    let text = |text: &str| user(json!({ "type": "text", "text": text }));
    let messages = match name {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let words =
                format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2"));
            json!([text(&words)])
        }
        "test_prompt_with_embedded_resource" => json!([
            user(embedded(argument("resourceUri"), "text/plain", "Embedded resource content for testing.")),
            text("Please process the embedded resource above.")
        ]),
        "test_prompt_with_image" => json!([
            user(json!({ "type": "image", "data": PNG, "mimeType": "image/png" })),
            text("Please analyze the image above.")
        ]),
        _ => return None,
    };
    Some(json!({ "messages": messages }))
}
