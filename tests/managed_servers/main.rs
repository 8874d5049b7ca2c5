//! Managed servers through the real executable: an agent calls their tools by policy and through the review queue, a terminal
//! decides nothing without the code, and nothing of them outlives a main that is killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod asking;
mod manifests;
#[path = "../support/mod.rs"]
mod support;
mod terminal;

use serde_json::{Value, json};
use shared_protocol::review::{AuditEntry, AuditEvent, AuditLine};
use std::{
    fs,
    path::{Path, PathBuf},
};
use support::{
    client::Client,
    home::{HomeFixture, Running, serving},
    mcp::{Agent, Era},
    terminal::TerminalFixture,
};
use test_support::{python_interpreter, wait_for, wait_until};

/// The server that does what its argument says, well or badly.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("main-process/mcp-client/tests/fixtures/server.py")
}

fn id_of(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// The definition of a tool of the fixture, as it is approved.
fn definition(name: &str, description: &str, properties: Value, required: Option<Value>) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if let Some(required) = required {
        schema["required"] = required;
    }
    json!({"name": name, "description": description, "inputSchema": schema})
}

/// A home whose configuration has these servers, switched on: slug, mode of the fixture, policies of tools.
fn home_with(servers: &[(&str, &str, Value)]) -> HomeFixture {
    let home = HomeFixture::new();
    let (script, python) = (fixture(), python_interpreter());
    let echo =
        definition("echo", "Says it again", json!({"text": {"type": "string"}}), Some(json!(["text"])));
    let steps = json!({"steps": {"type": "integer"}, "ms": {"type": "integer"}});
    let steps = definition("steps", "Tells its progress", steps, None);
    let env = definition("env", "Tells a variable", json!({"name": {"type": "string"}}), None);
    let approved = json!({"echo": echo, "steps": steps, "env": env});
    let entries = servers.iter().enumerate().map(|(number, (slug, mode, tools))| {
        json!({
            "id": id_of(number), "name": slug, "slug": slug, "enabled": true,
            "package": {"type": "binary", "identifier": python},
            "transport": {"type": "stdio"}, "args": [script, mode], "tools": tools,
            "limits": {"grace_ms": 500, "handshake_ms": 600_000},
        })
    });
    let approvals: serde_json::Map<String, Value> =
        (0..servers.len()).map(|number| (id_of(number), approved.clone())).collect();
    let file = json!({"version": 1, "servers": entries.collect::<Vec<_>>(), "approved": approvals});
    let folder = home.path("config/draftboard");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("upstreams.json"), file.to_string()).unwrap();
    home
}

fn serve(home: &HomeFixture, workspace: &Path) -> Running {
    let mut command = serving(home, workspace);
    command.args(["--mode", "guarded"]);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    running
}

fn states(home: &HomeFixture, workspace: &Path) -> Vec<(String, Value)> {
    let mut client = Client::connect(home, workspace).unwrap();
    let answer = client.request(json!({"listServers": {}})).unwrap().unwrap();
    let servers = answer["servers"].as_array().unwrap().clone();
    servers
        .iter()
        .map(|server| (server["slug"].as_str().unwrap().to_owned(), server["state"].clone()))
        .collect()
}

fn until_running(home: &HomeFixture, workspace: &Path, slugs: &[&str]) {
    wait_for("all servers run", || {
        let states = states(home, workspace);
        let runs = |slug: &&str| states.iter().any(|(known, state)| known == slug && state == "running");
        slugs.iter().all(runs).then_some(())
    });
}

fn tool_names(agent: &mut Agent) -> Vec<String> {
    let listed = agent.ask("list", "tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn calls(home: &HomeFixture, workspace: &Path) -> Vec<AuditEntry> {
    let mut client = Client::connect(home, workspace).unwrap();
    let answer = client.request(json!({ "readAudit": {"after": 0, "limit": 1_000}})).unwrap().unwrap();
    let lines: Vec<AuditLine> = serde_json::from_value(answer).unwrap();
    journal::check_audit(None, &lines).unwrap();
    let entries = lines.iter().map(|line| serde_json::from_str::<AuditEntry>(&line.text).unwrap());
    entries.filter(|entry| entry.event == AuditEvent::Call).collect()
}

#[test]
fn a_killed_main_leaves_no_server_behind() {
    let modes = ["plain", "stubborn", "grandchild", "flood", "junk", "silent"];
    let servers: Vec<(&str, &str, Value)> = modes.iter().map(|mode| (*mode, *mode, json!({}))).collect();
    let home = home_with(&servers);
    let workspace = home.workspace("workspace", "blank");
    let mut running = serve(&home, &workspace);
    // One is stuck in the handshake; the others do not wait for it.
    until_running(&home, &workspace, &["plain", "stubborn", "grandchild", "flood", "junk"]);
    let stuck = states(&home, &workspace).into_iter().find(|(slug, _)| slug == "silent").unwrap().1;
    assert!(stuck.to_string().contains("starting"), "{stuck}");
    // Main, six wardens, six servers, and what one of them has started.
    let before = home.processes().len();
    assert!(before > 1 + 6 + 6, "{before}");
    running.kill();
    wait_until("the end of all that it started", || home.processes().is_empty());
}

#[test]
fn all_servers_end_with_a_main_that_is_asked_to() {
    let servers =
        [("plain", "plain", json!({})), ("stubborn", "stubborn", json!({})), ("silent", "silent", json!({}))];
    let home = home_with(&servers);
    let workspace = home.workspace("workspace", "blank");
    let running = serve(&home, &workspace);
    until_running(&home, &workspace, &["plain", "stubborn"]);
    assert_eq!(running.stop().code, Some(0));
    home.assert_deserted();
}

#[test]
fn a_call_goes_by_its_policy_and_is_audited() {
    let policies = json!({
        "echo": {"enabled": true, "policy": "allow"}, "steps": {"enabled": true, "policy": "allow"},
        "env": {"enabled": true, "policy": "deny"},
    });
    let home = home_with(&[("plain", "plain", policies)]);
    let workspace = home.workspace("workspace", "blank");
    let running = serve(&home, &workspace);
    until_running(&home, &workspace, &["plain"]);
    let mut agent = Agent::greeted(&home, &workspace, Era::Handshake, &[]);
    wait_for("the tools are offered", || {
        let names = tool_names(&mut agent);
        names.contains(&"plain__echo".to_owned()).then_some(())
    });
    let names = tool_names(&mut agent);
    assert!(!names.contains(&"plain__env".to_owned()), "denied is not offered");
    assert!(!names.contains(&"plain__crash".to_owned()), "nobody has approved it");
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let answer = agent.ask(1, "tools/call", call("plain__echo", json!({"text": "hello"})));
    assert_eq!(text(&answer), "hello");
    let wrong = agent.ask(2, "tools/call", call("plain__echo", json!({})));
    assert!(wrong["result"]["isError"] == true && text(&wrong).contains("VALIDATION_ERROR"), "{wrong}");
    // Progress of the server is progress of the call.
    let mut steps = call("plain__steps", json!({"steps": 3, "ms": 10}));
    steps["_meta"] = json!({"progressToken": "p"});
    let done = agent.ask(3, "tools/call", steps);
    assert_eq!(text(&done), "done");
    let told = agent.rest();
    let told: Vec<&Value> =
        told.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert!(
        told.iter().any(|message| message["params"]["message"].as_str().unwrap().contains("step 2")),
        "{told:?}"
    );
    let managed_servers = agent.ask(4, "tools/call", call("list_upstreams", json!({})));
    let servers = &managed_servers["result"]["structuredContent"]["data"]["servers"];
    assert_eq!(servers[0]["tools"], json!(["plain__echo", "plain__steps"]));

    let audited = calls(&home, &workspace);
    let reasons: Vec<&str> = audited.iter().map(|entry| entry.reason.as_deref().unwrap()).collect();
    assert!(reasons.contains(&"plain__echo: it succeeded"), "{reasons:?}");
    assert!(!format!("{reasons:?}").contains("hello"), "what was said is private");
    // In mode observe neither ours nor theirs does anything.
    let all = tool_names(&mut agent);
    let mut client = Client::connect(&home, &workspace).unwrap();
    client.request(json!({"setAgentMode": {"mode": "observe"}})).unwrap().unwrap();
    let observed = tool_names(&mut agent);
    let guarded: Vec<&String> = all.iter().filter(|name| !observed.contains(name)).collect();
    assert!(guarded.len() > 15 && guarded.iter().any(|name| *name == "plain__echo"), "{guarded:?}");
    for name in guarded {
        let refused = agent.ask("observe", "tools/call", call(name, json!({"text": "hello"})));
        assert_eq!(
            refused["result"]["structuredContent"]["error"]["code"], "ACTUATION_DISABLED",
            "{name}: {refused}"
        );
    }
    client.request(json!({"setAgentMode": {"mode": "guarded"}})).unwrap().unwrap();
    // It is gone from the surface when its server is.
    let stopped = home.run(&["upstream", "stop", "plain", "-w", workspace.to_str().unwrap()]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    agent.hear("the list has changed", |message| message["method"] == "notifications/tools/list_changed");
    wait_for("it is not offered", || {
        (!tool_names(&mut agent).contains(&"plain__echo".to_owned())).then_some(())
    });
    drop(agent);
    assert_eq!(running.stop().code, Some(0));
    home.assert_deserted();
}

/// A `serve` at a terminal that shows codes, and how many it has shown.
struct ManagedServerReviewFixture<'a> {
    home: &'a HomeFixture,
    workspace: PathBuf,
    serve: TerminalFixture,
    shown: usize,
}

impl<'a> ManagedServerReviewFixture<'a> {
    /// None, loudly, where there is no terminal to be had.
    fn open(home: &'a HomeFixture, workspace: PathBuf) -> Option<Self> {
        let mut command = serving(home, &workspace);
        command.args(["--mode", "guarded"]);
        let serve = TerminalFixture::open(&command)?;
        serve.wait_for("ready");
        Some(Self { home, workspace, serve, shown: 0 })
    }

    fn run(&self, arguments: &[&str]) -> support::home::Outcome {
        self.home.run(&[arguments, &["-w", self.workspace.to_str().unwrap()]].concat())
    }

    /// A person at a terminal: types `typed` one after the other as it is asked for, and the code at last.
    fn decides(&mut self, arguments: &[&str], typed: &[(&str, &str)]) -> support::home::Outcome {
        let mut command = self.home.command();
        command.args(arguments).arg("-w").arg(&self.workspace);
        let mut person = TerminalFixture::open(&command).unwrap();
        for (question, answer) in typed {
            person.wait_for(question);
            person.write(answer);
        }
        person.wait_for("Code: ");
        person.write(&self.serve.review_code(self.shown));
        self.shown += 1;
        person.end()
    }

    /// The number of the proposal that waits with this title.
    fn waits(&self, title: &str) -> String {
        wait_for("it waits in the queue", || {
            let listed = self.run(&["review", "list"]);
            let line = listed.out.lines().find(|line| line.contains(title))?;
            line.split_whitespace().next().map(str::to_owned)
        })
    }

    fn agent(&self) -> Agent {
        Agent::greeted(self.home, &self.workspace, Era::Handshake, &[])
    }
}

fn until_offered(agent: &mut Agent, tool: &str) {
    wait_for("the tool is offered", || tool_names(agent).contains(&tool.to_owned()).then_some(()));
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

#[test]
fn a_call_that_asks_waits_for_a_person_and_a_terminal_decides_only_with_the_code() {
    let home = home_with(&[("plain", "plain", json!({}))]);
    let workspace = home.workspace("workspace", "blank");
    let mut command = serving(&home, &workspace);
    command.args(["--mode", "guarded"]);
    let Some(serve) = TerminalFixture::open(&command) else { return };
    serve.wait_for("ready");
    until_running(&home, &workspace, &["plain"]);
    let mut agent = Agent::greeted(&home, &workspace, Era::Handshake, &[]);
    wait_for("the tools are offered", || {
        tool_names(&mut agent).contains(&"plain__echo".to_owned()).then_some(())
    });
    agent.request(7, "tools/call", json!({"name": "plain__echo", "arguments": {"text": "please"}}));
    let at = ["-w", workspace.to_str().unwrap()];
    let listed = wait_for("it waits in the queue", || {
        let listed = home.run(&["review", "list", at[0], at[1]]);
        listed.out.contains("Call plain__echo").then_some(listed)
    });
    assert_eq!(listed.code, Some(0));
    let shown = home.run(&["review", "show", "1", at[0], at[1]]);
    assert!(shown.out.contains("please"), "what would be sent is shown in full: {shown:?}");
    let terminal = |arguments: &[&str]| {
        let mut command = home.command();
        command.args(arguments).args(at);
        TerminalFixture::open(&command).unwrap()
    };
    let mut accept = terminal(&["review", "accept", "1"]);
    accept.wait_for("Code: ");
    accept.write(&serve.review_code(0));
    assert_eq!(accept.end().code, Some(0));
    let answer = agent.hear("the answer", |message| message["id"] == 7);
    assert_eq!(text(&answer), "please", "{answer}");

    // An agent with a shell: adding is free and switched off, everything else takes a person.
    let script = fixture();
    let added = home.run(&[
        "upstream",
        "add",
        "mine",
        "--program",
        python_interpreter(),
        "--json",
        at[0],
        at[1],
        "--",
        script.to_str().unwrap(),
        "plain",
    ]);
    assert_eq!(added.data()["enabled"], json!(false), "{added:?}");
    for asked in [
        vec!["upstream", "enable", "mine"],
        vec!["upstream", "approve", "plain"],
        vec!["upstream", "policy", "plain__echo", "allow"],
        vec!["upstream", "call", "plain__echo", "text=x"],
        vec!["upstream", "remove", "plain"],
    ] {
        let refused = home.run(&[asked.clone(), at.to_vec()].concat());
        assert_eq!(refused.code, Some(1), "{asked:?} {refused:?}");
        assert!(refused.err.contains("a person at a terminal"), "{refused:?}");
    }
    let start = home.run(&["upstream", "start", "mine", at[0], at[1]]);
    assert!(start.code == Some(1) && start.err.contains("disabled"), "{start:?}");
    // A person with the code.
    let mut enable = terminal(&["upstream", "enable", "mine"]);
    enable.wait_for("Code: ");
    let code = serve.review_code(1);
    assert!(serve.screen().contains("enable mine"), "it says what it is for: {}", serve.screen());
    enable.write(&code);
    let enabled = enable.end();
    assert!(enabled.code == Some(0) && enabled.out.contains("needs approval"), "{enabled:?}");
    let listed = home.run(&["upstream", "list", "--json", at[0], at[1]]);
    assert_eq!(listed.data()["servers"].as_array().unwrap().len(), 2);
    let checked = home.run(&["manifest", "check", "--json", at[0], at[1]]);
    assert_eq!(checked.data(), json!([]));
}
