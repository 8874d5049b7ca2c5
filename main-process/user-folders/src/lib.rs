//! The user's files and folders outside of workspaces.

use std::path::{Path, PathBuf};

const APP: &str = "draftboard";
const MAX_RECENT_WORKSPACES: usize = 12;

fn base(variable: &str, below_home: &str) -> PathBuf {
    let absolute = |path: &PathBuf| path.is_absolute();
    let home =
        || std::env::var_os("HOME").map(PathBuf::from).filter(absolute).unwrap_or_else(std::env::temp_dir);
    std::env::var_os(variable).map(PathBuf::from).filter(absolute).unwrap_or_else(|| home().join(below_home))
}

/// The user's own copy of the example.
pub fn example() -> PathBuf {
    base("XDG_DATA_HOME", ".local/share").join(APP).join("example")
}

/// The copy of the example for the demo, replaced each time.
pub fn demo() -> PathBuf {
    base("XDG_DATA_HOME", ".local/share").join(APP).join("demo")
}

/// Exists once the user has dismissed the tour of the demo.
fn closed_tour() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state").join(APP).join("tour-closed")
}

pub fn is_tour_closed() -> bool {
    closed_tour().exists()
}

pub fn close_tour() -> std::io::Result<()> {
    safe_fs::write_private(&closed_tour(), b"")
}

/// The user's settings.
pub fn settings() -> PathBuf {
    config_folder().join("settings.toml")
}

/// The user's configuration folder.
pub fn config_folder() -> PathBuf {
    base("XDG_CONFIG_HOME", ".config").join(APP)
}

/// The user's standing approvals, of all workspaces.
pub fn approvals() -> PathBuf {
    config_folder().join("approvals.json")
}

/// Packages that are installed for managed servers.
pub fn managed_servers_data() -> PathBuf {
    base("XDG_DATA_HOME", ".local/share").join(APP).join("upstreams")
}

/// Saved plans of agents' requests; they hold secrets.
pub fn plans() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state").join(APP).join("plans")
}

fn recent_file() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state").join(APP).join("recent.json")
}

/// The log of a Draftboard that an agent's client started.
pub fn serve_log() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state").join(APP).join("serve.log")
}

/// Reports of processes that ended unexpectedly.
pub fn crashes() -> PathBuf {
    base("XDG_STATE_HOME", ".local/state").join(APP).join("crashes")
}

/// Workspaces opened before, newest first, including missing ones. Empty when the list cannot be read.
pub fn recent() -> Vec<PathBuf> {
    read(&recent_file())
}

/// Puts a workspace first.
pub fn add_recent(workspace: &Path) {
    write(&recent_file(), with_recent(recent(), workspace));
}

/// Takes a workspace off the list.
pub fn remove_recent(workspace: &Path) {
    let file = recent_file();
    let mut list = read(&file);
    list.retain(|path| path != workspace);
    write(&file, list);
}

fn read(file: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn with_recent(list: Vec<PathBuf>, workspace: &Path) -> Vec<PathBuf> {
    let others = list.into_iter().filter(|path| path != workspace);
    std::iter::once(workspace.to_owned()).chain(others).take(MAX_RECENT_WORKSPACES).collect()
}

/// A failure is only logged, because the list is a convenience.
fn write(file: &Path, list: Vec<PathBuf>) {
    let text = serde_json::to_vec_pretty(&list).unwrap_or_default();
    if let Err(error) = safe_fs::write_private(file, &text) {
        tracing::debug!(%error, file = %file.display(), "recent workspaces were not remembered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_the_list_is_short() {
        let all = (0..20).map(|number| PathBuf::from(format!("/w/{number}")));
        let list = all.fold(Vec::new(), |list, path| with_recent(list, &path));
        assert_eq!(list.len(), MAX_RECENT_WORKSPACES);
        assert_eq!(list[0], Path::new("/w/19"));
        let again = with_recent(list, Path::new("/w/15"));
        assert_eq!((again.len(), again[0].as_path()), (MAX_RECENT_WORKSPACES, Path::new("/w/15")));
    }

    #[test]
    fn what_is_written_is_read_and_a_damaged_list_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state").join("recent.json");
        assert!(read(&file).is_empty());
        write(&file, vec!["/w/a".into(), "/w/b".into()]);
        assert_eq!(read(&file), [Path::new("/w/a"), Path::new("/w/b")]);
        std::fs::write(&file, "[\"/w/a\"").unwrap();
        assert!(read(&file).is_empty());
    }
}
