//! Watches folders that are no workspace's, such as bundles that are served by themselves. Tells which path something happened
//! to, at once and as often as it happens; whoever hears it gathers.

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
pub enum FolderNews {
    /// Something happened to this file.
    Path(PathBuf),
    /// Any file may be other than it was.
    Everything,
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct FolderWatch {
    watcher: RecommendedWatcher,
    /// With what tells a folder from another that took its name.
    watched: BTreeMap<PathBuf, u64>,
}

impl FolderWatch {
    /// The channel should be bounded; while it is full, news is told as [`FolderNews::Everything`] by whoever empties it.
    pub fn start(sender: Sender<FolderNews>) -> Result<Self, WatchError> {
        let handler = move |event: notify::Result<Event>| tell(&sender, event);
        let watcher = notify::recommended_watcher(handler)
            .map_err(|error| WatchError::Failed { path: PathBuf::new(), problem: error.to_string() })?;
        Ok(Self { watcher, watched: BTreeMap::new() })
    }

    /// Watches these folders and no others; one that is not there is watched once it is given again and is. Tells whether
    /// any is watched from now on that was not: something may have happened there before.
    pub fn watch(&mut self, folders: &BTreeSet<PathBuf>) -> bool {
        let now: BTreeMap<&PathBuf, u64> =
            folders.iter().filter_map(|folder| Some((folder, inode(folder)?))).collect();
        let watcher = &mut self.watcher;
        self.watched.retain(|folder, known| {
            let stays = now.get(folder) == Some(known);
            if !stays {
                // It is no error that it is gone.
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
                Err(error) => tracing::warn!(%error, folder = %folder.display(), "a folder is not watched"),
            }
        }
        any
    }
}

/// Of a folder, and not of a link to one: nothing outside is looked at.
fn inode(path: &Path) -> Option<u64> {
    path.symlink_metadata().ok().filter(|metadata| metadata.is_dir()).map(|metadata| metadata.ino())
}

fn tell(sender: &Sender<FolderNews>, event: notify::Result<Event>) {
    let news = match event {
        Ok(event) if event.need_rescan() => vec![FolderNews::Everything],
        // Reading a file is news as well to the kernel, and not to us.
        Ok(Event { kind: EventKind::Access(access), .. })
            if access != AccessKind::Close(AccessMode::Write) =>
        {
            Vec::new()
        }
        Ok(event) => event.paths.into_iter().map(FolderNews::Path).collect(),
        Err(error) => {
            tracing::warn!(%error, "watching files failed for a moment");
            vec![FolderNews::Everything]
        }
    };
    for news in news {
        if let Err(TrySendError::Full(_)) = sender.try_send(news) {
            // What waits is more than is worth following one by one; the kernel's thread may wait for it to be taken.
            let _ = sender.send(FolderNews::Everything);
        }
    }
}
