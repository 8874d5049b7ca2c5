//! Measures MCP servers from outside, with one small client for all of them: bytes out, bytes in, nothing decoded.
//!
//! `mcp_bench latency PLAN.json` prints p50 and p99 of each task on each server, in rounds that go from server to server so
//! that a busy moment of the machine meets all of them. `mcp_bench load PLAN.json SECONDS IN_FLIGHT` keeps that many requests
//! open on the first server and counts what is not answered well. `scripts/bench-mcp` writes the plan and starts the servers.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a tool for developers"
)]

mod connection;
mod figures;
mod plan;

use connection::Connection;
use figures::Figures;
use plan::{Plan, Server, Task};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["latency", plan] => latency(&Plan::read(plan)),
        ["load", plan, seconds, in_flight] => {
            let done = load(
                &Plan::read(plan),
                seconds.parse().expect("seconds"),
                in_flight.parse().expect("a number"),
            );
            std::process::exit(i32::from(!done));
        }
        _ => panic!("mcp_bench latency PLAN.json | load PLAN.json SECONDS IN_FLIGHT"),
    }
}

fn latency(plan: &Plan) {
    let mut connections: Vec<(&Server, Connection)> =
        plan.servers.iter().map(|server| (server, Connection::open(server))).collect();
    let mut figures: BTreeMap<(usize, usize), Figures> = BTreeMap::new();
    for round in 0..=plan.rounds {
        for (of_server, (server, connection)) in connections.iter_mut().enumerate() {
            for (of_task, task) in plan.tasks.iter().enumerate() {
                // The first round warms everybody up.
                let calls = if round == 0 { plan.warm_up } else { plan.calls };
                let figures = figures.entry((of_task, of_server)).or_default();
                for _ in 0..calls {
                    let start = Instant::now();
                    let bytes = connection.ask(task);
                    let took = start.elapsed();
                    check(server, task, bytes);
                    if round > 0 {
                        figures.add(took, bytes.len());
                    }
                }
            }
        }
    }
    println!(
        "{} rounds of {} calls each, one after the other on a kept-alive connection; microseconds\n",
        plan.rounds, plan.calls
    );
    for (of_task, task) in plan.tasks.iter().enumerate() {
        println!("{:<34} {:>9} {:>9} {:>10} {:>8}", task.title, "p50", "p99", "bytes", "× first");
        let first = figures[&(of_task, 0)].percentile(50);
        for (of_server, server) in plan.servers.iter().enumerate() {
            let figures = &figures[&(of_task, of_server)];
            let (p50, p99) = (figures.percentile(50), figures.percentile(99));
            println!(
                "  {:<32} {p50:>9.0} {p99:>9.0} {:>10} {:>8.2}",
                server.name,
                figures.bytes(),
                p50 / first
            );
        }
        println!();
    }
}

fn check(server: &Server, task: &Task, body: &[u8]) {
    if !is_good(body) {
        let shown = String::from_utf8_lossy(&body[..body.len().min(600)]).into_owned();
        panic!("{} did not answer {} well: {shown}", server.name, task.title);
    }
}

/// Answered, and not by an error of any kind.
fn is_good(body: &[u8]) -> bool {
    let has = |needle: &[u8], within: &[u8]| within.windows(needle.len()).any(|window| window == needle);
    let ends = [&body[..body.len().min(200)], &body[body.len().saturating_sub(200)..]];
    has(b"\"result\"", body)
        && !ends.iter().any(|end| has(b"\"isError\":true", end) || has(b"\"error\":{\"code\":", end))
}

/// True when everything was answered well.
fn load(plan: &Plan, seconds: u64, in_flight: usize) -> bool {
    let server = &plan.servers[0];
    let (stop, bad) = (AtomicBool::new(false), AtomicU64::new(0));
    let figures: Vec<Figures> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let (stop, bad) = (&stop, &bad);
            move || {
                let mut connection = Connection::open(server);
                let mut figures = Figures::default();
                for task in plan.tasks.iter().cycle().skip(worker) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let start = Instant::now();
                    let body = connection.ask(task);
                    let took = start.elapsed();
                    if !is_good(body) {
                        bad.fetch_add(1, Ordering::Relaxed);
                    }
                    figures.add(took, body.len());
                }
                figures
            }
        };
        let workers: Vec<_> = (0..in_flight).map(|worker| scope.spawn(work(worker))).collect();
        std::thread::sleep(Duration::from_secs(seconds));
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().expect("a connection broke")).collect()
    });
    let all = figures.into_iter().fold(Figures::default(), Figures::and);
    let bad = bad.into_inner();
    println!(
        "{}: {in_flight} requests in flight for {seconds} s: {} answered ({:.0} a second), {bad} errors, p50 {:.0} µs, p99 {:.0} µs",
        server.name,
        all.count(),
        all.count() as f64 / seconds as f64,
        all.percentile(50),
        all.percentile(99)
    );
    bad == 0
}
