//! `draftboard export`: draws a board into a file.

use super::{WorkspaceArguments, board_at::find_board, format, workspace_at::ReachedWorkspace};
use shared_protocol::{Refusal, requests::ExportBoard};
use std::{path::Path, process::ExitCode};

pub(super) fn run(board: &str, to: &Path, at: &WorkspaceArguments) -> ExitCode {
    format::exit(export(board, to, at), at.json)
}

fn export(board: &str, to: &Path, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
    let board = find_board(&mut reached, board)?;
    // The running Draftboard may have another current folder.
    let path = std::path::absolute(to).unwrap_or_else(|_| to.to_owned()).display().to_string();
    Ok(format::print_response(&reached.request(ExportBoard { board, path })?, at.json))
}
