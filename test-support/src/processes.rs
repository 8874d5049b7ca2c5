//! The process table, as `/proc` shows it, and signals.

use crate::wait_until;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

/// Returns the numbers of all processes.
pub fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the fields of `/proc/PID/stat` behind the name, which may contain anything: the state, the parent, and so on.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Returns whether it runs. A process that has ended and waits to be reaped does not.
pub fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| !matches!(fields[0].as_str(), "Z" | "X"))
}

/// Returns the processor time that a process has used, in clock ticks (hundredths of a second).
pub fn cpu_ticks(pid: u32) -> Option<u64> {
    let fields = stat(pid)?;
    Some(fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?)
}

/// Returns the arguments of a process; none when it is gone.
pub fn command_line(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Returns the name of the program; empty when it is gone.
pub fn program_name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// Returns the live processes of a role that a main process has started.
pub fn roles_of(main: u32, role: &str) -> Vec<u32> {
    let is_child = |pid: &u32| stat(*pid).is_some_and(|fields| fields[1] == main.to_string());
    let has_role = |pid: &u32| command_line(*pid).windows(2).any(|pair| pair == ["--role", role]);
    all().into_iter().filter(is_child).filter(|pid| is_alive(*pid)).filter(has_role).collect()
}

/// Returns the innermost process of a role at or below `outermost`: the one that works, where others only wait for it.
pub fn innermost_of_role(outermost: u32, role: &str) -> u32 {
    match roles_of(outermost, role).first() {
        Some(inner) => innermost_of_role(*inner, role),
        None => outermost,
    }
}

/// Returns the live processes, apart from this one, whose environment contains a text. The dead have no environment.
pub fn with_environment(mentioned: &OsStr) -> Vec<u32> {
    let others = all().into_iter().filter(|pid| *pid != std::process::id());
    others.filter(|pid| mentions(*pid, mentioned) && is_alive(*pid)).collect()
}

fn mentions(pid: u32, mentioned: &OsStr) -> bool {
    let needle = mentioned.as_bytes();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.windows(needle.len()).any(|window| window == needle)
}

/// Kills all of those. Each is pinned first and looked at again, because the number may pass to another process.
pub fn kill_with_environment(mentioned: &OsStr) {
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

pub fn terminate(pid: u32) {
    signal(pid, Signal::TERM);
}

/// Stops it, and waits until every thread has stopped: the signal reaches one of them first.
pub fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    wait_until("every thread to be stopped", || is_stopped(pid));
}

/// Returns whether all threads of a process are stopped.
pub fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
    })
}

pub fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

/// Ends it as a fault of its own would. Not with `SIGSEGV`: Rust's handler returns from one that no instruction has caused.
pub fn crash(pid: u32) {
    signal(pid, Signal::ABORT);
}

pub fn signal(pid: u32, signal: Signal) {
    // It may have ended meanwhile.
    let _ = kill_process(to_pid(pid).unwrap(), signal);
}
