//! The history of runs beyond the process: a record beside each log.

use safe_fs::SafeFolder;
use shared_protocol::{
    Board,
    terraform::{TerraformRunState, TerraformRunView},
};
use std::path::{Path, PathBuf};
use terraform::run::TerraformRunner;

const MAX_RECORD_BYTES: u64 = 64 * 1024;

/// Records the progress of a run. A failure costs a line of the history and nothing else.
pub(super) fn write_summary(log: &Path, run: &TerraformRunView) {
    let written = serde_json::to_vec(run).map_err(std::io::Error::other).and_then(|text| {
        let (folder, name) = SafeFolder::parent_of(&log.with_extension("json"))?;
        Ok(folder.write_atomic(name, &text)?)
    });
    if let Err(error) = written {
        tracing::warn!(%error, log = %log.display(), "a run is missing in the history");
    }
}

/// The runs of a board, oldest first, each with its log. A run that was going on when its process ended is interrupted.
pub(super) fn load(runs: &TerraformRunner, board: &Board) -> Vec<(PathBuf, TerraformRunView)> {
    let logs = runs.logs(board.name.as_str());
    logs.into_iter()
        .filter_map(|log| {
            let (folder, name) = SafeFolder::parent_of(&log).ok()?;
            let mut run = read(&folder, &name)?;
            run.board = board.id;
            if matches!(run.state, TerraformRunState::Running | TerraformRunState::Cancelling) {
                run.state = TerraformRunState::Interrupted;
                write_summary(&log, &run);
            }
            Some((log, run))
        })
        .collect()
}

/// Earlier names of the board, according to the records of its runs.
pub(super) fn other_names(state_folder: &Path, board: &Board) -> Vec<String> {
    let Ok(runs) = SafeFolder::open(&state_folder.join("terraform")) else { return Vec::new() };
    let entries = runs.list().unwrap_or_default().into_iter().map(|entry| entry.name);
    entries
        .filter(|name| name != board.name.as_str())
        .filter(|name| {
            let Ok(folder) = runs.folder(name) else { return false };
            let records = folder.list().unwrap_or_default();
            records.iter().filter_map(|record| read(&folder, &record.name)).any(|run| run.board == board.id)
        })
        .collect()
}

fn read(folder: &SafeFolder, log: &str) -> Option<TerraformRunView> {
    let bytes = folder.read(Path::new(log).with_extension("json"), MAX_RECORD_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}
