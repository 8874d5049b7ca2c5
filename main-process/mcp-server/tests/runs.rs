//! Tests of actions that a person decides about and of waiting for their results: Terraform runs of agents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{AgentWorkbenchFixture, Talk, service_in};
use mcp_server::{ActionOutputLine, ActionResult, AgentWorkbench};
use serde_json::{Value, json};
use shared_protocol::{
    ProposalId, ProposalState, Refusal, RefusalCode, mcp::McpMode, proposal::ProposedAction,
    terraform::TerraformOperation,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use test_support::wait_until_async;

fn talk() -> (Arc<AgentWorkbenchFixture>, Talk) {
    let bench = AgentWorkbenchFixture::new();
    let talk = Talk::modern(&service_in(&bench, McpMode::Guarded));
    (bench, talk)
}

/// Begins a call with a progress token.
async fn begin(talk: &mut Talk, arguments: Value) -> u64 {
    let call = json!({ "name": "run_terraform", "arguments": arguments, "_meta": { "progressToken": "p" } });
    talk.begin("tools/call", call).await
}

/// Waits for the newest proposal and returns it.
async fn asked(bench: &AgentWorkbenchFixture) -> (ProposalId, ProposedAction) {
    let mut changed = bench.watch_changes();
    loop {
        if let Some(proposal) = bench.view().review.iter().max_by_key(|proposal| proposal.number) {
            return (proposal.id, proposal.act.clone().unwrap());
        }
        tokio::time::timeout(common::PATIENCE, changed.changed()).await.unwrap().unwrap();
    }
}

async fn envelope(talk: &mut Talk, id: u64) -> Value {
    talk.answer(id).await["result"]["structuredContent"].clone()
}

fn outcome() -> Value {
    json!({
        "exitCode": 0, "success": true, "cancelled": false,
        "diagnostics": [{ "severity": "warning", "summary": "old", "detail": "" }],
        "resourceChanges": [{ "address": "aws_vpc.main", "action": "create", "success": true }]
    })
}

fn line(text: &str, error: bool) -> ActionOutputLine {
    ActionOutputLine { text: text.to_owned(), error }
}

#[tokio::test]
async fn apply_and_destroy_without_confirmation_ask_nobody() {
    let (bench, mut talk) = talk();
    for command in ["apply", "destroy"] {
        for arguments in [
            json!({ "command": command }),
            json!({ "command": command, "confirmed": false }),
            json!({ "command": command, "confirmed": null }),
        ] {
            let answer = talk.call("run_terraform", arguments).await;
            assert_eq!(answer["error"]["code"], json!("CONFIRMATION_REQUIRED"), "{answer}");
            assert_eq!(answer["error"]["field"], json!("confirmed"));
        }
    }
    for wrong in [json!({}), json!({ "command": "import" }), json!({ "command": "plan", "waitSeconds": 1e9 })]
    {
        let answer = talk.call("run_terraform", wrong).await;
        assert_eq!(answer["error"]["code"], json!("BAD_REQUEST"), "{answer}");
    }
    assert!(bench.view().review.iter().next().is_none(), "nobody was asked");
}

#[tokio::test]
async fn a_run_is_followed_line_by_line_from_the_question_to_its_end() {
    let (bench, mut talk) = talk();
    let call =
        begin(&mut talk, json!({ "command": "apply", "confirmed": true, "rationale": "It is time" })).await;
    let (id, act) = asked(&bench).await;
    assert!(matches!(act, ProposedAction::Run { operation: TerraformOperation::Apply, .. }));
    bench.action_runs().begin(id);
    bench.accept(id);
    let lines: Vec<String> = (0..1_200).map(|number| format!("line {number}")).collect();
    bench.action_runs().append_output(id, lines.iter().map(|text| line(text, false)));
    bench.action_runs().append_output(id, [line("careful", true)]);
    bench.action_runs().finish(id, ActionResult::ok("run 1 (apply) succeeded", outcome()));
    let answer = envelope(&mut talk, call).await;
    assert_eq!(answer["ok"], json!(true), "{answer}");
    let data = &answer["data"];
    assert_eq!((&data["exitCode"], &data["success"]), (&json!(0), &json!(true)));
    assert_eq!(data["resourceChanges"][0]["address"], json!("aws_vpc.main"));
    assert_eq!(data["diagnostics"][0]["severity"], json!("warning"));
    assert_eq!((&data["runId"], &data["proposal"]["state"]), (&json!(id), &json!("accepted")));

    let told: Vec<&Value> = talk.heard.iter().map(|message| &message["params"]).collect();
    let said: Vec<&str> = told
        .iter()
        .filter(|p| p["_meta"]["stream"].is_string())
        .map(|p| p["message"].as_str().unwrap())
        .collect();
    assert_eq!(said.len(), 1_201, "one notification for each line");
    assert!(said.iter().zip(&lines).all(|(said, line)| said == line), "in order");
    assert_eq!(told.last().unwrap()["_meta"]["stream"], json!("stderr"));
    assert_eq!(told.last().unwrap()["_meta"]["line"], json!("careful"));
    let numbers: Vec<f64> = told.iter().map(|p| p["progress"].as_f64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "progress grows");
    assert!(told.iter().all(|p| p["progressToken"] == json!("p")));

    let run = talk.call("get_run", json!({ "runId": id, "from": 1_199 })).await;
    assert_eq!(run["data"]["status"], json!("succeeded"), "{run}");
    assert_eq!(run["data"]["lines"][0], json!({ "line": "line 1199", "stream": "stdout" }));
    assert_eq!((&run["data"]["nextLine"], &run["data"]["exitCode"]), (&json!(1_201), &json!(0)));
    assert_eq!(run["data"]["command"], json!("apply"));
}

#[tokio::test]
async fn a_call_that_nobody_decides_gives_a_run_id_and_the_run_can_be_asked_about() {
    let bench = AgentWorkbenchFixture::new();
    let service = service_in(&bench, McpMode::Guarded);
    let mut talk = Talk::modern(&service);
    let answer = talk.call("run_terraform", json!({ "command": "plan", "waitSeconds": 0 })).await;
    assert_eq!(answer["error"]["code"], json!("AWAITING_REVIEW"), "{answer}");
    let id: ProposalId = answer["error"]["details"]["runId"].as_str().unwrap().parse().unwrap();
    let run = json!({ "runId": id });
    let waits = talk.call("get_run", run.clone()).await;
    assert_eq!(waits["data"]["status"], json!("awaiting_review"), "{waits}");
    let mut other = Talk::modern(&service);
    let theirs = other.call("get_run", run.clone()).await;
    assert_eq!(theirs["error"]["code"], json!("NOT_FOUND"), "another client's run is not there");

    let begun = talk
        .begin("tools/call", json!({ "name": "get_run", "arguments": { "runId": id, "waitSeconds": 30 } }))
        .await;
    bench.accept(id);
    bench.action_runs().append_output(id, [line("Initializing", false)]);
    let running = envelope(&mut talk, begun).await;
    assert_eq!(running["data"]["status"], json!("running"), "{running}");
    assert_eq!(running["data"]["lines"][0]["line"], json!("Initializing"));
    let failed = Refusal::new(RefusalCode::NotFound, "neither terraform nor tofu was found");
    bench.action_runs().finish(id, ActionResult::from_refusal(failed));
    let ended = talk.call("get_run", run.clone()).await;
    assert_eq!(
        (&ended["data"]["status"], &ended["data"]["error"]["code"]),
        (&json!("failed"), &json!("NOT_FOUND"))
    );

    // After a restart only the proposal remains.
    let fresh = AgentWorkbenchFixture::new();
    fresh.review(|queue, _| *queue = bench.view().review.clone());
    fresh.review(|queue, _| drop(queue.record_outcome(id, "run 1 (plan) succeeded")));
    let mut again = Talk::modern(&service_in(&fresh, McpMode::Guarded));
    let told = again.call("get_run", run).await;
    assert_eq!(
        (&told["data"]["status"], &told["data"]["outcome"]),
        (&json!("ended"), &json!("run 1 (plan) succeeded"))
    );
}

#[tokio::test]
async fn a_no_is_told_with_its_reason() {
    let (bench, mut talk) = talk();
    let call = begin(&mut talk, json!({ "command": "destroy", "confirmed": true })).await;
    let (id, _) = asked(&bench).await;
    bench.review(|queue, _| drop(queue.reject((id, 1), "not on a Friday", "ada").unwrap()));
    let answer = envelope(&mut talk, call).await;
    assert_eq!(
        answer["error"]["message"],
        json!("The reviewer rejected the request: not on a Friday"),
        "{answer}"
    );
    assert_eq!(answer["error"]["details"]["state"], json!("rejected"));
    let run = talk.call("get_run", json!({ "runId": id })).await;
    assert_eq!(
        (&run["data"]["status"], &run["data"]["reason"]),
        (&json!("rejected"), &json!("not on a Friday"))
    );
}

#[tokio::test]
async fn giving_up_withdraws_what_nobody_has_decided_and_stops_what_changes_nothing() {
    let (bench, mut talk) = talk();
    let cancel = |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let call = begin(&mut talk, json!({ "command": "apply", "confirmed": true })).await;
    let (id, _) = asked(&bench).await;
    talk.say(&cancel(call)).await;
    let is_withdrawn = async || bench.view().review.get(id).unwrap().state == ProposalState::Withdrawn;
    wait_until_async("the withdrawal", is_withdrawn).await;

    for (command, stops) in [("plan", true), ("apply", false)] {
        let call = begin(&mut talk, json!({ "command": command, "confirmed": true })).await;
        let is_open = async || bench.view().review.iter().any(|p| p.state == ProposalState::Open);
        wait_until_async("an open proposal", is_open).await;
        let (id, _) = asked(&bench).await;
        bench.action_runs().begin(id);
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        bench.action_runs().stops_with(id, move || flag.store(true, Ordering::SeqCst));
        bench.accept(id);
        // The call has noticed the acceptance once it reports it.
        while talk.notice("notifications/progress").await["params"]["message"] != json!("Accepted; running") {
        }
        talk.say(&cancel(call)).await;
        if stops {
            wait_until_async("the end of the run", async || stopped.load(Ordering::SeqCst)).await;
        } else {
            // This call is answered after the cancellation was handled.
            talk.call("get_run", json!({ "runId": id })).await;
            assert!(!stopped.load(Ordering::SeqCst), "a lost connection does not cut off an apply");
        }
        bench.action_runs().finish(id, ActionResult::ok("done", outcome()));
    }
}

#[tokio::test]
async fn a_project_tool_that_waits_answers_with_the_project() {
    let (bench, mut talk) = talk();
    let call = json!({ "name": "save_project", "arguments": { "waitSeconds": 60 } });
    let begun = talk.begin("tools/call", call).await;
    let (id, act) = asked(&bench).await;
    assert_eq!(act, ProposedAction::Save);
    bench.action_runs().finish(id, ActionResult::ok("saved revision 1: 1 files", Value::Null));
    bench.accept(id);
    let answer = envelope(&mut talk, begun).await;
    let data = &answer["data"];
    assert_eq!(
        (&data["status"], &data["outcome"]),
        (&json!("done"), &json!("saved revision 1: 1 files")),
        "{answer}"
    );
    assert_eq!(
        (&data["project"]["name"], &data["project"]["boards"][0]["name"]),
        (&json!("Shop"), &json!("main"))
    );
    assert!(!answer.to_string().contains("hunter2"), "secrets are redacted");
    let told = talk.call("get_run", json!({ "runId": id })).await;
    assert_eq!(
        (&told["data"]["status"], &told["data"]["result"]),
        (&json!("succeeded"), &Value::Null),
        "{told}"
    );
    let quick = talk.call("save_project", json!({})).await;
    assert_eq!(quick["data"]["status"], json!("submitted"), "{quick}");
}
