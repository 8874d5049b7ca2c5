//! What it costs that Draftboard stands between an agent and a server: time of a call against the same call over bare pipes,
//! and memory of a server that is connected and idle.
//!
//! `cargo run --release -p upstreams --example overhead`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a measurement, run by hand"
)]

use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use upstreams::{McpConfig, McpPackageType, McpService, Setup};

const WARM_UP: usize = 200;
const CALLS: usize = 5_000;
const SERVERS: usize = 50;
const MOST_OVERHEAD: Duration = Duration::from_micros(500);
const MOST_MEMORY_KIB: u64 = 1_024;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let text = "x".repeat(1_000);
    let bare = bare_calls(&text);
    let (through, memory) = runtime.block_on(through_service(&text));
    let row = |name: &str, times: &[Duration]| {
        println!("{name:<18} p50 {:>7.1?}  p99 {:>7.1?}", quantile(times, 0.5), quantile(times, 0.99));
    };
    row("over bare pipes", &bare);
    row("through the service", &through);
    let overhead = quantile(&through, 0.5).saturating_sub(quantile(&bare, 0.5));
    println!("overhead of a call p50 {overhead:.1?} (at most {MOST_OVERHEAD:?})");
    println!("memory of an idle server {memory} KiB (at most {MOST_MEMORY_KIB})");
    assert!(overhead < MOST_OVERHEAD && memory < MOST_MEMORY_KIB, "over its bound");
}

fn quantile(times: &[Duration], part: f64) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let index = ((times.len() - 1) as f64 * part) as usize;
    times[index]
}

/// The least server there can be: its own time hardly counts.
fn serve() {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = message.get("id") else { continue };
        let schema =
            json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let result = match message["method"].as_str() {
            Some("initialize") => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}})
            }
            Some("tools/list") => {
                json!({"tools": [{"name": "echo", "description": "Says it again", "inputSchema": schema}]})
            }
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
            }
            _ => {
                let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}});
                writeln!(output, "{error}").and_then(|()| output.flush()).unwrap();
                continue;
            }
        };
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .and_then(|()| output.flush())
            .unwrap();
    }
}

fn bare_calls(text: &str) -> Vec<Duration> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut times = Vec::new();
    for id in 0..WARM_UP + CALLS {
        let start = Instant::now();
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": text}}});
        writeln!(input, "{call}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], text);
        times.push(start.elapsed());
    }
    drop(input);
    child.wait().unwrap();
    times.split_off(WARM_UP)
}

async fn through_service(text: &str) -> (Vec<Duration>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::new(&folder.path().join("config"), &folder.path().join("data"));
    let service = McpService::open(setup, tokio::runtime::Handle::current()).unwrap();
    let mut config =
        McpConfig::stdio("echo", McpPackageType::Binary, std::env::current_exe().unwrap().to_str().unwrap());
    config.args = vec!["serve".to_owned()];
    let create = || service.create(McpConfig { id: uuid::Uuid::new_v4(), ..config.clone() }).unwrap().id;
    let id = create();
    service.start(id).await.unwrap();
    service.approve_all(id).unwrap();
    let arguments = json!({ "text": text });
    let mut times = Vec::new();
    for _ in 0..WARM_UP + CALLS {
        let start = Instant::now();
        let answer = service.call_tool(id, "echo", &arguments).await.unwrap();
        assert_eq!(answer.value()["content"][0]["text"], text);
        times.push(start.elapsed());
    }
    let others: Vec<_> = (0..SERVERS).map(|_| create()).collect();
    let before = resident_kib();
    for &other in &others {
        service.start(other).await.unwrap();
    }
    let memory = resident_kib().saturating_sub(before) / SERVERS as u64;
    service.shutdown_all().await.unwrap();
    (times.split_off(WARM_UP), memory)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
