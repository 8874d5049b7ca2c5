//! The allow list of system calls. Every other call kills the process, except a few calls that libraries try on their own,
//! which fail with "permission denied".
//!
//! There are two filters, because a filter has only one action for its matches: the first kills the process for unlisted
//! calls, the second denies with an error. The kernel applies the stricter result.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter, apply_filter_all_threads,
};
use std::collections::BTreeMap;

type SystemCallRules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that are harmless with any arguments.
const ALLOWED: &[i64] = &[
    // The channel and standard error; there are no other descriptors.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_ppoll,
    libc::SYS_close,
    libc::SYS_fstat,
    // Memory. A condition below excludes executable memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    // Waiting, time, randomness.
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_restart_syscall,
    // Exit, and signals to the own process.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_getpid,
    libc::SYS_gettid,
];

/// Calls that fail with an error instead of killing the process. The C library and the allocator try them and handle the
/// error.
const DENIED: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_readlinkat,
    libc::SYS_ioctl,
    libc::SYS_prctl,
    libc::SYS_prlimit64,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_uname,
    libc::SYS_sysinfo,
];

/// Legacy calls, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[i64] = &[libc::SYS_open, libc::SYS_access, libc::SYS_readlink];
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[i64] = &[libc::SYS_poll];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[i64] = &[];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[i64] = &[];

/// Installs the filters. Returns whether both are active.
pub(super) fn filter() -> bool {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return false };
    let (Some(allow), Some(deny)) = (allow_list(arch), deny_list(arch)) else { return false };
    apply_filter_all_threads(&allow).is_ok() && apply_filter_all_threads(&deny).is_ok()
}

/// Calls of a process that only waits for its child and ends as the child did.
const WAITING: &[i64] = &[
    libc::SYS_wait4,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_exit_group,
];

/// Installs the filter of a waiter.
pub(super) fn filter_waiter() {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return };
    let rules: SystemCallRules = WAITING.iter().map(|call| (*call, vec![])).collect();
    let filter = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch);
    if let Ok(program) = filter.and_then(BpfProgram::try_from) {
        // A waiter reads nothing, so a kernel without filters leaves nothing to attack.
        let _ = apply_filter(&program);
    }
}

fn allow_list(arch: TargetArch) -> Option<BpfProgram> {
    let mut rules: SystemCallRules = [ALLOWED, ALLOWED_HERE, DENIED, DENIED_HERE]
        .concat()
        .into_iter()
        .map(|call| (call, vec![]))
        .collect();
    // The second filter is installed after the first.
    rules.insert(libc::SYS_seccomp, vec![]);
    // Only on the connected channel, never with an address.
    rules.insert(libc::SYS_sendto, vec![rule(4, Width::Qword, Is::Eq, 0)?]);
    let no_code = |argument| rule(argument, Width::Dword, Is::MaskedEq(libc::PROT_EXEC as u64), 0);
    rules.insert(libc::SYS_mmap, vec![no_code(2)?]);
    rules.insert(libc::SYS_mprotect, vec![no_code(2)?]);
    rules.insert(
        libc::SYS_madvise,
        any_of(2, &[libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_HUGEPAGE, libc::MADV_NOHUGEPAGE])?,
    );
    rules.insert(libc::SYS_fcntl, any_of(1, &[libc::F_GETFL, libc::F_GETFD, libc::F_GET_SEALS])?);
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![rule(0, Width::Dword, Is::Eq, own)?]);
    rules.insert(libc::SYS_setitimer, any_of(0, &[libc::ITIMER_PROF as libc::c_int])?);
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch).ok()?.try_into().ok()
}

fn deny_list(arch: TargetArch) -> Option<BpfProgram> {
    let rules: SystemCallRules =
        [DENIED, DENIED_HERE].concat().into_iter().map(|call| (call, vec![])).collect();
    let denied = SeccompAction::Errno(libc::EACCES as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, denied, arch).ok()?.try_into().ok()
}

fn any_of(argument: u8, values: &[libc::c_int]) -> Option<Vec<SeccompRule>> {
    values.iter().map(|value| rule(argument, Width::Dword, Is::Eq, *value as u64)).collect()
}

fn rule(argument: u8, width: Width, is: Is, value: u64) -> Option<SeccompRule> {
    SeccompRule::new(vec![SeccompCondition::new(argument, width, is, value).ok()?]).ok()
}
