//! The review queue on a board of 10,000 nodes: a call that proposes, in the process and over HTTP, opening a proposal of 500
//! elements, accepting it. Each is durable when it is counted. Prints figures beside their goals.
//!
//! ```text
//! cargo run --release -p main-process --example review
//! ```

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and ends where it cannot go on"
)]

use authority::proposals::{AgentRequest, CallingClient, DraftSelector, ProposalInput, ProposalSubmission};
use main_process::cli::{self, RoleEntryPoints};
use serde_json::{Value, json};
use shared_protocol::{
    Actor, ActorKind, AddNode, BoardId, BoardName, BoardPoint, Command, ProposalId, proposal::Proposer,
};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command as Process, ExitCode, Stdio},
    time::{Duration, Instant},
};
use workspace::{Mutation, Reviewer, TimeAndSeed, Workspace, WorkspaceTemplate, create};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 10_000;
const ELEMENTS: usize = 500;
const ROUNDS: u64 = 9;
/// Over HTTP.
const CALLS: usize = 400;

fn main() -> ExitCode {
    // Over HTTP it is a process of its own that answers: this one again, as `draftboard serve`.
    if std::env::args().nth(1).as_deref() == Some("serve") {
        let exe = std::env::current_exe().expect("this program");
        return cli::main(std::env::args_os(), &RoleEntryPoints { exe });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("workspace");
    create(&root, WorkspaceTemplate::Blank, BoardId::from_bits(7)).expect("a workspace");
    let mut workspace = Workspace::open(&root, moment(1)).expect("it opens");
    fill(&mut workspace);
    println!("{} nodes on the board", workspace.snapshot().node_count());

    let mut calls = Vec::new();
    let (mut opening, mut accepting) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let id = propose(&mut workspace, round, &mut calls);
        let start = Instant::now();
        let opened = workspace.proposal_details(id).expect("it opens");
        opening.push(start.elapsed());
        assert_eq!(opened.elements.len(), ELEMENTS);
        let verdict = opened.verdict(None, std::collections::BTreeSet::new());
        let start = Instant::now();
        let mut group = workspace.begin();
        group
            .accept_verdict(&verdict, &Reviewer::in_window("ada".to_owned()), moment(9_000 + round))
            .expect("accepted");
        group.commit().expect("durable");
        accepting.push(start.elapsed());
    }
    drop(workspace);
    let mut over_http = over_http(&root, folder.path());
    tell("one call that proposes, durable", &mut calls, "2 ms");
    tell("the same, over HTTP", &mut over_http, "2 ms");
    tell("opening a proposal of 500 elements", &mut opening, "50 ms");
    tell("accepting it, durable", &mut accepting, "100 ms");
    ExitCode::SUCCESS
}

/// Calls of `add_resource` on one kept-alive connection, one after the other.
fn over_http(root: &Path, scratch: &Path) -> Vec<Duration> {
    let mut command = Process::new(std::env::current_exe().expect("this program"));
    command.arg("serve").arg(root).args(["--json", "--port", "0", "--mode", "guarded"]);
    for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"] {
        let folder = scratch.join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("its rights");
        command.env(name, folder);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut ready = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut ready).expect("it is ready");
    let records = std::fs::read_dir(scratch.join("XDG_RUNTIME_DIR/draftboard")).expect("records");
    let is_record = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let record = records.flatten().map(|entry| entry.path()).find(is_record).expect("a record");
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(record).expect("it is read")).expect("JSON");
    let text = |key: &str| record[key].as_str().expect(key).to_owned();
    let times = Calls::at(&text("mcp_url"), text("mcp_token")).make();
    child.kill().expect("it ends");
    child.wait().expect("it has ended");
    times
}

struct Calls {
    address: String,
    token: String,
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Calls {
    fn at(url: &str, token: String) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let stream = TcpStream::connect(&address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let reader = BufReader::new(stream.try_clone().expect("a socket"));
        Self { address, token, stream, reader }
    }

    fn make(mut self) -> Vec<Duration> {
        let mut draft = Value::Null;
        let mut times = Vec::new();
        for index in 0..CALLS {
            let position = json!({ "x": index * 240, "y": 90_000 });
            // Without a connection of its own a client names its draft.
            let arguments = json!({ "typeId": "notes/sticky", "position": position, "proposal": draft });
            let start = Instant::now();
            let answer = self.exchange(&arguments);
            times.push(start.elapsed());
            let data = &answer["result"]["structuredContent"]["data"];
            assert_eq!(data["status"], "proposed", "{answer}");
            draft = data["proposal"]["id"].clone();
        }
        times
    }

    fn exchange(&mut self, arguments: &Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" }
        });
        let params = json!({ "name": "add_resource", "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
             mcp-name: add_resource\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).expect("sent");
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).expect("a header");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.reader.read_exact(&mut answer).expect("an answer");
        serde_json::from_slice(&answer).expect("JSON")
    }
}

fn moment(seed: u64) -> TimeAndSeed {
    TimeAndSeed { time: 1_700_000_000_000 + seed, seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
}

fn note(index: usize, row: i32) -> Command {
    let board: BoardName = "infrastructure".parse().expect("a name");
    let mut add = AddNode::new(board, "notes/sticky".parse().expect("a type"));
    add.at = Some(BoardPoint { x: (index % 100) as i32 * 240, y: row + (index / 100) as i32 * 240 });
    Command::AddNode(add)
}

fn fill(workspace: &mut Workspace) {
    let commands = (0..NODES).map(|index| note(index, 0)).collect();
    let command = Command::Batch { summary: None, commands };
    let actor = Actor::new(ActorKind::Terminal, "ada");
    workspace.execute(&Mutation::Run(Box::new(command)), &actor, moment(2)).expect("it is filled");
}

/// A proposal of 500 elements, in calls of one each.
fn propose(workspace: &mut Workspace, round: u64, calls: &mut Vec<Duration>) -> ProposalId {
    let proposer = Proposer { key: "bench".to_owned(), name: "Bench".to_owned(), version: "1".to_owned() };
    let client = CallingClient { proposer, connected: true, inherited_key: None };
    let row = 30_000 + round as i32 * 2_000;
    for index in 0..ELEMENTS {
        let what = ProposalInput::Command(Box::new(note(index, row)));
        let ask = AgentRequest::Propose { draft: DraftSelector::Current, what, submit: None };
        let seed = 100_000 + round * 1_000 + index as u64;
        let start = Instant::now();
        let mut group = workspace.begin();
        group.submit(&client, &ask, moment(seed)).expect("proposed");
        group.commit().expect("durable");
        calls.push(start.elapsed());
    }
    let submission = ProposalSubmission { title: "Many notes".to_owned(), ..ProposalSubmission::default() };
    let mut group = workspace.begin();
    let submitted =
        group.submit(&client, &AgentRequest::Submit { draft: None, submission }, moment(8_000 + round));
    let id = submitted.expect("submitted").response.proposal.id;
    group.commit().expect("durable");
    id
}

fn tell(what: &str, times: &mut [Duration], goal: &str) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!("  {what:<38} p50 {:>9.3?}  p99 {:>9.3?}  (goal: under {goal})", at(50), at(99));
}
