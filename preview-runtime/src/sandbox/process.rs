//! Small settings of the process itself, by system calls that have no safe form.
#![allow(unsafe_code, reason = "prctl and close_range have no safe form")]

use std::io;

/// The channel to main; standard input, output and error come before it.
const CHANNEL: libc::c_uint = 3;

fn set(option: libc::c_int, value: libc::c_ulong) -> bool {
    // SAFETY: these options take numbers only and touch no memory of ours.
    unsafe { libc::prctl(option, value, 0, 0, 0) == 0 }
}

pub(super) fn no_new_privileges() -> bool {
    set(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// Nobody of the same user can read the memory, and no image of it is written.
pub(super) fn not_dumpable() -> bool {
    set(libc::PR_SET_DUMPABLE, 0)
}

/// Memory that is writable stays without code. Kernels before 6.3 do not know it.
pub(super) fn no_new_executable_memory() -> bool {
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    set(PR_SET_MDWE, REFUSE_EXEC_GAIN)
}

/// Closes everything after the channel, whoever left it open.
pub(super) fn close_descriptors() -> io::Result<()> {
    // SAFETY: plain system call on numbers. This runs first of all, so that no value of ours owns a descriptor there.
    let result = unsafe { libc::syscall(libc::SYS_close_range, CHANNEL + 1, libc::c_uint::MAX, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(super) fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// Bytes of address space in use.
pub(super) fn memory_in_use() -> u64 {
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE
}
