//! Waiting for something that another thread or process does. Every wait has a deadline and names what it waits for.

use std::{
    process::{Child, ExitStatus},
    time::{Duration, Instant},
};

/// The time after which a wait fails. It is long enough for a loaded machine, so only a hang takes this long.
pub const PATIENCE: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls until `look` returns a value.
#[track_caller]
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_for_within(PATIENCE, what, look)
}

/// Polls until `look` returns a value, and fails after `limit`.
#[track_caller]
pub fn wait_for_within<T>(limit: Duration, what: &str, look: impl FnMut() -> Option<T>) -> T {
    try_wait_for_within(limit, look).unwrap_or_else(|| panic!("waited {limit:?} in vain for {what}"))
}

/// Polls until a condition holds.
#[track_caller]
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait_until_within(PATIENCE, what, holds);
}

/// Polls until a condition holds, and fails after `limit`.
#[track_caller]
pub fn wait_until_within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    wait_for_within(limit, what, || holds().then_some(()));
}

/// Returns `None` when the process still runs after [`PATIENCE`].
pub fn wait_for_exit(child: &mut Child) -> Option<ExitStatus> {
    try_wait_for_within(PATIENCE, || child.try_wait().unwrap())
}

/// Polls until `look` returns a value, and returns `None` after `limit`. It looks once more after the deadline, because a machine
/// that was busy meanwhile is no failure.
pub fn try_wait_for_within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    loop {
        let is_last = Instant::now() >= deadline;
        let found = look();
        if found.is_some() || is_last {
            return found;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Polls until a condition holds, and lets other tasks of the runtime go on meanwhile.
#[cfg(feature = "tokio")]
pub async fn wait_until_async(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain for {what}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_again_until_there_is_something() {
        let mut looks = 0;
        let found = wait_for("the third look", || {
            looks += 1;
            (looks == 3).then_some("here")
        });
        assert_eq!((found, looks), ("here", 3));
    }

    #[test]
    #[should_panic(expected = "in vain for rain")]
    fn a_wait_ends_and_names_what_it_waited_for() {
        wait_until_within(Duration::from_millis(20), "rain", || false);
    }
}
