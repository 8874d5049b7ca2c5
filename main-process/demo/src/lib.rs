//! The demo: a fresh copy of the example, and a scripted agent that proposes a change to it through the real bridge, as any
//! client would. Owns the copy, the agent's process and its script.
//!
//! Must not know: how a proposal is shown or decided. The agent has no way around the review queue; it is one more client.

mod client;
mod script;
mod state;

use client::DemoClient;
use processes::{
    Environment, GuardedProgram, ProgramLaunch, StdStream, WardenCommandLine, WorkspaceLock, spawn_guarded,
};
use shared_protocol::{BoardId, Refusal, RefusalCode};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};
use user_folders as paths;
use workspace::{WorkspaceTemplate, create, time_and_seed};

/// Replaces the demo's workspace by a fresh copy of the example, with the rehearsal board as if it had been applied.
pub fn prepare() -> Result<PathBuf, Refusal> {
    let root = paths::demo();
    let storage = |error: String| {
        Refusal::new(RefusalCode::StorageError, format!("the demo could not be set up: {error}"))
            .hint("Free some space, or check that you may write to your folder ~/.local/share.")
    };
    if root.exists() {
        // Another window may show it.
        drop(WorkspaceLock::acquire(&root).map_err(|error| {
            Refusal::new(RefusalCode::Conflict, error.to_string())
                .hint("Close the other demo, then start it again.")
        })?);
        remove(&root).map_err(|error| storage(error.to_string()))?;
    }
    create(&root, WorkspaceTemplate::Example, BoardId::from_bits(time_and_seed().seed))
        .map_err(|error| storage(error.to_string()))?;
    state::write(&root).map_err(storage)?;
    Ok(root)
}

/// Removes the demo's own folder; of a link, the link alone.
fn remove(root: &Path) -> io::Result<()> {
    if root.symlink_metadata()?.is_symlink() {
        std::fs::remove_file(root)
    } else {
        std::fs::remove_dir_all(root)
    }
}

/// Starts the agent as a process that ends with this one.
pub fn start_agent(root: &Path) -> Result<GuardedProgram, Refusal> {
    let not_started = |error: String| {
        Refusal::new(RefusalCode::Internal, format!("the demo's agent was not started: {error}"))
            .hint("The copy of the example is open anyway.")
    };
    let exe = std::env::current_exe().map_err(|error| not_started(error.to_string()))?;
    let arguments = ["--role".into(), "demo-agent".into(), OsString::from(root)];
    let launch = ProgramLaunch {
        environment: Environment::inherit(),
        stderr: StdStream::Inherit,
        ..ProgramLaunch::new(&exe, arguments)
    };
    spawn_guarded(&WardenCommandLine::new(&exe), &launch).map_err(|error| not_started(error.to_string()))
}

/// Plays the agent: connects through `draftboard mcp`, proposes, waits for the decision, ends.
pub fn run_agent(workspace: &Path) -> ExitCode {
    let played = std::env::current_exe()
        .map_err(client::DemoClientError::Start)
        .and_then(|exe| DemoClient::connect(&exe, workspace))
        .and_then(|mut client| script::play(&mut client));
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "the demo's agent ends early");
            ExitCode::FAILURE
        }
    }
}
