//! One executable plays every role; the first argument picks it. Nothing else happens here.

use crash_reports::{CrashRole, record_panics};
use main_process::{
    cli::{self, RoleEntryPoints},
    run_demo_agent,
};
use processes::{inherited_channel, run_warden};
use renderer::RendererError;
use std::{ffi::OsString, process::ExitCode};

/// A graph of fifty thousand nodes is many small allocations, and a frame of it a few large ones.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let word = |index: usize| arguments.get(index).and_then(|word| word.to_str());
    match (word(1), word(2)) {
        (Some("--role"), Some("warden")) => {
            record_panics(CrashRole::Warden);
            let program = arguments.get(3..).unwrap_or_default();
            let program = program.strip_prefix(&[OsString::from("--")]).unwrap_or(program);
            ExitCode::from(run_warden(program))
        }
        (Some("--role"), Some("renderer")) => window(),
        (Some("--role"), Some("preview")) => preview(),
        (Some("--role"), Some("demo-agent")) => match arguments.get(3) {
            Some(workspace) => run_demo_agent(workspace.as_ref()),
            None => fail("the demo's agent needs a workspace"),
        },
        _ => match std::env::current_exe() {
            Ok(exe) => cli::main(arguments, &RoleEntryPoints { exe }),
            Err(error) => fail(&format!("the path of this program is unknown: {error}")),
        },
    }
}

fn window() -> ExitCode {
    record_panics(CrashRole::Renderer);
    let channel = match inherited_channel() {
        Ok(channel) => channel,
        Err(error) => return fail(&error.to_string()),
    };
    match renderer::run(channel) {
        Ok(()) => ExitCode::SUCCESS,
        // Main stops, or reports why it ended the connection.
        Err(RendererError::Ended) => ExitCode::FAILURE,
        Err(error) => fail(&error.to_string()),
    }
}

/// Its panics go to standard error alone, where main reads them: it has no files.
fn preview() -> ExitCode {
    match inherited_channel().map_err(|error| error.to_string()).and_then(|channel| {
        preview_runtime::serve(channel, env!("CARGO_PKG_VERSION")).map_err(|error| error.to_string())
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

#[expect(clippy::print_stderr, reason = "the roles have no other way to say why they end")]
fn fail(reason: &str) -> ExitCode {
    eprintln!("draftboard: {reason}");
    ExitCode::FAILURE
}
