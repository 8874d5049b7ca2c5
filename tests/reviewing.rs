//! Reviewing without a window: `draftboard review` on a real terminal with the code that only the terminal of `serve` shows,
//! `SIGKILL` while decisions are made, and the desktop's notification.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use shared_protocol::review::{ApprovalGrant, AuditEntry, AuditEvent, AuditLine, StandingApproval};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};
use support::{
    client::Client,
    home::{HomeFixture, Running, serving},
    mcp::{Agent, Endpoint, Era},
    over_http::{post, try_post},
    review_fixture::ReviewFixture,
    terminal::TerminalFixture,
};
use test_support::{
    KilledOnDrop, RandomSource,
    requirements::{MESSAGE_BUS, TERRAFORM},
    wait_for, wait_until,
};

// ---- at terminals ----------------------------------------------------------------------------------------------------

/// The audit, whose chain holds.
fn audit(client: &mut Client) -> Vec<AuditEntry> {
    let answer = client.request(json!({ "readAudit": {"after": 0, "limit": 1_000}})).unwrap().unwrap();
    let lines: Vec<AuditLine> = serde_json::from_value(answer).unwrap();
    journal::check_audit(None, &lines).unwrap();
    lines.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}

fn propose(agent: &mut Agent, names: &[&str], title: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for name in names {
        let note = json!({"name": "add_resource", "arguments": {"typeId": "notes/sticky", "name": name}});
        let answer = agent.ask(1, "tools/call", note);
        ids.push(answer["result"]["structuredContent"]["data"]["instanceId"].as_str().unwrap().to_owned());
    }
    let submit = json!({"name": "submit_proposal", "arguments": {"title": title, "rationale": "Because"}});
    let answer = agent.ask(2, "tools/call", submit);
    assert_eq!(answer["result"]["structuredContent"]["data"]["status"], "submitted", "{answer}");
    ids
}

#[test]
fn a_person_reviews_at_a_terminal_with_the_code_that_another_terminal_shows() {
    let Some(desk) = ReviewFixture::new("blank") else { return };
    let mut agent = Agent::greeted(&desk.home, &desk.workspace, Era::Handshake, &[]);
    let ids = propose(&mut agent, &["first", "second", "third"], "Three notes");
    propose(&mut agent, &["fourth"], "A fourth\u{202e}\u{9b}\u{200b}");

    let list = desk.reviewer(&["list"]).end();
    assert!(list.code == Some(0) && list.out.contains("Three notes") && list.out.contains("+3"), "{list:?}");
    // Characters that hide or turn text around are written out wherever an agent's words reach a terminal.
    let written_out = "A fourth\\u{202e}\\u{9b}\\u{200b}";
    let fourth = desk.reviewer(&["show", "2"]).end();
    for out in [&list.out, &fourth.out] {
        assert!(out.contains(written_out) && !out.contains(['\u{202e}', '\u{9b}', '\u{200b}']), "{out}");
    }
    let show = desk.reviewer(&["show", "1"]).end();
    assert!(show.out.contains("\u{1b}[32m+ ") && show.out.contains("first"), "additions are green: {show:?}");
    assert!(
        show.out.contains("The agent's reasons (unverified):") && show.out.contains("| Because"),
        "{show:?}"
    );

    // A script decides nothing, with or without a code.
    let mut scripted = desk.command(&["accept", "1"]);
    let refused = support::home::finished({
        scripted.stdin(Stdio::null());
        scripted
    });
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("a person at a terminal"), "{refused:?}");
    assert!(!desk.serve.screen().contains("Code (valid"), "no code was shown for it");

    // Only one element, with the code of the other terminal.
    let mut only = desk.reviewer(&["accept", "1", "--only", &ids[1]]);
    only.wait_for("Code: ");
    let code = desk.code(0);
    assert!(!only.screen().contains(&code), "the code is nowhere on the terminal that asks");
    only.write(&code);
    let taken = only.end();
    assert!(taken.code == Some(0) && taken.out.contains("Proposal 1 is partly accepted, open"), "{taken:?}");
    assert_eq!(desk.names(), BTreeSet::from(["second".to_owned()]));

    // Wrong codes: nothing happens, all of it is on record, and the right one comes too late.
    let mut wrong = desk.reviewer(&["accept", "1"]);
    wrong.wait_for("Code: ");
    let code = desk.code(1);
    wrong.write(if code == "00000000" { "11111111" } else { "00000000" });
    let refused = wrong.end();
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert_eq!(desk.names().len(), 1);
    assert_eq!(
        audit(&mut desk.client()).iter().filter(|entry| entry.event == AuditEvent::WrongCode).count(),
        1
    );

    // All of the rest; then a no.
    let mut rest = desk.reviewer(&["accept", "1"]);
    rest.wait_for("Code: ");
    rest.write(&desk.code(2));
    assert!(rest.end().out.contains("Proposal 1 is accepted"));
    assert_eq!(desk.names().len(), 3);
    let mut no = desk.reviewer(&["reject", "2", "--reason", "not now"]);
    no.wait_for("Code: ");
    no.write(&desk.code(3));
    let screen = desk.serve.screen();
    assert!(screen.contains(written_out) && !screen.contains(['\u{202e}', '\u{9b}']), "{screen}");
    assert!(no.end().out.contains("Proposal 2 is rejected"));
    let empty = desk.reviewer(&["list"]).end();
    assert!(empty.out.contains("No proposals to review"), "{empty:?}");

    // Guessing is bounded: after so many wrong ones no code is shown at all.
    propose(&mut agent, &["fifth"], "A fifth");
    let mut shown = 4;
    let locked = (0..8).find_map(|_| {
        let mut guess = desk.reviewer(&["accept", "3"]);
        wait_for("a question or a refusal", || {
            let screen = guess.screen();
            (screen.contains("Code: ") || guess.child.try_wait().unwrap().is_some()).then_some(())
        });
        if !guess.screen().contains("Code: ") {
            return Some(guess.end());
        }
        let code = desk.code(shown);
        shown += 1;
        guess.write(if code == "00000000" { "11111111" } else { "00000000" });
        drop(guess.end());
        None
    });
    let locked = locked.expect("guessing ends");
    assert_ne!(locked.code, Some(0), "{locked:?}");
    assert!(!desk.names().contains("fifth"));

    let ways: Vec<(AuditEvent, String)> =
        audit(&mut desk.client()).iter().map(|entry| (entry.event, entry.way.clone())).collect();
    let count = |event: AuditEvent| ways.iter().filter(|(known, _)| *known == event).count();
    assert_eq!((count(AuditEvent::Accept), count(AuditEvent::Reject)), (2, 1));
    assert!(count(AuditEvent::CodeShown) >= 4 && count(AuditEvent::WrongCode) >= 2);
    assert!(ways.iter().filter(|(event, _)| *event == AuditEvent::Accept).all(|(_, way)| way == "terminal"));
    let verified = desk.home.run(&["audit", "verify", "-w", desk.workspace.to_str().unwrap()]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

// ---- standing approvals ------------------------------------------------------------------------------------------------

fn serve_guarded(home: &HomeFixture, workspace: &Path) -> Running {
    let mut command = serving(home, workspace);
    command.args(["--mode", "guarded"]);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    running
}

/// An approval of everything on boards, as it is written down.
fn approval() -> StandingApproval {
    let grant = ApprovalGrant {
        client: None,
        scope: "all:destructive".parse().unwrap(),
        boards: Vec::new(),
        expires: None,
    };
    StandingApproval { id: 1, grant, by: "mallory".to_owned(), granted: 1, for_this_run: false, used: 0 }
}

/// What became of a note that an agent proposes.
fn status_of_note(home: &HomeFixture, workspace: &Path, name: &str) -> Value {
    let Endpoint { url, token } = Endpoint::of(home, workspace);
    let arguments = json!({"typeId": "notes/sticky", "name": name, "submit": true, "title": name});
    let call = json!({"name": "add_resource", "arguments": arguments});
    let (code, answer) = post(&url, Some(&token), "tools/call", call);
    assert_eq!(code, 200, "{answer}");
    answer["result"]["structuredContent"]["data"]["status"].clone()
}

#[test]
fn an_approval_that_comes_with_a_workspace_grants_nothing() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    assert_eq!(serve_guarded(&home, &workspace).stop().code, Some(0));
    let journal = rusqlite::Connection::open(workspace.join(".draftboard/journal.db")).unwrap();
    let stored = serde_json::to_string(&[approval()]).unwrap();
    assert_eq!(journal.execute("UPDATE review SET approvals = ?1", [stored]).unwrap(), 1);
    drop(journal);
    let running = serve_guarded(&home, &workspace);
    assert_eq!(status_of_note(&home, &workspace, "first"), "submitted", "it waits for a person");
    let ended = running.stop();
    assert!(ended.err.contains("Ignored 1 standing approval stored in this workspace"), "{ended:?}");
    // Dropped: the next start has nothing to say.
    let again = serve_guarded(&home, &workspace).stop();
    assert!(!again.err.contains("Ignored"), "{again:?}");
}

#[test]
fn an_approval_of_the_user_outlives_a_restart_and_holds_for_one_folder() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let file = home.path("config/draftboard/approvals.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let root = workspace.canonicalize().unwrap();
    let contents = json!({"version": 1, "workspaces": {root.to_str().unwrap(): [approval()]}});
    fs::write(&file, contents.to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for name in ["first", "second"] {
        let running = serve_guarded(&home, &workspace);
        assert_eq!(status_of_note(&home, &workspace, name), "accepted");
        assert_eq!(running.stop().code, Some(0));
    }
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept["workspaces"][root.to_str().unwrap()][0]["used"], 2, "{kept}");

    let copy = home.path("copy");
    assert!(Command::new("cp").arg("-a").args([&workspace, &copy]).status().unwrap().success());
    let running = serve_guarded(&home, &copy);
    assert_eq!(status_of_note(&home, &copy, "third"), "submitted", "a copy is another workspace");
    assert_eq!(running.stop().code, Some(0));

    fs::write(&file, "{\"version\": 1, \"workspaces\"").unwrap();
    let running = serve_guarded(&home, &workspace);
    assert_eq!(status_of_note(&home, &workspace, "fourth"), "submitted", "a damaged file grants nothing");
    let ended = running.stop();
    assert!(
        ended.err.contains("No standing approval is in effect") && ended.err.contains("approvals.json"),
        "{ended:?}"
    );
}

// ---- requests to apply ---------------------------------------------------------------------------------------------------

fn run(client: &mut Client, command: Value) {
    client.request(json!({ "runCommand": { "command": command } })).unwrap().unwrap();
}

fn add_data(client: &mut Client, name: &str) {
    run(
        client,
        json!({ "addNode": {
            "board": "infrastructure", "type": "terraform/core/terraform_data", "name": name, "props": { "input": name }
        } }),
    );
}

fn add_verbatim(client: &mut Client, name: &str, text: &str) {
    run(
        client,
        json!({ "addNode": {
            "board": "infrastructure", "type": "terraform/core/verbatim", "name": name, "props": { "text": text }
        } }),
    );
}

/// Requests a run without waiting for what comes of it; the proposal's number.
fn request(desk: &ReviewFixture, agent: &mut Agent, command: &str, rationale: &str) -> String {
    let arguments =
        json!({ "command": command, "confirmed": true, "waitSeconds": 0, "rationale": rationale });
    let answer = agent.ask(7, "tools/call", json!({ "name": "run_terraform", "arguments": arguments }));
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "AWAITING_REVIEW", "{answer}");
    desk.waiting()
}

/// The plan of a request, once it is not being made any more.
fn planned(desk: &ReviewFixture, number: &str) -> Value {
    wait_for("the plan", || {
        let mut show = desk.command(&["show", number, "--json"]);
        show.stdin(Stdio::null());
        let plan = support::home::finished(show).data()["plan"].clone();
        (plan.is_object() && plan["state"]["planning"].is_null()).then_some(plan)
    })
}

fn resources(workspace: &Path) -> usize {
    let text = fs::read_to_string(workspace.join("terraform/infrastructure/terraform.tfstate"));
    let state: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    state["resources"].as_array().map_or(0, Vec::len)
}

fn plan_files(home: &HomeFixture) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(home.path("state/draftboard/plans")).into_iter().flatten();
    let folders = folders.map(|folder| folder.unwrap().path());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path())).collect()
}

/// An agent says "0 to destroy". The plan says otherwise, and the yes is to the plan.
#[test]
fn a_yes_to_an_apply_is_a_yes_to_the_plan_that_is_shown() {
    if !TERRAFORM.is_available() {
        return;
    }
    let Some(desk) = ReviewFixture::new("blank") else { return };
    let mut agent = Agent::greeted(&desk.home, &desk.workspace, Era::Handshake, &[]);
    let mut client = desk.client();
    for name in ["one", "two", "three"] {
        add_data(&mut client, name);
    }
    let number = request(&desk, &mut agent, "apply", "Adds what is missing");
    let plan = planned(&desk, &number);
    assert_eq!(plan["state"]["ready"]["counts"], json!({ "add": 3, "change": 0, "remove": 0 }), "{plan}");
    assert_eq!(resources(&desk.workspace), 0, "a plan changes nothing");
    let files = plan_files(&desk.home);
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    desk.decide(&["accept", &number]);
    wait_for("the apply", || (resources(&desk.workspace) == 3).then_some(()));
    wait_for("the file to go", || plan_files(&desk.home).is_empty().then_some(()));

    // Now the rationale lies.
    run(&mut client, json!({ "remove": { "nodes": ["infrastructure/two", "infrastructure/three"] } }));
    let number = request(&desk, &mut agent, "apply", "Plan: 0 to add, 0 to change, 0 to destroy.");
    let plan = planned(&desk, &number);
    let ready = &plan["state"]["ready"];
    assert_eq!(ready["counts"], json!({ "add": 0, "change": 0, "remove": 2 }), "{plan}");
    assert!(ready["changes"].as_array().unwrap().iter().all(|change| change["action"] == "delete"), "{plan}");
    let shown = desk.reviewer(&["show", &number]).end();
    assert!(shown.out.contains("Plan by Draftboard: 0 to add, 0 to change, 2 to destroy"), "{shown:?}");
    assert!(shown.out.contains("- terraform_data.two"), "{shown:?}");

    // Something moves between the look and the yes: nothing is applied.
    let mut late = desk.reviewer(&["accept", &number]);
    late.wait_for("Type y to confirm");
    late.write("y");
    late.wait_for("Code: ");
    let state = desk.workspace.join("terraform/infrastructure/terraform.tfstate");
    let text = fs::read_to_string(&state).unwrap();
    fs::write(&state, format!("{text}\n")).unwrap();
    late.write(&desk.code(1));
    let refused = late.end();
    assert!(refused.code != Some(0) && refused.out.contains("the state has changed"), "{refused:?}");
    assert_eq!(resources(&desk.workspace), 3);
    let needed = wait_for("the request to say so", || {
        let plan = planned(&desk, &number);
        plan["state"]["needed"]["reason"].as_str().map(str::to_owned)
    });
    assert!(needed.contains("Plan again"), "{needed}");
    assert!(plan_files(&desk.home).is_empty(), "its file is gone");

    // Requested again: planned again, and only then accepted; the record names both.
    let number = request(&desk, &mut agent, "destroy", "Nothing much");
    let plan = planned(&desk, &number);
    assert_eq!(plan["state"]["ready"]["counts"]["remove"], 3, "{plan}");
    desk.decide(&["accept", &number]);
    wait_for("the destruction", || (resources(&desk.workspace) == 0).then_some(()));
    let board = client.request(json!({ "readDocument": {} })).unwrap().unwrap()["boards"][0]["id"].clone();
    let history = wait_for("the record", || {
        let answer = client.request(json!({ "listRuns": { "board": board } })).unwrap().unwrap();
        let last = answer[0].clone();
        last["state"]["succeeded"].is_object().then_some(last)
    });
    assert_eq!(history["operation"], "applyPlan", "{history}");
    assert_eq!(history["by"]["name"], "tester", "{history}");
    assert!(history["requestedBy"].is_string(), "{history}");

    // A rejected one leaves no file, and a plan that fails cannot be accepted.
    add_data(&mut client, "four");
    let number = request(&desk, &mut agent, "apply", "");
    planned(&desk, &number);
    assert_eq!(plan_files(&desk.home).len(), 1);
    desk.decide(&["reject", &number, "--reason", "no"]);
    assert!(plan_files(&desk.home).is_empty());
    add_verbatim(&mut client, "wrong", "resource \"terraform_data\" \"x\" {\n  input = local.nowhere\n}");
    let number = request(&desk, &mut agent, "apply", "");
    let plan = planned(&desk, &number);
    assert!(plan["state"]["failed"]["reason"].is_string(), "{plan}");
    let shown = desk.reviewer(&["show", &number]).end();
    assert!(shown.out.contains("Cannot be accepted yet. The plan failed"), "{shown:?}");
}

/// Somebody who hears whether anything is sent.
struct Listener {
    address: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn start() -> Self {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", socket.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&heard);
        std::thread::spawn(move || {
            for mut stream in socket.incoming().map_while(Result::ok) {
                let mut bytes = [0; 8192];
                let read = stream.read(&mut bytes).unwrap_or(0);
                told.lock().unwrap().push(String::from_utf8_lossy(&bytes[..read]).into_owned());
                drop(std::io::Write::write_all(
                    &mut stream,
                    b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
                ));
            }
        });
        Self { address, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

const REMOTE_STATE: &str = "data \"terraform_remote_state\" \"other\" {\n  backend = \"http\"\n  config = { address = local.address }\n}";

fn locals(address: &str) -> String {
    format!("locals {{\n  address = \"{address}\"\n}}")
}

/// Seen: an accepted remote state takes its address from a local; an agent changes the local and plans.
#[test]
fn nothing_is_sent_by_a_plan_that_nobody_looked_at() {
    if !TERRAFORM.is_available() {
        return;
    }
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let listener = Listener::start();
    let mut command = serving(&home, &workspace);
    command.args(["--mode", "guarded", "--standing-approval", "diagram,terraform-plan"]);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    let mut client = Client::connect(&home, &workspace).unwrap();
    let Endpoint { url, token } = Endpoint::of(&home, &workspace);
    let call = |tool: &str, arguments: Value| {
        let (_, answer) =
            post(&url, Some(&token), "tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    };
    // Without anything that sends, the approval covers a plan.
    add_data(&mut client, "plain");
    let plain = call("run_terraform", json!({ "command": "plan", "waitSeconds": 60 }));
    assert_eq!(plain["data"]["success"], true, "{plain}");
    add_verbatim(&mut client, "own", &locals(&listener.address));
    add_verbatim(&mut client, "other", REMOTE_STATE);
    let text = locals(&format!("{}/${{filebase64(\"/etc/passwd\")}}", listener.address));
    let changed = call(
        "update_resource",
        json!({ "instanceId": "own", "properties": { "text": text }, "submit": true, "title": "A local" }),
    );
    assert_eq!(changed["data"]["status"], "accepted", "the approval covers the diagram: {changed}");
    for arguments in [
        json!({ "command": "plan", "waitSeconds": 0 }),
        json!({ "command": "init", "waitSeconds": 0 }),
        json!({ "command": "apply", "confirmed": true, "waitSeconds": 0 }),
    ] {
        let waits = call("run_terraform", arguments);
        assert_eq!(waits["error"]["code"], "AWAITING_REVIEW", "{waits}");
    }
    // The apply is not planned either: a person has to press.
    let mut list = home.command();
    list.args(["review", "list", "--json", "-w"]).arg(&workspace);
    let listed = support::home::finished(list).data();
    let apply =
        listed.as_array().unwrap().iter().find(|one| one["act"]["run"]["operation"] == "apply").unwrap();
    let reason = wait_for("the request to say why", || {
        let mut show = home.command();
        show.args(["review", "show", &apply["number"].to_string(), "--json", "-w"]).arg(&workspace);
        let plan = support::home::finished(show).data()["plan"].clone();
        plan["state"]["needed"]["reason"].as_str().map(str::to_owned)
    });
    assert!(
        reason.contains("data terraform_remote_state other") && reason.contains("Press Plan"),
        "{reason}"
    );
    let mut accept = home.command();
    accept.args(["review", "accept", &apply["number"].to_string(), "-w"]).arg(&workspace);
    if let Some(reviewer) = TerminalFixture::open(&accept) {
        let refused = reviewer.end();
        assert!(refused.code != Some(0) && refused.out.contains("cannot be accepted yet"), "{refused:?}");
        assert!(!refused.out.contains("Code: ") && !refused.out.contains("Type y"), "{refused:?}");
    }
    assert_eq!(running.stop().code, Some(0));
    assert_eq!(listener.heard(), Vec::<String>::new(), "nothing was sent");
}

// ---- kills -------------------------------------------------------------------------------------------------------------

const KILLS: usize = 25;

/// What an agent was told: proposal to revision.
type Told = BTreeMap<String, u64>;

/// What `draftboard review list` shows, by number.
fn listed(desk: &ReviewFixture) -> Vec<u64> {
    let data = support::home::finished({
        let mut list = desk.command(&["list", "--json"]);
        list.stdin(Stdio::null());
        list
    })
    .data();
    data.as_array().unwrap().iter().map(|brief| brief["number"].as_u64().unwrap()).collect()
}

#[test]
fn the_terminal_lists_the_gravest_first_and_takes_a_side_effect_only_with_its_cause() {
    let Some(desk) = ReviewFixture::new("blank") else { return };
    let mut client = desk.client();
    let commands = json!([
        {"addBoard": {"kind": "infrastructure", "title": "Cloud"}},
        {"addNode": {"board": "cloud", "type": "aws/networking/vpc", "name": "net"}},
        {"addNode": {"board": "cloud", "type": "aws/networking/subnet", "parent": "net", "name": "a"}},
        {"addNode": {"board": "cloud", "type": "aws/networking/subnet", "parent": "net", "name": "b"}},
        {"addNode": {"board": "cloud", "type": "aws/compute/alb", "name": "front"}},
        {"updateNode": {"node": "front", "references": {"subnet_ids": ["a", "b"]}}}
    ]);
    client
        .request(json!({ "runCommand": { "command": {"batch": {"commands": commands}} } }))
        .unwrap()
        .unwrap();
    let mut agent = Agent::greeted(&desk.home, &desk.workspace, Era::Handshake, &[]);
    propose(&mut agent, &["first"], "A note");
    propose(&mut agent, &["second"], "Another note");
    let remove = json!({"name": "remove_resource", "arguments": {"instanceId": "a"}});
    let removed = agent.ask(1, "tools/call", remove);
    assert_eq!(removed["result"]["structuredContent"]["ok"], true, "{removed}");
    let submit =
        json!({"name": "submit_proposal", "arguments": {"title": "Tidy up", "rationale": "Because"}});
    let submitted = agent.ask(2, "tools/call", submit);
    assert_eq!(submitted["result"]["structuredContent"]["data"]["status"], "submitted", "{submitted}");

    assert_eq!(listed(&desk), [3, 1, 2], "the removal first, then the oldest");
    let own = agent.ask(3, "tools/call", json!({"name": "list_proposals", "arguments": {}}));
    let own = own["result"]["structuredContent"]["data"]["proposals"].as_array().unwrap().clone();
    let own: Vec<u64> = own.iter().map(|brief| brief["number"].as_u64().unwrap()).collect();
    assert_eq!(own, [3, 1, 2], "an agent sees its own in the same order");

    let shown = support::home::finished({
        let mut show = desk.command(&["show", "3", "--json"]);
        show.stdin(Stdio::null());
        show
    })
    .data();
    let elements = shown["elements"].as_array().unwrap();
    let effect = elements.iter().find(|element| !element["effectOf"].as_array().unwrap().is_empty()).unwrap();
    let id = effect["subject"].as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
    let refused = desk.reviewer(&["accept", "3", "--only", &id]).end();
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.out.contains("is a side effect of removing"), "{refused:?}");
    // Each removal is confirmed by itself, with what goes because of it; a no decides nothing.
    let mut unsure = desk.reviewer(&["accept", "3"]);
    let asked = unsure.wait_for("Type y to confirm");
    assert!(asked.contains("Confirm 1 of ") && asked.contains("  side effect: "), "{asked}");
    unsure.write("remove");
    let stopped = unsure.end();
    assert!(stopped.code != Some(0) && stopped.out.contains("was not accepted"), "{stopped:?}");
    let removals: Vec<&Value> = elements
        .iter()
        .filter(|element| {
            element["destructive"] == true && element["effectOf"].as_array().unwrap().is_empty()
        })
        .collect();
    let accepted = desk.decide(&["accept", "3"]);
    assert!(accepted.out.contains(&format!("Confirm {0} of {0}", removals.len())), "{accepted:?}");
    assert!(!desk.names().contains("a"));
}

fn serve_approved(home: &HomeFixture, workspace: &Path) -> Running {
    let mut command = serving(home, workspace);
    command.args(["--mode", "guarded", "--standing-approval", "diagram"]);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    running
}

/// Accepting is one transaction: the operation, the proposal's end and the line of the audit, all of them or none.
#[test]
fn a_kill_while_proposals_are_accepted_leaves_each_of_them_accepted_once_or_not_at_all() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let mut random = RandomSource::from_environment_or_clock();
    let mut told = Told::new();
    let mut asked = 0;
    for _ in 0..KILLS {
        let mut running = serve_approved(&home, &workspace);
        check(&home, &workspace, &told);
        let Endpoint { url, token } = Endpoint::of(&home, &workspace);
        let pause = Duration::from_micros(random.below(60_000) as u64);
        std::thread::scope(|scope| {
            let working = scope.spawn(|| {
                let mut done = Told::new();
                loop {
                    asked += 1;
                    let arguments = json!({
                        "typeId": "notes/sticky", "name": format!("n{asked}"), "submit": true, "title": format!("note {asked}")
                    });
                    let call = json!({"name": "add_resource", "arguments": arguments});
                    // Killed in the middle of an exchange.
                    let Ok((200, answer)) = try_post(&url, Some(&token), "tools/call", call) else {
                        return done;
                    };
                    let data = &answer["result"]["structuredContent"]["data"];
                    assert_eq!(data["status"], "accepted", "{answer}");
                    let id = data["proposal"]["id"].as_str().unwrap().to_owned();
                    done.insert(id, data["revision"].as_u64().unwrap());
                }
            });
            // A random moment of the kill is what is tried; nothing is waited for.
            std::thread::sleep(pause);
            running.kill();
            told.append(&mut working.join().unwrap());
        });
    }
    let running = serve_approved(&home, &workspace);
    let (accepted, submitted) = check(&home, &workspace, &told);
    assert_eq!(running.stop().code, Some(0));
    let verified = home.run(&["audit", "verify", "-w", workspace.to_str().unwrap()]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(told.len() > KILLS / 2, "the trial did some work");
    assert!(
        (told.len()..=submitted).contains(&accepted),
        "{} acceptances told, {accepted} on record of {submitted} submitted",
        told.len()
    );
    home.assert_deserted();
}

fn check(home: &HomeFixture, workspace: &Path, told: &Told) -> (usize, usize) {
    let mut client = Client::connect(home, workspace).unwrap();
    let entries = audit_all(&mut client);
    let document = client.request(json!({ "readDocument": {} })).unwrap().unwrap();
    let log = client.request(json!({ "readLog": {"limit": 1_000}})).unwrap().unwrap();
    let mut operations = BTreeMap::new();
    for entry in log.as_array().unwrap() {
        let again = operations.insert(entry["revision"].as_u64().unwrap(), entry["summary"].clone());
        assert_eq!(again, None, "one revision twice");
    }
    let mut accepted: Told = BTreeMap::new();
    let mut submitted = BTreeSet::new();
    for entry in &entries {
        let Some(proposal) = &entry.proposal else { continue };
        let id = proposal.id.to_string();
        match entry.event {
            AuditEvent::Submit => assert!(submitted.insert(id), "submitted twice"),
            AuditEvent::Accept => {
                assert!(submitted.contains(&id), "accepted without having been submitted");
                assert_eq!(accepted.insert(id, entry.revision.unwrap().0), None, "accepted twice");
            }
            AuditEvent::Begin => {}
            other => panic!("{other:?} in the audit"),
        }
    }
    let revisions: BTreeSet<u64> = accepted.values().copied().collect();
    assert_eq!(revisions.len(), accepted.len(), "two proposals became one operation");
    assert_eq!(
        revisions,
        operations.keys().copied().collect(),
        "each operation has its acceptance, and the other way round"
    );
    assert_eq!(document["nodes"].as_array().unwrap().len(), accepted.len(), "each acceptance is there once");
    for (id, revision) in told {
        assert_eq!(accepted.get(id), Some(revision), "what was told is on record");
    }
    (accepted.len(), submitted.len())
}

fn audit_all(client: &mut Client) -> Vec<AuditEntry> {
    let (mut all, mut after): (Vec<AuditLine>, u64) = (Vec::new(), 0);
    loop {
        let answer =
            client.request(json!({ "readAudit": {"after": after, "limit": 1_000}})).unwrap().unwrap();
        let mut lines: Vec<AuditLine> = serde_json::from_value(answer).unwrap();
        let Some(last) = lines.last() else { break };
        after = last.number;
        all.append(&mut lines);
    }
    journal::check_audit(None, &all).unwrap();
    all.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}

// ---- the desktop -------------------------------------------------------------------------------------------------------

fn bus(home: &HomeFixture) -> (KilledOnDrop, String) {
    let config = home.path("bus.conf");
    let socket = home.path("run/bus");
    let text = format!(
        "<busconfig><listen>unix:path={}</listen><auth>EXTERNAL</auth><policy context=\"default\"><allow send_destination=\"*\"/>\
         <allow own=\"*\"/><allow eavesdrop=\"true\"/></policy></busconfig>",
        socket.display()
    );
    fs::write(&config, text).unwrap();
    let mut command = Command::new("dbus-daemon");
    command.arg("--nofork").arg(format!("--config-file={}", config.display()));
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the bus", || socket.exists());
    (KilledOnDrop(child), format!("unix:path={}", socket.display()))
}

/// Without a window a proposal would wait unseen: `serve` says so where people look, and not where scripts read.
#[test]
fn serve_says_that_a_proposal_waits_and_how_to_review_it() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let guarded = || {
        let mut command = serving(&home, &workspace);
        command.args(["--mode", "guarded"]);
        let running = Running::start(command);
        let ready: Value = serde_json::from_str(&running.line().unwrap()).unwrap();
        assert_eq!(ready["ready"], true);
        running
    };
    let running = guarded();
    let mut agent = Agent::greeted(&home, &workspace, Era::Handshake, &[]);
    propose(&mut agent, &["first"], "One note\u{1b}[31m");
    propose(&mut agent, &["second"], "Another note");
    let ended = running.stop();
    assert_eq!(ended.out, "", "nothing but the first line: {ended:?}");
    let review = |number: u32| format!("Review: draftboard review show {number} -w {}", workspace.display());
    let lines: Vec<&str> = ended.err.lines().filter(|line| line.contains("Proposal ")).collect();
    let [first, second] = lines[..] else { panic!("{ended:?}") };
    assert!(
        first.contains("Proposal 1 by test (unverified): One note\\u{1b}") && first.ends_with(&review(1)),
        "{first}"
    );
    assert!(second.contains("2 proposals wait for review") && second.ends_with(&review(2)), "{second}");
    let again = guarded().stop();
    assert!(again.err.contains("2 proposals wait for review from before"), "{again:?}");
}

#[test]
fn the_desktop_tells_a_person_that_an_apply_is_asked_for() {
    let home = HomeFixture::new();
    if !MESSAGE_BUS.is_available() {
        return;
    }
    let (_daemon, address) = bus(&home);
    let mut monitor = Command::new("dbus-monitor");
    monitor.args(["--address", &address, "interface='org.freedesktop.Notifications'"]);
    let mut monitor = monitor.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut out, heard) = (monitor.stdout.take().unwrap(), Arc::new(Mutex::new(String::new())));
    let _monitor = KilledOnDrop(monitor);
    let shown = Arc::clone(&heard);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = out.read(&mut bytes) {
            shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    });
    // It says hello before it listens to others.
    wait_for("the monitor", || heard.lock().unwrap().contains("NameAcquired").then_some(()));
    let workspace = home.workspace("workspace", "blank");
    let mut command = serving(&home, &workspace);
    command.args(["--mode", "guarded"]).env("DBUS_SESSION_BUS_ADDRESS", &address);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    let Endpoint { url, token } = Endpoint::of(&home, &workspace);
    let call = |command: &str| {
        let arguments = json!({"command": command, "confirmed": true, "waitSeconds": 0});
        let (_, answer) =
            post(&url, Some(&token), "tools/call", json!({"name": "run_terraform", "arguments": arguments}));
        let code = answer["result"]["structuredContent"]["error"]["code"].clone();
        assert_eq!(code, Value::from("AWAITING_REVIEW"), "nobody shows it, and all goes on: {answer}");
    };
    call("plan");
    call("apply");
    wait_for("the notification", || {
        heard.lock().unwrap().contains("Nothing changes before you decide").then_some(())
    });
    let heard = heard.lock().unwrap().clone();
    assert!(heard.contains("asks to run terraform apply on infrastructure"), "{heard}");
    assert!(!heard.contains("terraform plan"), "a plan changes nothing: {heard}");
    assert_eq!(running.stop().code, Some(0));
}

// ---- what a clone or an agent hides from a plan that nobody looks at --------------------------------------------------------

/// A server under a standing approval that covers plans, and an agent of it.
struct Unwatched {
    home: HomeFixture,
    workspace: std::path::PathBuf,
    running: Running,
    listener: Listener,
}

impl Unwatched {
    fn start() -> Option<Self> {
        if !TERRAFORM.is_available() {
            return None;
        }
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        let mut command = serving(&home, &workspace);
        command.args(["--mode", "guarded", "--standing-approval", "diagram,terraform-plan"]);
        let running = Running::start(command);
        assert!(running.line().unwrap().contains("ready"));
        let mut client = Client::connect(&home, &workspace).unwrap();
        add_data(&mut client, "plain");
        let listener = Listener::start();
        let unwatched = Self { home, workspace, running, listener };
        for command in ["init", "plan"] {
            let plain = unwatched.run(command, 60);
            assert_eq!(plain["data"]["success"], true, "the approval covers {command}: {plain}");
        }
        Some(unwatched)
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        let path = self.workspace.join("terraform/infrastructure").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let Endpoint { url, token } = Endpoint::of(&self.home, &self.workspace);
        let (_, answer) =
            post(&url, Some(&token), "tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    }

    fn run(&self, command: &str, seconds: u32) -> Value {
        self.call(
            "run_terraform",
            json!({ "command": command, "board": "infrastructure", "confirmed": true, "waitSeconds": seconds }),
        )
    }

    /// Neither the approval nor main's own plan of an apply runs anything; gives why a person has to.
    fn waits(&self) -> String {
        for command in ["plan", "init", "validate", "apply"] {
            let waits = self.run(command, 0);
            assert_eq!(waits["error"]["code"], "AWAITING_REVIEW", "{command}: {waits}");
        }
        let review = |arguments: &[&str]| {
            let mut command = self.home.command();
            command.arg("review").args(arguments).args(["--json", "-w"]).arg(&self.workspace);
            support::home::finished(command).data()
        };
        let listed = review(&["list"]);
        let is_apply = |one: &&Value| one["act"]["run"]["operation"] == "apply";
        let number = listed.as_array().unwrap().iter().find(is_apply).unwrap()["number"].to_string();
        let reason = wait_for("the request to say why", || {
            let plan = review(&["show", &number])["plan"].clone();
            plan["state"]["needed"]["reason"].as_str().map(str::to_owned)
        });
        assert!(reason.contains("Press Plan"), "{reason}");
        reason
    }

    fn end(self) {
        assert_eq!(self.running.stop().code, Some(0));
        assert_eq!(self.listener.heard(), Vec::<String>::new(), "nothing was sent");
    }
}

/// Seen: Terraform ends an empty heredoc where another reader goes on, and executes the block behind it.
#[test]
fn an_empty_heredoc_hides_nothing_from_a_plan_that_nobody_looks_at() {
    let Some(unwatched) = Unwatched::start() else { return };
    let sends = format!("{}\n{REMOTE_STATE}\n", locals(&unwatched.listener.address));
    let expression = format!("<<EOT\nEOT\n}}\n{sends}locals {{\n  other = <<EOT\ntext\nEOT\n");
    let verbatim = format!("locals {{\n  note = {expression}}}\n");
    for (kind, properties) in [
        ("terraform/core/terraform_data", json!({ "input": { "$hcl": expression } })),
        ("terraform/core/verbatim", json!({ "text": verbatim })),
    ] {
        let added = unwatched.call(
            "add_resource",
            json!({
                "typeId": kind, "board": "infrastructure", "instanceId": "hides", "name": "hides",
                "properties": properties, "submit": true, "title": "A note"
            }),
        );
        // Where it is taken at all, nothing is written of it and nothing is run.
        if added["ok"] == true {
            let plan = unwatched.run("plan", 60);
            assert_ne!(plan["data"]["success"], true, "{kind}: {plan}");
            let mut client = Client::connect(&unwatched.home, &unwatched.workspace).unwrap();
            client
                .request(json!({ "runCommand": { "command": {"remove": {"nodes": ["hides"]}} } }))
                .unwrap()
                .unwrap();
        }
    }
    fs::write(unwatched.file("own.tf"), verbatim).unwrap();
    let reason = unwatched.waits();
    assert!(reason.contains("own.tf"), "{reason}");
    unwatched.end();
}

/// Seen: a link to a configuration file is judged by nobody and read by Terraform.
#[test]
fn a_link_to_configuration_is_refused_in_every_run() {
    let Some(unwatched) = Unwatched::start() else { return };
    let elsewhere = unwatched.home.path("elsewhere.txt");
    fs::write(&elsewhere, format!("{}\n{REMOTE_STATE}\n", locals(&unwatched.listener.address))).unwrap();
    std::os::unix::fs::symlink(&elsewhere, unwatched.file("linked.tf")).unwrap();
    for command in ["plan", "init", "validate"] {
        let refused = unwatched.run(command, 60).to_string();
        assert!(refused.contains("linked.tf") && refused.contains("link"), "{command}: {refused}");
    }
    // A person's run as well.
    let mut plan = unwatched.home.command();
    plan.args(["terraform", "plan", "-w"]).arg(&unwatched.workspace);
    let refused = support::home::finished(plan);
    assert!(refused.code != Some(0) && refused.err.contains("linked.tf"), "{refused:?}");
    unwatched.end();
}

/// Seen: a provider and a list of modules that came with a clone were executed.
#[test]
fn what_a_clone_has_initialised_runs_only_by_a_persons_press() {
    let Some(unwatched) = Unwatched::start() else { return };
    let platform = "registry.terraform.io/hashicorp/null/3.2.0/linux_amd64/terraform-provider-null_v3.2.0";
    let binary = unwatched.file(&format!(".terraform/providers/{platform}"));
    let ran = unwatched.home.path("ran");
    fs::write(&binary, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(unwatched.waits().contains("not initialised here"));
    fs::remove_dir_all(unwatched.file(".terraform/providers")).unwrap();
    fs::write(unwatched.file(".terraform/modules/modules.json"), "{\"Modules\": []}").unwrap();
    let waits = unwatched.run("plan", 0);
    assert_eq!(waits["error"]["code"], "AWAITING_REVIEW", "{waits}");
    // A person's init makes the folder theirs.
    let mut init = unwatched.home.command();
    init.args(["terraform", "init", "-w"]).arg(&unwatched.workspace);
    let done = support::home::finished(init);
    assert_eq!(done.code, Some(0), "{done:?}");
    let plan = unwatched.run("plan", 60);
    assert_eq!(plan["data"]["success"], true, "{plan}");
    assert!(!ran.exists(), "nothing of the clone ran");
    unwatched.end();
}

/// Seen: the settings of a clone counted as the person's own choice.
#[test]
fn a_backend_that_a_clone_names_hears_nothing_by_itself() {
    let Some(unwatched) = Unwatched::start() else { return };
    let settings = unwatched.workspace.join("draftboard.toml");
    let mut text = fs::read_to_string(&settings).unwrap();
    text.push_str(&format!(
        "\n[infrastructure.backend]\ntype = \"http\"\nconfig = {{ address = \"{}/state\" }}\n",
        unwatched.listener.address
    ));
    fs::write(&settings, text).unwrap();
    let reason = unwatched.waits();
    assert!(reason.contains("backend http"), "{reason}");
    unwatched.end();
}
