//! A server for the official conformance suite: the HTTP edge and handler of this crate, with the tools, resources
//! and prompts that the suite calls. An example and not part of the library, so that no release contains it.
//!
//! Run `conformance_server PORT` with the token in `MCP_TEST_BEARER`; it prints one line when it is ready.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, clippy::expect_used)]
#![allow(deprecated, reason = "the older protocol is tested too")]

mod answers;
mod asking;
mod handler;

use authority::{
    Snapshot,
    proposals::{AgentRequest, CallingClient},
};
use handler::Fixtures;
use mcp_server::{
    ActionRuns, AgentReplyFn, AgentService, AgentSurface, AgentView, AgentWorkbench, AgentWorkspaceView,
    BoardHcl, BoardImageRequest, ReviewSubmitter,
    http::{HttpEdge, HttpLimits},
};
use shared_protocol::{
    BoardId, Refusal, RefusalCode, Revision, mcp::McpMode, messages::Patch, proposal::ProposedAction,
    terraform::CostView,
};
use std::{
    net::{Ipv4Addr, TcpListener},
    sync::Arc,
};
use tokio::sync::watch;

/// A workbench without a workspace, which the suite does not need.
struct Empty {
    changed: watch::Sender<u64>,
    action_runs: ActionRuns,
}

impl ReviewSubmitter for Empty {
    fn submit(&self, _: CallingClient, _: AgentRequest, reply: AgentReplyFn) {
        reply(Err(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open")));
    }
}

impl AgentWorkbench for Empty {
    fn view(&self) -> Arc<AgentView> {
        Arc::default()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn changes_since(&self, _: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        Ok(None)
    }

    fn action_runs(&self) -> &ActionRuns {
        &self.action_runs
    }

    fn configured(&self, _: &serde_json::Map<String, serde_json::Value>) -> Result<ProposedAction, Refusal> {
        Err(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open"))
    }

    fn picture(&self, _: &Snapshot, _: &BoardImageRequest) -> Result<Vec<u8>, Refusal> {
        Err(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open"))
    }

    fn hcl(&self, _: &AgentWorkspaceView, _: BoardId) -> Result<BoardHcl, Refusal> {
        Err(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open"))
    }

    fn cost(&self, _: &AgentWorkspaceView, _: BoardId) -> Result<CostView, Refusal> {
        Err(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open"))
    }

    fn now(&self) -> u64 {
        0
    }
}

#[tokio::main]
async fn main() {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let Ok(token) = std::env::var("MCP_TEST_BEARER") else {
        eprintln!("Set MCP_TEST_BEARER to the token that the suite sends");
        std::process::exit(2);
    };
    let workbench = Arc::new(Empty { changed: watch::Sender::new(0), action_runs: ActionRuns::default() });
    let service = AgentService::new(
        Arc::clone(&workbench) as Arc<dyn AgentWorkbench>,
        workbench,
        AgentSurface::core(),
        env!("CARGO_PKG_VERSION"),
        McpMode::Observe,
        "conformance",
    );
    let watching = service.clone();
    tokio::spawn(async move { watching.watch().await });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    let admits = Arc::new(move |presented: &str| presented == token);
    let edge = HttpEdge::start(&service, Fixtures::new(&service), listener, admits, HttpLimits::default())
        .expect("it listens");
    println!("http://{}/mcp", edge.address());
    std::future::pending::<()>().await;
}
