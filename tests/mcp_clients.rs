//! Other people's MCP clients against a running Draftboard: over HTTP and over the bridge, in both kinds of the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use support::{
    home::{DRAFTBOARD, Home, Running, finished},
    mcp::{Endpoint, foreign_clients, node},
};

/// A workspace with enough on it to be paged through, served.
struct Served {
    home: Home,
    workspace: PathBuf,
    _main: Running,
}

impl Served {
    fn start() -> Self {
        let home = Home::new();
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

fn edit(home: &Home, workspace: &Path, file: &str) -> Command {
    let mut command = home.command();
    command.arg("edit").arg("-w").arg(workspace).arg("-f").arg(home.path(file));
    command
}

#[test]
fn typescript_sdk_1() {
    let Some(clients) = foreign_clients() else { return };
    let served = Served::start();
    for transport in ["http", "bridge"] {
        let mut client = node(&clients);
        client.arg("scripts/typescript_v1.mjs");
        served.run(client, &[transport]);
    }
}

#[test]
fn typescript_sdk_2() {
    let Some(clients) = foreign_clients() else { return };
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
    let Some(clients) = foreign_clients() else { return };
    let served = Served::start();
    for transport in ["http", "bridge"] {
        for mode in ["legacy", "auto", "2026-07-28"] {
            let mut client = Command::new(clients.join("venv/bin/python"));
            client.arg(clients.join("scripts/python_sdk.py"));
            served.run(client, &[transport, mode]);
        }
    }
}

/// The Inspector's strict look at the schemas of all tools.
#[test]
fn inspector_finds_nothing_wrong_with_the_tools() {
    let Some(clients) = foreign_clients() else { return };
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
