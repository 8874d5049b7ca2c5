//! Waiting for one descriptor with a limit.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The timeout of `poll`; `None` waits without end.
pub fn timespec(limit: Option<Duration>) -> Option<Timespec> {
    limit.map(|limit| Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 }))
}

/// True once `fd` can be read or has ended, false when `limit` passed first. Signals do not cut the wait
/// short.
pub(crate) fn wait_readable(fd: impl AsFd, limit: Option<Duration>) -> io::Result<bool> {
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], timespec(left).as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
