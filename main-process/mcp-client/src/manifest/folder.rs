//! Finds manifest files.

use crate::durable;
use safe_fs::SafeFolder;
use sha2::{Digest as _, Sha256};
use shared_protocol::managed_servers::ManifestOrigin;
use std::{
    fs,
    path::{Path, PathBuf},
};

const MAX_MANIFEST_BYTES: u64 = 1 << 20;
const MAX_SCRIPT_BYTES: u64 = 16 << 20;
pub(super) const MAX_MANIFEST_FILES: usize = 256;
/// The maximum number of entries scanned per folder.
const MAX_SCANNED_ENTRIES: usize = 4_096;
const MAX_FOLDER_DEPTH: usize = 6;

#[derive(Debug, Clone)]
pub struct ManifestFolder {
    pub origin: ManifestOrigin,
    pub path: PathBuf,
}

/// The manifest files of a folder.
pub(super) struct ManifestFiles {
    /// Sorted by path.
    pub(super) files: Vec<(PathBuf, Result<Vec<u8>, String>)>,
    /// The number of files over the limit.
    pub(super) left_out: usize,
}

/// Returns every `*.json` file below the folder, without following links. A missing folder has no files.
pub(super) fn files(ManifestFolder { origin, path: folder }: &ManifestFolder) -> ManifestFiles {
    let mut paths = Vec::new();
    match origin {
        ManifestOrigin::User if folder.is_file() => paths.push(folder.to_owned()),
        ManifestOrigin::User => collect(folder, 0, &mut paths),
        // The user's own folder may be a link; a workspace folder may not.
        ManifestOrigin::Workspace => match SafeFolder::open(folder) {
            Ok(_) => collect(folder, 0, &mut paths),
            Err(error) if error.problem.is_missing() => {}
            Err(error) => {
                let files = vec![(folder.clone(), Err(error.problem.to_string()))];
                return ManifestFiles { files, left_out: 0 };
            }
        },
    }
    paths.sort();
    let left_out = paths.len().saturating_sub(MAX_MANIFEST_FILES);
    paths.truncate(MAX_MANIFEST_FILES);
    let files = paths.into_iter().map(|path| {
        let bytes = match origin {
            ManifestOrigin::User => {
                durable::read(&path, MAX_MANIFEST_BYTES).map_err(|error| error.to_string())
            }
            ManifestOrigin::Workspace => SafeFolder::parent_of(&path)
                .and_then(|(folder, name)| folder.read(name, MAX_MANIFEST_BYTES))
                .map(Some)
                .map_err(|error| error.problem.to_string()),
        };
        let bytes = bytes.and_then(|bytes| bytes.ok_or_else(|| "the file no longer exists".to_owned()));
        (path, bytes)
    });
    ManifestFiles { files: files.collect(), left_out }
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if hidden || paths.len() >= MAX_SCANNED_ENTRIES {
            continue;
        }
        if kind.is_dir() && depth < MAX_FOLDER_DEPTH {
            collect(&path, depth + 1, paths);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
}

/// Returns the digest of the program that a manifest runs.
pub(super) fn digest(path: &Path) -> Result<[u8; 32], String> {
    let bytes =
        durable::read(path, MAX_SCRIPT_BYTES).map_err(|error| format!("{}: {error}", path.display()))?;
    let bytes = bytes.ok_or_else(|| format!("entrypoint {} does not exist", path.display()))?;
    Ok(Sha256::digest(&bytes).into())
}
