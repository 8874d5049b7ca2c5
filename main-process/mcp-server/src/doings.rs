//! Runs of accepted actions: their output lines and results. The executor records them here, and the requesting call
//! waits here. Kept in memory with limits; after a restart only the outcome text of the proposal remains.

use serde_json::Value;
use shared_protocol::{Code, ProposalId, Refusal};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// The maximum number of runs kept. The oldest finished run is evicted first.
const MOST_KEPT: usize = 64;
/// The maximum number of lines kept per run, and their bytes.
const MOST_LINES: usize = 5_000;
const MOST_LINE_BYTES: usize = 1 << 20;
const LONGEST_LINE: usize = 16 << 10;
/// The maximum size of a result as JSON; clients accept one mebibyte per message.
const MOST_RESULT: usize = 700 << 10;

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    /// The line was written to standard error, where that exists.
    pub error: bool,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// A summary for people and for the proposal's record.
    pub words: String,
    /// The result for the agent.
    pub result: Result<Value, Refusal>,
}

impl Done {
    /// A successful result with data for the requesting agent.
    pub fn well(words: impl Into<String>, result: Value) -> Self {
        Self { words: words.into(), result: Ok(result) }
    }

    /// An accepted action that could not run.
    pub fn refused(refusal: Refusal) -> Self {
        Self { words: format!("Failed: {}", refusal.message), result: Err(refusal) }
    }

    fn bounded(self) -> Self {
        let is_too_large = |value: &Value| value.to_string().len() > MOST_RESULT;
        match &self.result {
            Ok(value) if is_too_large(value) => {
                let message =
                    format!("The action succeeded, but its result is larger than {MOST_RESULT} bytes");
                Self { words: self.words, result: Err(Refusal::new(Code::LimitExceeded, message)) }
            }
            _ => self,
        }
    }
}

/// The state of a run and a range of its lines.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The run has started.
    pub begun: bool,
    /// The number of the first returned line: higher than requested when older lines were dropped.
    pub first: u64,
    pub lines: Vec<Said>,
    pub done: Option<Arc<Done>>,
}

type Stop = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Doing {
    order: u64,
    lines: VecDeque<Said>,
    bytes: usize,
    count: u64,
    done: Option<Arc<Done>>,
    /// Asks the executor to stop.
    stop: Option<Stop>,
    is_unwanted: bool,
}

#[derive(Default)]
struct Kept {
    doings: BTreeMap<ProposalId, Doing>,
    next: u64,
}

pub struct Doings {
    kept: Mutex<Kept>,
    changed: watch::Sender<u64>,
}

impl fmt::Debug for Doings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doings").field("kept", &self.lock().doings.len()).finish()
    }
}

impl Default for Doings {
    fn default() -> Self {
        Self { kept: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

impl Doings {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Notified after each line and each end.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Records the start of a run.
    pub fn begin(&self, id: ProposalId) {
        self.lock().of(id);
        self.tell();
    }

    /// Registers the stop function. Calls it at once when a stop was already requested.
    pub fn stops_with(&self, id: ProposalId, stop: impl FnOnce() + Send + 'static) {
        let mut kept = self.lock();
        let doing = kept.of(id);
        if doing.is_unwanted {
            drop(kept);
            return stop();
        }
        doing.stop = Some(Box::new(stop));
    }

    /// Requests a stop. The run may continue for a while and ends like any other.
    pub fn stop(&self, id: ProposalId) {
        let stop = {
            let mut kept = self.lock();
            let Some(doing) = kept.doings.get_mut(&id).filter(|doing| doing.done.is_none()) else { return };
            doing.is_unwanted = true;
            doing.stop.take()
        };
        if let Some(stop) = stop {
            stop();
        }
    }

    pub fn say(&self, id: ProposalId, lines: impl IntoIterator<Item = Said>) {
        let mut kept = self.lock();
        let doing = kept.of(id);
        for line in lines {
            doing.push(line);
        }
        drop(kept);
        self.tell();
    }

    pub fn done(&self, id: ProposalId, done: Done) {
        let mut kept = self.lock();
        let doing = kept.of(id);
        doing.done = Some(Arc::new(done.bounded()));
        doing.stop = None;
        drop(kept);
        self.tell();
    }

    /// Returns at most `most` lines starting at line `from`, and the result when the run has ended.
    pub fn look(&self, id: ProposalId, from: u64, most: usize) -> Seen {
        let kept = self.lock();
        let Some(doing) = kept.doings.get(&id) else { return Seen::default() };
        let oldest = doing.count - doing.lines.len() as u64;
        let first = from.clamp(oldest, doing.count);
        let skip = usize::try_from(first - oldest).unwrap_or(usize::MAX);
        let lines = doing.lines.iter().skip(skip).take(most).cloned().collect();
        Seen { begun: true, first, lines, done: doing.done.clone() }
    }
}

impl Kept {
    fn of(&mut self, id: ProposalId) -> &mut Doing {
        if !self.doings.contains_key(&id) && self.doings.len() >= MOST_KEPT {
            // Running entries are evicted last.
            let oldest = self.doings.iter().min_by_key(|(_, doing)| (doing.done.is_none(), doing.order));
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                self.doings.remove(&oldest);
            }
        }
        let Self { doings, next } = self;
        doings.entry(id).or_insert_with(|| {
            *next += 1;
            Doing { order: *next, ..Doing::default() }
        })
    }
}

impl Doing {
    fn push(&mut self, mut line: Said) {
        if line.text.len() > LONGEST_LINE {
            let end = (0..=LONGEST_LINE).rev().find(|at| line.text.is_char_boundary(*at)).unwrap_or(0);
            line.text.truncate(end);
            line.text.push('…');
        }
        self.bytes += line.text.len();
        self.lines.push_back(line);
        self.count += 1;
        while self.lines.len() > MOST_LINES || self.bytes > MOST_LINE_BYTES {
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

    fn line(text: &str) -> Said {
        Said { text: text.to_owned(), error: false }
    }

    #[test]
    fn lines_are_counted_and_the_oldest_go_first() {
        let doings = Doings::default();
        assert!(!doings.look(id(1), 0, 10).begun);
        doings.begin(id(1));
        assert!(doings.look(id(1), 0, 10).begun);
        doings.say(id(1), (0..MOST_LINES + 5).map(|number| line(&number.to_string())));
        let seen = doings.look(id(1), 0, 2);
        assert_eq!((seen.first, seen.lines[0].text.as_str(), seen.lines.len()), (5, "5", 2));
        let newest = doings.look(id(1), MOST_LINES as u64 + 4, 10);
        assert_eq!(newest.lines, [line(&(MOST_LINES + 4).to_string())]);
        assert!(doings.look(id(1), u64::MAX, 10).lines.is_empty());
        doings.say(id(2), (0..200).map(|_| line(&"x".repeat(LONGEST_LINE * 2))));
        let bytes: usize = doings.look(id(2), 0, 200).lines.iter().map(|line| line.text.len()).sum();
        assert!(bytes <= MOST_LINE_BYTES, "{bytes}");
    }

    #[test]
    fn what_is_done_is_forgotten_before_what_goes_on_and_too_large_an_answer_says_so() {
        let doings = Doings::default();
        doings.begin(id(1));
        doings.done(id(2), Done::well("done", json!({ "a": 1 })));
        for bits in 10..10 + MOST_KEPT as u64 - 1 {
            doings.begin(id(bits));
        }
        assert!(doings.look(id(1), 0, 1).begun && !doings.look(id(2), 0, 1).begun);
        doings.done(id(1), Done::well("done", json!("x".repeat(MOST_RESULT))));
        let done = doings.look(id(1), 0, 1).done.unwrap();
        assert_eq!(done.result.as_ref().unwrap_err().code, Code::LimitExceeded);
    }

    #[test]
    fn stopping_reaches_whoever_does_it_once_whichever_comes_first() {
        let doings = Doings::default();
        let count = Arc::new(AtomicU32::new(0));
        let counted = |count: &Arc<AtomicU32>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        doings.begin(id(1));
        doings.stops_with(id(1), counted(&count));
        doings.stop(id(1));
        doings.stop(id(1));
        assert_eq!(count.load(Ordering::SeqCst), 1);
        doings.begin(id(2));
        doings.stop(id(2));
        doings.stops_with(id(2), counted(&count));
        assert_eq!(count.load(Ordering::SeqCst), 2);
        doings.stop(id(3));
        assert!(!doings.look(id(3), 0, 1).begun, "what nobody does is not begun by that");
    }
}
