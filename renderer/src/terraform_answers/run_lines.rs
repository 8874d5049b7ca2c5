//! The output of recent runs without gaps. Main sends new lines by itself; earlier and lost lines are requested.

use super::is_in_progress;
use shared_protocol::terraform::{TerraformRunId, TerraformRunLine, TerraformRunView};
use std::collections::VecDeque;

/// The maximum number of lines of a run; older ones are in its log.
const MAX_LINES: usize = 20_000;
const MAX_RUNS: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct RunLines {
    runs: VecDeque<LoadedRunLines>,
}

#[derive(Debug)]
pub(crate) struct LoadedRunLines {
    run: TerraformRunId,
    /// The number of the first line.
    pub(crate) first: u64,
    pub(crate) lines: VecDeque<TerraformRunLine>,
    is_waiting: bool,
    /// A line was lost.
    has_gap: bool,
    /// Main has no lines from this number on.
    nothing_from: Option<u64>,
}

impl LoadedRunLines {
    fn new(run: TerraformRunId) -> Self {
        let lines = VecDeque::new();
        Self { run, first: 0, lines, is_waiting: false, has_gap: false, nothing_from: None }
    }

    fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    fn insert(&mut self, first: u64, lines: Vec<TerraformRunLine>) {
        let Some(known) = self.end().checked_sub(first) else {
            self.has_gap = true;
            return;
        };
        self.lines.extend(lines.into_iter().skip(usize::try_from(known).unwrap_or(usize::MAX)));
        let surplus = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..surplus);
        self.first += surplus as u64;
    }
}

impl RunLines {
    pub(crate) fn lines_of(&self, run: TerraformRunId) -> Option<&LoadedRunLines> {
        self.runs.iter().find(|output| output.run == run)
    }

    fn of_mut(&mut self, run: TerraformRunId) -> &mut LoadedRunLines {
        let place = self.runs.iter().position(|output| output.run == run).unwrap_or_else(|| {
            self.runs.truncate(MAX_RUNS - 1);
            self.runs.push_front(LoadedRunLines::new(run));
            0
        });
        &mut self.runs[place]
    }

    /// Takes lines that main sent by itself.
    pub(crate) fn push(&mut self, run: TerraformRunId, first: u64, lines: Vec<TerraformRunLine>) {
        self.of_mut(run).insert(first, lines);
    }

    /// Takes the lines requested from [`Self::next_missing_line`].
    pub(crate) fn receive(&mut self, run: &TerraformRunView, lines: Vec<TerraformRunLine>) {
        let output = self.of_mut(run.id);
        output.is_waiting = false;
        output.has_gap = false;
        output.nothing_from = lines.is_empty().then(|| output.end());
        output.insert(output.end(), lines);
    }

    pub(crate) fn refuse(&mut self, run: TerraformRunId) {
        let output = self.of_mut(run);
        output.is_waiting = false;
        output.nothing_from = Some(output.end());
    }

    /// The number of the first line to request. Marks it as requested.
    pub(crate) fn next_missing_line(&mut self, run: &TerraformRunView) -> Option<u64> {
        let is_new = self.lines_of(run.id).is_none();
        let output = self.of_mut(run.id);
        let from = output.end();
        // While it runs main sends new lines; the missing ones were printed before this window opened.
        let is_missing = if is_in_progress(run) { is_new || output.has_gap } else { from < run.lines };
        let ask = is_missing && run.lines > 0 && !output.is_waiting && output.nothing_from != Some(from);
        output.is_waiting |= ask;
        ask.then_some(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{
        Actor, ActorKind, BoardId,
        terraform::{TerraformOperation, TerraformRunState},
    };

    fn run(state: TerraformRunState, lines: u64) -> TerraformRunView {
        TerraformRunView {
            id: 3,
            board: BoardId::from_bits(1),
            operation: TerraformOperation::Plan,
            by: Actor::new(ActorKind::Window, "ada"),
            requested_by: None,
            started: 0,
            state,
            summary: None,
            progress: None,
            lines,
            log: String::new(),
        }
    }

    fn text(numbers: std::ops::Range<u64>) -> Vec<TerraformRunLine> {
        numbers.map(|number| TerraformRunLine { error: false, text: number.to_string() }).collect()
    }

    fn shown(lines: &RunLines) -> Vec<String> {
        lines
            .lines_of(3)
            .map_or_else(Vec::new, |output| output.lines.iter().map(|line| line.text.clone()).collect())
    }

    #[test]
    fn lines_follow_each_other_whatever_order_they_come_in() {
        let mut lines = RunLines::default();
        lines.push(3, 0, text(0..3));
        lines.push(3, 2, text(2..5));
        assert_eq!(shown(&lines), ["0", "1", "2", "3", "4"], "what was known is not shown twice");
        assert_eq!(lines.next_missing_line(&run(TerraformRunState::Running, 9)), None, "main sends the rest");
        lines.push(3, 7, text(7..9));
        assert_eq!(shown(&lines).len(), 5, "nothing is shown in the wrong place");
        assert_eq!(
            lines.next_missing_line(&run(TerraformRunState::Running, 9)),
            Some(5),
            "a gap is asked for"
        );
        assert_eq!(lines.next_missing_line(&run(TerraformRunState::Running, 9)), None, "once");
        lines.receive(&run(TerraformRunState::Running, 9), text(5..9));
        assert_eq!(shown(&lines).len(), 9);
    }

    #[test]
    fn a_run_from_before_is_read_to_its_end_and_no_further() {
        let mut lines = RunLines::default();
        let ended = run(TerraformRunState::Succeeded { ended: 9 }, 5);
        assert_eq!(lines.next_missing_line(&ended), Some(0));
        lines.receive(&ended, text(0..2));
        assert_eq!(lines.next_missing_line(&ended), Some(2));
        lines.receive(&ended, Vec::new());
        assert_eq!(lines.next_missing_line(&ended), None, "its log ends here, whatever it says");
    }

    #[test]
    fn of_a_very_long_run_the_end_is_kept() {
        let mut lines = RunLines::default();
        lines.push(3, 0, text(0..MAX_LINES as u64 + 10));
        let output = lines.lines_of(3).unwrap();
        assert_eq!((output.first, output.lines.len(), output.end()), (10, MAX_LINES, MAX_LINES as u64 + 10));
    }
}
