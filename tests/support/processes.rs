//! What `/proc` says.

use rustix::process::{Pid, Signal, kill_process};
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
    let needle = mentioned.as_bytes();
    let mentions = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(needle.len()).any(|window| window == needle)
    };
    let others = pids().into_iter().filter(|pid| *pid != std::process::id());
    others.filter(mentions).filter(|pid| is_alive(*pid)).collect()
}

pub(crate) fn terminate(pid: u32) {
    signal(pid, Signal::TERM);
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may have ended meanwhile.
    let _ = kill_process(pid, signal);
}
