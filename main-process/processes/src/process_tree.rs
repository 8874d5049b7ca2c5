//! Finding and signalling the descendants of a process.
//!
//! A pid read from `/proc` may belong to another process a moment later. So every process is first pinned with
//! a pidfd, then checked again to be a descendant, and only then signalled through that pidfd.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::proc_stat::ProcStat;

/// Sends `signals`, in this order, to every living descendant of `root` except `spared`, parents before
/// children so that no parent restarts a child that just died. Returns how many were reached.
///
/// One pass can miss a process that is born or re-parented meanwhile; a caller that must reach all repeats
/// it.
pub(crate) fn signal_descendants(root: u32, signals: &[Signal], spared: Option<u32>) -> usize {
    let mut tree = BTreeSet::from([root]);
    let mut to_visit = children_of(root);
    let mut reached = 0;
    while let Some(pid) = to_visit.pop() {
        if !tree.insert(pid) {
            continue;
        }
        // Listed before the signal: orphans get another parent.
        let children = children_of(pid);
        let of_this_tree = |stat: &ProcStat| tree.contains(&stat.parent);
        if spared != Some(pid) && signal_if(pid, signals, of_this_tree) {
            reached += 1;
        }
        to_visit.extend(children);
    }
    reached
}

/// `CONT` follows because a stopped process handles `TERM` only once it continues.
pub(crate) const STOP_SIGNALS: [Signal; 2] = [Signal::TERM, Signal::CONT];

/// Sends the stop signals to one child of `parent`; false when `pid` is no child of it, or is gone.
pub(crate) fn request_child_stop(parent: u32, pid: u32) -> bool {
    signal_if(pid, &STOP_SIGNALS, |stat| stat.parent == parent)
}

/// Sends `signal` to every living process of a session but its leader. The leader must still be unreaped,
/// because only then can its number not have passed to another session.
pub(crate) fn signal_session(session: u32, signal: Signal) -> usize {
    every_pid()
        .filter(|pid| *pid != session && signal_if(*pid, &[signal], |stat| stat.session == session))
        .count()
}

fn signal_if(pid: u32, signals: &[Signal], still_ours: impl Fn(&ProcStat) -> bool) -> bool {
    let Some(handle) = to_pid(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return false;
    };
    match ProcStat::read(pid) {
        Ok(stat) if !stat.is_dead() && still_ours(&stat) => {
            signals.iter().all(|signal| pidfd_send_signal(&handle, *signal).is_ok())
        }
        _ => false,
    }
}

/// Direct children, whichever thread of `pid` started them.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let mut children = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                children
                    .extend(list.split_ascii_whitespace().filter_map(|number| number.parse::<u32>().ok()));
            }
            // The thread has ended, or the kernel was built without these lists.
            Err(_) => return children_by_parent(pid),
        }
    }
    children
}

fn children_by_parent(parent: u32) -> Vec<u32> {
    every_pid().filter(|pid| ProcStat::read(*pid).is_ok_and(|stat| stat.parent == parent)).collect()
}

fn every_pid() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

pub(crate) fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::{children_by_parent, children_of};

    #[test]
    fn both_ways_of_listing_children_agree() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = std::process::id();
        assert!(children_of(own).contains(&child.id()));
        assert!(children_by_parent(own).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children_of(own).contains(&child.id()));
    }
}
