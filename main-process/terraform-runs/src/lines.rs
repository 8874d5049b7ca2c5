//! What a run says, counted from the first line: the newest in memory, all of them in its log.

use safe_fs::SafeFolder;
use shared_protocol::{
    request::Responder,
    terraform::{MAX_RUN_LINES, RunLine, TerraformAnswer},
};
use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    time::Instant,
};

/// Lines kept in memory.
const MOST_KEPT: usize = 5_000;
/// Those who may wait for the next line of a run.
const MOST_WAITING: usize = 32;
/// Of a log that is read again.
const MOST_LOG_BYTES: u64 = 256 << 20;
const LONGEST_LINE: usize = 64 << 10;

#[derive(Default)]
pub(super) struct Lines {
    kept: VecDeque<RunLine>,
    count: u64,
    waiting: Vec<Waiting>,
}

/// Somebody who has read everything and wants what comes.
pub(super) struct Waiting {
    pub(super) from: u64,
    pub(super) until: Instant,
    pub(super) responder: Responder<TerraformAnswer>,
}

impl Lines {
    /// Of a run that has ended, with its log.
    pub(super) fn ended(count: u64) -> Self {
        Self { count, ..Self::default() }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn push(&mut self, line: RunLine) {
        self.kept.push_back(line);
        self.count += 1;
        if self.kept.len() > MOST_KEPT {
            self.kept.pop_front();
        }
    }

    /// From that line on, if they are still in memory.
    pub(super) fn from(&self, from: u64) -> Option<Vec<RunLine>> {
        let first = self.count - self.kept.len() as u64;
        let skip = usize::try_from(from.checked_sub(first)?).unwrap_or(usize::MAX);
        Some(self.kept.iter().skip(skip).take(MAX_RUN_LINES).cloned().collect())
    }

    /// The log has them all.
    pub(super) fn let_go(&mut self) {
        self.kept = VecDeque::new();
    }

    /// Gives the reply back when too many wait.
    pub(super) fn wait(&mut self, waiting: Waiting) -> Option<Waiting> {
        if self.waiting.len() >= MOST_WAITING {
            return Some(waiting);
        }
        self.waiting.push(waiting);
        None
    }

    /// Those who need not wait any longer.
    pub(super) fn served(&mut self, now: Instant, is_over: bool) -> Vec<Waiting> {
        let count = self.count;
        let (done, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|waiting| is_over || waiting.from < count || waiting.until <= now);
        self.waiting = waiting;
        done
    }
}

/// From that line on, out of a log. Which of them were errors is not in it.
pub(super) fn read_log(path: &Path, from: u64) -> Vec<RunLine> {
    let opened = SafeFolder::of_file(path).and_then(|(folder, name)| folder.open_file(name));
    let Ok(file) = opened else { return Vec::new() };
    let skip = usize::try_from(from).unwrap_or(usize::MAX);
    let lines = BufReader::new(file.take(MOST_LOG_BYTES)).split(b'\n').map_while(Result::ok);
    let line = |bytes: Vec<u8>| {
        let bytes = bytes.get(..LONGEST_LINE).unwrap_or(&bytes);
        RunLine { error: false, text: String::from_utf8_lossy(bytes).into_owned() }
    };
    lines.skip(skip).take(MAX_RUN_LINES).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_are_left_to_the_log() {
        let mut lines = Lines::default();
        for number in 0..MOST_KEPT + 10 {
            lines.push(RunLine { error: false, text: number.to_string() });
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
