//! Backoff for restarting failed servers.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub first: Duration,
    pub most: Duration,
    /// A server that ran this long has recovered.
    pub stable: Duration,
    /// The number of consecutive failures after which only a person restarts the server.
    pub tries: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            most: Duration::from_secs(60),
            stable: Duration::from_secs(60),
            tries: 6,
        }
    }
}

pub(super) struct Retries {
    pace: Pace,
    failures: u32,
    running_since: Option<Instant>,
}

impl Retries {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, failures: 0, running_since: None }
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
        self.running_since = None;
    }

    pub(super) fn runs(&mut self, now: Instant) {
        self.running_since = Some(now);
    }

    /// Records a failure. Returns its number and the time to wait, or `None` after too many failures.
    pub(super) fn failed(&mut self, now: Instant) -> Option<(u32, Duration)> {
        if self.running_since.take().is_some_and(|since| now.duration_since(since) >= self.pace.stable) {
            self.failures = 0;
        }
        self.failures += 1;
        if self.failures > self.pace.tries {
            return None;
        }
        let doubled = self.pace.first.saturating_mul(1 << (self.failures - 1).min(16));
        Some((self.failures, jittered(doubled.min(self.pace.most))))
    }
}

/// Randomises the wait by a quarter in both directions, so that servers that failed together do not restart together.
fn jittered(wait: Duration) -> Duration {
    let mut random = [0_u8; 2];
    // Without randomness the wait is exact.
    let part =
        getrandom::fill(&mut random).map_or(0.5, |()| f64::from(u16::from_le_bytes(random)) / 65_536.0);
    wait.mul_f64(0.75 + part / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_with_some_chance_until_it_is_given_up() {
        let pace = Pace {
            first: Duration::from_secs(1),
            most: Duration::from_secs(5),
            stable: Duration::from_secs(60),
            tries: 5,
        };
        let mut retries = Retries::new(pace);
        let now = Instant::now();
        for (number, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (5, 5.0)] {
            let (attempt, wait) = retries.failed(now).expect("not given up");
            assert_eq!(attempt, number);
            assert!((0.75 * seconds..=1.25 * seconds).contains(&wait.as_secs_f64()), "{number}: {wait:?}");
        }
        assert_eq!(retries.failed(now), None);
        retries.reset();
        assert_eq!(retries.failed(now).map(|(attempt, _)| attempt), Some(1));
    }

    #[test]
    fn only_who_ran_for_a_while_has_recovered() {
        let mut retries = Retries::new(Pace::default());
        let now = Instant::now();
        retries.failed(now);
        retries.runs(now);
        assert_eq!(retries.failed(now + Duration::from_secs(59)).map(|(attempt, _)| attempt), Some(2));
        retries.runs(now);
        assert_eq!(retries.failed(now + Duration::from_secs(61)).map(|(attempt, _)| attempt), Some(1));
    }
}
