//! Running programs that are not ours so that nothing they start outlives main.
//!
//! Terraform starts providers, an MCP server starts whatever it likes, and any of them may daemonise: a
//! parent-death signal reaches only the first of them, and it is lost when that one forks. So between main
//! and the program stands a *warden*, a role of our own executable that does nothing else:
//!
//! - it is the subreaper of its descendants: whoever loses its parent becomes the warden's child, so none
//!   gets away;
//! - it holds one end of a channel whose other end only main has, so it learns of main's end however main
//!   ended;
//! - then it asks the program to end, then everything that is left, then kills until nothing is left.
//!
//! The warden itself gets no parent-death signal, on purpose: that would kill the one process that can clean
//! up. Killing the *warden* with `SIGKILL` is the one gap: main then clears the warden's session, but a
//! descendant that made a session of its own has escaped.

mod guarded;
mod report;
mod role;

pub use guarded::{GuardError, GuardedProgram, WardenCommand, spawn_guarded};
pub(crate) use role::DEFAULT_GRACE_PERIOD;
pub use role::run_warden;
