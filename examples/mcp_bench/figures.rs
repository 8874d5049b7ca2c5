//! Times of many calls.

use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Figures {
    times: Vec<Duration>,
    bytes: usize,
}

impl Figures {
    pub(crate) fn add(&mut self, took: Duration, bytes: usize) {
        self.times.push(took);
        self.bytes = bytes;
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.times.extend(other.times);
        self.bytes = other.bytes;
        self
    }

    pub(crate) fn count(&self) -> usize {
        self.times.len()
    }

    /// Of the last answer.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// In microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }
}
