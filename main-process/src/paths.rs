//! Where things of the user's live outside a workspace.

use std::path::{Path, PathBuf};

const APP: &str = "draftboard";
/// Recent workspaces that are remembered.
const MAX_RECENT: usize = 12;

fn base(variable: &str, below_home: &str) -> PathBuf {
    let absolute = |path: &PathBuf| path.is_absolute();
    let home =
        || std::env::var_os("HOME").map(PathBuf::from).filter(absolute).unwrap_or_else(std::env::temp_dir);
    std::env::var_os(variable).map(PathBuf::from).filter(absolute).unwrap_or_else(|| home().join(below_home))
}

/// The user's own copy of the example.
pub(crate) fn example() -> PathBuf {
    base("XDG_DATA_HOME", ".local/share").join(APP).join("example")
}

fn recent_file() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state").join(APP).join("recent.json")
}

/// Workspaces opened before, newest first. A list that cannot be read is an empty one.
pub(crate) fn recent() -> Vec<PathBuf> {
    let text = std::fs::read_to_string(recent_file()).unwrap_or_default();
    let recent: Vec<PathBuf> = serde_json::from_str(&text).unwrap_or_default();
    recent.into_iter().filter(|path| path.join("draftboard.toml").is_file()).collect()
}

/// Puts a workspace first. Only a convenience: failing is worth a line in the log and no more.
pub(crate) fn remember(workspace: &Path) {
    let mut list = vec![workspace.to_owned()];
    list.extend(recent().into_iter().filter(|path| path != workspace));
    list.truncate(MAX_RECENT);
    let file = recent_file();
    let written = file
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&file, serde_json::to_string_pretty(&list).unwrap_or_default()));
    if let Err(error) = written {
        tracing::debug!(%error, file = %file.display(), "recent workspaces were not remembered");
    }
}
