//! Locking this process in, before it has read a byte that somebody else wrote and before it has a second thread.
//!
//! In order: no new privileges, not dumpable, no memory that becomes executable, no descriptor but the channel, Landlock
//! that allows nothing, limits, and a list of the system calls that are left. The last one carries the weight; without it
//! nobody's content is run. A seam for other systems is here: [`enter`] and its report are all that the rest knows.

mod calls;
mod deadline;
mod landlock;
mod limits;
mod process;

pub use deadline::{HARD_DEADLINE, within_deadline};

use shared_protocol::preview::SandboxReport;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the preview was started with an environment; it is started by `draftboard`, with none")]
    Environment,
    #[error("descriptors of others could not be closed: {0}")]
    Descriptors(std::io::Error),
    #[error("more than one thread runs already")]
    Threads,
}

/// Locks the process in for good. What a kernel does not offer is left out and reported; what must hold in any case is
/// an error.
pub fn enter() -> Result<SandboxReport, SandboxError> {
    if std::env::vars_os().next().is_some() {
        return Err(SandboxError::Environment);
    }
    if process::threads() != Some(1) {
        return Err(SandboxError::Threads);
    }
    process::close_descriptors().map_err(SandboxError::Descriptors)?;
    let memory = process::memory_in_use();
    let no_new_privileges = process::no_new_privileges();
    let not_dumpable = process::not_dumpable();
    let no_new_executable_memory = process::no_new_executable_memory();
    let landlock = landlock::deny_all();
    let limits = limits::set(memory);
    let system_calls = no_new_privileges && calls::filter();
    Ok(SandboxReport {
        no_new_privileges,
        not_dumpable,
        no_new_executable_memory,
        landlock,
        limits,
        system_calls,
    })
}
