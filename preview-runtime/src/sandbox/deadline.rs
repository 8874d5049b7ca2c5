//! A processor time limit that the process sets for itself: the kernel kills it when one unit of work takes too long. Main
//! has its own watchdog for a preview that does not set this limit.
#![allow(unsafe_code, reason = "setitimer has no safe form")]

use std::time::Duration;

/// The processor time limit for one batch of messages and the frame after it.
pub const HARD_DEADLINE: Duration = Duration::from_secs(2);

/// Runs the work. If it takes longer than [`HARD_DEADLINE`], the process ends with `SIGPROF`.
pub fn within_deadline<T>(work: impl FnOnce() -> T) -> T {
    arm(HARD_DEADLINE);
    let done = work();
    arm(Duration::ZERO);
    done
}

fn arm(time: Duration) {
    let value = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval {
            tv_sec: time.as_secs() as libc::time_t,
            tv_usec: time.subsec_micros().into(),
        },
    };
    // SAFETY: reads one local value and writes nothing.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const value, std::ptr::null_mut()) };
}
