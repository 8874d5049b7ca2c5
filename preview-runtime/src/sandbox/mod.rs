//! Sandboxes this process before it reads any untrusted data and before it starts a second thread.
//!
//! The steps in order: close all descriptors except the channel, first to end when memory runs out, not root, namespaces of
//! its own with an empty root, no capabilities, no new privileges, not dumpable, no executable memory from writable memory,
//! Landlock without permissions, resource limits, and the system call filter. The filter is essential: without it, no
//! component is rendered. The rest of the crate depends only on [`enter`] and its report, so
//! other systems can be supported here.

mod calls;
mod deadline;
mod landlock;
mod limits;
mod namespaces;
mod process;

pub use deadline::{HARD_DEADLINE, within_deadline};

use shared_protocol::preview_wire::SandboxReport;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error(
        "the preview process has environment variables. Start it through `draftboard`, which clears them"
    )]
    Environment,
    #[error("cannot close inherited file descriptors: {0}")]
    Descriptors(std::io::Error),
    #[error("the preview process already has more than one thread")]
    Threads,
}

/// Enters the sandbox permanently. Measures that the kernel does not support are skipped and reported; a missing
/// precondition is an error.
pub fn enter() -> Result<SandboxReport, SandboxError> {
    if std::env::vars_os().next().is_some() {
        return Err(SandboxError::Environment);
    }
    if process::threads() != Some(1) {
        return Err(SandboxError::Threads);
    }
    process::close_descriptors().map_err(SandboxError::Descriptors)?;
    let memory = process::memory_in_use();
    let first_out_of_memory = namespaces::be_first_to_end();
    let not_root = namespaces::leave_root();
    // From here on in another process, where the kernel allows it.
    let namespaces = namespaces::enter();
    let no_capabilities = namespaces::drop_capabilities();
    let no_new_privileges = process::no_new_privileges();
    let not_dumpable = process::not_dumpable();
    let no_new_executable_memory = process::no_new_executable_memory();
    let landlock = landlock::deny_all();
    let limits = limits::set(memory);
    let system_calls = no_new_privileges && calls::filter();
    Ok(SandboxReport {
        first_out_of_memory,
        not_root,
        namespaces,
        no_capabilities,
        no_new_privileges,
        not_dumpable,
        no_new_executable_memory,
        landlock,
        limits,
        system_calls,
    })
}
