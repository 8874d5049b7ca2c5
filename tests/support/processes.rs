//! What `/proc` says.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The state's letter and the parent. Behind the name, which may hold anything.
fn stat(pid: u32) -> Option<(u8, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    Some((*words.next()?.as_bytes().first()?, words.next()?.parse().ok()?))
}

/// Whether it runs. One that only waits for its parent to take note of its end does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, b'Z' | b'X'))
}

/// The live process of this role that a main process has started.
pub(crate) fn role_of(main: u32, role: &str) -> Option<u32> {
    pids().into_iter().filter(|pid| stat(*pid).is_some_and(|(_, parent)| parent == main)).find(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        is_alive(*pid) && words.windows(2).any(|pair| pair == [b"--role", role.as_bytes()])
    })
}

/// Live processes, apart from this one, whose environment mentions something.
pub(crate) fn with_environment(mentioned: &OsStr) -> Vec<u32> {
    let others = pids().into_iter().filter(|pid| *pid != std::process::id());
    others.filter(|pid| mentions(*pid, mentioned) && is_alive(*pid)).collect()
}

fn mentions(pid: u32, mentioned: &OsStr) -> bool {
    let needle = mentioned.as_bytes();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.windows(needle.len()).any(|window| window == needle)
}

/// Kills all of those. Each is pinned first and looked at again, because a number may pass to somebody else.
pub(crate) fn kill_with_environment(mentioned: &OsStr) {
    for pid in with_environment(mentioned) {
        let pinned = to_pid(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        if let Some(pinned) = pinned.filter(|_| mentions(pid, mentioned)) {
            // It may have ended meanwhile.
            let _ = pidfd_send_signal(&pinned, Signal::KILL);
        }
    }
}

fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

pub(crate) fn terminate(pid: u32) {
    signal(pid, Signal::TERM);
}

/// Makes it stand still. One of its threads hears of it first, and the others may go on until then.
pub(crate) fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    super::wait_for("every thread to stand still", || stands_still(pid).then_some(()));
}

fn stands_still(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The name before it may hold anything.
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
    })
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

/// Ends it as a fault of its own would. Not with `SIGSEGV`: Rust's handler returns from one that no instruction has caused.
pub(crate) fn crash(pid: u32) {
    signal(pid, Signal::ABORT);
}

fn signal(pid: u32, signal: Signal) {
    // It may have ended meanwhile.
    let _ = kill_process(to_pid(pid).unwrap(), signal);
}
