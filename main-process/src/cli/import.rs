//! `draftboard import`: a folder becomes a board.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use serde_json::json;
use shared_protocol::{
    Refusal,
    requests::{ImportBoard, ImportedBoard, ReadDocument},
};
use std::{path::PathBuf, process::ExitCode};

pub(super) const HELP: &str = "A TerraStudio project (its .tstudio file and diagrams/main.json), or a folder of .tf files. An import\n\
    is one operation; `draftboard undo` reverts it.\n\n\
    Examples:\n  draftboard import ~/infra/network\n  draftboard import ~/projects/shop --into shop";

#[derive(Debug, clap::Args)]
pub(super) struct ImportArguments {
    /// The folder to import
    folder: PathBuf,
    /// The name of the new board [default: from the folder name]
    #[arg(long, value_name = "BOARD")]
    into: Option<String>,
    #[command(flatten)]
    at: WorkspaceArguments,
}

pub(super) fn run(asked: &ImportArguments) -> ExitCode {
    format::exit(answer(asked), asked.at.json)
}

fn answer(asked: &ImportArguments) -> Result<ExitCode, Refusal> {
    let mut reached = ReachedWorkspace::resolve(asked.at.workspace.as_deref())?;
    // The running Draftboard may have another current folder.
    let folder = std::path::absolute(&asked.folder).unwrap_or_else(|_| asked.folder.clone());
    let import = ImportBoard { path: folder.display().to_string(), name: asked.into.clone() };
    let ImportedBoard { board, revision, notes } = reached.import(import)?;
    let document = reached.request(ReadDocument {})?;
    let name = document.boards.iter().find(|known| known.id == board);
    let name = name.map_or_else(|| board.to_string(), |known| known.name.to_string());
    if asked.at.json {
        let data = json!({ "board": board, "name": name, "revision": revision, "notes": notes });
        format::print_json(&json!({ "ok": true, "data": data }));
    } else {
        let notes: String = notes.iter().map(|note| format!("note: {}\n", note.message)).collect();
        format::print_visible(&format!("Imported as board {name} (revision {revision})\n{notes}"));
    }
    Ok(ExitCode::SUCCESS)
}
