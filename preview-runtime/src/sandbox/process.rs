//! Process settings through system calls that have no safe wrapper.
#![allow(unsafe_code, reason = "prctl and close_range have no safe form")]

use std::io;

/// The descriptor of the channel to main, after standard input, output and error.
const CHANNEL_DESCRIPTOR: libc::c_uint = 3;

fn set(option: libc::c_int, value: libc::c_ulong) -> bool {
    // SAFETY: these options take only numbers and access no memory of this process.
    unsafe { libc::prctl(option, value, 0, 0, 0) == 0 }
}

pub(super) fn no_new_privileges() -> bool {
    set(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// Prevents other processes of the same user from reading the memory, and disables core dumps.
pub(super) fn not_dumpable() -> bool {
    set(libc::PR_SET_DUMPABLE, 0)
}

/// Prevents writable memory from becoming executable. Requires kernel 6.3.
pub(super) fn no_new_executable_memory() -> bool {
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    set(PR_SET_MDWE, REFUSE_EXEC_GAIN)
}

/// Closes all descriptors after the channel.
pub(super) fn close_descriptors() -> io::Result<()> {
    // SAFETY: a system call with numbers only. It runs first, so no value in this process owns one of the descriptors.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, CHANNEL_DESCRIPTOR + 1, libc::c_uint::MAX, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(super) fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// The address space in use, in bytes.
pub(super) fn memory_in_use() -> u64 {
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE
}
