//! A workbench with boards in memory, a client that speaks newline-delimited JSON-RPC, and one that speaks HTTP by
//! hand.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test uses its part"
)]

use ::terraform::{GenerateInput, HclGenerator, TerraformProjectSettings};
use authority::{
    Snapshot, TypeRegistry, decide,
    proposals::{AgentCallOutcome, AgentRequest, CallingClient, ReviewQueue},
};
use mcp_server::{
    ActionRuns, AgentReplyFn, AgentService, AgentSurface, AgentView, AgentWorkbench, AgentWorkspaceView,
    BoardHcl, BoardImageRequest, ProxiedTools, ReviewSubmitter,
    http::{HttpEdge, HttpLimits},
};
use serde_json::{Value, json};
use shared_protocol::{
    Actor, ActorKind, BoardId, Command, NodeId, ProposalId, Refusal, Revision,
    mcp::McpMode,
    messages::{Patch, Presence, WorkspaceStatus},
    proposal::{ProposedAction, ReviewVerdict},
    terraform,
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};
pub(crate) use test_support::PATIENCE;
use test_support::mcp;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    net::TcpStream,
    sync::watch,
    time::timeout,
};

pub(crate) const TOKEN: &str = "the-token-of-this-run";

pub(crate) struct AgentWorkbenchFixture {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    action_runs: ActionRuns,
}

struct State {
    view: Arc<AgentView>,
    patches: Vec<Patch>,
    /// The journal no longer holds revisions up to this one.
    forgotten: u64,
    seed: u64,
}

impl AgentWorkbenchFixture {
    pub(crate) fn without_workspace() -> Arc<Self> {
        let state = State { view: Arc::default(), patches: Vec::new(), forgotten: 0, seed: 1_000 };
        Arc::new(Self {
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            action_runs: ActionRuns::default(),
        })
    }

    /// A workbench with one empty infrastructure board, `main`.
    pub(crate) fn new() -> Arc<Self> {
        let bench = Self::without_workspace();
        let registry = TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new());
        let config = json!({ "name": "Shop", "variables": { "db_password": "hunter2", "region": "eu" } });
        bench.replace(Snapshot::new(Arc::new(registry)), Presence::default(), config);
        bench.run(json!({ "addBoard": { "kind": "infrastructure", "title": "Main" } }));
        bench
    }

    fn replace(&self, snapshot: Snapshot, presence: Presence, config: Value) {
        let mut state = self.state.lock().unwrap();
        let workspace = AgentWorkspaceView {
            root: "shop".to_owned(),
            name: "Shop".to_owned(),
            snapshot,
            presence,
            status: WorkspaceStatus::default(),
            config: Arc::new(config),
            problems: Arc::default(),
            previews: Arc::default(),
            deployments: state
                .view
                .workspace
                .as_ref()
                .map(|known| Arc::clone(&known.deployments))
                .unwrap_or_default(),
        };
        let generation = state.view.generation + 1;
        let (mut review, review_stamp) = (state.view.review.clone(), state.view.review_stamp + 1);
        if let Some(patch) = state.patches.last() {
            review.rebase_after(&workspace.snapshot, &patch.changes, &patch.actor.name);
        }
        let workspace = Some(Arc::new(workspace));
        state.view = Arc::new(AgentView {
            generation,
            workspace,
            specs: None,
            review,
            review_stamp,
            ..AgentView::clone(&state.view)
        });
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    fn workspace(&self) -> Arc<AgentWorkspaceView> {
        self.view().workspace.clone().unwrap()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.workspace().snapshot.clone()
    }

    pub(crate) fn run(&self, command: Value) {
        let command: Command = serde_json::from_value(command).unwrap();
        let workspace = self.workspace();
        let mut snapshot = workspace.snapshot.clone();
        let revision = snapshot.revision().next();
        let decision = decide(&snapshot, &command, revision.0).unwrap();
        snapshot.apply(revision, &decision.changes).unwrap();
        let actor = Actor::new(ActorKind::Window, "ada");
        let patch = Patch {
            revision,
            actor,
            kind: shared_protocol::OperationKind::Edit,
            summary: decision.summary,
            changes: decision.changes,
        };
        self.state.lock().unwrap().patches.push(patch);
        self.replace(snapshot, workspace.presence.clone(), Value::clone(&workspace.config));
    }

    /// Replaces the forwarded tools.
    pub(crate) fn set_proxied_tools(&self, proxied_tools: ProxiedTools) {
        let mut state = self.state.lock().unwrap();
        state.view = Arc::new(AgentView { proxied_tools, ..AgentView::clone(&state.view) });
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    pub(crate) fn see(&self, presence: Presence) {
        let workspace = self.workspace();
        self.replace(workspace.snapshot.clone(), presence, Value::clone(&workspace.config));
    }

    pub(crate) fn deploy(&self, node: NodeId, deployment: terraform::DeploymentState) {
        let mut workspace = AgentWorkspaceView::clone(&self.workspace());
        workspace.deployments = Arc::new(BTreeMap::from([(node, deployment)]));
        let mut state = self.state.lock().unwrap();
        let generation = state.view.generation + 1;
        state.view = Arc::new(AgentView {
            generation,
            workspace: Some(Arc::new(workspace)),
            ..AgentView::clone(&state.view)
        });
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Edits the review queue as a reviewer would.
    pub(crate) fn review(&self, decide: impl FnOnce(&mut ReviewQueue, &Snapshot)) {
        let mut state = self.state.lock().unwrap();
        let view = AgentView::clone(&state.view);
        let mut review = view.review.clone();
        decide(&mut review, &view.workspace.as_ref().unwrap().snapshot);
        state.view = Arc::new(AgentView { review, review_stamp: view.review_stamp + 1, ..view });
        drop(state);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Accepts a whole proposal.
    pub(crate) fn accept(&self, id: ProposalId) {
        self.review(|queue, snapshot| {
            let proposal = queue.get(id).unwrap();
            let verdict = ReviewVerdict {
                proposal: id,
                version: proposal.version,
                hash: proposal.content_hash().unwrap(),
                base: queue.base(proposal),
                chosen: None,
                confirmed: proposal.subjects().into_iter().collect(),
                plan: Some(proposal.content_hash().unwrap()),
            };
            let acceptance = queue.accept(&verdict, snapshot, 1_000).unwrap();
            queue.record_acceptance(&verdict, &acceptance, snapshot, ("ada", 1_000)).unwrap();
        });
    }

    pub(crate) fn forget_until(&self, revision: u64) {
        self.state.lock().unwrap().forgotten = revision;
    }

    /// Adds buckets in rows, numbered from the first.
    pub(crate) fn add_buckets(&self, count: usize) {
        let there = self.snapshot().node_count();
        let commands: Vec<Value> = (there..there + count)
            .map(|index| {
                json!({ "addNode": {
                    "board": "main", "type": "aws/storage/s3_bucket", "name": format!("bucket_{index}"),
                    "at": { "x": (index % 40) as i32 * 220, "y": (index / 40) as i32 * 120 }
                } })
            })
            .collect();
        self.run(json!({ "batch": { "commands": commands } }));
    }
}

impl ReviewSubmitter for AgentWorkbenchFixture {
    fn submit(&self, client: CallingClient, request: AgentRequest, reply: AgentReplyFn) {
        let mut state = self.state.lock().unwrap();
        state.seed += 1;
        let view = AgentView::clone(&state.view);
        let mut review = view.review.clone();
        let snapshot = &view.workspace.as_ref().unwrap().snapshot;
        let done = review.handle_request(snapshot, &client, &request, (1_000, state.seed));
        if done.is_ok() {
            state.view = Arc::new(AgentView { review, review_stamp: view.review_stamp + 1, ..view });
        }
        drop(state);
        self.changed.send_modify(|count| *count += 1);
        reply(done.map(|done| AgentCallOutcome { response: done, accepted: None }));
    }
}

impl AgentWorkbench for AgentWorkbenchFixture {
    fn view(&self) -> Arc<AgentView> {
        Arc::clone(&self.state.lock().unwrap().view)
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        let state = self.state.lock().unwrap();
        let later = state.patches.iter().filter(|patch| patch.revision > revision).cloned().collect();
        Ok((revision.0 >= state.forgotten).then_some(later))
    }

    fn action_runs(&self) -> &ActionRuns {
        &self.action_runs
    }

    fn configured(&self, fields: &serde_json::Map<String, Value>) -> Result<ProposedAction, Refusal> {
        Ok(ProposedAction::Config { before: String::new(), after: json!(fields).to_string() })
    }

    fn picture(&self, _: &Snapshot, picture: &BoardImageRequest) -> Result<Vec<u8>, Refusal> {
        Ok(vec![0; picture.longest as usize * 1_000])
    }

    fn hcl(&self, workspace: &AgentWorkspaceView, board: BoardId) -> Result<BoardHcl, Refusal> {
        let settings = TerraformProjectSettings::default();
        let input = GenerateInput { snapshot: &workspace.snapshot, board, settings: &settings };
        let made = HclGenerator::new().generate(&input);
        Ok(BoardHcl { files: made.files, findings: made.findings })
    }

    fn cost(&self, workspace: &AgentWorkspaceView, board: BoardId) -> Result<terraform::CostView, Refusal> {
        let nodes = workspace.snapshot.nodes_on(board).map(|node| terraform::NodeCost {
            node: node.id,
            basis: terraform::CostBasis::Unknown,
            monthly: None,
            components: Vec::new(),
        });
        let nodes: Vec<_> = nodes.collect();
        Ok(terraform::CostView {
            board,
            revision: workspace.revision(),
            currency: Some("EUR".to_owned()),
            monthly: None,
            priced: 0,
            free: 0,
            usage_based: 0,
            unknown: nodes.len() as u64,
            nodes,
        })
    }

    fn now(&self) -> u64 {
        1_000
    }
}

pub(crate) fn service(bench: &Arc<AgentWorkbenchFixture>) -> AgentService {
    service_in(bench, McpMode::Observe)
}

pub(crate) fn service_in(bench: &Arc<AgentWorkbenchFixture>, mode: McpMode) -> AgentService {
    let service = AgentService::new(
        Arc::clone(bench) as Arc<dyn AgentWorkbench>,
        Arc::clone(bench) as Arc<dyn ReviewSubmitter>,
        AgentSurface::core(),
        "9.9.9",
        mode,
        "secret",
    );
    let watching = service.clone();
    tokio::spawn(async move { watching.watch().await });
    service
}

/// Returns the first text of `content` as JSON, as a client that knows only `content` reads it.
pub(crate) fn text_of(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

// ---- a bridge ---------------------------------------------------------------------------------------------------------

/// A client at the other end of a bridge stream.
pub(crate) struct Talk {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    next: u64,
    pub(crate) heard: Vec<Value>,
    modern: bool,
}

pub(crate) fn meta() -> Value {
    mcp::stateless_meta(&json!({}))
}

impl Talk {
    fn with(service: &AgentService, modern: bool) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let service = service.clone();
        tokio::spawn(async move { service.serve_bridge_stream(theirs).await });
        let (read, write) = tokio::io::split(ours);
        Self { read: BufReader::new(read), write, next: 0, heard: Vec::new(), modern }
    }

    pub(crate) fn modern(service: &AgentService) -> Self {
        Self::with(service, true)
    }

    pub(crate) async fn legacy(service: &AgentService) -> Self {
        Self::of_version(service, "2025-11-25").await
    }

    /// Connects a client with a handshake for this version.
    pub(crate) async fn of_version(service: &AgentService, version: &str) -> Self {
        let mut talk = Self::with(service, false);
        let hello = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "old", "version": "0" }
        });
        let answer = talk.ask("initialize", hello).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        talk
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.say_raw(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn say_raw(&mut self, bytes: &[u8]) {
        timeout(PATIENCE, self.write.write_all(bytes)).await.expect("taken in time").unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let message = match self.modern {
            true => mcp::stateless_request(id, method, params),
            false => mcp::request(id, method, params),
        };
        self.say(&message).await;
        id
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.read.read_line(&mut line)).await.expect("heard in time").unwrap();
        assert!(read > 0, "the conversation ended");
        assert!(line.len() < 1 << 20, "{} bytes", line.len());
        serde_json::from_str(&line).unwrap()
    }

    /// Waits for the answer to a request and keeps other messages.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().await;
            if message["id"] == json!(id) {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool and returns the envelope.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = &answer["result"];
        let envelope = result["structuredContent"].clone();
        assert_eq!(text_of(&answer), envelope, "the text is the whole answer");
        assert_eq!(result["isError"], json!(!envelope["ok"].as_bool().unwrap()), "{answer}");
        assert_eq!(envelope["tool"], json!(tool));
        envelope
    }

    /// Calls a tool and returns the whole message.
    pub(crate) async fn call_whole(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Reads a resource and returns its JSON.
    pub(crate) async fn read(&mut self, uri: &str) -> Value {
        let answer = self.ask("resources/read", json!({ "uri": uri })).await;
        let contents = &answer["result"]["contents"][0];
        assert_eq!(contents["uri"], json!(uri), "{answer}");
        serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
    }

    /// Waits for the next notification of this method.
    pub(crate) async fn notice(&mut self, method: &str) -> Value {
        let place = self.heard.iter().position(|message| message["method"] == json!(method));
        if let Some(place) = place {
            return self.heard.remove(place);
        }
        loop {
            let message = self.hear().await;
            if message["method"] == json!(method) {
                return message;
            }
            self.heard.push(message);
        }
    }
}

// ---- HTTP -------------------------------------------------------------------------------------------------------------

pub(crate) fn edge(service: &AgentService, limits: HttpLimits) -> HttpEdge {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let admits = Arc::new(|token: &str| token == TOKEN);
    HttpEdge::start(service, service.agent(), listener, admits, limits).unwrap()
}

pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends raw bytes and reads until the server closes.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes).await;
    read_answer(&mut stream).await
}

pub(crate) async fn read_answer(stream: &mut TcpStream) -> Answered {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("answered in time");
    let text = String::from_utf8_lossy(&answer).into_owned();
    assert!(read.is_ok() || !text.is_empty(), "{read:?}");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answered { status, head: head.to_lowercase(), body: body.to_owned() }
}

pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text += &format!("host: {address}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    format!("{text}\r\n{body}")
}

/// Builds a modern tool call as an HTTP request.
pub(crate) fn tool_call(address: SocketAddr, tool: &str, headers: &[(&str, &str)]) -> String {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {}, "_meta": meta() }
    });
    let mut all = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    all.extend_from_slice(headers);
    request(address, "POST", "/mcp", &all, &body.to_string())
}

/// Calls a tool over HTTP without a connection and returns the envelope.
pub(crate) async fn call_over_http(address: SocketAddr, tool: &str, arguments: Value) -> Value {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": meta() }
    });
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
        ("authorization", bearer.as_str()),
    ];
    let text = request(address, "POST", "/mcp", &headers, &body.to_string());
    let answer = exchange(address, text.as_bytes()).await;
    let is_message = |line: &str| line.starts_with('{');
    let line = answer.body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let message: Value =
        serde_json::from_str(line.clone().find(|l| is_message(l)).expect(&answer.body)).unwrap();
    message["result"]["structuredContent"].clone()
}
