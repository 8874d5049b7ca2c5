//! What the tests of the executable share: folders of their own, running it, talking to it, looking at its processes.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod chance;
pub(crate) mod client;
pub(crate) mod designer;
pub(crate) mod desk;
pub(crate) mod home;
pub(crate) mod mcp;
pub(crate) mod over_http;
pub(crate) mod processes;
pub(crate) mod screen;
pub(crate) mod terminal;

use std::time::{Duration, Instant};

/// Long enough for a slow machine; only a hang takes this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until something is there.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
