//! Restarts after failures, with growing pauses. Pure: the clock comes from outside.

use std::time::{Duration, Instant};

/// The pauses between restarts, and when to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure; each further one doubles it.
    pub first_delay: Duration,
    pub max_delay: Duration,
    /// An uptime after which earlier failures no longer count.
    pub healthy_after: Duration,
    /// Restarts in a row before only a person starts it again.
    pub max_restarts: u32,
    /// Varies each pause between three and five quarters, so that processes that failed together do not restart together.
    pub has_jitter: bool,
}

impl Backoff {
    /// For roles of our own executable.
    pub const fn of_role(max_restarts: u32) -> Self {
        Self {
            first_delay: Duration::from_millis(100),
            max_delay: Duration::from_secs(10),
            healthy_after: Duration::from_secs(30),
            max_restarts,
            has_jitter: false,
        }
    }

    fn delay(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(16);
        let delay = self.first_delay.saturating_mul(1 << doublings).min(self.max_delay);
        if !self.has_jitter {
            return delay;
        }
        let mut random = [0_u8; 2];
        // Without random numbers the pause is merely exact.
        let part =
            getrandom::fill(&mut random).map_or(0.5, |()| f64::from(u16::from_le_bytes(random)) / 65_536.0);
        delay.mul_f64(0.75 + part / 2.0)
    }
}

/// The consequence of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartDecision {
    RestartAfter {
        /// Counts the restarts in a row, from 1.
        attempt: u32,
        delay: Duration,
    },
    /// Another start would only repeat the failure; a person has to decide.
    GiveUp,
}

/// Counts failures in a row and decides about restarts by a [`Backoff`].
#[derive(Debug, Clone)]
pub struct RestartPolicy {
    backoff: Backoff,
    failures_in_a_row: u32,
    started: Option<Instant>,
}

impl RestartPolicy {
    pub fn new(backoff: Backoff) -> Self {
        Self { backoff, failures_in_a_row: 0, started: None }
    }

    /// Forgets all earlier failures.
    pub fn reset(&mut self) {
        *self = Self::new(self.backoff);
    }

    pub fn record_start(&mut self, now: Instant) {
        self.started = Some(now);
    }

    pub fn record_failure(&mut self, now: Instant) -> RestartDecision {
        let uptime =
            self.started.take().map_or(Duration::ZERO, |started| now.saturating_duration_since(started));
        if uptime >= self.backoff.healthy_after {
            self.failures_in_a_row = 0;
        }
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        let attempt = self.failures_in_a_row;
        if attempt > self.backoff.max_restarts {
            return RestartDecision::GiveUp;
        }
        RestartDecision::RestartAfter { attempt, delay: self.backoff.delay(attempt) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, RestartDecision, RestartPolicy};
    use std::time::{Duration, Instant};

    /// Runs the policy through children that live for `uptimes` ms; `None` stands for giving up.
    fn check(max_restarts: u32, uptimes: &[u64], expected: &[Option<u64>]) {
        let mut policy = RestartPolicy::new(Backoff::of_role(max_restarts));
        let mut now = Instant::now();
        let mut found = Vec::new();
        for uptime in uptimes {
            policy.record_start(now);
            now += Duration::from_millis(*uptime);
            found.push(match policy.record_failure(now) {
                RestartDecision::RestartAfter { delay, .. } => {
                    Some(u64::try_from(delay.as_millis()).unwrap())
                }
                RestartDecision::GiveUp => None,
            });
        }
        assert_eq!(found, expected);
    }

    fn attempt(decision: RestartDecision) -> Option<u32> {
        match decision {
            RestartDecision::RestartAfter { attempt, .. } => Some(attempt),
            RestartDecision::GiveUp => None,
        }
    }

    #[test]
    fn the_pause_doubles_up_to_ten_seconds() {
        check(100, &[1; 10], &[100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000].map(Some));
    }

    #[test]
    fn the_third_crash_in_a_row_is_the_last() {
        check(2, &[1, 1, 1], &[Some(100), Some(200), None]);
    }

    #[test]
    fn thirty_healthy_seconds_forget_the_past() {
        check(2, &[1, 1, 30_000, 1, 1], &[Some(100), Some(200), Some(100), Some(200), None]);
        check(2, &[1, 1, 29_999], &[Some(100), Some(200), None]);
    }

    #[test]
    fn never_means_never() {
        check(0, &[60_000], &[None]);
        check(0, &[1], &[None]);
    }

    #[test]
    fn a_child_that_never_started_counts_as_one_that_crashed_at_once() {
        let mut policy = RestartPolicy::new(Backoff::of_role(2));
        let now = Instant::now();
        let attempts = [(); 3].map(|()| attempt(policy.record_failure(now)));
        assert_eq!(attempts, [Some(1), Some(2), None]);
        policy.reset();
        assert_eq!(attempt(policy.record_failure(now)), Some(1));
    }

    #[test]
    fn jitter_varies_each_pause_by_a_quarter() {
        let backoff = Backoff {
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(5),
            healthy_after: Duration::from_secs(60),
            max_restarts: 5,
            has_jitter: true,
        };
        let mut policy = RestartPolicy::new(backoff);
        let now = Instant::now();
        for (number, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (5, 5.0)] {
            let RestartDecision::RestartAfter { attempt, delay } = policy.record_failure(now) else {
                panic!("given up")
            };
            assert_eq!(attempt, number);
            assert!((0.75 * seconds..=1.25 * seconds).contains(&delay.as_secs_f64()), "{number}: {delay:?}");
        }
        assert_eq!(policy.record_failure(now), RestartDecision::GiveUp);
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
