//! The log of each run, the last few kept.

use super::start::RunError;
use shared_protocol::terraform::RunOperation;
use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// Logs kept for each board.
const KEPT: usize = 20;

/// A new log, numbered after the last.
pub(crate) fn new_log(
    folder: &Path,
    board: &str,
    operation: RunOperation,
) -> Result<(PathBuf, File), RunError> {
    let folder = folder.join(board);
    let failed = |path: &Path, source| RunError::Files { path: path.to_owned(), source };
    fs::create_dir_all(&folder).map_err(|source| failed(&folder, source))?;
    let logs = list(&folder);
    let number = logs.last().map_or(1, |(number, _)| number + 1);
    for (_, old) in logs.iter().rev().skip(KEPT - 1) {
        // An old log that stays hurts nobody, nor does what is kept beside it.
        let _ = fs::remove_file(old);
        let _ = fs::remove_file(old.with_extension("json"));
    }
    let path = folder.join(format!("{number:06}-{}.log", operation.word()));
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(|source| failed(&path, source))?;
    Ok((path, file))
}

/// The logs in a folder, oldest first.
pub(crate) fn list(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_suffix(".log")?.split('-').next()?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    logs.sort();
    logs
}
