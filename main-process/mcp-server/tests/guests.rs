//! Tests of forwarded tools: listed only in mode guarded, forwarded unchanged, and notified when they change.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{AgentWorkbenchFixture, Talk, service_in};
use mcp_server::{ProxiedTool, ProxiedTools, SurfaceTool};
use serde_json::{Value, json};
use shared_protocol::{
    Refusal, RefusalCode,
    managed_servers::{ManagedServersView, PackageKind, ServerBrief, ServerId, ServerState},
    mcp::McpMode,
};
use std::sync::Arc;

fn echo(name: &str) -> SurfaceTool {
    let guest = ProxiedTool {
        name: name.to_owned(),
        title: Some("Echo".to_owned()),
        description: "Says it again\u{202e}".to_owned(),
        input_schema: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        output_schema: Some(json!({ "type": "object", "properties": { "said": { "type": "string" } } })),
        read_only: false,
        destructive: true,
        idempotent: false,
    };
    SurfaceTool::proxied(&guest, |call| {
        Box::pin(async move {
            match call.arguments.get("text").and_then(Value::as_str) {
                Some(text) => Ok(json!({
                    "content": [{ "type": "text", "text": text }], "structuredContent": { "said": text }, "isError": false
                })
                .to_string()),
                None => Err(Refusal::new(RefusalCode::ValidationError, "Invalid arguments").field("arguments")),
            }
        })
    })
}

fn server() -> Arc<ManagedServersView> {
    let server = ServerBrief {
        id: ServerId("1".to_owned()),
        slug: "files".to_owned(),
        name: "Files".to_owned(),
        enabled: true,
        kind: PackageKind::Npm,
        runs: "npx files /home/ada/private".to_owned(),
        state: ServerState::Running,
        reason: None,
        exit: None,
        last_lines: Vec::new(),
        offered: 1,
        tools: 2,
        waiting: 1,
        protocol: None,
        calls_itself: None,
        stamp: 1,
    };
    Arc::new(ManagedServersView { servers: vec![server], ..ManagedServersView::default() })
}

async fn names(talk: &mut Talk) -> Vec<String> {
    let listed = talk.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_dynamic_example_of_the_surface() {
    let bench = AgentWorkbenchFixture::new();
    // A forwarded tool with the name of an own tool is not offered.
    bench.set_proxied_tools(ProxiedTools::new([echo("files__echo"), echo("search")], server()));
    let service = service_in(&bench, McpMode::Guarded);
    let mut talk = Talk::legacy(&service).await;
    let listed = talk.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.iter().filter(|tool| tool["name"] == "search").count(), 1);
    let proxied_tools: Vec<&Value> = tools.iter().filter(|tool| tool["name"] == "files__echo").collect();
    insta::assert_snapshot!("dynamic", serde_json::to_string_pretty(&proxied_tools).unwrap());
    let managed_servers = talk.call("list_upstreams", json!({})).await;
    assert_eq!(managed_servers["data"]["servers"][0]["tools"], json!(["files__echo"]));
    assert!(!managed_servers.to_string().contains("private"), "{managed_servers}");
}

#[tokio::test]
async fn it_is_passed_on_as_it_is_in_mode_guarded_alone() {
    let bench = AgentWorkbenchFixture::new();
    bench.set_proxied_tools(ProxiedTools::new([echo("files__echo")], server()));
    let service = service_in(&bench, McpMode::Guarded);
    let mut talk = Talk::legacy(&service).await;
    let call = |arguments: Value| json!({ "name": "files__echo", "arguments": arguments });
    let answered = talk.ask("tools/call", call(json!({ "text": "hello" }))).await;
    assert_eq!(answered["result"]["structuredContent"], json!({ "said": "hello" }));
    assert_eq!(answered["result"]["content"][0]["text"], json!("hello"));
    assert_eq!(answered["result"]["content"][1]["text"], json!(r#"{"said":"hello"}"#), "{answered}");
    let mut old = Talk::of_version(&service, "2024-11-05").await;
    let answered = old.ask("tools/call", call(json!({ "text": "hello" }))).await;
    assert_eq!(answered["result"]["content"][1]["text"], json!(r#"{"said":"hello"}"#), "{answered}");
    assert!(answered["result"].get("structuredContent").is_none(), "{answered}");
    // A result that already has the structured content as text is not duplicated.
    let answered = talk.ask("tools/call", call(json!({ "text": "{\"said\": \"x\"}" }))).await;
    assert_eq!(answered["result"]["content"].as_array().unwrap().len(), 2, "{answered}");
    let failed = talk.ask("tools/call", call(json!({}))).await;
    assert_eq!(failed["result"]["isError"], json!(true));
    assert!(failed["result"].get("structuredContent").is_none(), "it would not fit the tool's own schema");
    assert!(failed["result"]["content"][0]["text"].as_str().unwrap().contains("VALIDATION_ERROR"));

    service.set_mode(McpMode::Observe);
    talk.notice("notifications/tools/list_changed").await;
    assert!(!names(&mut talk).await.contains(&"files__echo".to_owned()));
    let refused = talk.ask("tools/call", call(json!({ "text": "x" }))).await;
    assert_eq!(refused["result"]["structuredContent"]["error"]["code"], json!("ACTUATION_DISABLED"));
    assert_eq!(talk.call("list_upstreams", json!({})).await["data"]["callable"], json!(false));
}

#[tokio::test]
async fn tools_that_come_and_go_are_told_once_for_a_moment() {
    let bench = AgentWorkbenchFixture::new();
    let service = service_in(&bench, McpMode::Guarded);
    let mut talk = Talk::legacy(&service).await;
    for count in 0..20 {
        let tools = (0..count).map(|number| echo(&format!("files__echo_{number}")));
        bench.set_proxied_tools(ProxiedTools::new(tools, server()));
    }
    talk.notice("notifications/tools/list_changed").await;
    assert!(names(&mut talk).await.contains(&"files__echo_18".to_owned()));
    // The same tools of a server with a new state cause no notification.
    let proxied_tools = ProxiedTools::new([echo("files__echo")], server());
    bench.set_proxied_tools(proxied_tools.clone());
    talk.notice("notifications/tools/list_changed").await;
    talk.ask("resources/subscribe", json!({ "uri": "draftboard://workspace/graph" })).await;
    bench.set_proxied_tools(proxied_tools.with_managed_servers(server()));
    // The notices of one change are all sent before those of the next, so the second says that none is missing of the first.
    for _ in 0..2 {
        bench.add_buckets(1);
        talk.notice("notifications/resources/updated").await;
    }
    assert!(talk.heard.is_empty(), "{:?}", talk.heard);
}
