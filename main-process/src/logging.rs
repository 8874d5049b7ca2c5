//! Log lines: to standard error, and to the file that crash reports quote.

use crash_reports::LogWriter;
use std::io::IsTerminal as _;

/// Starts logging as `DRAFTBOARD_LOG` says; warnings and errors by default.
pub(crate) fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DRAFTBOARD_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,rmcp=error"));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(LogWriter::default)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    // Started already: the first call decides.
    drop(started);
}
