//! Tests of proposals by agents: the guarded tools with the arguments and answers of their contract, visibility
//! between clients, and that no agent request decides a proposal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{
    AgentWorkbenchFixture, TOKEN, Talk, call_over_http, edge, exchange, request, service, service_in,
};
use mcp_server::{AgentService, AgentSurface, AgentWorkbench, http::HttpLimits};
use serde_json::{Value, json};
use shared_protocol::{ProposalState, mcp::McpMode};
use std::{collections::BTreeSet, sync::Arc};
use test_support::wait_until_async;

fn guarded(bench: &Arc<AgentWorkbenchFixture>) -> AgentService {
    service_in(bench, McpMode::Guarded)
}

async fn talk() -> (Arc<AgentWorkbenchFixture>, Talk) {
    let bench = AgentWorkbenchFixture::new();
    let talk = Talk::modern(&guarded(&bench));
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

#[tokio::test]
async fn a_node_is_proposed_with_the_contracts_arguments_and_answer() {
    let (bench, mut talk) = talk().await;
    let before = bench.snapshot().revision();
    let vpc = ok(&mut talk, "add_resource", json!({ "typeId": "aws/networking/vpc" })).await;
    assert_eq!((&vpc["status"], &vpc["proposal"]["state"]), (&json!("proposed"), &json!("draft")));
    assert!(vpc["instanceId"].as_str().unwrap().starts_with("n-"), "{vpc}");
    assert!(vpc["terraformName"].is_string() && vpc["position"]["x"].is_i64());
    let subnet = json!({
        "typeId": "aws/networking/subnet", "parentId": vpc["instanceId"], "position": { "x": 40.4, "y": 80 },
        "properties": { "cidr_block": "10.0.1.0/24" }
    });
    let subnet = ok(&mut talk, "add_resource", subnet).await;
    assert_eq!(subnet["proposal"]["id"], vpc["proposal"]["id"], "one draft");
    assert_eq!(bench.snapshot().revision(), before, "nothing changed");
    assert!(bench.snapshot().nodes().next().is_none());

    let draft = ok(&mut talk, "list_resources", json!({ "view": "draft" })).await;
    assert_eq!(draft.as_array().unwrap().len(), 2);
    assert_eq!(draft[1]["parentId"], vpc["instanceId"]);
    let current = ok(&mut talk, "list_resources", json!({})).await;
    assert_eq!(current, json!([]));
    let changes = ok(&mut talk, "get_changes_since", json!({ "revision": before, "view": "draft" })).await;
    assert_eq!(changes["operations"], json!([]));
    assert!(changes["draft"]["changes"].as_array().unwrap().len() >= 4, "{changes}");

    // Only the given keys change; null removes a value.
    let id = &subnet["instanceId"];
    ok(
        &mut talk,
        "update_resource",
        json!({ "instanceId": id, "properties": { "map_public_ip_on_launch": true } }),
    )
    .await;
    let nodes = ok(&mut talk, "list_resources", json!({ "view": "draft", "typeId": "*subnet" })).await;
    assert_eq!(nodes[0]["properties"]["cidr_block"], json!("10.0.1.0/24"));
    assert_eq!(nodes[0]["properties"]["map_public_ip_on_launch"], json!(true));
    ok(
        &mut talk,
        "update_resource",
        json!({ "instanceId": id, "properties": { "map_public_ip_on_launch": null } }),
    )
    .await;
    ok(&mut talk, "move_resource", json!({ "instanceId": id, "position": { "x": 60, "y": 90 } })).await;

    let mine = ok(&mut talk, "get_proposal", json!({ "id": vpc["proposal"]["id"], "changes": true })).await;
    assert_eq!((&mine["state"], &mine["calls"]), (&json!("draft"), &json!(5)));
    assert!(mine["changesInWords"].as_array().unwrap().len() >= 2 && mine["changes"].is_array(), "{mine}");
    let submitted =
        ok(&mut talk, "submit_proposal", json!({ "title": "A network", "rationale": "To begin with" })).await;
    assert_eq!(submitted["status"], json!("submitted"));
    let listed = ok(&mut talk, "list_proposals", json!({})).await;
    assert_eq!(listed["proposals"][0]["state"], json!("open"));
    let context = ok(&mut talk, "get_workbench_context", json!({})).await;
    assert_eq!(context["openProposals"], json!(1));
    assert_eq!(context["proposals"][0]["title"], json!("A network"));
    let resource = talk.read("draftboard://proposals").await;
    assert_eq!(resource["proposals"][0]["number"], json!(1));
}

#[tokio::test]
async fn twenty_rapid_and_fifty_concurrent_calls_are_all_there_once_and_apart() {
    let (bench, mut talk) = talk().await;
    let mut named = Vec::new();
    for index in 0..20 {
        named.push(ok(&mut talk, "add_resource", bucket(&format!("rapid{index}"))).await);
    }
    let mut begun = Vec::new();
    for index in 0..50 {
        let call = json!({ "name": "add_resource", "arguments": bucket(&format!("many{index}")) });
        begun.push(talk.begin("tools/call", call).await);
    }
    for _ in 0..begun.len() {
        let answer = talk.hear().await;
        assert!(begun.contains(&answer["id"].as_u64().unwrap()), "{answer}");
        let envelope = &answer["result"]["structuredContent"];
        assert_eq!(envelope["ok"], json!(true), "{envelope}");
        named.push(envelope["data"].clone());
    }
    let ids: BTreeSet<String> =
        named.iter().map(|data| data["instanceId"].as_str().unwrap().to_owned()).collect();
    let drafts: BTreeSet<String> = named.iter().map(|data| data["proposal"]["id"].to_string()).collect();
    assert_eq!((ids.len(), drafts.len()), (70, 1));
    let places: BTreeSet<String> = named.iter().map(|data| data["position"].to_string()).collect();
    assert_eq!(places.len(), 70, "none over another");
    let view = bench.view();
    let proposal = view.review.iter().next().unwrap();
    let rapid: Vec<&str> =
        proposal.steps.iter().map(|step| step.summary.rsplit(' ').next().unwrap()).take(20).collect();
    assert_eq!(rapid, (0..20).map(|index| format!("rapid{index}")).collect::<Vec<_>>(), "in their order");
    assert_eq!(proposal.steps.len(), 70);
    let nodes =
        ok(&mut talk, "list_resources", json!({ "view": "draft", "detail": "ids", "limit": 1000 })).await;
    assert_eq!(nodes.as_array().unwrap().len(), 70);
}

#[tokio::test]
async fn a_wrong_call_says_what_to_do_and_changes_nothing() {
    let (bench, mut talk) = talk().await;
    let unknown = refused(&mut talk, "add_resource", json!({ "typeId": "aws/storage/s3_buckett" })).await;
    assert_eq!((&unknown["code"], &unknown["field"]), (&json!("NOT_FOUND"), &json!("typeId")));
    assert!(unknown["message"].as_str().unwrap().contains("s3_buckett"));
    let suggestions = unknown["details"]["suggestions"].as_array().unwrap();
    assert!((1..=5).contains(&suggestions.len()) && suggestions.contains(&json!("aws/storage/s3_bucket")));
    let cases = [
        ("add_resource", json!({}), "BAD_REQUEST"),
        ("add_resource", json!({ "typeId": "aws/storage/s3_bucket", "color": "red" }), "BAD_REQUEST"),
        ("add_resource", json!({ "typeId": "aws/networking/vpc", "parentId": "nobody" }), "NOT_FOUND"),
        ("update_resource", json!({ "instanceId": "n-000000000011", "properties": {} }), "NOT_FOUND"),
        ("remove_resource", json!({ "instanceId": "nobody" }), "NOT_FOUND"),
        ("move_resource", json!({ "instanceId": "nobody" }), "BAD_REQUEST"),
        ("disconnect_resources", json!({ "edgeId": "e-000000000011" }), "NOT_FOUND"),
        ("disconnect_resources", json!({ "edgeId": "first" }), "NOT_FOUND"),
        ("submit_proposal", json!({ "title": "x" }), "NOT_FOUND"),
        ("revise_proposal", json!({ "id": "p-000000000011" }), "NOT_FOUND"),
        ("withdraw_proposal", json!({ "id": "17" }), "BAD_REQUEST"),
        ("execute_batch", json!({ "operations": [] }), "BAD_REQUEST"),
        (
            "execute_batch",
            json!({ "operations": [{ "tool": "submit_proposal", "arguments": {} }] }),
            "BAD_REQUEST",
        ),
        ("open_project", json!({ "projectPath": "relative" }), "BAD_REQUEST"),
        ("new_project", json!({ "name": "../up", "directoryPath": "/tmp" }), "BAD_REQUEST"),
    ];
    for (tool, arguments, code) in cases {
        let error = refused(&mut talk, tool, arguments.clone()).await;
        assert_eq!(error["code"], json!(code), "{tool} {arguments}: {error}");
    }
    assert!(bench.view().review.iter().next().is_none(), "no draft was begun");
}

#[tokio::test]
async fn containment_and_connection_rules_hold_and_a_container_goes_with_its_content() {
    let (_bench, mut talk) = talk().await;
    let vpc = ok(&mut talk, "add_resource", json!({ "typeId": "aws/networking/vpc", "name": "net" })).await;
    let lost = refused(&mut talk, "add_resource", json!({ "typeId": "aws/networking/subnet" })).await;
    assert_eq!(lost["code"], json!("CONTAINMENT_ERROR"), "{lost}");
    let subnet = json!({ "typeId": "aws/networking/subnet", "parentId": "net", "name": "a" });
    let subnet = ok(&mut talk, "add_resource", subnet).await;
    let handles = json!({
        "sourceInstanceId": vpc["instanceId"], "sourceHandle": "nowhere",
        "targetInstanceId": subnet["instanceId"], "targetHandle": "nowhere"
    });
    let error = refused(&mut talk, "connect_resources", handles).await;
    assert!(["CONNECTION_ERROR", "NOT_FOUND"].contains(&error["code"].as_str().unwrap()), "{error}");
    ok(&mut talk, "remove_resource", json!({ "instanceId": vpc["instanceId"] })).await;
    let left = ok(&mut talk, "list_resources", json!({ "view": "draft" })).await;
    assert_eq!(left, json!([]), "its content went with it");
}

#[tokio::test]
async fn a_batch_is_all_or_nothing_and_sees_its_own_earlier_steps() {
    let (bench, mut talk) = talk().await;
    let add = |name: &str, kind: &str, parent: Option<&str>| {
        json!({ "tool": "add_resource", "arguments": {
        "typeId": kind, "name": name, "parentId": parent
    } })
    };
    let good = json!({ "operations": [
        add("net", "aws/networking/vpc", None), add("a", "aws/networking/subnet", Some("net")),
        { "tool": "update_resource", "arguments": { "instanceId": "net", "properties": { "cidr_block": "10.0.0.0/16" } } },
        { "tool": "move_resource", "arguments": { "instanceId": "a", "position": { "x": 48, "y": 96 } } }
    ] });
    let done = ok(&mut talk, "execute_batch", good).await;
    let results = done["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert!(results[0]["instanceId"].is_string() && results[1]["instanceId"].is_string(), "{done}");
    assert_ne!(results[0]["instanceId"], results[1]["instanceId"]);
    assert!(results[2]["instanceId"].is_null());
    let bad = json!({ "operations": [
        add("b", "aws/networking/subnet", Some("net")), add("c", "aws/networking/subnet", None)
    ] });
    let error = refused(&mut talk, "execute_batch", bad).await;
    assert!(error["message"].as_str().unwrap().contains('1'), "{error}");
    let draft = ok(&mut talk, "list_resources", json!({ "view": "draft" })).await;
    assert_eq!(draft.as_array().unwrap().len(), 2, "nothing of it was done");
    assert_eq!(bench.view().review.iter().next().unwrap().steps.len(), 1);
}

#[tokio::test]
async fn submitting_at_once_is_a_proposal_of_one_and_errors_never_reach_the_queue() {
    let (bench, mut talk) = talk().await;
    ok(&mut talk, "add_resource", bucket("draft")).await;
    let mut one = bucket("alone");
    one["submit"] = json!(true);
    one["title"] = json!("One bucket");
    let alone = ok(&mut talk, "add_resource", one).await;
    assert_eq!((&alone["status"], &alone["proposal"]["number"]), (&json!("submitted"), &json!(2)));
    // Without a required property nothing is stored.
    let faulty = json!({ "typeId": "aws/storage/s3_bucket", "submit": true, "title": "Faulty" });
    let error = refused(&mut talk, "add_resource", faulty).await;
    assert_eq!(error["code"], json!("VALIDATION_ERROR"), "{error}");
    assert!(!error["details"]["hints"].as_array().unwrap().is_empty());
    assert_eq!(bench.view().review.iter().count(), 2);
    // The proposal is then revised, submitted again and superseded.
    let id = &alone["proposal"]["id"];
    let revised = ok(&mut talk, "revise_proposal", json!({ "id": id })).await;
    assert_eq!(
        (&revised["proposal"]["state"], &revised["proposal"]["version"]),
        (&json!("draft"), &json!(2))
    );
    let again = ok(&mut talk, "submit_proposal", json!({ "proposal": id, "title": "One bucket" })).await;
    assert_eq!(again["proposal"]["state"], json!("open"));
    let instead = json!({ "title": "Instead", "supersedes": id });
    ok(&mut talk, "submit_proposal", instead).await;
    let old = ok(&mut talk, "get_proposal", json!({ "id": id })).await;
    assert_eq!(old["state"], json!("superseded"));
    let gone = refused(&mut talk, "withdraw_proposal", json!({ "id": id })).await;
    assert_eq!(gone["code"], json!("CONFLICT"));
}

#[tokio::test]
async fn project_tools_ask_a_person() {
    let (bench, mut talk) = talk().await;
    for (tool, arguments) in [
        ("save_project", json!({})),
        ("open_project", json!({ "projectPath": "/srv/shop" })),
        ("new_project", json!({ "name": "shop", "directoryPath": "/srv" })),
        ("set_project_config", json!({ "config": { "region": "eu" } })),
    ] {
        let data = ok(&mut talk, tool, arguments).await;
        assert_eq!(
            (&data["status"], &data["proposal"]["state"]),
            (&json!("submitted"), &json!("open")),
            "{tool}"
        );
    }
    let acts: Vec<String> = bench.view().review.iter().map(|p| p.act.clone().unwrap().describe()).collect();
    assert_eq!(acts.len(), 4);
}

#[tokio::test]
async fn a_second_client_reads_and_touches_only_its_own() {
    let bench = AgentWorkbenchFixture::new();
    let service = guarded(&bench);
    let (mut one, mut two) = (Talk::modern(&service), Talk::legacy(&service).await);
    let mine = ok(&mut one, "add_resource", bucket("mine")).await;
    let id = mine["proposal"]["id"].clone();
    let other = ok(&mut two, "list_proposals", json!({})).await;
    assert_eq!(other["proposals"], json!([]));
    for (tool, arguments) in [
        ("get_proposal", json!({ "id": id })),
        ("list_resources", json!({ "view": "draft" })),
        ("list_resources", json!({ "view": "draft", "proposal": id })),
        ("get_diagram", json!({ "proposal": id })),
        ("get_changes_since", json!({ "revision": 0, "view": "draft", "proposal": id })),
        ("add_resource", json!({ "typeId": "aws/networking/vpc", "proposal": id })),
        ("submit_proposal", json!({ "title": "Theirs", "proposal": id })),
        ("revise_proposal", json!({ "id": id })),
        ("withdraw_proposal", json!({ "id": id })),
    ] {
        let error = refused(&mut two, tool, arguments).await;
        assert_eq!(error["code"], json!("NOT_FOUND"), "{tool}: {error}");
    }
    let read = two
        .ask("resources/read", json!({ "uri": format!("draftboard://proposals/{}", id.as_str().unwrap()) }))
        .await;
    assert!(read["error"].is_object(), "{read}");
    // Its own draft is separate, also under the same name.
    let mut three = Talk::modern(&service);
    for talk in [&mut two, &mut three] {
        let own = ok(talk, "add_resource", bucket("own")).await;
        assert_ne!(own["proposal"]["id"], id);
    }
    let submitted = ok(&mut one, "submit_proposal", json!({ "title": "Mine" })).await;
    assert_eq!(submitted["proposal"]["calls"], json!(1));
    let others = ok(&mut two, "list_proposals", json!({})).await;
    assert_eq!(others["othersWaiting"], json!(1), "that something waits is no secret");
}

/// Over HTTP without a session only its id identifies a draft: another client with the same name does not see it.
#[tokio::test]
async fn without_a_connection_the_id_is_what_leads_to_a_draft() {
    let bench = AgentWorkbenchFixture::new();
    let service = guarded(&bench);
    let edge = edge(&service, HttpLimits::default());
    let call = async |tool: &str, arguments: Value| call_over_http(edge.address(), tool, arguments).await;
    let first = call("add_resource", bucket("first")).await;
    let id = &first["data"]["proposal"]["id"];
    let second = call("add_resource", bucket("second")).await;
    assert_ne!(&second["data"]["proposal"]["id"], id);
    assert_eq!(call("list_resources", json!({ "view": "draft" })).await["error"]["code"], json!("NOT_FOUND"));
    assert_eq!(call("list_proposals", json!({})).await["data"]["proposals"], json!([]));
    let mut more = bucket("more");
    more["proposal"] = id.clone();
    assert_eq!(call("add_resource", more).await["data"]["proposal"]["calls"], json!(2));
    let nodes = call("list_resources", json!({ "view": "draft", "proposal": id })).await;
    assert_eq!(nodes["data"].as_array().unwrap().len(), 2);
    edge.stop().await;
}

#[tokio::test]
async fn a_connection_that_came_back_goes_on_with_what_it_knows_the_id_of() {
    let bench = AgentWorkbenchFixture::new();
    let service = guarded(&bench);
    let mut before = Talk::modern(&service);
    let mine = ok(&mut before, "add_resource", bucket("mine")).await;
    let id = mine["proposal"]["id"].clone();
    let mut back = Talk::modern(&service);
    assert_eq!(
        refused(&mut back, "get_proposal", json!({ "id": id })).await["code"],
        json!("NOT_FOUND"),
        "it is still there"
    );
    drop(before);
    let mut other = Talk::legacy(&service).await;
    wait_until_async("the draft of the connection that ended", async || {
        back.call("get_proposal", json!({ "id": id })).await["ok"] == json!(true)
    })
    .await;
    let error = refused(&mut other, "get_proposal", json!({ "id": id })).await;
    assert_eq!(error["code"], json!("NOT_FOUND"), "one that calls itself otherwise");
    let mut more = bucket("more");
    more["proposal"] = id.clone();
    assert_eq!(ok(&mut back, "add_resource", more).await["proposal"]["id"], id);
}

#[tokio::test]
async fn in_observe_every_tool_that_proposes_says_so() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    let all: BTreeSet<String> =
        AgentSurface::core().tools(McpMode::Guarded).map(|tool| tool.name().to_owned()).collect();
    let observed: BTreeSet<String> =
        AgentSurface::core().tools(McpMode::Observe).map(|tool| tool.name().to_owned()).collect();
    let guarded: Vec<&String> = all.difference(&observed).collect();
    assert!(guarded.len() >= 14, "{guarded:?}");
    let listed = talk.ask("tools/list", json!({})).await;
    for tool in guarded.into_iter().map(String::as_str).chain(["run_terraform", "apply_overrides"]) {
        let error = refused(&mut talk, tool, json!({ "typeId": "aws/networking/vpc" })).await;
        assert_eq!(error["code"], json!("ACTUATION_DISABLED"), "{tool}");
        assert!(
            !listed["result"]["tools"].as_array().unwrap().iter().any(|listed| listed["name"] == json!(tool))
        );
    }
    assert!(bench.view().review.iter().next().is_none());
}

/// Calls every tool with every form of a decision in its arguments, and every protocol method and some made-up ones:
/// the proposal stays open and the workspace unchanged.
#[tokio::test]
async fn nothing_that_an_agent_can_say_decides() {
    let bench = AgentWorkbenchFixture::new();
    let service = guarded(&bench);
    let mut talk = Talk::modern(&service);
    ok(&mut talk, "add_resource", bucket("waits")).await;
    let submitted = ok(&mut talk, "submit_proposal", json!({ "title": "Waits" })).await;
    let id = submitted["proposal"]["id"].clone();
    let proposal = Arc::clone(bench.view().review.iter().next().unwrap());
    let verdict = json!({
        "proposal": id, "version": proposal.version, "hash": proposal.content_hash().unwrap(),
        "base": bench.view().review.base(&proposal), "chosen": null, "confirmed": []
    });
    let revision = bench.snapshot().revision();
    let forms = [
        json!({ "accept": verdict }),
        json!({ "verdict": verdict }),
        verdict.clone(),
        json!({ "id": id, "decision": "accept" }),
        json!({ "id": id, "accept": true, "confirmed": true }),
        json!({ "id": id, "state": "accepted" }),
        json!({ "proposal": id, "status": "accepted", "approved": true }),
        json!({ "review": { "accept": verdict } }),
        json!({ "request": { "review": { "accept": verdict } } }),
    ];
    let waits = |bench: &Arc<AgentWorkbenchFixture>, what: &str| {
        let view = bench.view();
        let now = view.review.get(proposal.id).unwrap();
        assert_eq!((&now.state, now.decisions.len()), (&ProposalState::Open, 0), "{what}");
        assert_eq!(bench.snapshot().revision(), revision, "{what}");
    };
    let names: Vec<String> =
        AgentSurface::core().tools(McpMode::Guarded).map(|tool| tool.name().to_owned()).collect();
    for name in &names {
        for word in ["accept", "approve", "reject", "decide", "confirm", "grant", "review"] {
            assert!(name.split('_').all(|part| part != word), "{name}");
        }
        for form in &forms {
            // The agent may use its own tools; these forms never decide anything.
            talk.call(name, form.clone()).await;
            waits(&bench, name);
        }
    }
    let methods = [
        "accept",
        "decide",
        "review",
        "review/accept",
        "proposals/accept",
        "proposals/decide",
        "draftboard/review",
        "tasks/update",
        "tasks/result",
        "elicitation/create",
        "sampling/createMessage",
        "completion/complete",
        "resources/write",
        "resources/read",
        "prompts/get",
        "logging/setLevel",
        "roots/list",
        "ping",
        "server/discover",
        "notifications/proposals/accept",
    ];
    for method in methods {
        for form in &forms {
            let mut form = form.clone();
            form["name"] = json!("explain-proposal");
            form["uri"] = json!(format!("draftboard://proposals/{}/accept", id.as_str().unwrap()));
            talk.ask(method, form).await;
            waits(&bench, method);
        }
    }
    let edge = edge(&service, HttpLimits::default());
    let bearer = format!("Bearer {TOKEN}");
    for path in ["/accept", "/review", "/decide", "/proposals", "/mcp/review", "/sessions", "/health"] {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let text =
                request(edge.address(), method, path, &[("authorization", &bearer)], &verdict.to_string());
            exchange(edge.address(), text.as_bytes()).await;
            waits(&bench, path);
        }
    }
    edge.stop().await;
}
