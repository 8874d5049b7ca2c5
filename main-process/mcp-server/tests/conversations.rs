//! Tests of subscriptions in both protocol eras, modes, pausing, cancellation and malformed lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{AgentWorkbenchFixture, Talk, meta, service, text_of};
use serde_json::{Value, json};
use shared_protocol::mcp::McpMode;

const GRAPH: &str = "draftboard://workspace/graph";
const CONTEXT: &str = "draftboard://workspace/context";

#[tokio::test]
async fn a_drag_is_one_notice_for_subscribers_of_the_older_protocol() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(1);
    let service = service(&bench);
    let mut talk = Talk::legacy(&service).await;
    talk.ask("resources/subscribe", json!({ "uri": GRAPH })).await;
    talk.ask("resources/subscribe", json!({ "uri": "terrastudio://diagram/current" })).await;
    for x in 0..200 {
        bench.run(json!({ "place": { "items": [{ "node": "main/bucket_0", "x": x, "y": 0 }] } }));
    }
    let last = bench.snapshot().revision();
    talk.notice("notifications/resources/updated").await;
    talk.notice("notifications/resources/updated").await;
    // A read after the notification returns the last state, and a later change is notified again.
    assert_eq!(talk.read(GRAPH).await["revision"], json!(last));
    bench.add_buckets(1);
    talk.notice("notifications/resources/updated").await;
    talk.notice("notifications/resources/updated").await;
    talk.ask("ping", json!({})).await;
    assert!(talk.heard.is_empty(), "no flood: {:?}", talk.heard);
    talk.ask("resources/unsubscribe", json!({ "uri": GRAPH })).await;
    talk.ask("resources/unsubscribe", json!({ "uri": "terrastudio://diagram/current" })).await;
    // The notices of one change are all sent before those of the next, so the second says that none is missing of the first.
    talk.ask("resources/subscribe", json!({ "uri": CONTEXT })).await;
    for _ in 0..2 {
        bench.add_buckets(1);
        let notice = talk.notice("notifications/resources/updated").await;
        assert_eq!(notice["params"]["uri"], json!(CONTEXT));
    }
    assert!(talk.heard.is_empty(), "{:?}", talk.heard);
}

#[tokio::test]
async fn a_listener_of_the_newer_protocol_hears_what_it_asked_for() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    let filter = json!({ "notifications": { "resourceSubscriptions": [CONTEXT, "draftboard://nowhere"], "toolsListChanged": true } });
    let listening = talk.begin("subscriptions/listen", filter).await;
    let acknowledged = talk.notice("notifications/subscriptions/acknowledged").await;
    assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!([CONTEXT]));
    bench.add_buckets(1);
    let updated = talk.notice("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], json!(CONTEXT));
    service.set_mode(McpMode::Guarded);
    talk.notice("notifications/tools/list_changed").await;
    assert_eq!(service.clients().list(1)[0].subscriptions, 1);
    talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": listening, "_meta": meta() } })).await;
    // The connection continues without the subscription.
    assert_eq!(talk.call("list_proposals", json!({})).await["ok"], json!(true));
}

#[tokio::test]
async fn a_mode_switch_is_told_to_the_older_protocol_too() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let mut talk = Talk::legacy(&service).await;
    // The server knows the client only after its second message.
    talk.ask("tools/list", json!({})).await;
    service.set_mode(McpMode::Guarded);
    for list in ["tools", "resources", "prompts"] {
        talk.notice(&format!("notifications/{list}/list_changed")).await;
    }
    assert_eq!(talk.read("draftboard://server/info").await["mode"], json!("guarded"));
}

#[tokio::test]
async fn a_paused_client_waits_and_a_disconnected_one_is_cut() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    talk.call("list_proposals", json!({})).await;
    let client = service.clients().list(1).remove(0);
    assert_eq!((client.name.as_str(), client.calls, client.reading.as_str()), ("test", 1, "list_proposals"));
    assert!(service.clients().pause(client.id, true));
    let refused = talk.call("get_diagram", json!({})).await;
    assert_eq!(refused["error"]["code"], json!("SERVICE_UNAVAILABLE"));
    assert!(service.clients().pause(client.id, false));
    assert_eq!(talk.call("get_diagram", json!({})).await["ok"], json!(true));
    assert!(service.clients().disconnect(client.id));
    assert!(service.clients().list(1).is_empty());
}

#[tokio::test]
async fn lines_that_are_not_what_they_should_be_do_not_end_the_conversation() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    talk.call("list_proposals", json!({})).await;
    for nonsense in [&b"\n"[..], b"   \n", b"not json\n", b"{\"a\":\n", b"\xff\xfe\n"] {
        talk.say_raw(nonsense).await;
    }
    talk.say_raw(b"[1,2]\n").await;
    assert_eq!(talk.hear().await["error"]["code"], json!(-32600));
    let long = vec![b'x'; 5 << 20];
    talk.say_raw(&long).await;
    talk.say_raw(b"\n").await;
    assert_eq!(talk.hear().await["error"]["code"], json!(-32600));
    assert_eq!(talk.call("get_diagram", json!({})).await["ok"], json!(true));
}

/// Clients up to 2025-03-26 do not know `structuredContent`, and frameworks of every version forward only `content`:
/// the text they show their model is the whole answer, errors included.
#[tokio::test]
async fn the_whole_answer_is_text_in_every_version_of_the_protocol() {
    let bench = AgentWorkbenchFixture::new();
    // Quotes and backslashes grow most when escaped.
    bench.add_buckets(1_200);
    bench.run(json!({ "updateNode": { "node": "main/bucket_0", "label": "\"\\".repeat(50) } }));
    let service = service(&bench);
    let check = |answer: &Value, knows_structured: bool| {
        let text = text_of(answer);
        assert_eq!(
            text["data"]["nodes"].as_array().unwrap().len(),
            text["meta"]["returned"],
            "{}",
            text["meta"]
        );
        assert!(text.to_string().len() > 64 * 1024 && text["meta"]["hasMore"] == true);
        let structured = answer["result"].get("structuredContent");
        assert_eq!(structured, knows_structured.then_some(&text));
    };
    for (version, knows_structured) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)]
    {
        let mut talk = Talk::of_version(&service, version).await;
        check(&talk.call_whole("get_diagram", json!({})).await, knows_structured);
        let refused = talk.call_whole("get_diagram", json!({ "board": "nowhere" })).await;
        assert_eq!(text_of(&refused)["error"]["code"], "NOT_FOUND", "{version}: {refused}");
        assert_eq!(refused["result"].get("structuredContent").is_some(), knows_structured, "{version}");
    }
    check(&Talk::modern(&service).call_whole("get_diagram", json!({})).await, true);
}
