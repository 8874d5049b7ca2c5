//! What agents ask for beside changes of boards, through the real executable to a person's yes: overrides, previews and what
//! they show, and projects that are saved, configured, made and opened.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{fs, path::Path};
use support::{
    mcp::{Agent, Era},
    review_fixture::ReviewFixture,
};
use test_support::wait_for;

/// A button on the first page, a badge beside it, and a button on another page.
const OPEN: &str = "n-yg8kzynffq51";
const STATE: &str = "n-ykghv6detb9r";
const CONFIRM: &str = "n-spytq3xm2rkd";

struct Work {
    desk: ReviewFixture,
    agent: Agent,
    asked: u64,
}

impl Work {
    fn new(template: &str) -> Option<Self> {
        let desk = ReviewFixture::new(template)?;
        let agent = Agent::greeted(&desk.home, &desk.workspace, Era::Handshake, &[]);
        Some(Self { desk, agent, asked: 0 })
    }

    fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.asked += 1;
        self.agent.request(self.asked, "tools/call", json!({ "name": tool, "arguments": arguments }));
        self.asked
    }

    fn answer(&mut self, id: u64) -> Value {
        self.agent.hear("an answer", |message| message["id"] == id)["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        self.answer(id)["structuredContent"].clone()
    }

    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let envelope = self.call(tool, arguments);
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        envelope["data"].clone()
    }

    /// Asks without waiting; a person says yes, and what the proposal says of it then.
    fn accepted(&mut self, tool: &str, arguments: Value) -> Value {
        let data = self.ok(tool, arguments);
        assert_eq!(
            (&data["status"], &data["proposal"]["state"]),
            (&json!("submitted"), &json!("open")),
            "{data}"
        );
        let id = data["proposal"]["id"].as_str().unwrap().to_owned();
        self.desk.decide(&["accept", &id]);
        let mine = self.ok("get_proposal", json!({ "id": id }));
        assert_eq!(mine["state"], "accepted", "{mine}");
        mine
    }

    /// Asks and waits with the call; a person says yes meanwhile.
    fn waited(&mut self, workspace: &Path, tool: &str, mut arguments: Value) -> Value {
        arguments["waitSeconds"] = json!(120);
        let id = self.begin(tool, arguments);
        let number = self.desk.waiting_in(workspace);
        self.desk.decide_in(workspace, &["accept", &number]);
        let envelope = self.answer(id)["structuredContent"].clone();
        assert_eq!(
            (&envelope["ok"], &envelope["data"]["status"]),
            (&json!(true), &json!("done")),
            "{envelope}"
        );
        // One that opens another project leaves its queue behind.
        if !matches!(tool, "open_project" | "new_project") {
            assert_eq!(envelope["data"]["proposal"]["state"], "accepted", "{envelope}");
        }
        envelope["data"].clone()
    }

    fn read(&mut self, uri: &str) -> Value {
        self.asked += 1;
        let answer = self.agent.ask(self.asked, "resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str(text).unwrap()
    }

    /// A resource once it is as wanted.
    fn until(&mut self, uri: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        wait_for(uri, || Some(self.read(uri)).filter(&wanted))
    }

    fn overrides(&mut self) -> Value {
        self.read("draftboard://workspace/overrides")
    }
}

fn addresses(list: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (text(&entry["instanceId"]), text(&entry["path"])))
        .collect();
    all.sort();
    all
}

#[test]
fn every_kind_of_override_goes_through_the_queue_and_is_told_as_it_stands() {
    let Some(mut work) = Work::new("interface") else { return };
    let empty = work.overrides();
    assert_eq!((&empty["overrides"], &empty["orphaned"]), (&json!([]), &json!([])), "{empty}");
    let set = |instance: &str, path: &str, value: &str| json!({ "op": "set", "instanceId": instance, "path": path, "value": value });
    let ops =
        json!([set(OPEN, "/label", "Open now"), set(STATE, "/text", "Late"), set(CONFIRM, "/label", "Yes")]);
    // Nothing applies before a person says so.
    let drafted = work.ok("apply_overrides", json!({ "ops": ops }));
    assert_eq!((&drafted["status"], &drafted["ops"]), (&json!("proposed"), &json!(3)), "{drafted}");
    assert_eq!(work.overrides()["overrides"], json!([]));
    let submitted = work.ok("submit_proposal", json!({ "title": "Other words" }));
    let id = submitted["proposal"]["id"].as_str().unwrap().to_owned();
    work.desk.decide(&["accept", &id]);
    let three = work.overrides();
    assert_eq!(three["status"], "3 applied", "{three}");
    let mut all = [(OPEN, "/label"), (STATE, "/text"), (CONFIRM, "/label")]
        .map(|(instance, path)| (instance.to_owned(), path.to_owned()));
    all.sort();
    assert_eq!(addresses(&three["overrides"]), all);
    let open =
        three["overrides"].as_array().unwrap().iter().find(|entry| entry["instanceId"] == OPEN).unwrap();
    assert_eq!((&open["value"], &open["appliesTo"]), (&json!("Open now"), &json!(OPEN)), "{open}");
    // The persisted form is the file's own.
    let file = fs::read_to_string(work.desk.workspace.join(".draftboard/overrides.v0.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(three["persisted"]["schemaVersion"], "v0", "{three}");
    assert_eq!(three["persisted"]["overrides"], file["overrides"], "{three}\n{file}");

    // One of one instance, all of an instance, all.
    work.accepted(
        "apply_overrides",
        json!({ "ops": [{ "op": "clear", "instanceId": OPEN, "path": "/label" }], "submit": true }),
    );
    assert_eq!(addresses(&work.overrides()["overrides"]).len(), 2);
    work.accepted(
        "apply_overrides",
        json!({ "ops": [{ "op": "clearInstance", "instanceId": STATE }], "submit": true }),
    );
    assert_eq!(addresses(&work.overrides()["overrides"]), [(CONFIRM.to_owned(), "/label".to_owned())]);
    let again = json!({ "ops": [{ "op": "clearAll" }, set(OPEN, "/label", "Last")], "submit": true });
    work.accepted("apply_overrides", again);
    assert_eq!(addresses(&work.overrides()["overrides"]), [(OPEN.to_owned(), "/label".to_owned())]);

    // Its instance goes: it is kept, with the reason; the instance returns: it applies again.
    let mut client = work.desk.client();
    client
        .request(json!({ "runCommand": { "command": { "remove": { "nodes": [OPEN] } } } }))
        .unwrap()
        .unwrap();
    let orphaned = work.overrides();
    assert_eq!(orphaned["overrides"], json!([]), "{orphaned}");
    assert_eq!(orphaned["status"], "0 applied, 1 orphaned");
    let orphan = &orphaned["orphaned"][0];
    assert_eq!((&orphan["instanceId"], &orphan["value"]), (&json!(OPEN), &json!("Last")));
    assert_eq!(
        (&orphan["reason"], &orphan["message"]),
        (&json!("instanceMissing"), &json!("the instance does not exist"))
    );
    assert!(orphaned["persisted"].to_string().contains("Last"), "it stays in the file: {orphaned}");
    client.request(json!({ "undoLast": {} })).unwrap().unwrap();
    assert_eq!(work.overrides()["status"], "1 applied");
    // What cannot be is refused, and nothing of it is proposed.
    for ops in [
        json!([]),
        json!([{ "op": "drop" }]),
        json!([{ "op": "set", "instanceId": OPEN, "path": "label", "value": 1 }]),
    ] {
        let refused = work.call("apply_overrides", json!({ "ops": ops }));
        assert_eq!(refused["error"]["code"], "BAD_REQUEST", "{refused}");
    }
}

#[test]
fn previews_are_started_moved_and_stopped_once_a_person_says_so_and_tell_what_they_show() {
    const SESSIONS: &str = "draftboard://preview/sessions";
    const SELECTION: &str = "draftboard://preview/selection";
    let Some(mut work) = Work::new("interface") else { return };
    let workspace = work.desk.workspace.clone();
    for uri in [SESSIONS, SELECTION] {
        let none = work.read(uri);
        assert_eq!(
            (&none["status"], &none["sessions"]),
            (&json!("no preview is running"), &json!([])),
            "{none}"
        );
    }
    let nothing = work.call("stop_preview", json!({ "session": "1" }));
    assert_eq!(nothing["error"]["code"], "NO_PREVIEW", "{nothing}");

    let page = work.accepted("start_preview", json!({ "page": "/", "width": 640, "height": 480 }));
    let run = wait_for("the session", || {
        let run = work.ok("get_run", json!({ "runId": page["id"] }));
        (run["status"] == "succeeded").then_some(run)
    });
    let session = run["result"]["session"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned();
    let sessions = work.until(SESSIONS, |all| all["sessions"][0]["ready"] == true);
    let first = &sessions["sessions"][0];
    assert_eq!(
        (&first["sessionId"], &first["type"], &first["state"]),
        (&json!(session), &json!("app"), &json!("ready"))
    );
    assert_eq!((&first["target"]["path"], &first["target"]["name"]), (&json!("/"), &json!("home")));
    assert_eq!((&first["screen"]["width"], &first["screen"]["height"]), (&json!(640), &json!(480)));
    assert_eq!(first["adapter"]["capabilities"]["overrides"], true);

    // A call that waits hears of the session itself.
    let variant =
        work.waited(&workspace, "start_preview", json!({ "component": "ui.button", "variant": "danger" }));
    assert!(variant["outcome"].as_str().unwrap().contains("began"), "{variant}");
    let second = variant["session"].as_str().unwrap().to_owned();
    let sessions = work
        .until(SESSIONS, |all| all["sessions"].as_array().unwrap().iter().all(|one| one["ready"] == true));
    let one = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["sessionId"] == json!(second))
        .unwrap();
    assert_eq!(
        (&one["type"], &one["target"]["componentTypeId"], &one["target"]["variantId"]),
        (&json!("variant"), &json!("ui.button"), &json!("danger"))
    );

    // What is selected there, with all that is known of it.
    let nothing = work.read(SELECTION);
    assert_eq!((&nothing["status"], &nothing["selected"]), (&json!("nothing is selected"), &Value::Null));
    let mut client = work.desk.client();
    let all = client.request(json!({ "listPreviews": {} })).unwrap().unwrap();
    let number = all["sessions"][0]["id"].clone();
    client.request(json!({ "runCommand": { "command": { "setOverrides": { "set": [{ "instance": OPEN, "path": "/label", "value": "Over" }] } } } })).unwrap().unwrap();
    client.request(json!({ "selectInstance": { "session": number, "instance": OPEN } })).unwrap().unwrap();
    let selection = work.until(SELECTION, |all| !all["selected"].is_null());
    let chosen =
        selection["sessions"].as_array().unwrap().iter().find(|one| !one["selected"].is_null()).unwrap();
    assert_eq!(chosen["sessionId"], json!(session));
    assert_eq!(
        (&chosen["selected"]["instanceId"], &chosen["selected"]["componentTypeId"], &chosen["registryMatch"]),
        (&json!(OPEN), &json!("ui.button"), &json!(true)),
        "{chosen}"
    );
    assert_eq!(
        (&chosen["graph"]["node"]["name"], &chosen["graph"]["board"]),
        (&json!("open"), &json!("locker-app"))
    );
    assert_eq!(chosen["graph"]["componentType"]["id"], "ui.button");
    assert_eq!(
        (&chosen["effectiveProps"]["label"], &chosen["effectiveProps"]["variant"]),
        (&json!("Over"), &json!("primary")),
        "an override comes first: {chosen}"
    );
    assert!(chosen["source"]["line"].as_u64().unwrap() > 0, "{chosen}");
    assert!(
        chosen["source"]["filePath"].as_str().unwrap().ends_with(".json")
            || chosen["source"]["filePath"].as_str().unwrap().contains("components/"),
        "{chosen}"
    );
    assert_eq!(selection["selected"], chosen["selected"]);

    // The page as it really looks is another picture than the board.
    let mut picture = |arguments: Value| {
        let id = work.begin("get_board_image", arguments);
        let result = work.answer(id);
        assert_eq!(result["structuredContent"]["ok"], true, "{result}");
        let image =
            result["content"].as_array().unwrap().iter().find(|block| block["type"] == "image").unwrap();
        assert!(
            image["mimeType"] == "image/png" && image["data"].as_str().unwrap().starts_with("iVBOR"),
            "{image}"
        );
        image["data"].as_str().unwrap().to_owned()
    };
    let home = picture(json!({ "board": "locker-app", "page": "/", "longestSide": 400 }));
    assert_ne!(home, picture(json!({ "board": "locker-app", "longestSide": 400 })));
    assert_ne!(home, picture(json!({ "board": "locker-app", "page": "stations", "longestSide": 400 })));

    // It is moved and stopped, and a no is a no.
    work.waited(&workspace, "navigate_preview", json!({ "session": session, "page": "/stations" }));
    let moved = |all: &Value| {
        all["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["target"]["path"] == "/stations" && one["ready"] == true)
    };
    work.until(SESSIONS, moved);
    let id = work.begin("navigate_preview", json!({ "session": session, "page": "/", "waitSeconds": 120 }));
    let number = work.desk.waiting();
    work.desk.decide(&["reject", &number, "--reason", "I am looking at it"]);
    let refused = work.answer(id)["structuredContent"].clone();
    assert_eq!(refused["error"]["code"], "CONFLICT", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("I am looking at it"), "{refused}");
    assert!(moved(&work.read(SESSIONS)), "it stays");
    work.accepted("stop_preview", json!({ "session": session }));
    let session = json!(session);
    work.until(SESSIONS, |all| {
        all["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["sessionId"] == session && one["state"] == "stopped")
    });
}

#[test]
fn projects_are_saved_configured_made_and_opened_once_a_person_says_so() {
    let Some(mut work) = Work::new("blank") else { return };
    let workspace = work.desk.workspace.clone();
    let note = |name: &str| json!({ "runCommand": { "command": { "addNode": { "board": "infrastructure", "type": "notes/sticky", "name": name } } } });
    let board = workspace.join("boards/infrastructure.board.json");
    let on_disk = |name: &str| fs::read_to_string(&board).unwrap_or_default().contains(name);

    // Without waiting: it is done after the yes, and the proposal tells.
    work.desk.client().request(note("first")).unwrap().unwrap();
    let asked = work.ok("save_project", json!({}));
    assert!(!on_disk("first"), "it waits");
    work.desk.decide(&["accept", asked["proposal"]["id"].as_str().unwrap()]);
    assert!(on_disk("first"));
    let saved = work.ok("get_proposal", json!({ "id": asked["proposal"]["id"] }));
    assert!(
        saved["state"] == "accepted" && saved["outcome"].as_str().unwrap().starts_with("saved revision"),
        "{saved}"
    );
    let configured =
        work.accepted("set_project_config", json!({ "config": { "description": "By an agent" } }));
    assert_eq!(configured["outcome"], "draftboard.toml was changed");
    assert_eq!(work.ok("get_project_config", json!({}))["description"], "By an agent");

    // Waiting: the answer has what came of it, and the project as it is then.
    work.desk.client().request(note("second")).unwrap().unwrap();
    let saved = work.waited(&workspace, "save_project", json!({}));
    assert!(on_disk("second") && saved["outcome"].as_str().unwrap().starts_with("saved revision"), "{saved}");
    let is_whole = |data: &Value| {
        data["project"]["name"].is_string()
            && data["project"]["boards"][0]["kind"] == "infrastructure"
            && data["project"]["config"].is_object()
    };
    assert!(is_whole(&saved), "{saved}");
    let configured =
        work.waited(&workspace, "set_project_config", json!({ "config": { "description": null } }));
    assert!(
        is_whole(&configured) && configured["project"]["config"]["description"].is_null(),
        "{configured}"
    );

    let folder = work.desk.home.path("home");
    let fresh = folder.join("fresh");
    let made = work.waited(&workspace, "new_project", json!({ "name": "fresh", "directoryPath": folder }));
    assert!(is_whole(&made) && made["outcome"].as_str().unwrap().starts_with("made "), "{made}");
    assert!(fresh.join("draftboard.toml").is_file());
    let root = |work: &mut Work| work.ok("get_workbench_context", json!({}))["workspace"]["root"].clone();
    assert_eq!(root(&mut work), "fresh", "it is open in place of the other");

    let opened = work.waited(&fresh, "open_project", json!({ "projectPath": workspace }));
    assert!(is_whole(&opened) && opened["outcome"].as_str().unwrap().starts_with("opened "), "{opened}");
    assert_eq!(root(&mut work), "workspace");
    assert_eq!(work.desk.names().len(), 2, "as it was");
    // Without waiting, and there and back.
    let asked = work.ok("open_project", json!({ "projectPath": fresh }));
    assert_eq!(root(&mut work), "workspace");
    work.desk.decide(&["accept", asked["proposal"]["id"].as_str().unwrap()]);
    wait_for("the other project", || (root(&mut work) == "fresh").then_some(()));
    let nowhere = work.ok("open_project", json!({ "projectPath": "/nowhere/at/all" }));
    let id = nowhere["proposal"]["id"].as_str().unwrap().to_owned();
    work.desk.decide_in(&fresh, &["accept", &id]);
    let failed = work.ok("get_proposal", json!({ "id": id }));
    assert!(failed["outcome"].is_string() && root(&mut work) == "fresh", "it stays, and says why: {failed}");
}
