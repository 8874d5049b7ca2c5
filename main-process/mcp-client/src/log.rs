//! The log of a server: its standard error and Draftboard's own messages. Bounded and free of secrets.

use crate::secrets::Redactor;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::io::{AsyncRead, AsyncReadExt as _};

const MAX_LOG_LINES: usize = 400;
const MAX_LOG_LINE_BYTES: usize = 2_048;
const MAX_ERROR_LINES: usize = 5;

#[derive(Default)]
pub(crate) struct ServerLog {
    lines: Mutex<ServerLogLines>,
}

#[derive(Default)]
struct ServerLogLines {
    lines: VecDeque<String>,
    dropped: u64,
    redactor: Redactor,
}

impl ServerLog {
    pub(crate) fn set_redactor(&self, redactor: Redactor) {
        self.lock_lines().redactor = redactor;
    }

    pub(crate) fn push(&self, line: &str) {
        self.add(line, false);
    }

    /// `is_cut`: the line was longer, so its end may be the beginning of a secret.
    fn add(&self, line: &str, is_cut: bool) {
        let mut lines = self.lock_lines();
        let line = if is_cut { lines.redactor.without_beginning(line) } else { line };
        // Redacts before truncating; a truncated secret would not be found.
        let mut line = lines.redactor.redact(line.trim_end()).into_owned();
        if is_cut && line.len() <= MAX_LOG_LINE_BYTES {
            line.push('…');
        }
        if line.len() > MAX_LOG_LINE_BYTES {
            line.truncate(line.floor_char_boundary(MAX_LOG_LINE_BYTES));
            line.push('…');
        }
        if lines.lines.len() == MAX_LOG_LINES {
            lines.lines.pop_front();
            lines.dropped += 1;
        }
        lines.lines.push_back(line);
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.lock_lines().redactor.redact(text).into_owned()
    }

    /// Returns whether there are secrets to redact.
    pub(crate) fn has_secrets(&self) -> bool {
        !self.lock_lines().redactor.is_empty()
    }

    /// Returns the kept lines and the number of dropped ones.
    pub(crate) fn lines(&self) -> (Vec<String>, u64) {
        let lines = self.lock_lines();
        (lines.lines.iter().cloned().collect(), lines.dropped)
    }

    /// Returns the kept lines after a [`mark`](Self::mark).
    pub(crate) fn lines_since(&self, mark: u64) -> Vec<String> {
        let lines = self.lock_lines();
        let fresh = usize::try_from((lines.dropped + lines.lines.len() as u64).saturating_sub(mark))
            .unwrap_or(usize::MAX);
        lines.lines.range(lines.lines.len().saturating_sub(fresh)..).cloned().collect()
    }

    /// Returns the last lines after a mark for an error message; empty when there are none.
    pub(crate) fn last_lines_text(&self, mark: u64) -> String {
        let fresh: Vec<String> = self.lines_since(mark).into_iter().filter(|line| !line.is_empty()).collect();
        let last = fresh.get(fresh.len().saturating_sub(MAX_ERROR_LINES)..).unwrap_or_default();
        if last.is_empty() { String::new() } else { format!(" Last log lines: {}", last.join(" / ")) }
    }

    /// Returns the total number of lines so far.
    pub(crate) fn line_count(&self) -> u64 {
        let lines = self.lock_lines();
        lines.dropped + lines.lines.len() as u64
    }

    /// Reads until the end without limit, because a server with a full pipe would stall.
    pub(crate) async fn read_pipe(&self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = [0_u8; 8_192];
        let (mut line, mut is_cut) = (Vec::new(), false);
        while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
            for &byte in buffer.get(..count).unwrap_or_default() {
                if byte == b'\n' {
                    self.add_bytes(&line, is_cut);
                    line.clear();
                    is_cut = false;
                } else if line.len() < 2 * MAX_LOG_LINE_BYTES {
                    line.push(byte);
                } else {
                    is_cut = true;
                }
            }
        }
        if !line.is_empty() {
            self.add_bytes(&line, is_cut);
        }
    }

    fn add_bytes(&self, line: &[u8], is_cut: bool) {
        let text = String::from_utf8_lossy(line);
        // Drops a truncated character.
        self.add(if is_cut { text.trim_end_matches('\u{fffd}') } else { &text }, is_cut);
    }

    fn lock_lines(&self) -> MutexGuard<'_, ServerLogLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Secret;

    #[tokio::test]
    async fn a_flood_leaves_the_last_lines_without_secrets() {
        let log = ServerLog::default();
        log.set_redactor(Redactor::new([Secret::new("hunter22").expect("long enough")].iter()));
        let mut flood = String::new();
        for number in 0..10_000 {
            flood.push_str(&format!("{number} hunter22\n"));
        }
        flood.push_str(&"x".repeat(100_000));
        log.read_pipe(flood.as_bytes()).await;
        let (lines, dropped) = log.lines();
        assert_eq!((lines.len(), dropped), (MAX_LOG_LINES, 10_001 - MAX_LOG_LINES as u64));
        assert_eq!(lines[MAX_LOG_LINES - 2], "9999 [redacted]");
        assert!(lines[MAX_LOG_LINES - 1].len() < MAX_LOG_LINE_BYTES + 8);
        assert!(log.last_lines_text(10_000).contains("xxx") && !log.last_lines_text(10_000).contains("9999"));
        assert_eq!(log.last_lines_text(log.line_count()), "");
    }

    #[tokio::test]
    async fn a_line_that_is_cut_within_a_secret_shows_no_part_of_it() {
        let log = ServerLog::default();
        let long = format!("hunter22{}", "ü7".repeat(4_000));
        log.set_redactor(Redactor::new(
            [Secret::new("hunter22").expect("ok"), Secret::new(&long).expect("ok")].iter(),
        ));
        // Redaction shortens the text before the cut, so the cut moves into the visible part.
        let shrinking = "hunter22".repeat(500);
        for line in [
            format!("{long}\n"),
            format!("{shrinking}{long}\n"),
            format!("{}{long}\n", "hunter22".repeat(511)),
        ] {
            log.read_pipe(line.as_bytes()).await;
        }
        let (lines, _) = log.lines();
        assert_eq!(lines.len(), 3);
        for line in &lines {
            assert!(!line.contains("hunter") && !line.contains('7') && line.ends_with('…'), "{line}");
        }
    }
}
