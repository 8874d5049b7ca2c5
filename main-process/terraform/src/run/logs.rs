//! Run logs. The newest are kept.

use super::runner::RunError;
use rustix::fs::FileType;
use safe_fs::SafeFolder;
use shared_protocol::terraform::TerraformOperation;
use std::{
    fs::File,
    path::{Path, PathBuf},
};

/// The number of logs kept per board.
const MAX_LOGS_PER_BOARD: usize = 20;

/// Creates a log with the next number.
pub(crate) fn new_log(
    folder: &SafeFolder,
    board: &str,
    operation: TerraformOperation,
) -> Result<(PathBuf, File), RunError> {
    let folder = folder.create_folder(board)?;
    let logs = list(&folder);
    let number = logs.last().map_or(1, |(number, _)| number + 1);
    for (_, old) in logs.iter().rev().skip(MAX_LOGS_PER_BOARD - 1) {
        // A leftover log or record is harmless.
        let _ = folder.remove(old);
        let _ = folder.remove(Path::new(old).with_extension("json"));
    }
    let name = format!("{number:06}-{}.log", operation.as_str());
    let file = folder.create_new(&name)?;
    Ok((folder.path().join(name), file))
}

/// Returns the logs in a folder, oldest first.
pub(crate) fn list(folder: &SafeFolder) -> Vec<(u64, String)> {
    let entries = folder.list().unwrap_or_default().into_iter();
    let mut logs: Vec<(u64, String)> = entries
        .filter(|entry| entry.kind == FileType::RegularFile)
        .filter_map(|entry| {
            let number = entry.name.strip_suffix(".log")?.split('-').next()?.parse().ok()?;
            Some((number, entry.name))
        })
        .collect();
    logs.sort();
    logs
}
