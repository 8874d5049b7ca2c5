//! Reviewing without a window: `draftboard review` on a real terminal with the code that only the terminal of `serve` shows,
//! `SIGKILL` while decisions are made, and the desktop's notification.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use shared_protocol::review::{AuditEntry, AuditEvent, AuditLine};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};
use support::{
    chance::Chance,
    client::Client,
    desk::Desk,
    home::{Home, Running, serving},
    mcp::{Agent, Endpoint, Era},
    over_http::{post, try_post},
    wait_for,
};

// ---- at terminals ----------------------------------------------------------------------------------------------------

/// The audit, whose chain holds.
fn audit(client: &mut Client) -> Vec<AuditEntry> {
    let answer = client.request(json!({"audit": {"after": 0, "limit": 1_000}})).unwrap().unwrap();
    let lines: Vec<AuditLine> = serde_json::from_value(answer["audit"].clone()).unwrap();
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
    let Some(desk) = Desk::new("blank") else { return };
    let mut agent = Agent::greeted(&desk.home, &desk.workspace, Era::Handshake, &[]);
    let ids = propose(&mut agent, &["first", "second", "third"], "Three notes");
    propose(&mut agent, &["fourth"], "A fourth");

    let list = desk.reviewer(&["list"]).end();
    assert!(list.code == Some(0) && list.out.contains("Three notes") && list.out.contains("+3"), "{list:?}");
    let show = desk.reviewer(&["show", "1"]).end();
    assert!(show.out.contains("\u{1b}[32m+ ") && show.out.contains("first"), "additions are green: {show:?}");
    assert!(show.out.contains("The agent says:") && show.out.contains("| Because"), "{show:?}");

    // A script decides nothing, with or without a code.
    let mut scripted = desk.command(&["accept", "1"]);
    let refused = support::home::finished({
        scripted.stdin(Stdio::null());
        scripted
    });
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("a person at a terminal"), "{refused:?}");
    assert!(!desk.serve.screen().contains("Code (holds"), "no code was shown for it");

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
    assert!(no.end().out.contains("Proposal 2 is rejected"));
    let empty = desk.reviewer(&["list"]).end();
    assert!(empty.out.contains("Nothing waits"), "{empty:?}");

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

// ---- kills -------------------------------------------------------------------------------------------------------------

const KILLS: usize = 25;

/// What an agent was told: proposal to revision.
type Told = BTreeMap<String, u64>;

/// What `draftboard review list` shows, by number.
fn listed(desk: &Desk) -> Vec<u64> {
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
    let Some(desk) = Desk::new("blank") else { return };
    let mut client = desk.client();
    let commands = json!([
        {"addBoard": {"kind": "infrastructure", "title": "Cloud", "name": "cloud"}},
        {"addNode": {"board": "cloud", "type": "aws/networking/vpc", "name": "net"}},
        {"addNode": {"board": "cloud", "type": "aws/networking/subnet", "parent": "net", "name": "a"}},
        {"addNode": {"board": "cloud", "type": "aws/networking/subnet", "parent": "net", "name": "b"}},
        {"addNode": {"board": "cloud", "type": "aws/compute/alb", "name": "front"}},
        {"updateNode": {"node": "front", "references": {"subnet_ids": ["a", "b"]}}}
    ]);
    client.request(json!({"run": {"batch": {"commands": commands}}})).unwrap().unwrap();
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
    assert!(refused.out.contains("changes only because"), "{refused:?}");
    desk.decide(&["accept", "3"]);
    assert!(!desk.names().contains("a"));
}

fn serve_approved(home: &Home, workspace: &Path) -> Running {
    let mut command = serving(home, workspace);
    command.args(["--mode", "guarded", "--standing-approval", "diagram"]);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    running
}

/// Accepting is one transaction: the operation, the proposal's end and the line of the audit, all of them or none.
#[test]
fn a_kill_while_proposals_are_accepted_leaves_each_of_them_accepted_once_or_not_at_all() {
    let home = Home::new();
    let workspace = home.workspace("workspace", "blank");
    let mut chance = Chance::seeded();
    let mut told = Told::new();
    let mut asked = 0;
    for _ in 0..KILLS {
        let mut running = serve_approved(&home, &workspace);
        check(&home, &workspace, &told);
        let Endpoint { url, token } = Endpoint::of(&home, &workspace);
        let pause = Duration::from_micros(chance.below(60_000) as u64);
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
    println!("{KILLS} kills, {} acceptances told, {accepted} on record of {submitted} submitted", told.len());
    assert!(told.len() > KILLS / 2, "the trial did some work");
    home.assert_deserted();
}

fn check(home: &Home, workspace: &Path, told: &Told) -> (usize, usize) {
    let mut client = Client::connect(home, workspace).unwrap();
    let entries = audit_all(&mut client);
    let document = client.request(json!("document")).unwrap().unwrap()["document"].clone();
    let log = client.request(json!({"log": {"limit": 1_000}})).unwrap().unwrap()["log"].clone();
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
        let answer = client.request(json!({"audit": {"after": after, "limit": 1_000}})).unwrap().unwrap();
        let mut lines: Vec<AuditLine> = serde_json::from_value(answer["audit"].clone()).unwrap();
        let Some(last) = lines.last() else { break };
        after = last.number;
        all.append(&mut lines);
    }
    journal::check_audit(None, &all).unwrap();
    all.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}

// ---- the desktop -------------------------------------------------------------------------------------------------------

fn bus(home: &Home) -> Option<(Child, String)> {
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
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    wait_for("the bus", || socket.exists().then_some(()));
    Some((child, format!("unix:path={}", socket.display())))
}

struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_desktop_tells_a_person_that_an_apply_is_asked_for() {
    let home = Home::new();
    let Some((daemon, address)) = bus(&home) else {
        println!("SKIPPED: dbus-daemon is not installed");
        return;
    };
    let _daemon = Ends(daemon);
    let mut monitor = Command::new("dbus-monitor");
    monitor.args(["--address", &address, "interface='org.freedesktop.Notifications'"]);
    let Ok(mut monitor) = monitor.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        println!("SKIPPED: dbus-monitor is not installed");
        return;
    };
    let (mut out, heard) = (monitor.stdout.take().unwrap(), Arc::new(Mutex::new(String::new())));
    let _monitor = Ends(monitor);
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
        heard.lock().unwrap().contains("Nothing runs before you decide").then_some(())
    });
    let heard = heard.lock().unwrap().clone();
    assert!(heard.contains("asks to run terraform apply on infrastructure"), "{heard}");
    assert!(!heard.contains("terraform plan"), "a plan changes nothing: {heard}");
    assert_eq!(running.stop().code, Some(0));
}
