//! Tests of drafts as their agents read them: every read tool, paged changes, proposal images, and how a client
//! without a connection continues its draft.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{AgentWorkbenchFixture, Talk, call_over_http, edge, service_in};
use mcp_server::{AgentSurface, AgentWorkbench, http::HttpLimits};
use serde_json::{Value, json};
use shared_protocol::{ProposalState, mcp::McpMode};
use std::{collections::BTreeSet, sync::Arc};

const HOUR: u64 = 3600 * 1000;

async fn talk() -> (Arc<AgentWorkbenchFixture>, Talk) {
    let bench = AgentWorkbenchFixture::new();
    let talk = Talk::modern(&service_in(&bench, McpMode::Guarded));
    (bench, talk)
}

async fn ok(talk: &mut Talk, tool: &str, arguments: Value) -> Value {
    let envelope = talk.call(tool, arguments).await;
    assert_eq!(envelope["ok"], json!(true), "{envelope}");
    envelope["data"].clone()
}

async fn refused(talk: &mut Talk, tool: &str, arguments: Value) -> Value {
    let envelope = talk.call(tool, arguments).await;
    assert_eq!(envelope["ok"], json!(false), "{envelope}");
    envelope["error"].clone()
}

fn bucket(name: &str) -> Value {
    json!({ "typeId": "aws/storage/s3_bucket", "name": name, "properties": { "bucket": name } })
}

fn buckets(count: usize) -> Value {
    let one = |index| json!({ "tool": "add_resource", "arguments": bucket(&format!("bucket{index}")) });
    json!({ "operations": (0..count).map(one).collect::<Vec<_>>() })
}

#[tokio::test]
async fn what_a_draft_changes_comes_in_pages_that_hold_all_of_it_once() {
    let (_bench, mut talk) = talk().await;
    let drafted = ok(&mut talk, "execute_batch", buckets(300)).await;
    let id = drafted["proposal"]["id"].clone();
    for (tool, arguments) in [
        ("get_proposal", json!({ "id": id, "changes": true })),
        ("get_changes_since", json!({ "revision": 0, "view": "draft" })),
    ] {
        let (mut seen, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
        let total = loop {
            let mut arguments = arguments.clone();
            arguments["cursor"] = cursor;
            let envelope = talk.call(tool, arguments).await;
            assert_eq!(envelope["ok"], json!(true), "{envelope}");
            let data = &envelope["data"];
            let of = if tool == "get_proposal" { data } else { &data["draft"] };
            let changes = of["changes"].as_array().unwrap();
            assert!(changes.len() <= 200, "{}", changes.len());
            seen.extend(changes.iter().map(ToString::to_string));
            pages += 1;
            cursor = envelope["meta"]["cursor"].clone();
            if cursor.is_null() {
                let meta = if tool == "get_proposal" { &envelope["meta"] } else { &data["draft"] };
                assert_eq!(meta["hasMore"], json!(false), "{tool}");
                break meta["total"].as_u64().unwrap();
            }
        };
        assert!(pages > 2 && seen.len() as u64 == total && total >= 600, "{tool}: {pages} {total}");
        let apart: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(apart.len(), seen.len(), "{tool}: each once");
    }
    // A cursor is valid for one state of one draft; proposals of others do not affect it.
    let first = talk.call("get_proposal", json!({ "id": id, "changes": true, "limit": 5 })).await;
    assert_eq!(first["data"]["changes"].as_array().unwrap().len(), 5);
    let next = json!({ "id": id, "changes": true, "limit": 5, "cursor": first["meta"]["cursor"] });
    assert_eq!(talk.call("get_proposal", next.clone()).await["ok"], json!(true));
    ok(&mut talk, "add_resource", bucket("more")).await;
    assert_eq!(refused(&mut talk, "get_proposal", next).await["code"], json!("STALE"));
    for wrong in [json!({ "id": id, "cursor": "1.2.3" }), json!({ "id": id, "limit": 5 })] {
        assert_eq!(refused(&mut talk, "get_proposal", wrong).await["code"], json!("BAD_REQUEST"));
    }
    for wrong in [json!({ "revision": 0, "cursor": "1.2.3" }), json!({ "revision": 0, "proposal": id })] {
        assert_eq!(refused(&mut talk, "get_changes_since", wrong).await["code"], json!("BAD_REQUEST"));
    }
}

#[tokio::test]
async fn every_reading_tool_sees_the_draft_and_nobody_elses() {
    let bench = AgentWorkbenchFixture::new();
    let service = service_in(&bench, McpMode::Guarded);
    let (mut mine, mut other) = (Talk::modern(&service), Talk::legacy(&service).await);
    let drafted = ok(&mut mine, "add_resource", bucket("mine")).await;
    let (id, node) = (&drafted["proposal"]["id"], drafted["instanceId"].as_str().unwrap());
    let draft = json!({ "view": "draft" });
    let context = ok(&mut mine, "get_workbench_context", draft.clone()).await;
    assert_eq!(context["boards"][0]["nodes"], json!(1), "{context}");
    assert_eq!(ok(&mut mine, "get_workbench_context", json!({})).await["boards"][0]["nodes"], json!(0));
    assert_eq!(ok(&mut mine, "get_deployment_status", draft.clone()).await[node], json!("pending"));
    assert_eq!(ok(&mut mine, "get_deployment_status", json!({})).await, json!({}));
    // A draft does not change the configuration.
    let config = ok(&mut mine, "get_project_config", draft.clone()).await;
    assert_eq!(config, ok(&mut mine, "get_project_config", json!({})).await);
    // All tools that read the workspace accept `view`.
    let without = ["get_available_resource_types", "list_proposals", "get_proposal", "list_upstreams"];
    for tool in AgentSurface::core().tools(McpMode::Observe) {
        let takes = tool.definition.input_schema["properties"].get("view").is_some();
        assert_eq!(takes, !without.contains(&tool.name()), "{}", tool.name());
        if takes {
            let mut named = json!({ "view": "draft", "proposal": id, "query": "x", "revision": 0 });
            let known = &tool.definition.input_schema["properties"];
            named.as_object_mut().unwrap().retain(|key, _| known.get(key).is_some());
            let error = refused(&mut other, tool.name(), named).await;
            assert_eq!(error["code"], json!("NOT_FOUND"), "{}: {error}", tool.name());
        }
    }
}

#[tokio::test]
async fn a_picture_of_a_proposal_is_of_the_clients_own() {
    let bench = AgentWorkbenchFixture::new();
    let service = service_in(&bench, McpMode::Guarded);
    let (mut mine, mut other) = (Talk::modern(&service), Talk::legacy(&service).await);
    assert_eq!(
        refused(&mut mine, "get_board_image", json!({ "of": "proposal" })).await["code"],
        json!("NOT_FOUND"),
        "there is none yet"
    );
    let id = ok(&mut mine, "add_resource", bucket("mine")).await["proposal"]["id"].clone();
    for arguments in
        [json!({ "of": "proposal" }), json!({ "of": "proposal", "proposal": id, "longestSide": 300 })]
    {
        let picture = ok(&mut mine, "get_board_image", arguments).await;
        assert_eq!(picture["board"], json!("main"));
    }
    let asked = json!({ "of": "proposal", "proposal": id });
    assert_eq!(refused(&mut other, "get_board_image", asked).await["code"], json!("NOT_FOUND"));
    let both = json!({ "of": "proposal", "nodes": ["mine"] });
    assert_eq!(refused(&mut mine, "get_board_image", both).await["code"], json!("BAD_REQUEST"));
    let save = ok(&mut mine, "save_project", json!({})).await["proposal"]["id"].clone();
    let nothing = refused(&mut mine, "get_board_image", json!({ "of": "proposal", "proposal": save })).await;
    assert_eq!(nothing["code"], json!("NOT_FOUND"), "{nothing}");
}

/// A client without a connection receives a hint how to continue its draft, may send any number of calls at once, and
/// receives an error when it never names its draft.
#[tokio::test]
async fn without_a_connection_the_answer_tells_how_to_go_on() {
    let bench = AgentWorkbenchFixture::new();
    let service = service_in(&bench, McpMode::Guarded);
    let edge = edge(&service, HttpLimits::default());
    let address = edge.address();
    let first = call_over_http(address, "add_resource", bucket("first")).await;
    let id = first["data"]["proposal"]["id"].as_str().unwrap().to_owned();
    assert!(first["data"]["hint"].as_str().unwrap().contains(&id), "{first}");
    let expires =
        |bench: &AgentWorkbenchFixture| bench.view().review.get(id.parse().unwrap()).unwrap().expires;
    assert_eq!(expires(&bench), 1_000 + HOUR, "what nobody names is let go soon");
    let mut calls = tokio::task::JoinSet::new();
    for index in 0..50 {
        let mut more = bucket(&format!("named{index}"));
        more["proposal"] = json!(id);
        calls.spawn(async move { call_over_http(address, "add_resource", more).await });
    }
    let (mut nodes, mut places) = (BTreeSet::new(), BTreeSet::new());
    while let Some(answer) = calls.join_next().await {
        let envelope = answer.unwrap();
        assert_eq!((&envelope["ok"], &envelope["data"]["hint"]), (&json!(true), &Value::Null), "{envelope}");
        assert_eq!(envelope["data"]["proposal"]["id"], json!(id));
        nodes.insert(envelope["data"]["instanceId"].to_string());
        places.insert(envelope["data"]["position"].to_string());
    }
    assert_eq!((nodes.len(), places.len()), (50, 50));
    assert_eq!(expires(&bench), 1_000 + 24 * HOUR);
    let submitted =
        call_over_http(address, "submit_proposal", json!({ "proposal": id, "title": "Many" })).await;
    assert_eq!(submitted["data"]["proposal"]["calls"], json!(51), "{submitted}");
    for index in 0..19 {
        let envelope = call_over_http(address, "add_resource", bucket(&format!("lost{index}"))).await;
        assert!(envelope["data"]["hint"].is_string(), "{envelope}");
    }
    let one_more = call_over_http(address, "add_resource", bucket("one_more")).await;
    assert_eq!(one_more["error"]["code"], json!("LIMIT_EXCEEDED"), "{one_more}");
    assert!(one_more["error"]["details"]["hints"].to_string().contains("proposal"), "{one_more}");
    edge.stop().await;
    // A connection has one draft and needs no hint.
    let mut connected = Talk::modern(&service);
    assert_eq!(ok(&mut connected, "add_resource", bucket("connected")).await["hint"], Value::Null);
}

#[tokio::test]
async fn what_is_said_about_a_submission_is_the_same_for_every_tool() {
    let (bench, mut talk) = talk().await;
    for tool in AgentSurface::core().tools(McpMode::Guarded).filter(|tool| tool.guarded) {
        let schema = &tool.definition.input_schema;
        let has = |key: &str| schema["properties"].get(key).is_some();
        assert_eq!((has("rationale"), has("supersedes")), (has("title"), has("title")), "{}", tool.name());
        let required =
            schema.get("required").is_some_and(|required| required.to_string().contains("\"title\""));
        assert_eq!(required, tool.name() == "submit_proposal", "{}", tool.name());
    }
    // Without a title the proposal is named after its change.
    let mut one = bucket("one");
    one["submit"] = json!(true);
    let one = ok(&mut talk, "add_resource", one).await;
    let mut many = buckets(2);
    many["submit"] = json!(true);
    many["title"] = json!("  ");
    let many = ok(&mut talk, "execute_batch", many).await;
    let run = json!({ "command": "plan", "waitSeconds": 0 });
    assert_eq!(refused(&mut talk, "run_terraform", run).await["code"], json!("AWAITING_REVIEW"));
    let save = ok(&mut talk, "save_project", json!({})).await;
    for proposal in bench.view().review.iter() {
        assert!(proposal.title.len() > 5 && proposal.state == ProposalState::Open, "{proposal:?}");
    }
    // One proposal replaces another of any kind.
    let state = async |talk: &mut Talk, of: &Value| {
        ok(talk, "get_proposal", json!({ "id": of["proposal"]["id"] })).await["state"].clone()
    };
    let again = ok(&mut talk, "save_project", json!({ "supersedes": save["proposal"]["id"] })).await;
    assert_eq!(state(&mut talk, &save).await, json!("superseded"));
    let mut instead = bucket("instead");
    (instead["submit"], instead["supersedes"]) = (json!(true), one["proposal"]["id"].clone());
    ok(&mut talk, "add_resource", instead).await;
    assert_eq!(state(&mut talk, &one).await, json!("superseded"));
    let plan = json!({ "command": "plan", "waitSeconds": 0, "supersedes": many["proposal"]["id"] });
    refused(&mut talk, "run_terraform", plan).await;
    assert_eq!(state(&mut talk, &many).await, json!("superseded"));
    // Arguments that would have no effect are refused.
    let before = bench.view().review.iter().count();
    let mut draft = bucket("draft");
    draft["supersedes"] = again["proposal"]["id"].clone();
    let cases = [
        ("add_resource", draft, "BAD_REQUEST"),
        ("save_project", json!({ "proposal": again["proposal"]["id"] }), "BAD_REQUEST"),
        ("save_project", json!({ "submit": true }), "BAD_REQUEST"),
        ("save_project", json!({ "supersedes": save["proposal"]["id"] }), "CONFLICT"),
        ("save_project", json!({ "supersedes": "p-000000000011" }), "NOT_FOUND"),
    ];
    for (tool, arguments, code) in cases {
        let error = refused(&mut talk, tool, arguments.clone()).await;
        assert_eq!(error["code"], json!(code), "{tool} {arguments}: {error}");
    }
    assert_eq!(bench.view().review.iter().count(), before);
    assert_eq!(state(&mut talk, &again).await, json!("open"));
}
