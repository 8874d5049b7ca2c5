//! Crash reports that stay on this computer: the reason why a process of Draftboard ended, as text that its user can read
//! before sharing it. Nothing is sent.
//!
//! A panic is recorded by the process itself, in a hook. A fatal signal is recorded by the parent, from the exit status of its
//! child: a handler inside the failing process could do almost nothing safely. Main has no such parent; it leaves a
//! marker while it runs, and the next start or report finds the marker of a process that is gone.
//!
//! The preview has no files. Its panic goes to its standard error as ever, which main reads and records.

mod log_ring;
mod marker;
mod redact;
mod store;

pub use log_ring::LogWriter;
pub use marker::RunningMarker;
pub use store::CrashStore;

use processes::ExitReason;
use redact::Redaction;
use shared_protocol::v0::UtcTimestamp;
use std::{
    backtrace::Backtrace,
    fmt::Write as _,
    panic::PanicHookInfo,
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

/// Reports of one run: without a limit, a component that keeps crashing its preview, or a thread that panics in a loop,
/// would displace the reports of other runs.
const MAX_REPORTS_PER_RUN: u32 = 5;

/// The role of a process; its name appears in the report and in the file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashRole {
    /// With a window.
    Main,
    /// Without one.
    Serve,
    Renderer,
    Preview,
    Bridge,
    Warden,
    CommandLine,
}

impl CrashRole {
    pub fn label(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Serve => "serve",
            Self::Renderer => "renderer",
            Self::Preview => "preview",
            Self::Bridge => "bridge",
            Self::Warden => "warden",
            Self::CommandLine => "command-line",
        }
    }
}

static STARTED: OnceLock<Instant> = OnceLock::new();
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// Records every panic of this process from now on. The message still goes to standard error as before.
pub fn record_panics(role: CrashRole) {
    STARTED.get_or_init(Instant::now);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        write(&of_panic(role, panic));
    }));
    #[cfg(debug_assertions)]
    panic_for_tests(role);
}

/// Only in development builds: tests check the report of a panicking role.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "the panic is what the test is about")]
fn panic_for_tests(role: CrashRole) {
    if let Ok(asked) = std::env::var("DRAFTBOARD_TEST_PANIC")
        && let Some((named, message)) = asked.split_once(':')
        && named == role.label()
    {
        std::panic::panic_any(message.to_owned());
    }
}

fn of_panic(role: CrashRole, panic: &PanicHookInfo<'_>) -> CrashReport {
    let message = panic.payload_as_str().unwrap_or("a panic without a message");
    let thread = std::thread::current();
    CrashReport {
        role,
        pid: std::process::id(),
        uptime: STARTED.get().map(Instant::elapsed),
        summary: format!("panicked: {message}"),
        location: panic.location().map(ToString::to_string),
        thread: Some(thread.name().unwrap_or("unnamed").to_owned()),
        backtrace: Some(Backtrace::force_capture().to_string()),
        lines: log_ring::last_lines(),
    }
}

/// Records the end of a child, if it crashed. A child that panicked has recorded that itself, except the preview, which
/// cannot.
pub fn record_child(
    role: CrashRole,
    pid: Option<u32>,
    reason: ExitReason,
    uptime: Option<Duration>,
    words: &[String],
) {
    let is_fault = match reason {
        ExitReason::Crashed(_) | ExitReason::OutOfMemory | ExitReason::SandboxViolation => true,
        ExitReason::Failed(_) => role == CrashRole::Preview,
        ExitReason::Clean | ExitReason::Killed | ExitReason::Timeout | ExitReason::NotStarted => false,
    };
    if !is_fault {
        return;
    }
    let signal = match reason {
        ExitReason::Crashed(signal) => format!(", signal {signal}"),
        _ => String::new(),
    };
    let lines = words.iter().cloned().chain(log_ring::last_lines()).collect();
    write(&CrashReport {
        role,
        pid: pid.unwrap_or_default(),
        uptime,
        summary: format!("{reason}{signal}"),
        location: None,
        thread: None,
        backtrace: None,
        lines,
    });
}

/// One report before redaction.
#[derive(Debug, Clone)]
struct CrashReport {
    role: CrashRole,
    pid: u32,
    uptime: Option<Duration>,
    summary: String,
    location: Option<String>,
    thread: Option<String>,
    backtrace: Option<String>,
    lines: Vec<String>,
}

impl CrashReport {
    fn text(&self, time: u64, redaction: &Redaction) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}: {value}");
        };
        line("What", &redaction.message(&self.summary));
        line("Role", self.role.label());
        line("Version", env!("CARGO_PKG_VERSION"));
        line("System", &system());
        line("Time", UtcTimestamp::of_millis(time).as_str());
        line("Process", &self.pid.to_string());
        if let Some(uptime) = self.uptime {
            line("Uptime", &format!("{} s", uptime.as_secs()));
        }
        if let Some(thread) = &self.thread {
            line("Thread", &redaction.message(thread));
        }
        if let Some(location) = &self.location {
            line("Location", &redaction.source(location));
        }
        let mut section = |title: &str, lines: &mut dyn Iterator<Item = String>| {
            let lines: Vec<String> = lines.collect();
            if !lines.is_empty() {
                let _ = writeln!(text, "\n{title}\n{}", lines.join("\n"));
            }
        };
        section("Last lines of the log", &mut self.lines.iter().map(|line| redaction.message(line)));
        let frames = self.backtrace.iter().flat_map(|backtrace| backtrace.lines());
        section("Backtrace", &mut frames.map(|frame| redaction.source(frame)));
        text
    }
}

fn write(report: &CrashReport) {
    if WRITTEN.fetch_add(1, Ordering::Relaxed) >= MAX_REPORTS_PER_RUN {
        return;
    }
    let time = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64);
    let text = report.text(time, &Redaction::of_user());
    // This must neither panic nor log, because the panic hook calls it.
    drop(CrashStore::of_user().add(time, report.role, report.pid, &text));
}

/// The kernel, the processor and the distribution, as far as known.
pub fn system() -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let named = |line: &str| Some(line.strip_prefix("PRETTY_NAME=")?.trim_matches('"').to_owned());
    let distribution = release.lines().find_map(named).unwrap_or_else(|| "unknown distribution".to_owned());
    format!(
        "{} {} {}, {distribution}",
        read("ostype").trim(),
        read("osrelease").trim(),
        std::env::consts::ARCH
    )
}

/// The text for a problem report: versions, the newest crash report if there is one, and the end of the log.
pub fn problem_report() -> String {
    let redaction = Redaction::of_user();
    marker::record_all_gone();
    let newest = CrashStore::of_user().newest();
    let mut text = format!("Draftboard {}\n{}\n", env!("CARGO_PKG_VERSION"), system());
    match &newest {
        Some(report) => text.push_str(&format!("\nNewest crash report ({})\n\n{}", report.name, report.text)),
        None => text.push_str("\nNo crash was recorded.\n"),
    }
    let lines = log_ring::last_lines();
    if !lines.is_empty() {
        let lines: Vec<String> = lines.iter().map(|line| redaction.message(line)).collect();
        text.push_str(&format!("\nLog of this run\n{}\n", lines.join("\n")));
    }
    text
}

/// The folder of the reports.
pub fn folder() -> PathBuf {
    user_folders::crashes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_ended_and_nothing_of_the_document() {
        let report = CrashReport {
            role: CrashRole::Serve,
            pid: 7,
            uptime: Some(Duration::from_secs(90)),
            summary:
                "panicked: called `Result::unwrap()` on an `Err` value: Parse(\"db_password = hunter2\")"
                    .to_owned(),
            location: Some("/home/ada/src/main-process/src/x.rs:3:9".to_owned()),
            thread: Some("writer".to_owned()),
            backtrace: Some("   0: main_process::x::y\n             at /home/ada/src/x.rs:3:9".to_owned()),
            lines: vec![
                "\u{1b}[31mERROR\u{1b}[0m cannot save path=/home/ada/secret-plan/boards/main.board.json"
                    .to_owned(),
            ],
        };
        let text = report.text(0, &Redaction::for_home("/home/ada"));
        for there in [
            "Role: serve",
            "Thread: writer",
            "`Result::unwrap()`",
            "~/src/main-process/src/x.rs:3:9",
            "main_process::x::y",
            "ERROR cannot save",
        ] {
            assert!(text.contains(there), "{there}: {text}");
        }
        for gone in ["hunter2", "/home/ada", "secret-plan", "\u{1b}"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
    }
}
