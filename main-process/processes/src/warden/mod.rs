//! Running external programs so that none of their processes outlives main.
//!
//! Terraform starts providers, an MCP server starts any program, and each of them may daemonise: a
//! parent-death signal reaches only the first of them, and it is lost when that one forks. So main starts a *warden*, a
//! role of our own executable, which starts the program and does nothing else:
//!
//! - it is the subreaper of its descendants: an orphan becomes the warden's child, so none escapes;
//! - it holds one end of a channel whose other end only main has, so it notices the end of main in every case;
//! - then it sends stop signals to the program, then to the remaining processes, then kills until none is left.
//!
//! The warden itself gets no parent-death signal, on purpose: that would kill the one process that can clean
//! up. Killing the *warden* with `SIGKILL` is the one gap: main then clears the warden's session, but a
//! descendant that made a session of its own has escaped.

mod guarded;
mod report;
mod role;

pub use guarded::{GuardError, GuardedProgram, WardenCommandLine, spawn_guarded};
pub(crate) use role::DEFAULT_GRACE_PERIOD;
pub use role::run_warden;
