//! `draftboard completions`: a completion script for a shell.

use super::format;
use std::process::ExitCode;

pub(super) fn run(shell: clap_complete::Shell, mut command: clap::Command) -> ExitCode {
    // Into memory first: the generator panics when its reader is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "draftboard", &mut script);
    format::print(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}
