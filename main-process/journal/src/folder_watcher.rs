//! Watches folders outside a workspace, such as bundles that are served on their own. Reports every changed path
//! immediately and without deduplication; the receiver debounces.

use crate::WatchError;
use crossbeam_channel::{Sender, TrySendError};
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderChange {
    /// This file may have changed.
    Path(PathBuf),
    /// Any file may have changed.
    Everything,
}

/// Watches folders until it is dropped.
#[derive(Debug)]
pub struct FolderWatcher {
    watcher: RecommendedWatcher,
    /// The watched folders with their inodes, to detect a folder that was replaced under the same name.
    watched: BTreeMap<PathBuf, u64>,
}

impl FolderWatcher {
    /// Starts a watcher without folders. The channel should be bounded: while it is full, changes are collapsed
    /// into [`FolderChange::Everything`].
    pub fn start(sender: Sender<FolderChange>) -> Result<Self, WatchError> {
        let handler = move |event: notify::Result<Event>| send_changes(&sender, event);
        let watcher = notify::recommended_watcher(handler)
            .map_err(|error| WatchError::Failed { path: PathBuf::new(), problem: error.to_string() })?;
        Ok(Self { watcher, watched: BTreeMap::new() })
    }

    /// Watches exactly these folders. A folder that does not exist is skipped until a later call finds it. Returns
    /// whether any folder is newly watched: files in it may have changed before.
    pub fn watch(&mut self, folders: &BTreeSet<PathBuf>) -> bool {
        let now: BTreeMap<&PathBuf, u64> =
            folders.iter().filter_map(|folder| Some((folder, inode(folder)?))).collect();
        let watcher = &mut self.watcher;
        self.watched.retain(|folder, known| {
            let stays = now.get(folder) == Some(known);
            if !stays {
                // Fails when the folder is gone, which is fine.
                let _ = watcher.unwatch(folder);
            }
            stays
        });
        let mut any = false;
        for (folder, inode) in now {
            if self.watched.contains_key(folder) {
                continue;
            }
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder.clone(), inode);
                    any = true;
                }
                Err(error) => tracing::warn!(%error, folder = %folder.display(), "cannot watch a folder"),
            }
        }
        any
    }
}

/// Returns the inode of a folder; `None` for a link, so that nothing outside is watched.
fn inode(path: &Path) -> Option<u64> {
    path.symlink_metadata().ok().filter(|metadata| metadata.is_dir()).map(|metadata| metadata.ino())
}

fn send_changes(sender: &Sender<FolderChange>, event: notify::Result<Event>) {
    let news = match event {
        Ok(event) if event.need_rescan() => vec![FolderChange::Everything],
        // The kernel also reports read access, which changes nothing.
        Ok(Event { kind: EventKind::Access(access), .. })
            if access != AccessKind::Close(AccessMode::Write) =>
        {
            Vec::new()
        }
        Ok(event) => event.paths.into_iter().map(FolderChange::Path).collect(),
        Err(error) => {
            tracing::warn!(%error, "the file watcher reported an error");
            vec![FolderChange::Everything]
        }
    };
    for news in news {
        if let Err(TrySendError::Full(_)) = sender.try_send(news) {
            // The queue holds too many paths to follow one by one. Blocking the watcher thread here is fine.
            let _ = sender.send(FolderChange::Everything);
        }
    }
}
