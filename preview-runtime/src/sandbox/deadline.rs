//! A deadline that the process sets itself: the kernel ends it when one piece of work takes too much of the processor.
//! Main has a watchdog of its own, for a preview that would not set this one.
#![allow(unsafe_code, reason = "setitimer has no safe form")]

use std::time::Duration;

/// Of processor time, for one batch of messages and the frame after it.
pub const HARD_DEADLINE: Duration = Duration::from_secs(2);

/// Does the work; if it takes longer than [`HARD_DEADLINE`], the process ends with `SIGPROF`.
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
    // SAFETY: reads one value of ours and writes nothing.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const value, std::ptr::null_mut()) };
}
