//! Tests of the answers of tools and resources, through a client connection.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{AgentWorkbenchFixture, Talk, service};
use serde_json::{Value, json};
use shared_protocol::{
    ElementId,
    messages::{BoardViewport, Presence},
};
use std::{collections::BTreeSet, sync::Arc};

async fn talk(bench: &Arc<AgentWorkbenchFixture>) -> Talk {
    Talk::modern(&service(bench))
}

fn node_id(bench: &AgentWorkbenchFixture, name: &str) -> shared_protocol::NodeId {
    let snapshot = bench.snapshot();
    snapshot.nodes().find(|node| node.name.as_str() == name).unwrap().id
}

#[tokio::test]
async fn an_agent_knows_what_is_selected_what_is_on_screen_and_what_changed() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(3);
    let board = bench.snapshot().boards().next().unwrap().id;
    let node = node_id(&bench, "bucket_1");
    bench.see(Presence {
        board: Some(board),
        selection: vec![ElementId::Node(node)],
        viewports: vec![(board, BoardViewport { x: 10.0, y: 20.0, zoom: 0.5 })],
        ..Presence::default()
    });
    let mut talk = talk(&bench).await;
    let context = talk.call("get_workbench_context", json!({})).await;
    let data = &context["data"];
    assert_eq!(data["activeBoard"], json!("main"));
    assert_eq!(data["selection"]["elements"][0]["id"], json!(node));
    assert_eq!(data["viewport"]["zoom"], json!(0.5));
    assert_eq!(context["meta"]["selection"], json!([node]));
    let before = context["meta"]["revision"].as_u64().unwrap();
    assert_eq!(talk.read("draftboard://workspace/context").await["selection"], data["selection"]);

    bench.run(json!({ "updateNode": { "node": "main/bucket_2", "label": "Receipts" } }));
    let changes = talk.call("get_changes_since", json!({ "revision": before })).await;
    let operations = changes["data"]["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 1);
    assert_eq!(operations[0]["changes"][0]["after"], json!("Receipts"));
    assert_eq!((&changes["data"]["to"], &changes["meta"]["hasMore"]), (&json!(before + 1), &json!(false)));
}

#[tokio::test]
async fn changes_come_in_portions_and_old_ones_ask_for_a_resync() {
    let bench = AgentWorkbenchFixture::new();
    for index in 0..7 {
        bench.run(json!({ "addBoard": { "kind": "spec", "title": format!("Board {index}") } }));
    }
    let mut talk = talk(&bench).await;
    let (mut at, mut seen) = (0, Vec::new());
    loop {
        let changes = talk.call("get_changes_since", json!({ "revision": at, "limit": 3 })).await;
        seen.extend(
            changes["data"]["operations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|op| op["revision"].as_u64().unwrap()),
        );
        at = changes["data"]["to"].as_u64().unwrap();
        if changes["meta"]["hasMore"] == json!(false) {
            break;
        }
    }
    assert_eq!(seen, (1..=8).collect::<Vec<_>>());
    bench.forget_until(5);
    let resync = talk.call("get_changes_since", json!({ "revision": 2 })).await;
    assert_eq!(resync["data"]["resync"], json!(true));
    let ahead = talk.call("get_changes_since", json!({ "revision": 99 })).await;
    assert_eq!(
        (&ahead["error"]["code"], &ahead["error"]["field"]),
        (&json!("BAD_REQUEST"), &json!("revision"))
    );
}

#[tokio::test]
async fn pages_of_every_list_lead_to_the_end() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(57);
    let mut talk = talk(&bench).await;
    for (tool, arguments, items) in [
        ("list_resources", json!({ "limit": 10, "detail": "ids" }), 57),
        ("list_resources", json!({ "limit": 10, "typeId": "aws/*" }), 57),
        ("search", json!({ "limit": 7, "query": "bucket", "kind": "nodes" }), 57),
        ("get_available_resource_types", json!({ "limit": 13, "provider": "ui" }), 14),
        ("validate_diagram", json!({ "limit": 5 }), 57),
    ] {
        let (mut cursor, mut seen) = (None::<String>, BTreeSet::new());
        loop {
            let mut arguments = arguments.clone();
            if let Some(cursor) = &cursor {
                arguments["cursor"] = json!(cursor);
            }
            let page = talk.call(tool, arguments).await;
            assert_eq!(page["ok"], json!(true), "{page}");
            let data = if page["data"].is_array() { &page["data"] } else { &page["data"]["problems"] };
            for item in data.as_array().unwrap() {
                assert!(seen.insert(item.to_string()) || tool == "validate_diagram", "{tool}: twice {item}");
            }
            cursor = page["meta"]["cursor"].as_str().map(str::to_owned);
            assert_eq!(page["meta"]["hasMore"], json!(cursor.is_some()));
            if cursor.is_none() {
                let total = page["meta"]["total"].as_u64().unwrap() as usize;
                assert!(
                    total >= items && (seen.len() == total || tool == "validate_diagram"),
                    "{tool}: {total} {}",
                    seen.len()
                );
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_or_state_is_refused() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(20);
    let mut talk = talk(&bench).await;
    let page = talk.call("list_resources", json!({ "limit": 3 })).await;
    let cursor = page["meta"]["cursor"].clone();
    let other = talk.call("list_resources", json!({ "limit": 3, "typeId": "aws/*", "cursor": cursor })).await;
    assert_eq!(other["error"]["code"], json!("BAD_REQUEST"));
    let other_tool = talk.call("get_diagram", json!({ "limit": 3, "cursor": cursor })).await;
    assert_eq!(other_tool["error"]["code"], json!("BAD_REQUEST"));
    bench.add_buckets(1);
    let stale = talk.call("list_resources", json!({ "limit": 3, "cursor": cursor })).await;
    assert_eq!((&stale["error"]["code"], &stale["error"]["field"]), (&json!("STALE"), &json!("cursor")));
}

#[tokio::test]
async fn a_large_diagram_comes_in_pages_below_the_wire_limit() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(1_500);
    let mut talk = talk(&bench).await;
    let (mut cursor, mut nodes) = (None::<String>, 0);
    loop {
        let arguments = cursor.as_ref().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let page = talk.call("get_diagram", arguments).await;
        nodes += page["data"]["nodes"].as_array().unwrap().len();
        match page["meta"]["cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(nodes, 1_500);
    let diagram = talk.read("draftboard://diagram/current").await;
    assert!(diagram["status"].as_str().unwrap().contains("get_diagram"));
}

#[tokio::test]
async fn sensitive_values_are_shown_nowhere() {
    let bench = AgentWorkbenchFixture::new();
    let secret = "correct-horse-battery-staple-9";
    bench.run(
        json!({ "addNode": { "board": "main", "type": "azurerm/core/resource_group", "name": "group" } }),
    );
    bench.run(json!({ "addNode": {
        "board": "main", "type": "azurerm/database/mssql_server", "name": "db", "parent": "group",
        "props": { "administrator_login_password": secret }
    } }));
    let mut talk = talk(&bench).await;
    let shown = [
        talk.call("list_resources", json!({})).await,
        talk.call("get_diagram", json!({})).await,
        talk.call("get_changes_since", json!({ "revision": 0 })).await,
        talk.call("validate_diagram", json!({})).await,
        talk.call("get_project_config", json!({})).await,
        talk.call("search", json!({ "query": "correct-horse" })).await,
        talk.read("draftboard://diagram/current").await,
        talk.read("draftboard://project/config").await,
    ];
    for answer in &shown {
        let text = answer.to_string();
        assert!(!text.contains(secret) && !text.contains("hunter2"), "{text}");
    }
    let properties = &shown[0]["data"][1]["properties"];
    assert!(shown[0].to_string().contains("[redacted]"), "{properties}");
    assert_eq!(shown[5]["data"], json!([]), "a secret cannot be found by searching for it");
    assert_eq!(shown[4]["data"]["variables"], json!({ "db_password": "[redacted]", "region": "eu" }));
    // Also after the node was removed.
    bench.run(json!({ "updateNode": { "node": "main/db", "set": { "administrator_login_password": "other-Secret-77" } } }));
    bench.run(json!({ "remove": { "nodes": ["main/db"] } }));
    let changes = talk.call("get_changes_since", json!({ "revision": 0 })).await.to_string();
    assert!(!changes.contains(secret) && !changes.contains("other-Secret-77"), "{changes}");
}

#[tokio::test]
async fn words_of_the_document_cannot_hide_or_turn_around() {
    let bench = AgentWorkbenchFixture::new();
    bench.run(json!({ "addNode": {
        "board": "main", "type": "aws/storage/s3_bucket", "name": "b", "label": "safe\u{202e}gnp.exe\u{200b}"
    } }));
    let mut talk = talk(&bench).await;
    for answer in [
        talk.call("list_resources", json!({})).await,
        talk.call("search", json!({ "query": "safe" })).await,
        talk.call("get_changes_since", json!({ "revision": 1 })).await,
        talk.call("list_resources", json!({ "board": "x\u{202e}y" })).await,
    ] {
        let text = answer.to_string();
        assert!(!text.contains('\u{202e}') && !text.contains('\u{200b}'), "{text}");
        assert!(text.contains("u{202e}"), "{text}");
    }
}

#[tokio::test]
async fn wrong_arguments_say_what_to_do_instead() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(2);
    let mut talk = talk(&bench).await;
    for (tool, arguments, code, field) in [
        ("get_diagram", json!({ "board": "mian" }), "NOT_FOUND", Some("board")),
        ("list_resources", json!({ "bord": "main" }), "BAD_REQUEST", Some("bord")),
        ("list_resources", json!({ "detail": "everything" }), "BAD_REQUEST", None),
        ("list_resources", json!({ "typeId": "a b" }), "BAD_REQUEST", Some("typeId")),
        ("list_resources", json!({ "parentId": "bucket_7" }), "NOT_FOUND", Some("parentId")),
        ("list_resources", json!({ "limit": 0 }), "BAD_REQUEST", Some("limit")),
        (
            "get_available_resource_types",
            json!({ "typeId": "aws/storage/s3_buckt" }),
            "NOT_FOUND",
            Some("typeId"),
        ),
        ("search", json!({}), "BAD_REQUEST", Some("query")),
        ("search", json!({ "query": "  " }), "BAD_REQUEST", Some("query")),
        ("get_board_image", json!({ "longestSide": 9 }), "BAD_REQUEST", Some("longestSide")),
        ("get_board_image", json!({ "of": "selection" }), "NOT_FOUND", Some("of")),
        ("get_proposal", json!({ "id": "p1" }), "NOT_FOUND", Some("id")),
        ("add_resource", json!({ "typeId": "x" }), "ACTUATION_DISABLED", None),
        ("run_terraform", json!({}), "ACTUATION_DISABLED", None),
        ("update_resource", json!({}), "ACTUATION_DISABLED", None),
    ] {
        let answer = talk.call(tool, arguments.clone()).await;
        let error = &answer["error"];
        assert_eq!(error["code"], json!(code), "{tool} {arguments}: {answer}");
        assert_eq!(error["field"].as_str(), field, "{tool} {arguments}: {answer}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    let similar = talk.call("get_diagram", json!({ "board": "mian" })).await;
    assert_eq!(similar["error"]["details"]["suggestions"], json!(["main"]));
    let types = talk.call("get_available_resource_types", json!({ "typeId": "aws/storage/s3_buckt" })).await;
    assert_eq!(types["error"]["details"]["suggestions"][0], json!("aws/storage/s3_bucket"));
    let unknown = talk.ask("tools/call", json!({ "name": "get_diagrm", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], json!(-32602));
    assert_eq!(unknown["error"]["data"]["suggestions"][0], json!("get_diagram"));
    // Null means that the argument is omitted.
    assert_eq!(talk.call("get_diagram", json!({ "board": null })).await["ok"], json!(true));
}

#[tokio::test]
async fn old_addresses_are_understood_and_not_listed() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(1);
    let mut talk = talk(&bench).await;
    let listed = talk.ask("resources/list", json!({})).await.to_string();
    for (old, new) in [
        ("scaffa.server.info", "draftboard://server/info"),
        ("scaffa.workspace.registry.effective", "draftboard://workspace/registry"),
        ("scaffa.workspace.graph.snapshot", "draftboard://workspace/graph"),
        ("scaffa.workspace.overrides.state", "draftboard://workspace/overrides"),
        ("scaffa.preview.sessions", "draftboard://preview/sessions"),
        ("scaffa.preview.selection.current", "draftboard://preview/selection"),
        ("terrastudio://diagram/current", "draftboard://diagram/current"),
        ("terrastudio://project/config", "draftboard://project/config"),
    ] {
        assert_eq!(talk.read(old).await, talk.read(new).await, "{old}");
        assert!(!listed.contains(old) && listed.contains(new), "{old}");
    }
    assert_eq!(talk.read("draftboard://workspace/registry").await["schemaVersion"], "v0");
    let missing = talk.ask("resources/read", json!({ "uri": "draftboard://workspace/contxt" })).await;
    assert_eq!(missing["error"]["code"], json!(-32602));
    assert_eq!(
        missing["error"]["data"]["details"]["suggestions"][0],
        json!("draftboard://workspace/context")
    );
    let proposal = talk.ask("resources/read", json!({ "uri": "draftboard://proposals/p1" })).await;
    assert_eq!(proposal["error"]["data"]["code"], json!("NOT_FOUND"));
}

#[tokio::test]
async fn pages_and_components_make_a_v0_graph() {
    let bench = AgentWorkbenchFixture::new();
    bench.run(json!({ "batch": { "commands": [
        { "addBoard": { "kind": "interface", "title": "Site" } },
        { "addNode": { "board": "site", "type": "ui.route", "name": "home", "props": { "path": "/home" } } },
        { "addNode": { "board": "site", "type": "ui.card", "name": "card", "parent": "site/home" } },
        { "addNode": { "board": "site", "type": "ui.button", "name": "go", "parent": "site/card" } }
    ] } }));
    let mut talk = talk(&bench).await;
    let value = talk.read("draftboard://workspace/graph").await;
    let node_kinds: Vec<_> = value["nodes"].as_array().unwrap().iter().map(|node| &node["kind"]).collect();
    assert_eq!(node_kinds, ["route", "componentType", "componentType"], "{value}");
    assert_eq!((&value["schemaVersion"], &value["nodes"][0]["path"]), (&json!("v0"), &json!("/home")));
    let (route, uses) = (&value["nodes"][0]["id"], "routeUsesComponentType");
    assert_eq!(
        value["edges"],
        json!([
            { "kind": uses, "routeId": route, "componentTypeId": "ui.button" },
            { "kind": uses, "routeId": route, "componentTypeId": "ui.card" },
            { "kind": "componentTypeUsesComponentType", "from": "ui.card", "to": "ui.button" },
        ])
    );
}

#[tokio::test]
async fn without_a_workspace_everything_says_so() {
    let bench = AgentWorkbenchFixture::without_workspace();
    let mut talk = talk(&bench).await;
    for tool in
        ["get_workbench_context", "get_diagram", "list_resources", "validate_diagram", "list_proposals"]
    {
        assert_eq!(talk.call(tool, json!({})).await["error"]["code"], json!("NO_WORKSPACE"), "{tool}");
    }
    let listed = talk.ask("resources/list", json!({})).await;
    for resource in listed["result"]["resources"].as_array().unwrap() {
        let value = talk.read(resource["uri"].as_str().unwrap()).await;
        if resource["name"] == "component-schema" {
            assert_eq!(value["type"], json!("object"), "the same with and without one");
            continue;
        }
        assert!(value["status"].as_str().unwrap().contains("no workspace"), "{value}");
    }
}

#[tokio::test]
async fn a_picture_is_an_image_beside_the_envelope_and_fits() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(1);
    let mut talk = talk(&bench).await;
    let answer = talk
        .ask("tools/call", json!({ "name": "get_board_image", "arguments": { "longestSide": 2000 } }))
        .await;
    let content = answer["result"]["content"].as_array().unwrap();
    assert_eq!(
        (&content[0]["type"], &content[1]["type"], &content[1]["mimeType"]),
        (&json!("text"), &json!("image"), &json!("image/png"))
    );
    // The test workbench returns a thousand bytes per pixel of the longest side.
    assert!(answer["result"]["structuredContent"]["data"]["longestSide"].as_u64().unwrap() <= 716);
}

#[tokio::test]
async fn prompts_speak_of_what_is_there_and_complete() {
    let bench = AgentWorkbenchFixture::new();
    let mut talk = talk(&bench).await;
    let prompt = talk
        .ask("prompts/get", json!({ "name": "scaffold-architecture", "arguments": { "description": "a shop", "board": "main" } }))
        .await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("a shop") && text.contains("board main"), "{text}");
    let missing = talk.ask("prompts/get", json!({ "name": "scaffold-architecture" })).await;
    assert_eq!(missing["error"]["code"], json!(-32602));
    let complete = |argument: &str, value: &str| json!({ "ref": { "type": "ref/prompt", "name": "scaffold-architecture" }, "argument": { "name": argument, "value": value } });
    let values = |answer: Value| answer["result"]["completion"]["values"].clone();
    assert_eq!(values(talk.ask("completion/complete", complete("provider", "az")).await), json!(["azurerm"]));
    assert_eq!(values(talk.ask("completion/complete", complete("board", "")).await), json!(["main"]));
    assert_eq!(values(talk.ask("completion/complete", complete("board", "zz")).await), json!([]));
}

#[tokio::test]
async fn the_same_question_has_the_same_bytes() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(30);
    let mut talk = talk(&bench).await;
    let first = talk.call("get_diagram", json!({})).await;
    assert_eq!(talk.call("get_diagram", json!({})).await, first);
    bench.run(json!({ "updateNode": { "node": "main/bucket_2", "label": "Other" } }));
    let later = talk.call("get_diagram", json!({})).await;
    assert_ne!(later, first);
    assert_eq!(later["meta"]["revision"], json!(first["meta"]["revision"].as_u64().unwrap() + 1));
}
