//! When a child that ended is started again. Pure: the clock comes from outside.

use std::time::{Duration, Instant};

const FIRST_DELAY: Duration = Duration::from_millis(100);
const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// A child that lived this long was healthy: what happened before it no longer counts.
const HEALTHY_AFTER: Duration = Duration::from_secs(30);

/// What to do about a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    RestartAfter(Duration),
    /// Starting it again would only repeat the crash; a person has to decide.
    GiveUp,
}

/// Restarts with growing pauses until too many crashes came in a row.
#[derive(Debug, Clone)]
pub struct RestartPolicy {
    give_up_after: u32,
    crashes_in_a_row: u32,
    started: Option<Instant>,
}

impl RestartPolicy {
    /// Gives up at the `give_up_after`-th crash in a row; 0 counts as 1.
    pub fn new(give_up_after: u32) -> Self {
        Self { give_up_after: give_up_after.max(1), crashes_in_a_row: 0, started: None }
    }

    /// The first crash is the last.
    pub fn never() -> Self {
        Self::new(1)
    }

    pub fn child_started(&mut self, now: Instant) {
        self.started = Some(now);
    }

    pub fn child_crashed(&mut self, now: Instant) -> Decision {
        let uptime =
            self.started.take().map_or(Duration::ZERO, |started| now.saturating_duration_since(started));
        if uptime >= HEALTHY_AFTER {
            self.crashes_in_a_row = 0;
        }
        self.crashes_in_a_row = self.crashes_in_a_row.saturating_add(1);
        if self.crashes_in_a_row >= self.give_up_after {
            return Decision::GiveUp;
        }
        let doublings = (self.crashes_in_a_row - 1).min(16);
        Decision::RestartAfter(FIRST_DELAY.saturating_mul(1 << doublings).min(LONGEST_DELAY))
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, RestartPolicy};
    use std::time::{Duration, Instant};

    /// Runs the policy through children that live for `uptimes` ms; `None` stands for giving up.
    fn check(give_up_after: u32, uptimes: &[u64], expected: &[Option<u64>]) {
        let mut policy = RestartPolicy::new(give_up_after);
        let mut now = Instant::now();
        let mut found = Vec::new();
        for uptime in uptimes {
            policy.child_started(now);
            now += Duration::from_millis(*uptime);
            found.push(match policy.child_crashed(now) {
                Decision::RestartAfter(delay) => Some(u64::try_from(delay.as_millis()).unwrap()),
                Decision::GiveUp => None,
            });
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn the_pause_doubles_up_to_ten_seconds() {
        check(100, &[1; 10], &[100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000].map(Some));
    }

    #[test]
    fn the_third_crash_in_a_row_is_the_last() {
        check(3, &[1, 1, 1], &[Some(100), Some(200), None]);
    }

    #[test]
    fn thirty_healthy_seconds_forget_the_past() {
        check(3, &[1, 1, 30_000, 1, 1], &[Some(100), Some(200), Some(100), Some(200), None]);
        check(3, &[1, 1, 29_999], &[Some(100), Some(200), None]);
    }

    #[test]
    fn never_means_never() {
        check(1, &[60_000], &[None]);
        check(0, &[1], &[None]);
        assert_eq!(RestartPolicy::never().child_crashed(Instant::now()), Decision::GiveUp);
    }

    #[test]
    fn a_child_that_never_started_counts_as_one_that_crashed_at_once() {
        let mut policy = RestartPolicy::new(3);
        let now = Instant::now();
        assert_eq!(policy.child_crashed(now), Decision::RestartAfter(Duration::from_millis(100)));
        assert_eq!(policy.child_crashed(now), Decision::RestartAfter(Duration::from_millis(200)));
        assert_eq!(policy.child_crashed(now), Decision::GiveUp);
    }

    #[test]
    fn a_very_long_streak_does_not_overflow() {
        check(u32::MAX, &[0; 200], &{
            let mut delays = [Some(10_000); 200];
            let first = [100, 200, 400, 800, 1_600, 3_200, 6_400];
            for (delay, value) in delays.iter_mut().zip(first) {
                *delay = Some(value);
            }
            delays
        });
    }
}
