//! A snapshot of the whole agent surface: any change of it, and of its size, shows in a diff.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod common;

use common::{AgentWorkbenchFixture, Talk, service, service_in};
use serde_json::{Value, json};
use shared_protocol::mcp::McpMode;

/// Bytes of compact JSON per token, a conservative value: tokenizers need four to five for such text.
const BYTES_A_TOKEN: usize = 4;
const MAX_SURFACE_TOKENS: usize = 6_000;

#[tokio::test]
async fn the_surface_is_as_it_was_and_light() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let mut talk = Talk::legacy(&service).await;
    let lists = [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ];
    let mut surface = json!({ "instructions": mcp_server::INSTRUCTIONS.split('\n').collect::<Vec<_>>() });
    for (method, key) in lists {
        surface[key] = talk.ask(method, json!({})).await["result"][key].clone();
    }
    let tools = surface["tools"].to_string();
    let weight = tools.len() / BYTES_A_TOKEN;
    surface["weightInTokens"] = json!(weight);
    assert!(weight < MAX_SURFACE_TOKENS, "{weight}");
    for tool in surface["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(true), "{}", tool["name"]);
        assert_eq!(tool["inputSchema"]["type"], json!("object"));
        assert_eq!(tool["outputSchema"]["type"], json!("object"));
    }
    insta::assert_snapshot!("surface", pretty(&surface));
}

/// The tools that guarded mode adds.
#[tokio::test]
async fn what_guarded_mode_adds_is_as_it_was() {
    let bench = AgentWorkbenchFixture::new();
    let mut observing = Talk::legacy(&service(&bench)).await;
    let mut proposing = Talk::legacy(&service_in(&bench, McpMode::Guarded)).await;
    let known = observing.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let all = proposing.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let is_known =
        |tool: &&Value| known.as_array().unwrap().iter().any(|other| other["name"] == tool["name"]);
    let added: Vec<Value> = all.as_array().unwrap().iter().filter(|tool| !is_known(tool)).cloned().collect();
    insta::assert_snapshot!("guarded", pretty(&json!({ "tools": added })));
}

/// Formats one line per entry, so that a change shows where it is.
fn pretty(surface: &Value) -> String {
    let mut text = String::new();
    for (key, value) in surface.as_object().unwrap() {
        match value {
            Value::Array(items) => {
                text += &format!("{key}\n");
                for item in items {
                    text += &format!("  {item}\n");
                }
            }
            other => text += &format!("{key} {other}\n"),
        }
    }
    text
}
