//! The agents' side in a running process: a bridge over the terminals' socket, the address in the discovery record, modes.

mod audit;
mod deciding;
mod pages;
mod review;
mod runs;
mod trials;

use crate::testing::{Running, add_note};
use agents::{AgentServerDeps, AgentServerHandle, SettingsOverrides, start};
use processes::{DiscoveryRecord, instance};
use serde_json::{Value, json};
use shared_protocol::{
    framing::{FrameDecoder, MAX_TERMINAL_FRAME_BYTES, decode_json, encode_json},
    mcp::McpMode,
    messages::{FromTerminal, PROTOCOL_VERSION, ToTerminal},
    request::Request,
    requests::{
        GenerateHcl, ReadClientConfig, RotateToken, RunCommand, SetAgentMode, TestConnection, ViewAgents,
        WorkbenchRequest,
    },
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    sync::Arc,
    thread::JoinHandle,
};
use test_support::{PATIENCE, mcp};

struct Agents {
    running: Running,
    link: AgentServerHandle,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Agents {
    fn start() -> Self {
        Self::with(Running::with_terraform)
    }

    fn with(run: impl FnOnce(AgentServerHandle) -> Running) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (link, messages) = AgentServerHandle::new();
        let running = run(link.clone());
        let (terraform, _) = running.terraform.as_ref().unwrap();
        let overrides = SettingsOverrides { mode: None, port: Some(0) };
        let settings = folder.path().join("settings.toml");
        let events = Arc::new(running.host.clone());
        let previews = running.router.services.previews.clone();
        let deps = AgentServerDeps { events, terraform: terraform.clone(), previews, settings };
        let started = start(link.clone(), messages, deps, overrides).unwrap();
        assert!(started.url.is_some());
        Self { running, link, thread: Some(started.thread), _folder: folder }
    }

    fn running(&self) -> &Running {
        &self.running
    }

    fn record(&self) -> DiscoveryRecord {
        instance::find(std::slice::from_ref(&self.running().runtime), &self.running().root).unwrap().unwrap()
    }

    fn request<R: Request<Frame = WorkbenchRequest> + Into<WorkbenchRequest>>(
        &self,
        request: R,
    ) -> R::Response {
        self.running().request(request).unwrap()
    }

    /// A greeted connection, and what main says to its wish to speak the protocol.
    fn bridge(&self) -> (UnixStream, ToTerminal) {
        let record = self.record();
        let mut stream = UnixStream::connect(&record.socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let hello =
            FromTerminal::Hello { protocol: PROTOCOL_VERSION, token: record.token.reveal().to_owned() };
        assert!(matches!(exchange(&mut stream, &hello), ToTerminal::Welcome { .. }));
        let answer = exchange(&mut stream, &FromTerminal::Mcp);
        (stream, answer)
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        self.link.stop();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn exchange(stream: &mut UnixStream, message: &FromTerminal) -> ToTerminal {
    stream.write_all(&encode_json(message, MAX_TERMINAL_FRAME_BYTES).unwrap()).unwrap();
    let mut reader = FrameDecoder::new(MAX_TERMINAL_FRAME_BYTES);
    let mut byte = [0];
    loop {
        if let Some(frame) = reader.next_frame().unwrap() {
            return decode_json(&frame).unwrap();
        }
        stream.read_exact(&mut byte).unwrap();
        reader.push(&byte);
    }
}

fn call(stream: &UnixStream, tool: &str, arguments: Value) -> Value {
    let request = mcp::stateless_call(1, tool, arguments);
    (&mut &*stream).write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str::<Value>(&line).unwrap()["result"]["structuredContent"].clone()
}

#[test]
fn a_bridge_sees_an_edit_as_soon_as_it_is_acknowledged() {
    let agents = Agents::start();
    let (stream, answer) = agents.bridge();
    assert_eq!(answer, ToTerminal::Response(Value::Null));
    let before = call(&stream, "get_workbench_context", json!({}));
    assert_eq!(before["ok"], json!(true), "{before}");
    let revision = before["meta"]["revision"].as_u64().unwrap();
    for count in 1..=5 {
        let applied = agents.request(RunCommand { command: add_note() });
        let changes = call(&stream, "get_changes_since", json!({ "revision": revision }));
        assert_eq!(changes["meta"]["revision"], json!(applied.revision), "{changes}");
        assert_eq!(changes["data"]["operations"].as_array().unwrap().len(), count);
    }
    let picture = call(&stream, "get_board_image", json!({ "longestSide": 256 }));
    assert_eq!(picture["ok"], json!(true), "{picture}");
    let clients = agents.request(ViewAgents {}).clients;
    assert_eq!(clients.len(), 1, "{clients:?}");
    assert!(clients[0].calls >= 7 && clients[0].connected);
}

#[test]
fn the_record_tells_where_and_a_rotated_token_replaces_the_old_one() {
    let agents = Agents::start();
    let first = agents.record();
    let (url, token) = (first.mcp_url.unwrap(), first.mcp_token.unwrap());
    assert_eq!(agents.request(ViewAgents {}).url.as_deref(), Some(url.as_str()));
    let status = |token: &str| {
        let host = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let port: u16 = agents.request(ViewAgents {}).port.unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let host =
            if host.ends_with(&port.to_string()) { host.to_owned() } else { format!("127.0.0.1:{port}") };
        let ask = format!(
            "GET /sessions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(ask.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status(token.reveal()), "200");
    agents.request(RotateToken {});
    let second = agents.record().mcp_token.unwrap();
    assert_eq!((status(token.reveal()).as_str(), status(second.reveal()).as_str()), ("401", "200"));
    assert!(agents.request(TestConnection {}).contains("\"ok\""));
    for client in ["claude-desktop", "claude-code", "vscode", "cursor"] {
        let text = agents.request(ReadClientConfig { client: client.to_owned() });
        assert!(text.contains("mcp") && !text.contains(second.reveal()), "{client}: {text}");
    }
    assert!(agents.running().request(ReadClientConfig { client: "emacs".to_owned() }).is_err());
}

#[test]
fn off_closes_the_port_and_refuses_bridges() {
    let agents = Agents::start();
    let port = agents.request(ViewAgents {}).port.unwrap();
    let (mut open, _) = agents.bridge();
    call(&open, "list_proposals", json!({}));
    let off = agents.request(SetAgentMode { mode: McpMode::Off });
    assert_eq!((off.mode, off.url, off.port), (McpMode::Off, None, None));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(agents.record().mcp_url.is_none() && agents.record().mcp_token.is_none());
    assert!(matches!(agents.bridge().1, ToTerminal::Refused(refusal) if refusal.message.contains("off")));
    assert_eq!(open.read_to_end(&mut Vec::new()).unwrap(), 0, "the open conversation is over");
    let on = agents.request(SetAgentMode { mode: McpMode::Observe });
    assert!(on.url.is_some());
    assert!(matches!(agents.bridge().1, ToTerminal::Response(Value::Null)));
}

#[test]
fn agents_see_the_files_the_costs_and_what_is_deployed() {
    let agents = Agents::start();
    let add =
        r#"{"addNode":{"board":"infrastructure","type":"terraform/core/terraform_data","name":"first"}}"#;
    agents.running().request(RunCommand { command: serde_json::from_str(add).unwrap() }).unwrap();
    let (stream, _) = agents.bridge();
    let hcl = call(&stream, "generate_hcl", json!({}));
    assert!(hcl["data"]["main.tf"].as_str().unwrap().contains("\"first\""), "{hcl}");
    let statuses = call(&stream, "get_deployment_status", json!({}));
    let (id, status) = statuses["data"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(status, "pending");
    let costs = call(&stream, "estimate_costs", json!({}));
    assert!(costs["data"][id]["basis"].is_string(), "{costs}");
    // A state that somebody else wrote is seen as soon as anybody looks.
    let folder = agents.running().root.join("terraform/infrastructure");
    std::fs::create_dir_all(&folder).unwrap();
    let state = json!({ "version": 4, "resources": [
        { "mode": "managed", "type": "terraform_data", "name": "first", "instances": [{}] }
    ] });
    std::fs::write(folder.join("terraform.tfstate"), state.to_string()).unwrap();
    let board = agents.running().document().boards[0].id;
    agents.running().request(GenerateHcl { board }).unwrap();
    let start = std::time::Instant::now();
    while call(&stream, "get_deployment_status", json!({}))["data"][id] != json!("created") {
        assert!(start.elapsed() < PATIENCE);
    }
}
