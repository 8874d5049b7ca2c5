//! The last lines of the log, kept in memory for a report.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

const MAX_LINES: usize = 40;
const MAX_LINE_BYTES: usize = 1024;

static LINES: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Writes to standard error and keeps the last lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.is_empty()) {
            if lines.len() >= MAX_LINES {
                lines.pop_front();
            }
            lines.push_back(line.chars().take(MAX_LINE_BYTES).collect());
        }
        drop(lines);
        io::stderr().write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// `None` while the calling thread writes a line itself: a panic there must not deadlock.
pub(super) fn last_lines() -> Vec<String> {
    LINES.try_lock().map(|lines| lines.iter().cloned().collect()).unwrap_or_default()
}
