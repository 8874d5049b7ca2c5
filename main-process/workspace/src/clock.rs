//! Reads the clock and the source of randomness, which the core takes as arguments.

use crate::TimeAndSeed;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn time_and_seed() -> TimeAndSeed {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    // Without randomness from the system the clock still gives ids that do not repeat.
    let seed = getrandom::u64().unwrap_or_else(|_| time.rotate_left(32) ^ u64::from(std::process::id()));
    TimeAndSeed { time, seed }
}
