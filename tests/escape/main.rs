//! The escape matrix: the preview as the executable runs it, started by main's own code, locked in and greeted, tries to get
//! out, one way after another. Every attempt must fail, as root, as an ordinary user, and without Landlock. The same attempts
//! without the sandbox show that they would work: else their failure would prove nothing.
//!
//! `cargo test --workspace --features draftboard/probe --test escape`. The feature compiles the attempts into the preview; no other build has them,
//! which `tests/preview.rs` checks. This binary plays two parts: the test (prints the table) and a column (one user and one
//! sandbox, with its own targets to attack).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unsafe_code,
    reason = "a test"
)]

mod column;
#[path = "../support/mod.rs"]
mod support;

use preview_runtime::probe;
use std::{os::unix::process::CommandExt, process::Command};
use support::home::{HomeFixture, Running, serving};
use test_support::requirements::OTHER_USER;

const NOBODY: u32 = 65_534;

/// Attempts that work without a sandbox, at least. Some never do for an ordinary user.
const WORKING_WITHOUT: usize = 26;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--column") => column::run(&arguments[1], &arguments[2], &arguments[3]),
        // What test runners ask for.
        Some("--list") => {}
        _ => matrix(),
    }
}

struct Column {
    title: &'static str,
    user: Option<u32>,
    sandbox: &'static str,
}

fn matrix() {
    // Where an ordinary user can start it.
    let folder = std::env::temp_dir().join(format!("escape-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (exe, draftboard) = (folder.join("escape"), folder.join("draftboard"));
    std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_draftboard"), &draftboard).unwrap();
    // What no preview may reach: the agents' port of a Draftboard that runs.
    let home = HomeFixture::new();
    let workspace = home.workspace("app", "blank");
    let running = Running::start(serving(&home, &workspace));
    let ready: serde_json::Value = serde_json::from_str(&running.line().unwrap()).unwrap();
    let address = ready["mcp"].as_str().unwrap();
    let mcp = address.strip_prefix("http://").unwrap().split('/').next().unwrap();
    use std::os::unix::fs::PermissionsExt;
    for path in [&folder, &exe, &draftboard] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = OTHER_USER.is_available();
    let user = root.then_some(NOBODY);
    let mut columns = vec![Column { title: "no sandbox", user, sandbox: "open" }];
    if root {
        columns.push(Column { title: "as root", user: None, sandbox: "locked" });
    }
    columns.push(Column { title: "as a user", user, sandbox: "locked" });
    columns.push(Column { title: "without Landlock", user, sandbox: "no-landlock" });

    let results: Vec<Vec<String>> = columns
        .iter()
        .map(|column| {
            let mut command = Command::new(&exe);
            command
                .args(["--column", column.sandbox])
                .arg(&draftboard)
                .arg(mcp)
                .env_clear()
                .env("SECRET", "of the parent")
                .current_dir("/");
            if let Some(user) = column.user {
                command.uid(user).gid(user);
            }
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(lines.len(), probe::ESCAPE_ATTEMPTS.len(), "{}: {text}\n{errors}", column.title);
            lines
        })
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();

    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    println!("| Attempt | {} |", titles.join(" | "));
    println!("|---|{}", "---|".repeat(titles.len()));
    let mut escaped = Vec::new();
    for (row, (name, _)) in probe::ESCAPE_ATTEMPTS.iter().enumerate() {
        let cells: Vec<&str> = results.iter().map(|column| column[row].as_str()).collect();
        println!("| {name} | {} |", cells.join(" | "));
        for (column, cell) in columns.iter().zip(&cells) {
            if column.sandbox != "open" && cell.starts_with("WORKED") {
                escaped.push(format!("{name}, {}: {cell}", column.title));
            }
        }
    }
    // What this prints is what is published; what a kernel answers may differ elsewhere, what is tried may not.
    let published = include_str!("../../docs/SECURITY.md");
    for (name, _) in probe::ESCAPE_ATTEMPTS {
        assert!(published.contains(&format!("\n| {name} | ")), "docs/SECURITY.md does not have: {name}");
    }
    let working = results[0].iter().filter(|cell| cell.starts_with("WORKED")).count();
    println!("\n{working} of {} attempts work without the sandbox", probe::ESCAPE_ATTEMPTS.len());
    assert!(escaped.is_empty(), "the sandbox does not hold: {escaped:#?}");
    assert!(
        working >= WORKING_WITHOUT,
        "only {working} attempts work without the sandbox: they prove nothing"
    );
}
