//! Where manifests are looked for, and noticing that something there has changed.

use super::{ManagedServerFolders, views};
use shared_protocol::upstreams::ManifestBrief;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use upstreams::{ManifestFolder, Origin};

/// How often the folders are looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Entries of both folders that are looked at; manifests are fewer.
const MOST_ENTRIES: usize = 2_048;
const DEEPEST: usize = 6;

/// The user's own first: of two tools with one name the first stays.
pub(super) fn folders(user: &ManagedServerFolders, workspace: Option<&Path>) -> Vec<ManifestFolder> {
    let own = ManifestFolder { origin: Origin::User, path: user.manifests() };
    let shared = workspace
        .map(|root| ManifestFolder { origin: Origin::Workspace, path: root.join("manifests") })
        .into_iter();
    std::iter::once(own).chain(shared).collect()
}

/// What is in the folders, as far as one sees it from outside: another value when a file came, went or was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Looks(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Looks {
    /// `programs` are what manifests run: some stand outside the folders.
    pub(super) fn of(folders: &[ManifestFolder], programs: &[PathBuf]) -> Self {
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
        if found.len() >= MOST_ENTRIES {
            return;
        }
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() && depth < DEEPEST {
            collect(&entry.path(), depth + 1, found);
        } else if about.is_file() {
            found.push((entry.path(), about.len(), about.modified().ok()));
        }
    }
}

/// Reads manifests as they would be read, and calls nothing. Each place is a folder or one file.
pub fn check(places: &[PathBuf]) -> Vec<ManifestBrief> {
    let folders: Vec<ManifestFolder> =
        places.iter().map(|place| ManifestFolder { origin: Origin::User, path: place.to_owned() }).collect();
    let reports = upstreams::check_manifests(&folders).into_iter();
    reports.map(|report| views::manifest(report, &views::CredentialsSet::new(), |_| None)).collect()
}
