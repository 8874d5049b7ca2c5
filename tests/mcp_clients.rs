//! Other people's MCP clients against a running Draftboard: over HTTP and over the bridge, in both kinds of the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use support::{
    home::{DRAFTBOARD, HomeFixture, Running, finished, serving},
    mcp::{Endpoint, SDK_ENVIRONMENT, USER_RUNTIME, in_own_run_folder, node},
};
use test_support::requirements::mcp_clients;

/// A workspace with enough on it to be paged through, served.
struct Served {
    home: HomeFixture,
    workspace: PathBuf,
    _main: Running,
}

impl Served {
    fn start() -> Self {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        let add = |name: String| json!({"addNode": {"board": "infrastructure", "type": "aws/networking/vpc", "name": name}});
        let commands: Vec<Value> = (0..40).map(|number| add(format!("net{number}"))).collect();
        fs::write(home.path("many.json"), json!(commands).to_string()).unwrap();
        fs::write(
            home.path("one.json"),
            json!([{"addNode": {"board": "infrastructure", "type": "notes/sticky"}}]).to_string(),
        )
        .unwrap();
        let main = Running::serve(&home, &workspace);
        let edited = finished(edit(&home, &workspace, "many.json"));
        assert_eq!(edited.code, Some(0), "{edited:?}");
        Self { home, workspace, _main: main }
    }

    /// Runs a client, which says `ok` when all was as it should be.
    fn run(&self, mut client: Command, arguments: &[&str]) {
        let words = |command: &Command| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            json!(words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>()).to_string()
        };
        let mut bridge = self.home.command();
        bridge.arg("mcp").arg("--workspace").arg(&self.workspace);
        let Endpoint { url, token } = Endpoint::of(&self.home, &self.workspace);
        client
            .args(arguments)
            .env("DRAFTBOARD_URL", url)
            .env("DRAFTBOARD_TOKEN", token)
            .env("DRAFTBOARD_BRIDGE", words(&bridge))
            .env("DRAFTBOARD_EDIT", words(&edit(&self.home, &self.workspace, "one.json")));
        for (name, value) in bridge.get_envs() {
            if let Some(value) = value {
                client.env(name, value);
            }
        }
        let outcome = finished(client);
        assert_eq!((outcome.code, outcome.out.trim()), (Some(0), "ok"), "{arguments:?}\n{}", outcome.err);
    }
}

fn edit(home: &HomeFixture, workspace: &Path, file: &str) -> Command {
    let mut command = home.command();
    command.arg("edit").arg("-w").arg(workspace).arg("-f").arg(home.path(file));
    command
}

#[test]
fn typescript_sdk_1() {
    let Some(clients) = mcp_clients() else { return };
    let served = Served::start();
    for transport in ["http", "bridge"] {
        let mut client = node(&clients);
        client.arg("scripts/typescript_v1.mjs");
        served.run(client, &[transport]);
    }
}

#[test]
fn typescript_sdk_2() {
    let Some(clients) = mcp_clients() else { return };
    let served = Served::start();
    for transport in ["http", "bridge"] {
        for era in ["legacy", "modern", "auto"] {
            let mut client = node(&clients);
            client.arg("scripts/typescript_v2.mjs");
            served.run(client, &[transport, era]);
        }
    }
}

#[test]
fn python_sdk() {
    let Some(clients) = mcp_clients() else { return };
    let served = Served::start();
    for transport in ["http", "bridge"] {
        for mode in ["legacy", "auto", "2026-07-28"] {
            let mut client = Command::new(clients.join("venv/bin/python"));
            client.arg(clients.join("scripts/python_sdk.py"));
            served.run(client, &[transport, mode]);
        }
    }
}

/// A Draftboard of the desktop and nothing else, as the user's own.
fn on_the_desktop(home: &HomeFixture) -> (PathBuf, Running) {
    let workspace = home.workspace("workspace", "blank");
    let mut command = serving(home, &workspace);
    command.env("XDG_RUNTIME_DIR", USER_RUNTIME);
    let main = Running::start(command);
    assert!(main.line().unwrap().contains("ready"));
    (workspace, main)
}

/// Each SDK starts the bridge by itself, without an `env` argument, while Draftboard runs with a runtime folder that the bridge
/// is not told.
#[test]
fn sdks_that_hand_down_a_reduced_environment_reach_draftboard() {
    let Some(clients) = mcp_clients() else { return };
    if !in_own_run_folder("sdks_that_hand_down_a_reduced_environment_reach_draftboard") {
        return;
    }
    let home = HomeFixture::new();
    let (workspace, _main) = on_the_desktop(&home);
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp");
    let mut python = Command::new(clients.join("venv/bin/python"));
    python.arg(scripts.join("no_environment.py"));
    let typescript = |version: &str| {
        let mut node = node(&clients);
        node.args(["scripts/no_environment.mjs", version]);
        node
    };
    for mut client in [python, typescript("1"), typescript("2")] {
        let bridge = [DRAFTBOARD, "mcp", "--workspace", workspace.to_str().unwrap()];
        client.env("DRAFTBOARD_BRIDGE", json!(bridge).to_string()).env("HOME", home.path("home"));
        client.env("XDG_RUNTIME_DIR", USER_RUNTIME);
        let outcome = finished(client);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert_eq!(outcome.json(), json!(SDK_ENVIRONMENT), "what the SDK hands down");
    }
}

/// The script of the guide, as it is printed there.
#[test]
fn the_guide_s_python_script_runs_as_printed() {
    let Some(clients) = mcp_clients() else { return };
    if !in_own_run_folder("the_guide_s_python_script_runs_as_printed") {
        return;
    }
    let home = HomeFixture::new();
    let (workspace, _main) = on_the_desktop(&home);
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/agents.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, script) = guide.split_once("```python\n").expect("the guide has a script");
    fs::write(home.path("script.py"), script.split_once("```").unwrap().0).unwrap();
    let mut python = Command::new(clients.join("venv/bin/python"));
    let folder = Path::new(DRAFTBOARD).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    python.args(["-u".as_ref(), home.path("script.py").as_os_str()]).current_dir(home.path("home"));
    python.env("PATH", path.unwrap()).env("HOME", home.path("home")).env("XDG_RUNTIME_DIR", USER_RUNTIME);
    let mut script = Running::start(python);
    let told = script.line().unwrap_or_else(|| panic!("{:?}", script.end()));
    assert!(told.contains("'boards'"), "{told}");
    // The script listens from a moment on that only it knows: one of several edits falls into that time.
    let commands = json!([{"addNode": {"board": "infrastructure", "type": "notes/sticky"}}]);
    fs::write(home.path("one.json"), commands.to_string()).unwrap();
    let changed = std::iter::repeat_with(|| {
        let mut command = edit(&home, &workspace, "one.json");
        command.env("XDG_RUNTIME_DIR", USER_RUNTIME);
        assert_eq!(finished(command).code, Some(0));
        script.line_within(std::time::Duration::from_millis(500))
    });
    let changed = changed.take(40).flatten().next().expect("a change is told");
    assert_eq!(changed, "changed: draftboard://workspace/context");
    script.kill();
}

/// The Inspector's strict look at the schemas of all tools.
#[test]
fn inspector_finds_nothing_wrong_with_the_tools() {
    let Some(clients) = mcp_clients() else { return };
    let served = Served::start();
    let workspace = served.workspace.to_str().unwrap();
    for era in ["legacy", "modern"] {
        let mut inspector = node(&clients);
        // Where the link leads, because it looks for its parts beside itself.
        inspector.arg(clients.join("node_modules/.bin/mcp-inspector").canonicalize().unwrap());
        inspector.args(["--cli", DRAFTBOARD, "mcp", "--workspace", workspace]);
        inspector.args(["--protocol-era", era, "--method", "tools/list", "--strict"]);
        for (name, value) in served.home.command().get_envs() {
            if let Some(value) = value {
                inspector.env(name, value);
            }
        }
        let outcome = finished(inspector);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.out.contains("get_diagram"), "{outcome:?}");
    }
}

/// Twenty calls as fast as they are answered and fifty at once, by a client in a session and by one that has none: each is
/// there once, those that came one after the other in their order, and nothing stands over anything else.
#[test]
fn a_crowd_of_calls_into_one_draft() {
    let Some(clients) = mcp_clients() else { return };
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let mut command = serving(&home, &workspace);
    command.args(["--mode", "guarded"]);
    let main = Running::start(command);
    assert!(main.line().unwrap().contains("ready"));
    let Endpoint { url, token } = Endpoint::of(&home, &workspace);
    for mode in ["legacy", "2026-07-28"] {
        let mut client = Command::new(clients.join("venv/bin/python"));
        client.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/crowd.py")).arg(mode);
        client.env("DRAFTBOARD_URL", &url).env("DRAFTBOARD_TOKEN", &token);
        let outcome = finished(client);
        assert_eq!(outcome.code, Some(0), "{mode}: {}", outcome.err);
        let said = outcome.json();
        let list = |key: &str| said[key].as_array().unwrap().clone();
        let answers = [list("rapid"), list("many")].concat();
        let told: BTreeSet<String> = answers.iter().map(|data| data["instanceId"].to_string()).collect();
        let there: BTreeSet<String> =
            list("nodes").iter().map(|node| node["instanceId"].to_string()).collect();
        assert_eq!((told.len(), &told), (70, &there), "{mode}");
        let drafts: BTreeSet<String> =
            answers.iter().map(|data| data["proposal"]["id"].to_string()).collect();
        assert_eq!(drafts.len(), 1, "{mode}");
        // The order: as they were called, and each with a number of its own.
        let steps = said["proposal"]["steps"].as_array().unwrap().clone();
        let last = |step: &Value| step["summary"].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
        let names: Vec<String> = steps.iter().map(last).collect();
        assert_eq!(names[..20], (0..20).map(|index| format!("rapid{index}")).collect::<Vec<_>>(), "{mode}");
        let many: BTreeSet<&String> = names[20..].iter().collect();
        assert_eq!((names.len(), many.len()), (70, 50), "{mode}");
        let mut calls: Vec<u64> =
            answers.iter().map(|data| data["proposal"]["calls"].as_u64().unwrap()).collect();
        assert!(calls[..20].is_sorted(), "{mode}: {calls:?}");
        calls.sort_unstable();
        assert_eq!(calls, (1..=70).collect::<Vec<_>>(), "{mode}");
        let nodes = list("nodes");
        for (index, node) in nodes.iter().enumerate() {
            for other in &nodes[index + 1..] {
                assert!(!overlap(node, other), "{mode}: {node} {other}");
            }
        }
    }
    assert_eq!(main.stop().code, Some(0));
}

fn overlap(one: &Value, other: &Value) -> bool {
    let along = |at: &str, side: &str| {
        let span = |node: &Value| {
            let start = node["position"][at].as_f64().unwrap();
            (start, start + node["size"][side].as_f64().unwrap())
        };
        let ((a, b), (c, d)) = (span(one), span(other));
        a < d && c < b
    };
    along("x", "w") && along("y", "h")
}
