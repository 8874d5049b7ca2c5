//! What is remembered of runs beyond the process: a record beside each log.

use infrastructure::run::Runs;
use shared_protocol::{
    Board,
    terraform::{RunState, RunView},
};
use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

const MOST_BYTES: u64 = 64 * 1024;

/// Notes how far a run is. A record that cannot be written costs a line of the history and nothing else.
pub(super) fn keep(log: &Path, run: &RunView) {
    let written = serde_json::to_vec(run)
        .map_err(std::io::Error::other)
        .and_then(|text| fs::write(log.with_extension("json"), text));
    if let Err(error) = written {
        tracing::warn!(%error, log = %log.display(), "a run will not be in the history");
    }
}

/// The runs of a board, oldest first, each with its log. One that was going on when its process ended is told as such.
pub(super) fn load(runs: &Runs, board: &Board) -> Vec<(PathBuf, RunView)> {
    let logs = runs.logs(board.name.as_str());
    logs.into_iter()
        .filter_map(|log| {
            let mut run = read(&log)?;
            run.board = board.id;
            if matches!(run.state, RunState::Running | RunState::Cancelling) {
                run.state = RunState::Interrupted;
                keep(&log, &run);
            }
            Some((log, run))
        })
        .collect()
}

/// Names that the board had when it was run before, as far as there are records.
pub(super) fn other_names(state_folder: &Path, board: &Board) -> Vec<String> {
    let folders = fs::read_dir(state_folder.join("terraform")).into_iter().flatten().flatten();
    let mut names: Vec<String> = folders
        .filter(|folder| {
            let records = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            records.filter_map(|record| read(&record.path())).any(|run| run.board == board.id)
        })
        .filter_map(|folder| folder.file_name().into_string().ok())
        .filter(|name| name != board.name.as_str())
        .collect();
    names.sort();
    names
}

fn read(log: &Path) -> Option<RunView> {
    let mut text = String::new();
    File::open(log.with_extension("json")).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
