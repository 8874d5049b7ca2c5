//! Runs of accepted actions: their output lines and results. The executor records them here, and the requesting call
//! waits here. Kept in memory with limits; after a restart only the outcome text of the proposal remains.

use serde_json::Value;
use shared_protocol::{ProposalId, Refusal, RefusalCode, text::truncate_bytes};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// The maximum number of runs kept. The oldest finished run is evicted first.
const MAX_RUNS: usize = 64;
/// The maximum number of lines kept per run, and their bytes.
const MAX_LINES_PER_RUN: usize = 5_000;
const MAX_LINES_BYTES_PER_RUN: usize = 1 << 20;
const MAX_LINE_BYTES: usize = 16 << 10;
/// The maximum size of a result as JSON; clients accept one mebibyte per message.
const MAX_RESULT_BYTES: usize = 700 << 10;

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionOutputLine {
    pub text: String,
    /// The line was written to standard error, where that exists.
    pub error: bool,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionResult {
    /// A summary for people and for the proposal's record.
    pub words: String,
    /// The result for the agent.
    pub result: Result<Value, Refusal>,
}

impl ActionResult {
    /// A successful result with data for the requesting agent.
    pub fn ok(words: impl Into<String>, result: Value) -> Self {
        Self { words: words.into(), result: Ok(result) }
    }

    /// An accepted action that could not run.
    pub fn from_refusal(refusal: Refusal) -> Self {
        Self { words: format!("Failed: {}", refusal.message), result: Err(refusal) }
    }

    fn bounded(self) -> Self {
        let is_too_large = |value: &Value| value.to_string().len() > MAX_RESULT_BYTES;
        match &self.result {
            Ok(value) if is_too_large(value) => {
                let message =
                    format!("The action succeeded, but its result is larger than {MAX_RESULT_BYTES} bytes");
                Self { words: self.words, result: Err(Refusal::new(RefusalCode::LimitExceeded, message)) }
            }
            _ => self,
        }
    }
}

/// The state of a run and a range of its lines.
#[derive(Debug, Clone, Default)]
pub struct ActionRunState {
    /// The run has started.
    pub started: bool,
    /// The number of the first returned line: higher than requested when older lines were dropped.
    pub first_line: u64,
    pub lines: Vec<ActionOutputLine>,
    pub result: Option<Arc<ActionResult>>,
}

type StopFn = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct ActionRun {
    order: u64,
    lines: VecDeque<ActionOutputLine>,
    bytes: usize,
    count: u64,
    result: Option<Arc<ActionResult>>,
    /// Asks the executor to stop.
    stop: Option<StopFn>,
    stop_requested: bool,
}

#[derive(Default)]
struct ActionRunTable {
    runs: BTreeMap<ProposalId, ActionRun>,
    next: u64,
}

pub struct ActionRuns {
    table: Mutex<ActionRunTable>,
    changed: watch::Sender<u64>,
}

impl fmt::Debug for ActionRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doings").field("kept", &self.lock().runs.len()).finish()
    }
}

impl Default for ActionRuns {
    fn default() -> Self {
        Self { table: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

impl ActionRuns {
    fn lock(&self) -> MutexGuard<'_, ActionRunTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Notified after each line and each end.
    pub fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Records the start of a run.
    pub fn begin(&self, id: ProposalId) {
        self.lock().get_or_insert(id);
        self.notify_changed();
    }

    /// Registers the stop function. Calls it at once when a stop was already requested.
    pub fn stops_with(&self, id: ProposalId, stop: impl FnOnce() + Send + 'static) {
        let mut kept = self.lock();
        let run = kept.get_or_insert(id);
        if run.stop_requested {
            drop(kept);
            return stop();
        }
        run.stop = Some(Box::new(stop));
    }

    /// Requests a stop. The run may continue for a while and ends like any other.
    pub fn stop(&self, id: ProposalId) {
        let stop = {
            let mut kept = self.lock();
            let Some(run) = kept.runs.get_mut(&id).filter(|run| run.result.is_none()) else { return };
            run.stop_requested = true;
            run.stop.take()
        };
        if let Some(stop) = stop {
            stop();
        }
    }

    pub fn append_output(&self, id: ProposalId, lines: impl IntoIterator<Item = ActionOutputLine>) {
        let mut kept = self.lock();
        let run = kept.get_or_insert(id);
        for line in lines {
            run.push(line);
        }
        drop(kept);
        self.notify_changed();
    }

    pub fn finish(&self, id: ProposalId, done: ActionResult) {
        let mut kept = self.lock();
        let run = kept.get_or_insert(id);
        run.result = Some(Arc::new(done.bounded()));
        run.stop = None;
        drop(kept);
        self.notify_changed();
    }

    /// Returns at most `most` lines starting at line `from`, and the result when the run has ended.
    pub fn read(&self, id: ProposalId, from: u64, most: usize) -> ActionRunState {
        let kept = self.lock();
        let Some(run) = kept.runs.get(&id) else { return ActionRunState::default() };
        let oldest = run.count - run.lines.len() as u64;
        let first = from.clamp(oldest, run.count);
        let skip = usize::try_from(first - oldest).unwrap_or(usize::MAX);
        let lines = run.lines.iter().skip(skip).take(most).cloned().collect();
        ActionRunState { started: true, first_line: first, lines, result: run.result.clone() }
    }
}

impl ActionRunTable {
    fn get_or_insert(&mut self, id: ProposalId) -> &mut ActionRun {
        if !self.runs.contains_key(&id) && self.runs.len() >= MAX_RUNS {
            // Running entries are evicted last.
            let oldest = self.runs.iter().min_by_key(|(_, run)| (run.result.is_none(), run.order));
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                self.runs.remove(&oldest);
            }
        }
        let Self { runs, next } = self;
        runs.entry(id).or_insert_with(|| {
            *next += 1;
            ActionRun { order: *next, ..ActionRun::default() }
        })
    }
}

impl ActionRun {
    fn push(&mut self, mut line: ActionOutputLine) {
        if line.text.len() > MAX_LINE_BYTES {
            line.text = truncate_bytes(&line.text, MAX_LINE_BYTES);
        }
        self.bytes += line.text.len();
        self.lines.push_back(line);
        self.count += 1;
        while self.lines.len() > MAX_LINES_PER_RUN || self.bytes > MAX_LINES_BYTES_PER_RUN {
            let Some(gone) = self.lines.pop_front() else { break };
            self.bytes -= gone.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn id(bits: u64) -> ProposalId {
        ProposalId::from_bits(bits)
    }

    fn line(text: &str) -> ActionOutputLine {
        ActionOutputLine { text: text.to_owned(), error: false }
    }

    #[test]
    fn lines_are_counted_and_the_oldest_go_first() {
        let runs = ActionRuns::default();
        assert!(!runs.read(id(1), 0, 10).started);
        runs.begin(id(1));
        assert!(runs.read(id(1), 0, 10).started);
        runs.append_output(id(1), (0..MAX_LINES_PER_RUN + 5).map(|number| line(&number.to_string())));
        let seen = runs.read(id(1), 0, 2);
        assert_eq!((seen.first_line, seen.lines[0].text.as_str(), seen.lines.len()), (5, "5", 2));
        let newest = runs.read(id(1), MAX_LINES_PER_RUN as u64 + 4, 10);
        assert_eq!(newest.lines, [line(&(MAX_LINES_PER_RUN + 4).to_string())]);
        assert!(runs.read(id(1), u64::MAX, 10).lines.is_empty());
        runs.append_output(id(2), (0..200).map(|_| line(&"x".repeat(MAX_LINE_BYTES * 2))));
        let bytes: usize = runs.read(id(2), 0, 200).lines.iter().map(|line| line.text.len()).sum();
        assert!(bytes <= MAX_LINES_BYTES_PER_RUN, "{bytes}");
    }

    #[test]
    fn what_is_done_is_forgotten_before_what_goes_on_and_too_large_an_answer_says_so() {
        let runs = ActionRuns::default();
        runs.begin(id(1));
        runs.finish(id(2), ActionResult::ok("done", json!({ "a": 1 })));
        for bits in 10..10 + MAX_RUNS as u64 - 1 {
            runs.begin(id(bits));
        }
        assert!(runs.read(id(1), 0, 1).started && !runs.read(id(2), 0, 1).started);
        runs.finish(id(1), ActionResult::ok("done", json!("x".repeat(MAX_RESULT_BYTES))));
        let done = runs.read(id(1), 0, 1).result.unwrap();
        assert_eq!(done.result.as_ref().unwrap_err().code, RefusalCode::LimitExceeded);
    }

    #[test]
    fn stopping_reaches_whoever_does_it_once_whichever_comes_first() {
        let runs = ActionRuns::default();
        let count = Arc::new(AtomicU32::new(0));
        let counted = |count: &Arc<AtomicU32>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        runs.begin(id(1));
        runs.stops_with(id(1), counted(&count));
        runs.stop(id(1));
        runs.stop(id(1));
        assert_eq!(count.load(Ordering::SeqCst), 1);
        runs.begin(id(2));
        runs.stop(id(2));
        runs.stops_with(id(2), counted(&count));
        assert_eq!(count.load(Ordering::SeqCst), 2);
        runs.stop(id(3));
        assert!(!runs.read(id(3), 0, 1).started, "what nobody does is not begun by that");
    }
}
