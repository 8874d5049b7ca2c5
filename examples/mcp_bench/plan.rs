//! What is measured, and where.

use serde_json::{Value, json};

pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) calls: usize,
    pub(crate) warm_up: usize,
    pub(crate) servers: Vec<Server>,
    pub(crate) tasks: Vec<Task>,
}

pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) reach: Reach,
    /// Whether it is spoken to with a handshake, as before 2026-07-28.
    pub(crate) handshake: bool,
}

pub(crate) enum Reach {
    Http { address: String, path: String, token: Option<String> },
    Stdio { command: Vec<String> },
}

pub(crate) struct Task {
    pub(crate) title: String,
    pub(crate) method: String,
    /// The tool or resource.
    pub(crate) name: Option<String>,
    params: Value,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl Plan {
    pub(crate) fn read(file: &str) -> Self {
        let plan: Value = serde_json::from_slice(&std::fs::read(file).expect("a plan")).expect("JSON");
        let number = |key: &str| plan[key].as_u64().expect("a number") as usize;
        Self {
            rounds: number("rounds"),
            calls: number("calls"),
            warm_up: number("warmUp"),
            servers: plan["servers"].as_array().expect("servers").iter().map(Server::read).collect(),
            tasks: plan["tasks"].as_array().expect("tasks").iter().map(Task::read).collect(),
        }
    }
}

impl Server {
    fn read(value: &Value) -> Self {
        let reach = match text(&value["url"]) {
            Some(url) => {
                let rest = url.strip_prefix("http://").expect("an http address");
                let (address, path) = rest.split_once('/').expect("a path");
                Reach::Http {
                    address: address.to_owned(),
                    path: format!("/{path}"),
                    token: text(&value["token"]),
                }
            }
            None => {
                let words = value["command"].as_array().expect("url or command");
                Reach::Stdio { command: words.iter().filter_map(text).collect() }
            }
        };
        let name = text(&value["name"]).expect("a name");
        Self { name, reach, handshake: value["handshake"] == true }
    }
}

impl Task {
    fn read(value: &Value) -> Self {
        let params = value["params"].clone();
        let name = text(&params["name"]).or_else(|| text(&params["uri"]));
        Self {
            title: text(&value["title"]).expect("a title"),
            method: text(&value["method"]).expect("a method"),
            name,
            params,
        }
    }

    pub(crate) fn message(&self, id: u64, handshake: bool) -> String {
        let mut params = self.params.clone();
        if !handshake {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            });
        }
        json!({"jsonrpc": "2.0", "id": id, "method": self.method, "params": params}).to_string()
    }
}
