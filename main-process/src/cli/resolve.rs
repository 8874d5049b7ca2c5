//! `draftboard resolve`: decides which version of a held board to keep.

use super::{WorkspaceArguments, board_at::find_board, format, workspace_at::ReachedWorkspace};
use shared_protocol::{Refusal, messages::ConflictResolution, requests::ResolveBoard};
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum KeepVersionArgument {
    /// The version in Draftboard; a copy of the file is stored in .draftboard/aside
    Mine,
    /// The version in the file; a copy of Draftboard's version is stored in .draftboard/aside
    Theirs,
}

pub(super) fn run(board: &str, keep: KeepVersionArgument, at: &WorkspaceArguments) -> ExitCode {
    format::exit(resolve(board, keep, at), at.json)
}

fn resolve(board: &str, keep: KeepVersionArgument, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
    let board = find_board(&mut reached, board)?;
    let keep = match keep {
        KeepVersionArgument::Mine => ConflictResolution::Mine,
        KeepVersionArgument::Theirs => ConflictResolution::Theirs,
    };
    Ok(format::print_response(&reached.request(ResolveBoard { board, keep })?, at.json))
}
