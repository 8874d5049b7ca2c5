//! The output of a run, with numbered lines: the newest in memory, all of them in its log.

use safe_fs::SafeFolder;
use shared_protocol::{
    request::Responder,
    terraform::{MAX_RUN_LINES, TerraformRunLine, TerraformRunView},
};
use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    time::Instant,
};

/// RunOutput kept in memory.
const MAX_KEPT_LINES: usize = 5_000;
/// The number of requests that may wait for the next line of a run.
const MAX_WAITING_REQUESTS: usize = 32;
/// The part of a log that is read again.
const MAX_LOG_BYTES: u64 = 256 << 20;
const MAX_LINE_BYTES: usize = 64 << 10;

#[derive(Default)]
pub(super) struct RunTranscript {
    lines: VecDeque<TerraformRunLine>,
    count: u64,
    waiting: Vec<RunLinesRequest>,
}

/// A request for lines that are not printed yet.
pub(super) struct RunLinesRequest {
    pub(super) from: u64,
    pub(super) until: Instant,
    pub(super) responder: Responder<(TerraformRunView, Vec<TerraformRunLine>)>,
}

impl RunTranscript {
    /// The output of an ended run, which is in its log.
    pub(super) fn finished(count: u64) -> Self {
        Self { count, ..Self::default() }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn push(&mut self, line: TerraformRunLine) {
        self.lines.push_back(line);
        self.count += 1;
        if self.lines.len() > MAX_KEPT_LINES {
            self.lines.pop_front();
        }
    }

    /// The lines from a number on, if they are still in memory.
    pub(super) fn from(&self, from: u64) -> Option<Vec<TerraformRunLine>> {
        let first = self.count - self.lines.len() as u64;
        let skip = usize::try_from(from.checked_sub(first)?).unwrap_or(usize::MAX);
        Some(self.lines.iter().skip(skip).take(MAX_RUN_LINES).cloned().collect())
    }

    /// Drops the lines from memory; the log has them all.
    pub(super) fn drop_kept(&mut self) {
        self.lines = VecDeque::new();
    }

    /// Returns the request when too many wait.
    pub(super) fn wait(&mut self, waiting: RunLinesRequest) -> Option<RunLinesRequest> {
        if self.waiting.len() >= MAX_WAITING_REQUESTS {
            return Some(waiting);
        }
        self.waiting.push(waiting);
        None
    }

    /// Takes the requests that can be answered.
    pub(super) fn take_due(&mut self, now: Instant, is_over: bool) -> Vec<RunLinesRequest> {
        let count = self.count;
        let (done, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|waiting| is_over || waiting.from < count || waiting.until <= now);
        self.waiting = waiting;
        done
    }
}

/// The lines of a log from a number on. The log does not say which of them were errors.
pub(super) fn read_log(path: &Path, from: u64) -> Vec<TerraformRunLine> {
    let opened = SafeFolder::parent_of(path).and_then(|(folder, name)| folder.open_file(name));
    let Ok(file) = opened else { return Vec::new() };
    let skip = usize::try_from(from).unwrap_or(usize::MAX);
    let lines = BufReader::new(file.take(MAX_LOG_BYTES)).split(b'\n').map_while(Result::ok);
    let line = |bytes: Vec<u8>| {
        let bytes = bytes.get(..MAX_LINE_BYTES).unwrap_or(&bytes);
        TerraformRunLine { error: false, text: String::from_utf8_lossy(bytes).into_owned() }
    };
    lines.skip(skip).take(MAX_RUN_LINES).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_are_left_to_the_log() {
        let mut lines = RunTranscript::default();
        for number in 0..MAX_KEPT_LINES + 10 {
            lines.push(TerraformRunLine { error: false, text: number.to_string() });
        }
        assert!(lines.from(9).is_none());
        assert_eq!(lines.from(10).unwrap()[0].text, "10");
        assert_eq!(lines.from(lines.count()).unwrap(), []);
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "a\nb\nc\n").unwrap();
        let texts: Vec<String> = read_log(&log, 1).into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["b", "c"]);
    }
}
