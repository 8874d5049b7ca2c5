//! Calls that wait for a person: said no to, given up, told of while they run, and refused when the tool is another one by then.

use crate::{ManagedServerReviewFixture, call, calls, home_with, text, until_offered, until_running};
use serde_json::{Value, json};
use std::fs;
use test_support::wait_for;

#[test]
fn a_call_that_waits_is_rejected_or_cancelled_and_tells_its_progress() {
    let home = home_with(&[("plain", "plain", json!({}))]);
    let workspace = home.workspace("workspace", "blank");
    let Some(mut desk) = ManagedServerReviewFixture::open(&home, workspace.clone()) else { return };
    until_running(&home, &workspace, &["plain"]);
    let mut agent = desk.agent();
    until_offered(&mut agent, "plain__echo");

    agent.request(1, "tools/call", call("plain__echo", json!({"text": "no"})));
    let number = desk.waits("Call plain__echo");
    let rejected = desk.decides(&["review", "reject", &number, "--reason", "not today"], &[]);
    assert_eq!(rejected.code, Some(0), "{rejected:?}");
    let answer = agent.hear("the answer", |message| message["id"] == 1);
    assert!(answer["result"]["isError"] == true && text(&answer).contains("not today"), "{answer}");

    agent.request(2, "tools/call", call("plain__echo", json!({"text": "never mind"})));
    desk.waits("Call plain__echo");
    let cancelled = json!({"requestId": 2, "reason": "changed my mind"});
    agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    wait_for("the wish is withdrawn", || {
        desk.run(&["review", "list"]).out.contains("No proposals to review").then_some(())
    });

    let mut steps = call("plain__steps", json!({"steps": 4, "ms": 50}));
    steps["_meta"] = json!({"progressToken": "p"});
    agent.request(3, "tools/call", steps);
    let number = desk.waits("Call plain__steps");
    assert_eq!(desk.decides(&["review", "accept", &number], &[]).code, Some(0));
    let step = |message: &Value| {
        message["method"] == "notifications/progress"
            && message["params"]["message"].as_str().is_some_and(|words| words.contains("step 2"))
    };
    agent.hear("progress of the server", step);
    let answer = agent.hear("the answer", |message| message["id"] == 3);
    assert_eq!(text(&answer), "done");

    // What has begun is ended when nobody waits for it any more.
    let mut long = call("plain__steps", json!({"steps": 2_000, "ms": 50}));
    long["_meta"] = json!({"progressToken": "q"});
    agent.request(4, "tools/call", long);
    let second = desk.waits("Call plain__steps");
    assert_eq!(desk.decides(&["review", "accept", &second], &[]).code, Some(0));
    agent
        .hear("progress of the server", |message| step(message) && message["params"]["progressToken"] == "q");
    agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}}));

    // Each line says who asked and which proposal it was; what was rejected or withdrawn was never called.
    let audited =
        wait_for("the end of both calls", || Some(calls(&home, &workspace)).filter(|lines| lines.len() >= 4));
    let lines: Vec<(&str, &str)> = audited
        .iter()
        .map(|entry| (entry.by.as_deref().unwrap(), entry.reason.as_deref().unwrap()))
        .collect();
    let begins = |number: &str| format!("plain__steps: accepted by a person as proposal {number}; started");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(lines[0].1, begins(&number));
    assert_eq!(lines[1].1, format!("plain__steps: proposal {number}: it succeeded"));
    assert_eq!(lines[2].1, begins(&second));
    assert!(lines[3].1.contains("The call was cancelled"), "{lines:?}");
    assert!(lines.iter().all(|(by, _)| by.contains("test")), "{lines:?}");
}

#[test]
fn a_tool_that_is_not_what_was_shown_or_is_forbidden_meanwhile_is_not_called() {
    let home = home_with(&[]);
    let workspace = home.workspace("workspace", "blank");
    let folder = home.path("config/draftboard/manifests");
    fs::create_dir_all(&folder).unwrap();
    // Outside the folder of manifests, and watched all the same.
    let (ran, program) = (home.path("ran"), home.path("tell.sh"));
    let script = |words: &str| {
        fs::write(&program, format!("echo {words} >> '{}'; echo '\"{words}\"'", ran.display())).unwrap();
    };
    script("first");
    let manifest = json!({"id": "teller", "tools": [{"name": "tell", "inputSchema": {"type": "object"}}],
        "implementation": {"type": "script", "runtime": "sh", "entrypoint": program, "toolBindings": {"tell": {"action": "x"}}}});
    fs::write(folder.join("teller.json"), manifest.to_string()).unwrap();
    let Some(mut desk) = ManagedServerReviewFixture::open(&home, workspace) else { return };
    let mut agent = desk.agent();
    until_offered(&mut agent, "draftboard_tell");
    let hash = |desk: &ManagedServerReviewFixture<'_>| {
        desk.run(&["upstream", "list", "--json"]).data()["manifests"][0]["hash"].clone()
    };

    agent.request(1, "tools/call", call("draftboard_tell", json!({})));
    let number = desk.waits("Call draftboard_tell");
    let before = hash(&desk);
    script("second");
    wait_for("the program is read anew", || (hash(&desk) != before).then_some(()));
    assert_eq!(desk.decides(&["review", "accept", &number], &[]).code, Some(0));
    let answer = agent.hear("the answer", |message| message["id"] == 1);
    assert!(
        answer["result"]["isError"] == true && text(&answer).contains("has changed since it was shown"),
        "{answer}"
    );

    agent.request(2, "tools/call", call("draftboard_tell", json!({})));
    let number = desk.waits("Call draftboard_tell");
    let denied = desk.decides(&["manifest", "policy", "draftboard_tell", "deny"], &[]);
    assert_eq!(denied.code, Some(0), "{denied:?}");
    assert_eq!(desk.decides(&["review", "accept", &number], &[]).code, Some(0));
    let answer = agent.hear("the answer", |message| message["id"] == 2);
    assert!(answer["result"]["isError"] == true && text(&answer).contains("denied"), "{answer}");
    assert!(!ran.exists(), "nothing was run");
}

#[test]
fn arguments_that_hold_a_secret_are_refused_whatever_the_policy() {
    let policies = json!({"echo": {"enabled": true, "policy": "allow"}});
    let home = home_with(&[("plain", "plain", policies)]);
    let workspace = home.workspace("workspace", "blank");
    let Some(mut desk) = ManagedServerReviewFixture::open(&home, workspace.clone()) else { return };
    until_running(&home, &workspace, &["plain"]);
    assert_eq!(desk.decides(&["upstream", "edit", "plain", "--secret", "TOKEN"], &[]).code, Some(0));
    wait_for("the secret is missed", || {
        desk.run(&["upstream", "list"]).out.contains("needs credentials: TOKEN").then_some(())
    });
    let typed = [("The secret TOKEN", "hunter2-hunter2")];
    assert_eq!(desk.decides(&["upstream", "secret", "plain", "TOKEN"], &typed).code, Some(0));
    assert_eq!(desk.run(&["upstream", "start", "plain"]).code, Some(0));
    let mut agent = desk.agent();
    until_offered(&mut agent, "plain__echo");
    let refused = agent.ask(1, "tools/call", call("plain__echo", json!({"text": "it is hunter2-hunter2"})));
    assert!(text(&refused).contains("contain a secret"), "{refused}");
    let answer = agent.ask(2, "tools/call", call("plain__echo", json!({"text": "nothing to hide"})));
    assert_eq!(text(&answer), "nothing to hide");
    let lines = calls(&home, &workspace);
    let reasons: Vec<&str> = lines.iter().map(|entry| entry.reason.as_deref().unwrap()).collect();
    assert_eq!(reasons[0], "plain__echo: refused: its arguments contain a secret", "{reasons:?}");
}
