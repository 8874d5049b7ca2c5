//! Spec bundles through the real executable: served by themselves over both transports and in both eras of the protocol,
//! from the command line, and in a workspace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use support::{
    client::{Client, ConnectionLost},
    home::{HomeFixture, Running},
    mcp::{Agent, Era},
    over_http::{Served, post},
};
use test_support::{RandomSource, wait_for};

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];
const THREAT: &str = "bundle/threats/THR-jam.yaml";
const THREAT_URI: &str = "bundle://parcel/entity/Threat/THR-jam";

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => fs::copy(entry.path(), to).map(drop).unwrap(),
        }
    }
}

fn bundle(at: PathBuf, name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("main-process/bundles/tests/fixtures/bundles");
    copy(&fixtures.join(name), &at);
    at
}

fn parcel(home: &HomeFixture) -> PathBuf {
    bundle(home.path("parcel"), "parcel")
}

fn serving(home: &HomeFixture, bundle: &Path, era: Era, capabilities: Value, arguments: &[&str]) -> Agent {
    let mut command = home.command();
    command.arg("mcp").arg("--bundle").arg(bundle).args(arguments);
    let mut agent = Agent::of(command, era);
    agent.capabilities = capabilities;
    agent.greet();
    agent
}

fn call(agent: &mut Agent, tool: &str, arguments: Value) -> Value {
    let answer = agent.ask("call", "tools/call", json!({"name": tool, "arguments": arguments}));
    let envelope = answer["result"]["structuredContent"].clone();
    assert_eq!(envelope["tool"], tool, "{answer}");
    assert_eq!(answer["result"]["isError"], json!(envelope["ok"] == false), "{answer}");
    envelope
}

fn retitle(title: &str) -> Value {
    json!({"dryRun": false, "changes": [
        {"operation": "update", "entityType": "Threat", "entityId": "THR-jam", "fieldPath": "title", "value": title}]})
}

#[test]
fn everything_is_offered_and_answers_in_both_eras() {
    for era in ERAS {
        let home = HomeFixture::new();
        let parcel = parcel(&home);
        let mut agent = serving(&home, &parcel, era, json!({}), &[]);
        let listed = |agent: &mut Agent, method: &str, key: &str| -> Vec<String> {
            let answer = agent.ask(method, method, json!({}));
            let items = answer["result"][key].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
            items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(listed(&mut agent, "tools/list", "tools").len(), 17);
        assert_eq!(listed(&mut agent, "prompts/list", "prompts").len(), 11);
        assert_eq!(listed(&mut agent, "resources/list", "resources"), ["bundles", "domain-knowledge"]);
        assert_eq!(listed(&mut agent, "resources/templates/list", "resourceTemplates").len(), 3);
        let found = call(&mut agent, "search_entities", json!({"query": "jam"}));
        assert_eq!(found["data"]["results"][0]["id"], "THR-jam", "{found}");
        assert!(found["meta"]["revision"].is_u64() && found["bundleId"] == "parcel", "{found}");
        let wrong = call(&mut agent, "read_entity", json!({"entityType": 7}));
        assert_eq!(wrong["error"]["code"], "BAD_REQUEST", "{wrong}");
        let read = agent.ask("read", "resources/read", json!({"uri": THREAT_URI}));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("THR-jam"), "{read}");
        let gone = agent.ask("gone", "resources/read", json!({"uri": "bundle://parcel/entity/Threat/none"}));
        assert!(gone["error"].is_object(), "{gone}");
        let prompt =
            json!({"name": "implement-requirement", "arguments": {"requirementId": "REQ-pickup-001"}});
        let prompt = agent.ask("prompt", "prompts/get", prompt);
        assert!(
            prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("REQ-pickup-001")
        );
        let failing = json!({"name": "implement-requirement", "arguments": {"requirementId": "none"}});
        assert!(agent.ask("failing", "prompts/get", failing)["error"].is_object());
        let typed = json!({"ref": {"type": "ref/prompt", "name": "implement-requirement"},
            "argument": {"name": "requirementId", "value": "REQ-p"}});
        let completed = agent.ask("complete", "completion/complete", typed);
        assert_eq!(completed["result"]["completion"]["values"], json!(["REQ-pickup-001", "REQ-pickup-002"]));
        let typed = json!({"ref": {"type": "ref/resource", "uri": "bundle://{bundleId}/entity/{type}/{id}"},
            "argument": {"name": "id", "value": "THR-"}, "context": {"arguments": {"bundleId": "parcel", "type": "Threat"}}});
        let completed = agent.ask("complete", "completion/complete", typed);
        assert_eq!(
            completed["result"]["completion"]["values"],
            json!(["THR-guess", "THR-jam"]),
            "{completed}"
        );
        let (status, rest, complaints) = agent.end();
        assert!(status.success() && rest.is_empty(), "{rest:?} {complaints}");
    }
}

#[test]
fn an_edit_by_another_program_is_told_and_seen() {
    for era in ERAS {
        let home = HomeFixture::new();
        let parcel = parcel(&home);
        let mut agent = serving(&home, &parcel, era, json!({}), &[]);
        agent.watch(THREAT_URI);
        // Another entity changes first: that is no news of this one.
        let other = parcel.join("bundle/threats/THR-guess.yaml");
        let text = fs::read_to_string(&other).unwrap().replace("title:", "title: Other #");
        fs::write(&other, text).unwrap();
        wait_for("the other edit to be seen", || {
            let read = call(&mut agent, "read_entity", json!({"entityType": "Threat", "id": "THR-guess"}));
            read.to_string().contains("Other").then_some(())
        });
        let file = parcel.join(THREAT);
        let text = fs::read_to_string(&file).unwrap().replace("title:", "title: Theirs #");
        fs::write(&file, text).unwrap();
        agent.hear_update(THREAT_URI);
        let updates =
            agent.rest().iter().filter(|said| said["method"] == "notifications/resources/updated").count();
        assert_eq!(updates, 0, "one edit of it is one notice");
        let read = call(&mut agent, "read_entity", json!({"entityType": "Threat", "id": "THR-jam"}));
        assert!(read.to_string().contains("Theirs"), "{read}");
    }
}

#[test]
fn writing_needs_a_persons_approval_and_deleting_one_by_name() {
    let home = HomeFixture::new();
    let parcel = parcel(&home);
    let before = fs::read_to_string(parcel.join(THREAT)).unwrap();
    let delete = json!({"dryRun": false, "changes": [{"operation": "delete", "entityType": "Threat", "entityId": "THR-jam"}]});
    for arguments in [
        &[][..],
        &["--mode", "guarded"],
        &["--standing-approval", "bundles"],
        &["--mode", "guarded", "--standing-approval", "diagram:destructive"],
    ] {
        let mut agent = serving(&home, &parcel, Era::Handshake, json!({}), arguments);
        let refused = call(&mut agent, "apply_changes", retitle("Mine"));
        assert_eq!(refused["error"]["code"], "ACTUATION_DISABLED", "{arguments:?} {refused}");
        let mut dry = retitle("Mine");
        dry["dryRun"] = json!(true);
        assert_eq!(call(&mut agent, "apply_changes", dry)["ok"], true, "a dry run is always possible");
    }
    assert_eq!(fs::read_to_string(parcel.join(THREAT)).unwrap(), before);
    let approved = ["--mode", "guarded", "--standing-approval", "bundles"];
    let mut agent = serving(&home, &parcel, Era::Stateless, json!({}), &approved);
    let applied = call(&mut agent, "apply_changes", retitle("Mine"));
    assert_eq!(applied["data"]["modifiedFiles"], json!([THREAT]), "{applied}");
    assert!(fs::read_to_string(parcel.join(THREAT)).unwrap().contains("Mine"));
    let read = call(&mut agent, "read_entity", json!({"entityType": "Threat", "id": "THR-jam"}));
    assert_eq!(read["data"]["title"], "Mine", "{read}");
    let refused = call(&mut agent, "apply_changes", delete.clone());
    assert_eq!(refused["error"]["code"], "ACTUATION_DISABLED", "{refused}");
    let approved = ["--mode", "guarded", "--standing-approval", "bundles:destructive"];
    let mut agent = serving(&home, &parcel, Era::Handshake, json!({}), &approved);
    assert_eq!(call(&mut agent, "apply_changes", delete)["ok"], true);
    assert!(!parcel.join(THREAT).exists());
}

#[test]
fn a_critique_asks_the_clients_model_in_the_way_of_its_era() {
    const REPLY: &str = r#"{"verdict":"NEEDS_WORK","overallScore":6,"findings":[
        {"score":8,"category":"clarity","entityId":"REQ-pickup-001","issue":"vague"},
        {"score":2,"category":"clarity","issue":"small"}]}"#;
    let reply =
        json!({"role": "assistant", "content": {"type": "text", "text": REPLY}, "model": "test-model"});
    for era in ERAS {
        let home = HomeFixture::new();
        let parcel = parcel(&home);
        let mut agent = serving(&home, &parcel, era, json!({}), &[]);
        let refused = call(&mut agent, "critique_bundle", json!({}));
        assert_eq!(refused["error"]["code"], "UNSUPPORTED_CAPABILITY", "{refused}");
        drop(agent);
        let mut agent = serving(&home, &parcel, era, json!({"sampling": {}}), &[]);
        let asked = json!({"name": "critique_bundle", "arguments": {"threshold": 5}});
        let answer = match era {
            Era::Handshake => {
                agent.request("critique", "tools/call", asked);
                let request =
                    agent.hear("a question to the model", |said| said["method"] == "sampling/createMessage");
                let text = &request["params"]["messages"][0]["content"]["text"];
                assert!(text.as_str().unwrap().contains("parcel"), "{request}");
                agent.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": reply}));
                agent.hear("the critique", |said| said["id"] == "critique")
            }
            Era::Stateless => {
                let first = agent.ask("critique", "tools/call", asked.clone());
                assert_eq!(first["result"]["resultType"], "input_required", "{first}");
                let requests = first["result"]["inputRequests"].as_object().unwrap();
                let (key, request) = requests.iter().next().unwrap();
                assert_eq!(request["method"], "sampling/createMessage");
                let mut again = asked;
                again["inputResponses"] = json!({ key.clone(): reply });
                agent.ask("again", "tools/call", again)
            }
        };
        let envelope = &answer["result"]["structuredContent"];
        assert_eq!(envelope["data"]["verdict"], "NEEDS_WORK", "{era:?} {answer}");
        assert_eq!(envelope["data"]["filteredOut"], 1);
        assert_eq!(envelope["meta"]["model"], "test-model");
    }
}

#[test]
fn bundles_are_served_over_http_to_whoever_has_the_token() {
    let home = HomeFixture::new();
    let parcel = parcel(&home);
    let served = Served::start(&home, &["--bundle", parcel.to_str().unwrap()]);
    assert!(!served.line.contains(&served.token), "a secret is not printed");
    let asked = json!({"name": "list_bundles", "arguments": {}});
    assert_eq!(post(&served.url, None, "tools/call", asked.clone()).0, 401);
    let (status, answer) = post(&served.url, Some(&served.token), "tools/call", asked);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["data"]["bundles"][0]["id"], "parcel", "{answer}");
    let discovery = served.discovery.clone();
    served.stop();
    assert!(!discovery.exists());
}

#[test]
fn the_command_line_checks_lists_reads_and_searches() {
    let home = HomeFixture::new();
    let (parcel, minimal) = (parcel(&home), bundle(home.path("minimal"), "minimal"));
    let broken = bundle(home.path("broken"), "broken");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| home.run(arguments);
    let checked = run(&["bundle", "validate", &text(&minimal)]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.starts_with("WARNING: Orphan entity: Note \"N-1\""), "{checked:?}");
    let checked = run(&["bundle", "validate", &text(&broken), "--json"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.json()["data"].as_array().unwrap().iter().any(|finding| finding["code"] == "broken-ref"));
    let missing = run(&["bundle", "validate", &text(&home.path("nowhere"))]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.out.is_empty() && missing.err.contains("no bundle could be loaded"), "{missing:?}");
    let covered = run(&["bundle", "coverage", &text(&parcel)]);
    assert!(covered.out.contains("Feature->ADR:governedByAdrIds: 2/3 targets covered (67%)"), "{covered:?}");
    let listed = run(&["bundle", "list", "--type", "Threat", &text(&parcel), "--json"]);
    assert_eq!(listed.data().as_array().unwrap().len(), 2);
    let read = run(&["bundle", "read", "THR-jam", &text(&parcel)]);
    assert_eq!(read.out, fs::read_to_string(parcel.join(THREAT)).unwrap());
    let similar = run(&["bundle", "read", "THR-jma", &text(&parcel)]);
    assert_eq!(similar.code, Some(1));
    assert!(similar.err.contains("THR-jam"), "{similar:?}");
    let found = run(&["bundle", "search", "jam", &text(&parcel), "--limit", "1"]);
    assert!(found.out.contains("Threat THR-jam"), "{found:?}");
    assert_eq!(run(&["bundle", "read"]).code, Some(2));
    assert_eq!(run(&["bundle", "validate", &text(&parcel), "--config", "x"]).code, Some(2));
    assert_eq!(run(&["mcp", "--standing-approval", "bundles"]).code, Some(1));
    assert_eq!(run(&["mcp", "--bundle", &text(&parcel), "--standing-approval", "everything"]).code, Some(2));
    // Those of a workspace.
    let workspace = home.workspace("workspace", "blank");
    bundle(workspace.join("specs/parcel"), "parcel");
    let listed = run(&["bundle", "list", "--type", "Threat", "-w", &text(&workspace)]);
    assert!(listed.out.contains("Threat THR-guess"), "{listed:?}");
}

#[test]
fn agents_see_the_bundles_of_a_workspace_and_cannot_write() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    bundle(workspace.join("specs/parcel"), "parcel");
    let _main = Running::serve(&home, &workspace);
    let mut agent = Agent::greeted(&home, &workspace, Era::Handshake, &[]);
    let context = call(&mut agent, "get_workbench_context", json!({}));
    assert_eq!(context["data"]["bundles"][0]["id"], "parcel", "{context}");
    let found = call(&mut agent, "search", json!({"query": "jam", "kind": "entities"}));
    assert_eq!(found["data"][0]["id"], "THR-jam", "{found}");
    let listed = call(&mut agent, "list_bundles", json!({}));
    assert_eq!(listed["data"]["bundles"][0]["path"], "specs/parcel", "no more than the workspace is told");
    let refused = call(&mut agent, "apply_changes", retitle("Mine"));
    assert_eq!(refused["error"]["code"], "ACTUATION_DISABLED", "{refused}");
    agent.watch(THREAT_URI);
    let file = workspace.join("specs/parcel").join(THREAT);
    let text = fs::read_to_string(&file).unwrap().replace("title:", "title: Theirs #");
    fs::write(&file, text).unwrap();
    agent.hear_update(THREAT_URI);
    let read = call(&mut agent, "read_entity", json!({"entityType": "Threat", "id": "THR-jam"}));
    assert!(read.to_string().contains("Theirs") && read["meta"]["revision"] == 1, "{read}");
}

const KILLS: usize = 100;
const TOGETHER: usize = 50;
/// The longest that a change works before it is killed.
const ROUND_MS: usize = 60;

#[test]
fn a_change_of_fifty_entities_in_a_workspace_is_killed_and_is_there_whole_or_not_at_all() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let notes = bundle(workspace.join("specs/minimal"), "minimal").join("notes");
    let file = |number: usize| notes.join(format!("k{number}.yaml"));
    for number in 0..TOGETHER {
        fs::write(file(number), format!("key: K-{number}\ntitle: round 0 # kept\n")).unwrap();
    }
    let change = |round: usize| {
        let changes = (0..TOGETHER).map(|number| {
            json!({"operation": "update", "entityType": "Note", "entityId": format!("K-{number}"), "fieldPath": "title",
                "value": format!("round {round}")})
        });
        let changes = Value::Array(changes.collect()).to_string();
        json!({"changeBundle": {"bundle": "minimal", "changes": changes}})
    };
    let (mut random, mut acknowledged, mut killed_midway) = (RandomSource::new(7), 0, 0);
    for round in 1..=KILLS {
        let mut main = Running::serve(&home, &workspace);
        let texts: Vec<String> =
            (0..TOGETHER).map(|number| fs::read_to_string(file(number)).unwrap()).collect();
        let title =
            |text: &str| text.lines().find_map(|line| line.strip_prefix("title: ")).unwrap().to_owned();
        let first = title(&texts[0]);
        assert!(texts.iter().all(|text| title(text) == first), "round {round}: {texts:?}");
        let there: usize = first.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(there == acknowledged || there == round - 1, "round {round}: {there} after {acknowledged}");
        acknowledged = there;
        let mut client = Client::connect(&home, &workspace).unwrap();
        let request = change(round);
        let asked = std::thread::spawn(move || client.request(request));
        // A random moment of the kill is what is tried; nothing is waited for.
        std::thread::sleep(Duration::from_millis(random.below(ROUND_MS) as u64));
        main.kill();
        match asked.join().unwrap() {
            Ok(answer) => {
                answer.unwrap_or_else(|refusal| panic!("{refusal}"));
                acknowledged = round;
            }
            Err(ConnectionLost(_)) => killed_midway += 1,
        }
    }
    assert!(killed_midway > 0, "the kills must meet the work; the last change is of round {acknowledged}");
}
