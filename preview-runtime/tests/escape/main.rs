//! The escape matrix: a process that has locked itself in exactly as the preview does tries to get out, one way after
//! another. Every attempt must fail, as root, as an ordinary user, and without Landlock. The same attempts without the
//! sandbox show that they would work: else their failure would prove nothing.
//!
//! This binary plays three parts: the test (prints the table), a column (one user and one sandbox, with its own targets to
//! attack), and the probe (one attempt). The probe is in no other binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unsafe_code,
    reason = "a test"
)]

mod attempts;
mod column;

use std::{os::unix::process::CommandExt, process::Command};

/// As in the executable: the allocator is part of what the sandbox has to let work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NOBODY: u32 = 65_534;

/// Attempts that work without a sandbox, at least. Some never do for an ordinary user.
const WORKING_WITHOUT: usize = 28;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--column") => column::run(&arguments[1]),
        Some("--probe") => attempts::probe(&arguments[1..]),
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
    let exe = folder.join("escape");
    std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    use std::os::unix::fs::PermissionsExt;
    for path in [&folder, &exe] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = rustix::process::geteuid().is_root();
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
            assert_eq!(lines.len(), attempts::ALL.len(), "{}: {text}\n{errors}", column.title);
            lines
        })
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();

    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    println!("| Attempt | {} |", titles.join(" | "));
    println!("|---|{}", "---|".repeat(titles.len()));
    let mut escaped = Vec::new();
    for (row, (name, _)) in attempts::ALL.iter().enumerate() {
        let cells: Vec<&str> = results.iter().map(|column| column[row].as_str()).collect();
        println!("| {name} | {} |", cells.join(" | "));
        for (column, cell) in columns.iter().zip(&cells) {
            if column.sandbox != "open" && cell.starts_with("WORKED") {
                escaped.push(format!("{name}, {}: {cell}", column.title));
            }
        }
    }
    let working = results[0].iter().filter(|cell| cell.starts_with("WORKED")).count();
    println!("\n{working} of {} attempts work without the sandbox", attempts::ALL.len());
    assert!(escaped.is_empty(), "the sandbox does not hold: {escaped:#?}");
    assert!(
        working >= WORKING_WITHOUT,
        "only {working} attempts work without the sandbox: they prove nothing"
    );
}
