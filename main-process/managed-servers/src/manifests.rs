//! The folders of manifests, and the detection of changes in them.

use super::{ManagedServerFolders, views};
use mcp_client::ManifestFolder;
use shared_protocol::managed_servers::{ManifestBrief, ManifestOrigin};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The interval in which the folders are checked.
pub(super) const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// The number of entries of both folders that are checked; manifests are fewer.
const MAX_ENTRIES: usize = 2_048;
const MAX_DEPTH: usize = 6;

/// The user's own folder comes first: of two tools with one name the first counts.
pub(super) fn folders(user: &ManagedServerFolders, workspace: Option<&Path>) -> Vec<ManifestFolder> {
    let own = ManifestFolder { origin: ManifestOrigin::User, path: user.manifests() };
    let shared = workspace
        .map(|root| ManifestFolder { origin: ManifestOrigin::Workspace, path: root.join("manifests") })
        .into_iter();
    std::iter::once(own).chain(shared).collect()
}

/// The names, sizes and times of the files in the folders. It differs when a file is added, removed or written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ManifestFingerprint(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl ManifestFingerprint {
    /// `programs` are the programs of manifests, some of which are outside the folders.
    pub(super) fn compute(folders: &[ManifestFolder], programs: &[PathBuf]) -> Self {
        let mut found = Vec::new();
        for folder in folders {
            collect(&folder.path, 0, &mut found);
        }
        for program in programs {
            let about = fs::metadata(program).ok();
            let changed = about.as_ref().and_then(|about| about.modified().ok());
            found.push((program.clone(), about.map_or(0, |about| about.len()), changed));
        }
        found.sort();
        Self(found)
    }
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<(PathBuf, u64, Option<SystemTime>)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if found.len() >= MAX_ENTRIES {
            return;
        }
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() && depth < MAX_DEPTH {
            collect(&entry.path(), depth + 1, found);
        } else if about.is_file() {
            found.push((entry.path(), about.len(), about.modified().ok()));
        }
    }
}

/// Checks manifests without calling anything. Each place is a folder or one file.
pub fn check(places: &[PathBuf]) -> Vec<ManifestBrief> {
    let folders: Vec<ManifestFolder> = places
        .iter()
        .map(|place| ManifestFolder { origin: ManifestOrigin::User, path: place.to_owned() })
        .collect();
    let reports = mcp_client::check_manifests(&folders).into_iter();
    reports
        .map(|report| views::manifest(report, &views::StoredManifestCredentials::new(), |_| None))
        .collect()
}
