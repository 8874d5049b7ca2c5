//! Tests of the bridge's decisions: each sends events to the core and checks the resulting actions.

use super::{BridgeAction, BridgeCore, BridgeEvent, BridgeSettings, MAX_OPEN_REQUESTS};
use crate::surface::OfflineSurface;
use serde_json::{Value, json};
use std::time::Duration;
use test_support::mcp::{request, stateless_meta, stateless_request as stateless};

struct BridgeCoreFixture {
    core: BridgeCore,
    to_client: Vec<Value>,
    to_server: Vec<Value>,
    other: Vec<BridgeAction>,
}

fn surface() -> OfflineSurface {
    OfflineSurface {
        server_info: json!({"name": "draftboard", "version": "1"}),
        capabilities: json!({"tools": {"listChanged": true}}),
        instructions: "Look first.".to_owned(),
        handshake_versions: vec!["2025-06-18".to_owned(), "2025-11-25".to_owned()],
        stateless_versions: vec!["2026-07-28".to_owned()],
        tools: json!([{"name": "search"}]),
        resources: json!([]),
        resource_templates: json!([]),
        prompts: json!([]),
    }
}

fn call(id: impl Into<Value>) -> Value {
    request(id, "tools/call", json!({"name": "search", "arguments": {}}))
}

fn answer(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn notice(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

fn hello() -> Value {
    request(
        0,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}),
    )
}

impl BridgeCoreFixture {
    fn new(launch: bool) -> Self {
        let habits = BridgeSettings {
            surface: surface(),
            start_hint: "Run draftboard serve X.".to_owned(),
            may_launch: launch,
        };
        Self {
            core: BridgeCore::new(habits),
            to_client: Vec::new(),
            to_server: Vec::new(),
            other: Vec::new(),
        }
    }

    /// Connected, after one answered request with the id `first`.
    fn up() -> Self {
        let mut desk = Self::new(false);
        desk.client(&stateless("first", "server/discover", json!({})));
        assert_eq!(desk.take_other(), [BridgeAction::Connect]);
        desk.handle(BridgeEvent::Connected);
        desk.server(&answer(&json!("first"), json!({})));
        desk.clear();
        desk
    }

    /// Connected, after the handshake.
    fn in_session() -> Self {
        let mut desk = Self::new(false);
        desk.client(&hello());
        desk.handle(BridgeEvent::Connected);
        desk.server(&answer(&json!(0), json!({"protocolVersion": "2025-06-18"})));
        desk.client(&notice("notifications/initialized"));
        assert_eq!(desk.to_server, [hello(), notice("notifications/initialized")]);
        desk.clear();
        desk
    }

    fn handle(&mut self, input: BridgeEvent) {
        let read = |line: Vec<u8>| serde_json::from_slice(&line).expect("only messages are sent");
        for action in self.core.handle(input) {
            match action {
                BridgeAction::ToClient(line) => self.to_client.push(read(line)),
                BridgeAction::ToServer(line) => self.to_server.push(read(line)),
                other => self.other.push(other),
            }
        }
    }

    fn client(&mut self, message: &Value) {
        self.handle(BridgeEvent::Client(message.to_string().into_bytes()));
    }

    fn server(&mut self, message: &Value) {
        self.handle(BridgeEvent::Server(message.to_string().into_bytes()));
    }

    fn unreachable(&mut self) {
        self.handle(BridgeEvent::Unreachable("it is not running".to_owned()));
    }

    fn lost(&mut self) {
        self.handle(BridgeEvent::Lost("it was closed".to_owned()));
    }

    fn clear(&mut self) {
        self.to_client.clear();
        self.to_server.clear();
        self.other.clear();
    }

    fn take_other(&mut self) -> Vec<BridgeAction> {
        std::mem::take(&mut self.other)
    }

    fn take_to_client(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.to_client)
    }

    fn take_to_server(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.to_server)
    }

    /// Fails all attempts until the bridge gives up.
    fn give_up(&mut self) {
        for wait in [200, 400, 800, 1600, 3200] {
            assert_eq!(self.take_other(), [BridgeAction::ConnectAfter(Duration::from_millis(wait))]);
            self.handle(BridgeEvent::RetryDue);
            assert_eq!(self.take_other(), [BridgeAction::Connect]);
            self.unreachable();
        }
        assert!(self.take_other().is_empty(), "nobody waits for news");
    }
}

fn code(answer: &Value) -> &Value {
    match answer.get("error") {
        Some(error) => &error["data"]["code"],
        None => &answer["result"]["structuredContent"]["error"]["code"],
    }
}

#[test]
fn nothing_is_done_until_something_is_asked() {
    let mut desk = BridgeCoreFixture::new(true);
    desk.client(&notice("notifications/initialized"));
    assert!(desk.take_other().is_empty());
    desk.client(&stateless(1, "server/discover", json!({})));
    assert_eq!(desk.take_other(), [BridgeAction::Connect]);
    desk.unreachable();
    assert!(desk.take_other().is_empty(), "a look is no reason to launch");
    assert_eq!(desk.take_to_client()[0]["result"]["supportedVersions"][2], "2026-07-28");
}

#[test]
fn lines_pass_unchanged_both_ways() {
    let mut desk = BridgeCoreFixture::up();
    let odd = br#" {"params" : {"name":"search","arguments":{"n":1.0e2}},"method":"tools/call", "id":"a\u0062","jsonrpc":"2.0"}"#;
    let actions = desk.core.handle(BridgeEvent::Client(odd.to_vec()));
    assert_eq!(actions, [BridgeAction::ToServer(odd.to_vec())]);
    let reply = br#"{"jsonrpc":"2.0","id":"ab","result":{"n":1.0e2}}"#;
    let actions = desk.core.handle(BridgeEvent::Server(reply.to_vec()));
    assert_eq!(actions, [BridgeAction::ToClient(reply.to_vec())]);
    desk.lost();
    assert!(desk.take_to_client().is_empty(), "it was answered");
}

#[test]
fn what_is_no_message_is_answered_and_not_passed_on() {
    let mut desk = BridgeCoreFixture::up();
    for (line, code) in [("nonsense", -32700), ("[]", -32600), ("{\"id\":1}", -32600)] {
        desk.handle(BridgeEvent::Client(line.as_bytes().to_vec()));
        assert_eq!(desk.take_to_client()[0]["error"]["code"], code);
    }
    desk.handle(BridgeEvent::ClientTooLong);
    assert_eq!(desk.take_to_client()[0]["error"]["code"], -32600);
    assert!(desk.take_to_server().is_empty());
    desk.handle(BridgeEvent::Server(b"nonsense".to_vec()));
    assert_eq!(desk.take_other(), [BridgeAction::Disconnect]);
}

#[test]
fn calls_under_way_are_answered_when_the_connection_ends() {
    let mut desk = BridgeCoreFixture::up();
    for id in 0..20 {
        desk.client(&stateless(id, "tools/call", json!({"name": "search"})));
    }
    desk.client(&stateless("r", "resources/read", json!({"uri": "draftboard://x"})));
    desk.server(&answer(&json!(3), json!({})));
    desk.clear();
    desk.lost();
    let told = desk.take_to_client();
    assert_eq!(told.len(), 20);
    for answer in &told {
        assert_eq!(code(answer), "BRIDGE_DISCONNECTED", "{answer}");
        if answer["id"] == "r" {
            assert_eq!(answer["error"]["code"], -32603);
        } else {
            assert_eq!(
                (&answer["result"]["isError"], &answer["result"]["resultType"]),
                (&json!(true), &json!("complete"))
            );
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            let envelope: Value = serde_json::from_str(text).unwrap();
            assert_eq!(envelope, answer["result"]["structuredContent"]);
            assert_eq!((&envelope["ok"], &envelope["tool"]), (&json!(false), &json!("search")));
        }
    }
    assert_eq!(desk.take_other(), [BridgeAction::ConnectAfter(Duration::from_millis(200))]);
}

#[test]
fn calls_made_meanwhile_wait_for_the_next_connection() {
    let mut desk = BridgeCoreFixture::up();
    desk.lost();
    desk.client(&call(1));
    desk.client(&call(2));
    desk.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    assert!(desk.take_to_client().is_empty() && desk.take_to_server().is_empty());
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    assert_eq!(desk.take_to_server(), [call(1)]);
}

#[test]
fn after_all_attempts_a_call_is_told_how_to_start_it_and_tries_again() {
    let mut desk = BridgeCoreFixture::up();
    desk.lost();
    desk.client(&call(1));
    desk.give_up();
    let told = desk.take_to_client();
    assert_eq!(code(&told[0]), "BRIDGE_DISCONNECTED");
    let error = &told[0]["result"]["structuredContent"]["error"];
    assert_eq!(error["details"]["hints"][0], "Run draftboard serve X.");
    assert!(error["message"].as_str().unwrap().contains("it is not running"), "{error}");
    desk.client(&call(2));
    assert_eq!(desk.take_other(), [BridgeAction::Connect]);
    desk.unreachable();
    assert_eq!(code(&desk.take_to_client()[0]), "BRIDGE_DISCONNECTED");
    desk.client(&call(3));
    desk.handle(BridgeEvent::Connected);
    assert_eq!(desk.take_to_server(), [call(3)]);
}

#[test]
fn a_session_is_resumed_without_the_client_noticing() {
    let mut desk = BridgeCoreFixture::in_session();
    for uri in ["draftboard://a", "draftboard://b", "draftboard://c"] {
        desk.client(&request(uri, "resources/subscribe", json!({"uri": uri})));
        desk.server(&answer(&json!(uri), json!({})));
    }
    desk.client(&request("no", "resources/unsubscribe", json!({"uri": "draftboard://b"})));
    desk.clear();
    desk.lost();
    assert_eq!(desk.take_to_client()[0]["id"], "no", "taken back here, so that it is not asked for again");
    desk.client(&call(5));
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    let sent = desk.take_to_server();
    assert_eq!(
        (sent.len(), &sent[0]["method"], &sent[0]["params"]),
        (1, &json!("initialize"), &hello()["params"])
    );
    desk.server(&answer(&sent[0]["id"], json!({"protocolVersion": "2025-06-18"})));
    let sent = desk.take_to_server();
    assert_eq!(sent[0], notice("notifications/initialized"));
    assert_eq!(sent[1]["params"]["uri"], "draftboard://a");
    assert_eq!(sent[2]["params"]["uri"], "draftboard://c");
    assert_eq!(sent[3], call(5));
    assert_eq!(sent.len(), 4);
    desk.server(&answer(&sent[1]["id"], json!({})));
    let told = desk.take_to_client();
    assert_eq!(told.len(), 2, "only that what is watched may have changed: {told:?}");
    assert_eq!(told[1]["params"]["uri"], "draftboard://c");
    assert_eq!(told[1]["method"], "notifications/resources/updated");
}

#[test]
fn a_session_can_begin_before_draftboard_does() {
    let mut desk = BridgeCoreFixture::new(false);
    desk.client(&hello());
    desk.unreachable();
    let told = desk.take_to_client();
    assert_eq!((&told[0]["id"], &told[0]["result"]["protocolVersion"]), (&json!(0), &json!("2025-06-18")));
    desk.client(&notice("notifications/initialized"));
    for (id, method, key) in [(1, "tools/list", "tools"), (2, "prompts/list", "prompts")] {
        desk.client(&request(id, method, json!({})));
        desk.unreachable();
        assert!(desk.take_to_client()[0]["result"][key].is_array());
    }
    desk.client(&request(3, "ping", json!({})));
    desk.unreachable();
    assert_eq!(desk.take_to_client()[0]["result"], json!({}));
    desk.clear();
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    let sent = desk.take_to_server();
    desk.server(&answer(&sent[0]["id"], json!({})));
    let sent = desk.take_to_server();
    assert_eq!((&sent[1]["method"], &sent[2]["method"]), (&json!("tools/list"), &json!("prompts/list")));
    desk.server(&answer(&sent[1]["id"], json!({"tools": [{"name": "search"}, {"name": "add"}]})));
    desk.server(&answer(&sent[2]["id"], json!({"prompts": []})));
    assert_eq!(
        desk.take_to_client(),
        [notice("notifications/tools/list_changed")],
        "the prompts are what they were"
    );
}

#[test]
fn an_unknown_version_is_answered_with_the_newest() {
    let mut desk = BridgeCoreFixture::new(false);
    desk.client(&request(0, "initialize", json!({"protocolVersion": "2031-01-01"})));
    desk.unreachable();
    assert_eq!(desk.take_to_client()[0]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn lists_stay_as_the_client_saw_them_last() {
    let mut desk = BridgeCoreFixture::up();
    desk.client(&stateless(1, "tools/list", json!({})));
    desk.server(&answer(&json!(1), json!({"tools": [{"name": "seen"}], "resultType": "complete"})));
    desk.clear();
    desk.lost();
    desk.give_up();
    desk.client(&stateless(2, "tools/list", json!({})));
    desk.unreachable();
    let result = &desk.take_to_client()[0]["result"];
    assert_eq!(result["tools"], json!([{"name": "seen"}]));
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
    desk.client(&stateless(3, "tools/list", json!({"cursor": "x"})));
    desk.unreachable();
    assert_eq!(code(&desk.take_to_client()[0]), "BRIDGE_DISCONNECTED");
}

fn listen(id: &str) -> Value {
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["draftboard://a"]});
    stateless(id, "subscriptions/listen", json!({"notifications": filter}))
}

fn acknowledged(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
        "_meta": {"io.modelcontextprotocol/subscriptionId": id}, "notifications": {}}})
}

#[test]
fn a_stream_outlives_the_connection() {
    let mut desk = BridgeCoreFixture::up();
    desk.client(&listen("l"));
    desk.client(&stateless(1, "tools/list", json!({})));
    desk.server(&acknowledged("l"));
    desk.server(&answer(&json!(1), json!({"tools": []})));
    assert_eq!(desk.take_to_client()[0], acknowledged("l"));
    desk.clear();
    desk.lost();
    assert!(desk.take_to_client().is_empty());
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    let sent = desk.take_to_server();
    assert_eq!(sent[0], listen("l"));
    assert_eq!(sent[1]["params"]["_meta"], stateless_meta(&json!({})));
    desk.server(&acknowledged("l"));
    desk.server(&answer(&sent[1]["id"], json!({"tools": [{"name": "new"}]})));
    let told = desk.take_to_client();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(
        (&told[0]["method"], &told[0]["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("draftboard://a"))
    );
    assert_eq!(told[1]["method"], "notifications/tools/list_changed");
    for notice in &told {
        assert_eq!(notice["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l");
    }
    desk.server(&answer(&json!("l"), json!({"resultType": "complete"})));
    assert_eq!(desk.take_to_client().len(), 1, "its end is passed on");
    desk.lost();
    desk.client(&call(9));
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    assert!(!desk.take_to_server().contains(&listen("l")), "what has ended is not asked for again");
}

#[test]
fn a_stream_can_be_opened_before_draftboard_is_there() {
    let mut desk = BridgeCoreFixture::new(false);
    desk.client(&listen("l"));
    desk.unreachable();
    let told = desk.take_to_client();
    assert_eq!(told[0]["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told[0]["params"]["notifications"], listen("l")["params"]["notifications"]);
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    assert_eq!(desk.take_to_server(), [listen("l")]);
    desk.server(&acknowledged("l"));
    let told = desk.take_to_client();
    assert_eq!((told.len(), &told[0]["method"]), (1, &json!("notifications/resources/updated")));
}

#[test]
fn a_cancelled_call_or_stream_is_forgotten() {
    let mut desk = BridgeCoreFixture::up();
    desk.client(&call(1));
    desk.client(&listen("l"));
    for id in [json!(1), json!("l")] {
        desk.client(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
    }
    assert_eq!(desk.take_to_server().len(), 4, "the server is told");
    desk.lost();
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    assert!(desk.take_to_client().is_empty() && desk.take_to_server().is_empty());
}

#[test]
fn questions_of_a_lost_connection_are_withdrawn_and_their_answers_dropped() {
    let mut desk = BridgeCoreFixture::in_session();
    let question = request(0, "elicitation/create", json!({}));
    desk.server(&question);
    assert_eq!(desk.take_to_client(), [question]);
    desk.lost();
    assert_eq!(desk.take_to_client()[0]["method"], "notifications/cancelled");
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    let sent = desk.take_to_server();
    desk.server(&answer(&sent[0]["id"], json!({})));
    desk.clear();
    desk.client(&answer(&json!(0), json!({"action": "accept"})));
    assert!(desk.take_to_server().is_empty());
}

#[test]
fn launching_is_done_once_for_what_needs_it() {
    let mut desk = BridgeCoreFixture::new(true);
    desk.client(&hello());
    desk.unreachable();
    desk.clear();
    desk.client(&call(1));
    assert_eq!(desk.take_other(), [BridgeAction::Connect]);
    desk.unreachable();
    assert_eq!(
        desk.take_other(),
        [BridgeAction::Launch, BridgeAction::ConnectAfter(Duration::from_millis(200))]
    );
    desk.handle(BridgeEvent::RetryDue);
    desk.unreachable();
    assert_eq!(
        desk.take_other(),
        [BridgeAction::Connect, BridgeAction::ConnectAfter(Duration::from_millis(400))]
    );
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    let sent = desk.take_to_server();
    desk.server(&answer(&sent[0]["id"], json!({})));
    assert_eq!(desk.take_to_server(), [call(1)]);
}

#[test]
fn a_launch_that_comes_to_nothing_ends_in_an_answer() {
    let mut desk = BridgeCoreFixture::new(true);
    desk.client(&call(1));
    desk.take_other();
    desk.unreachable();
    assert_eq!(desk.other.remove(0), BridgeAction::Launch);
    desk.give_up();
    assert_eq!(code(&desk.take_to_client()[0]), "BRIDGE_DISCONNECTED");
}

#[test]
fn a_connection_that_ends_while_resuming_counts_as_an_attempt() {
    let mut desk = BridgeCoreFixture::in_session();
    desk.lost();
    for wait in [200, 400, 800, 1600, 3200] {
        assert_eq!(desk.take_other(), [BridgeAction::ConnectAfter(Duration::from_millis(wait))]);
        desk.handle(BridgeEvent::RetryDue);
        desk.handle(BridgeEvent::Connected);
        assert_eq!(desk.take_other(), [BridgeAction::Connect]);
        desk.lost();
    }
    assert_eq!(desk.take_other(), [BridgeAction::ConnectAfter(Duration::from_secs(5))], "away");
}

#[test]
fn a_connection_with_nothing_to_say_is_given_back() {
    let mut desk = BridgeCoreFixture::up();
    desk.lost();
    desk.handle(BridgeEvent::RetryDue);
    desk.take_other();
    desk.handle(BridgeEvent::Connected);
    assert_eq!(desk.take_other(), [BridgeAction::Disconnect]);
    desk.lost();
    assert!(desk.take_other().is_empty());
    desk.client(&call(1));
    assert_eq!(desk.take_other(), [BridgeAction::Connect]);
}

#[test]
fn a_refused_resumption_ends_the_connection() {
    let mut desk = BridgeCoreFixture::in_session();
    desk.lost();
    desk.handle(BridgeEvent::RetryDue);
    desk.handle(BridgeEvent::Connected);
    let sent = desk.take_to_server();
    desk.take_other();
    desk.server(&json!({"jsonrpc": "2.0", "id": sent[0]["id"], "error": {"code": -32022, "message": "no"}}));
    assert_eq!(desk.take_other(), [BridgeAction::Disconnect]);
    assert!(desk.take_to_client().is_empty());
}

#[test]
fn too_many_open_calls_are_refused() {
    let mut desk = BridgeCoreFixture::up();
    for id in 0..MAX_OPEN_REQUESTS {
        desk.client(&call(id));
    }
    assert!(desk.take_to_client().is_empty());
    desk.client(&call("one more"));
    assert_eq!(code(&desk.take_to_client()[0]), "LIMIT_EXCEEDED");
    assert_eq!(desk.take_to_server().len(), MAX_OPEN_REQUESTS);
}

#[test]
fn the_end_of_the_client_waits_for_calls_under_way() {
    let mut desk = BridgeCoreFixture::up();
    desk.client(&call(1));
    desk.client(&listen("l"));
    desk.handle(BridgeEvent::ClientEnded);
    assert_eq!(desk.take_other(), [BridgeAction::EndAfter(Duration::from_millis(1500))]);
    desk.server(&answer(&json!(1), json!({})));
    assert_eq!((desk.take_to_client().len(), desk.take_other()), (1, vec![BridgeAction::End]));

    let mut desk = BridgeCoreFixture::up();
    desk.client(&call(1));
    desk.handle(BridgeEvent::ClientEnded);
    desk.handle(BridgeEvent::EndDue);
    assert_eq!(desk.take_other().last(), Some(&BridgeAction::End));

    let mut desk = BridgeCoreFixture::new(false);
    desk.handle(BridgeEvent::ClientEnded);
    assert_eq!(desk.take_other().last(), Some(&BridgeAction::End));
}
