//! Takes this process out of the system's namespaces and takes its privileges away.
//!
//! The namespace of processes holds only processes that are started after it was made, and signals with a default action do
//! not reach its first process. So two forks are needed, and two processes stay behind that only wait:
//!
//! ```text
//! main ──▶ outer waiter ──▶ inner waiter ──▶ preview
//!          system's pids    pid 1            pid 2: no files, no network, no other process in sight
//! ```
//!
//! Each waiter ends as the process below it ended, so main sees one child and the real reason. They hold no descriptor, and
//! a system call filter allows them nothing but waiting and ending. Where the kernel refuses namespaces, the process stays
//! as it is and says so in its report.
#![allow(unsafe_code, reason = "fork, mount, setresuid, capset and waitpid have no safe form")]

use super::calls;
use std::{ffi::CStr, io};

/// The user and group that owns nothing.
const NOBODY: libc::uid_t = 65_534;
/// Exit codes above this are signals, as shells have it.
const SIGNAL_CODES: libc::c_int = 128;

/// Gives up the rights of root: what runs here never needs them. Returns whether the process is not root afterwards.
pub(super) fn leave_root() -> bool {
    // SAFETY: system calls with numbers only; the process has one thread, so all of it changes.
    unsafe {
        if libc::geteuid() != 0 {
            return true;
        }
        let left = libc::setgroups(0, std::ptr::null()) == 0
            && libc::setresgid(NOBODY, NOBODY, NOBODY) == 0
            && libc::setresuid(NOBODY, NOBODY, NOBODY) == 0;
        // The kernel forgets the death signal with the user, and hides /proc/self, which the next step needs.
        left && end_with_parent() && libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) == 0
    }
}

/// Enters new namespaces for users, processes, mounts, network, IPC and host names, with an empty read-only root. Returns
/// false, with nothing changed, where the kernel refuses them. Returns in the innermost process only.
pub(super) fn enter() -> bool {
    // SAFETY: system calls with numbers and constant strings. The process has one thread, so `fork` leaves no lock held.
    unsafe {
        let (user, group) = (libc::geteuid(), libc::getegid());
        let all = libc::CLONE_NEWUSER
            | libc::CLONE_NEWPID
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWNET
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWUTS
            | libc::CLONE_NEWCGROUP;
        if libc::unshare(all) != 0 {
            return false;
        }
        // Without a map the process owns nothing, which would do as well; the empty root needs an owner.
        let mapped = std::fs::write("/proc/self/setgroups", "deny")
            .and_then(|()| std::fs::write("/proc/self/uid_map", format!("{NOBODY} {user} 1")))
            .and_then(|()| std::fs::write("/proc/self/gid_map", format!("{NOBODY} {group} 1")));
        for _ in 0..2 {
            match libc::fork() {
                0 => {
                    if !end_with_parent() {
                        libc::_exit(1);
                    }
                }
                -1 => return false,
                child => wait_and_end_alike(child),
            }
        }
        mapped.is_ok() && empty_root().is_ok()
    }
}

/// Makes an empty file system the root of this process; nothing else is mounted.
fn empty_root() -> io::Result<()> {
    let (root, none): (&CStr, &CStr) = (c"/", c"none");
    let target = c"/proc";
    // SAFETY: constant strings and numbers.
    unsafe {
        let private = libc::MS_REC | libc::MS_PRIVATE;
        check(libc::mount(none.as_ptr(), root.as_ptr(), std::ptr::null(), private, std::ptr::null()))?;
        let sealed = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        let kind = c"tmpfs";
        check(libc::mount(none.as_ptr(), target.as_ptr(), kind.as_ptr(), sealed, std::ptr::null()))?;
        check(libc::chdir(target.as_ptr()))?;
        // The old root comes to lie over the new one and is taken away.
        check(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) as libc::c_int)?;
        check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
        check(libc::chdir(root.as_ptr()))
    }
}

/// Takes every capability away, also those that the new namespace gave. Returns whether none is left.
pub(super) fn drop_capabilities() -> bool {
    /// Two words of 32 capabilities for each of effective, permitted and inheritable.
    #[repr(C)]
    struct LinuxCapHeader {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = LinuxCapHeader { version: VERSION_3, pid: 0 };
    let none = [[0_u32; 3]; 2];
    let mut left = [[u32::MAX; 3]; 2];
    // SAFETY: `none` and `left` have the size that version 3 reads and writes; the rest are numbers.
    unsafe {
        let mut capability = 0;
        // Ends at the first number that the kernel does not know.
        while libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) == 0 {
            capability += 1;
        }
        libc::syscall(libc::SYS_capset, &raw const header, &raw const none) == 0
            && libc::syscall(libc::SYS_capget, &raw const header, &raw mut left) == 0
            && left == none
    }
}

/// Asks the kernel to end this process first when memory runs out.
pub(super) fn be_first_to_end() -> bool {
    std::fs::write("/proc/self/oom_score_adj", "1000").is_ok()
}

/// Has the kernel kill this process when its parent ends. False when the parent is gone already.
fn end_with_parent() -> bool {
    // SAFETY: numbers only.
    unsafe {
        let parent = libc::getppid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) == 0 && libc::getppid() == parent
    }
}

/// The rest of a waiter's life.
fn wait_and_end_alike(child: libc::pid_t) -> ! {
    // SAFETY: numbers and one local status. Nothing in this process is used again, so its descriptors may go.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0);
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        drop_capabilities();
        calls::filter_waiter();
        let mut status = 0;
        while libc::waitpid(child, &raw mut status, 0) != child {}
        let code = match libc::WIFEXITED(status) {
            true => libc::WEXITSTATUS(status),
            false => SIGNAL_CODES + libc::WTERMSIG(status),
        };
        if code > SIGNAL_CODES {
            // The inner waiter cannot be ended by a signal of its own and passes the code on.
            libc::signal(code - SIGNAL_CODES, libc::SIG_DFL);
            libc::raise(code - SIGNAL_CODES);
        }
        libc::_exit(code)
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
