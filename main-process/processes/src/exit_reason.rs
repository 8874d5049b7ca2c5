//! The reason why a child ended, in plain words.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// It exited with code 0.
    Clean,
    /// It exited with another code.
    Failed(i32),
    /// A fatal signal ended it, such as a segmentation fault.
    Crashed(i32),
    /// A person or another process killed it. So does the kernel when the machine runs out of memory.
    Killed,
    /// It was killed because it did not answer or stop in time.
    Timeout,
    /// It exceeded its memory limit.
    OutOfMemory,
    /// It made a system call that its sandbox forbids.
    SandboxViolation,
    /// It never ran.
    NotStarted,
}

/// The line that Rust prints before it aborts for lack of memory. A panic inside a panic and a stack overflow abort as
/// well, so the signal alone is not enough.
const ALLOCATION_FAILED: &str = "memory allocation of ";

impl ExitReason {
    /// Distinguishes an exhausted memory limit from other aborts by the end of standard error.
    pub fn with_last_words(self, stderr_tail: &str) -> Self {
        match self {
            Self::Crashed(libc::SIGABRT) if stderr_tail.contains(ALLOCATION_FAILED) => Self::OutOfMemory,
            other => other,
        }
    }
}

impl From<ExitStatus> for ExitReason {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(0), _) => Self::Clean,
            (Some(code), _) => Self::Failed(code),
            (None, Some(libc::SIGSYS)) => Self::SandboxViolation,
            (None, Some(libc::SIGXCPU | libc::SIGPROF)) => Self::Timeout,
            (None, Some(libc::SIGKILL | libc::SIGTERM | libc::SIGINT | libc::SIGHUP)) => Self::Killed,
            (None, Some(signal)) => Self::Crashed(signal),
            // Stopped or continued: never reported by a plain wait.
            (None, None) => Self::Killed,
        }
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("ended normally"),
            Self::Failed(code) => write!(f, "ended with an error (exit code {code})"),
            Self::Crashed(signal) => write!(f, "crashed ({})", FatalSignal(*signal)),
            Self::Killed => {
                f.write_str("was killed from outside, by a person or by a system short of memory")
            }
            Self::Timeout => f.write_str("did not respond in time and was stopped"),
            Self::OutOfMemory => f.write_str("ran out of memory"),
            Self::SandboxViolation => f.write_str("violated its sandbox and was stopped"),
            Self::NotStarted => f.write_str("could not be started"),
        }
    }
}

struct FatalSignal(i32);

impl fmt::Display for FatalSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            libc::SIGSEGV => f.write_str("invalid memory access"),
            libc::SIGABRT => f.write_str("aborted"),
            libc::SIGBUS => f.write_str("memory that no longer exists"),
            libc::SIGILL => f.write_str("an instruction that this processor does not support"),
            libc::SIGFPE => f.write_str("an arithmetic error"),
            libc::SIGPIPE => f.write_str("its output was closed"),
            libc::SIGXFSZ => f.write_str("a file grew beyond its limit"),
            other => write!(f, "signal {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ExitReason;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn check(raw_status: i32, reason: ExitReason, words: &str) {
        let found = ExitReason::from(ExitStatus::from_raw(raw_status));
        assert_eq!((found, found.to_string().as_str()), (reason, words));
    }

    #[test]
    fn every_status_has_a_reason_in_plain_words() {
        check(0, ExitReason::Clean, "ended normally");
        check(3 << 8, ExitReason::Failed(3), "ended with an error (exit code 3)");
        check(11, ExitReason::Crashed(11), "crashed (invalid memory access)");
        check(6 | 0x80, ExitReason::Crashed(6), "crashed (aborted)");
        check(34, ExitReason::Crashed(34), "crashed (signal 34)");
        let killed = "was killed from outside, by a person or by a system short of memory";
        check(9, ExitReason::Killed, killed);
        check(15, ExitReason::Killed, killed);
        check(24, ExitReason::Timeout, "did not respond in time and was stopped");
        check(27, ExitReason::Timeout, "did not respond in time and was stopped");
        let forbidden = "violated its sandbox and was stopped";
        check(31, ExitReason::SandboxViolation, forbidden);
    }

    #[test]
    fn only_an_abort_with_the_allocator_s_last_words_is_out_of_memory() {
        let words = "memory allocation of 1073741824 bytes failed";
        assert_eq!(ExitReason::Crashed(6).with_last_words(words), ExitReason::OutOfMemory);
        assert_eq!(ExitReason::Crashed(6).with_last_words("stack overflow"), ExitReason::Crashed(6));
        assert_eq!(ExitReason::Crashed(11).with_last_words(words), ExitReason::Crashed(11));
    }
}
