//! What the product is for, end to end: an agent on somebody else's SDK builds three tiers as one proposal, ghosts follow each
//! of its calls in the real window, and a reviewer takes all but one element by mouse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};
use support::{
    client::Client, designer::DesignerFixture, home::HomeFixture, mcp::Endpoint, screen::ScreenFixture,
};
use test_support::{requirements::mcp_clients, wait_for};

/// Room for everything at full size.
const SIZE: (usize, usize) = (2200, 1300);
/// How soon a ghost should be seen; printed, not asserted.
const SOON: Duration = Duration::from_secs(1);
/// Two lines in the panel: what is below has its place from that.
const WHY: &str = "A network with an app, its database and a key store.";
/// Pixels that something new covers at least.
const NEWS: usize = 200;

struct Agent {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Agent {
    fn start(clients: &Path, home: &HomeFixture, workspace: &Path) -> Self {
        let Endpoint { url, token } = Endpoint::of(home, workspace);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/three_tiers.py");
        let mut child = Command::new(clients.join("venv/bin/python"))
            .arg(script)
            .env("DRAFTBOARD_URL", url)
            .env("DRAFTBOARD_TOKEN", token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (ask, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, ask, answers }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        writeln!(self.ask, "{}", json!([tool, arguments])).unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let envelope: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{tool}: {line:?}"));
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        envelope["data"].clone()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A VPC with two subnets, an app, a database, a key store.
fn tiers() -> Vec<Value> {
    let add = |kind: &str, name: &str, label: &str, parent: Option<&str>, properties: Value| json!({ "typeId": kind, "name": name, "label": label, "parentId": parent, "properties": properties });
    let net = Some("shop_net");
    vec![
        add("aws/networking/vpc", "shop_net", "Shop network", None, json!({ "cidr_block": "10.9.0.0/16" })),
        add("aws/networking/subnet", "app_net", "App subnet", net, json!({ "cidr_block": "10.9.1.0/24" })),
        add("aws/networking/subnet", "db_net", "Data subnet", net, json!({ "cidr_block": "10.9.2.0/24" })),
        add(
            "aws/compute/instance",
            "shop_app",
            "Shop app",
            Some("app_net"),
            json!({ "instance_type": "t3.small", "ami": "ami-0123456789abcdef0" }),
        ),
        add(
            "aws/compute/rds_instance",
            "shop_db",
            "Orders",
            net,
            json!({ "instance_class": "db.t3.micro", "engine": "postgres", "identifier": "shop-db", "allocated_storage": 20, "username": "shop" }),
        ),
        // Where it is in view: below the network there is no room on the screen.
        json!({
            "typeId": "aws/security/secrets_manager", "name": "shop_key", "label": "Key store",
            "properties": { "name": "shop-keys" }, "position": { "x": -400, "y": 0 }
        }),
    ]
}

/// How many pixels differ between two pictures.
fn differing(before: &[u8], after: &[u8]) -> usize {
    before.chunks_exact(3).zip(after.chunks_exact(3)).filter(|(one, other)| one != other).count()
}

fn names(client: &mut Client) -> BTreeSet<String> {
    let document = client.request(json!({ "readDocument": {} })).unwrap().unwrap();
    document["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["name"].as_str().unwrap().to_owned())
        .collect()
}

fn revision(client: &mut Client) -> u64 {
    client.request(json!({ "readDocument": {} })).unwrap().unwrap()["revision"].as_u64().unwrap()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn an_agent_builds_three_tiers_and_a_reviewer_takes_all_but_one_by_mouse() {
    let Some(clients) = mcp_clients() else { return };
    let home = HomeFixture::new();
    let settings = home.path("config/draftboard");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("settings.toml"), "[mcp]\nmode = \"guarded\"\nport = 0\n").unwrap();
    let workspace = home.workspace("shop", "blank");
    let Some(screen) = ScreenFixture::open(&home, SIZE) else { return };
    let designer = DesignerFixture::sit_down(&screen, &home, &workspace, SIZE);
    let mut before = screen.picture();
    let mut client = Client::connect(&home, &workspace).unwrap();
    let mut agent = Agent::start(&clients, &home, &workspace);
    agent.call("get_workbench_context", json!({}));

    // Each call is seen as a ghost soon after.
    let mut waits = Vec::new();
    for element in tiers() {
        let data = agent.call("add_resource", element);
        let answered = Instant::now();
        assert_eq!(data["status"], "proposed");
        before = wait_for("a ghost", || Some(screen.picture()).filter(|now| differing(&before, now) > NEWS));
        waits.push(answered.elapsed());
    }
    let latest = waits.iter().max().unwrap();
    println!(
        "ghosts seen after {waits:.0?}; the latest after {latest:.0?} (goal: {SOON:?}, a picture of the screen included)"
    );
    assert!(names(&mut client).is_empty(), "nothing is there yet");
    let submitted =
        agent.call("submit_proposal", json!({ "title": "Three tiers for the shop", "rationale": WHY }));
    let id = submitted["proposal"]["id"].clone();

    // The reviewer opens it and leaves out what is gravest, which stands first: the key store.
    let (right, bottom) = (SIZE.0 as i32, SIZE.1 as i32);
    let click_until = |what: &str, x: i32, y: i32, is_so: &dyn Fn() -> bool| {
        designer.click_at(x, y);
        wait_for(what, || is_so().then_some(()));
    };
    let picture = screen.picture();
    click_until("the proposal's panel", right - 371, 82, &|| {
        differing(&picture, &screen.picture()) > 10 * NEWS
    });
    screen.settled();
    let picture = screen.picture();
    click_until("a tick less", right - 265, 364, &|| differing(&picture, &screen.picture()) > NEWS);
    designer.click_at(right - 236, bottom - 49);
    wait_for("the decision", || (names(&mut client).len() == 5).then_some(()));
    let all_but_one = set(&["shop_net", "app_net", "db_net", "shop_app", "shop_db"]);
    assert_eq!(names(&mut client), all_but_one);
    let mine = agent.call("get_proposal", json!({ "id": id }));
    assert_eq!(
        (&mine["state"], &mine["decisions"][0]["elements"]),
        (&json!("open"), &json!(5)),
        "the rest waits"
    );

    // The graph, the files and Terraform's files are as expected.
    let document = client.request(json!({ "readDocument": {} })).unwrap().unwrap();
    let node = |name: &str| {
        let nodes = document["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!(node("shop_app")["parent"], node("app_net")["id"]);
    assert_eq!(node("app_net")["parent"], node("shop_net")["id"]);
    let hcl =
        agent.call("generate_hcl", json!({ "file": "main.tf" }))["main.tf"].as_str().unwrap().to_owned();
    for part in [
        "\"aws_vpc\" \"shop_net\"",
        "\"aws_subnet\" \"app_net\"",
        "\"aws_instance\" \"shop_app\"",
        "\"aws_db_instance\" \"shop_db\"",
    ] {
        assert!(hcl.contains(part), "{part} in {hcl}");
    }
    assert!(!hcl.contains("secretsmanager"), "{hcl}");
    client.request(json!({ "saveFiles": {} })).unwrap().unwrap();
    let file = fs::read_to_string(workspace.join("boards/infrastructure.board.json")).unwrap();
    assert!(file.contains("shop_db") && !file.contains("shop_key"), "{file}");

    // At the window, one undo takes all of it back, redo brings it again, and a revert works after somebody's later work.
    let applied = mine["decisions"][0]["revision"].as_u64().unwrap();
    let mut until = |keys: &str, wanted: &BTreeSet<String>| {
        designer.press(keys);
        wait_for(keys, || (names(&mut client) == *wanted).then_some(()));
        revision(&mut client)
    };
    assert_eq!(until("ctrl+z", &BTreeSet::new()), applied + 1, "one step");
    assert_eq!(until("ctrl+shift+z", &all_but_one), applied + 2, "and one forward");
    let later = json!({"addNode": {"board": "infrastructure", "type": "notes/sticky", "name": "later", "at": {"x": 3000, "y": 0}}});
    client.request(json!({ "runCommand": { "command": later } })).unwrap().unwrap();
    designer.press("ctrl+shift+h");
    screen.settled();
    // The log, newest first, each operation with its button at the end of its line.
    let line = i32::try_from(revision(&mut client) - applied).unwrap();
    designer.click_at(right - 47, bottom - 280 + 28 * line);
    wait_for("the revert", || (names(&mut client) == set(&["later"])).then_some(()));
    assert_eq!(revision(&mut client), applied + 4, "one operation, and later work stays");
    drop(agent);
    assert_eq!(designer.leave().code, Some(0));
    home.assert_deserted();
}
