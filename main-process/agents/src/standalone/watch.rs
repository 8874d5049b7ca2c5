//! Following the disk: what another program does to the bundles' files is read again, file by file.

use super::loaded_bundles::LoadedBundles;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use journal::{FolderChange, FolderWatcher};
use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

/// News that may wait; beyond that everything is looked at.
const MAX_WAITING_CHANGES: usize = 4_096;
/// Files are read when nothing has happened for this long …
const QUIET: Duration = Duration::from_millis(60);
/// … or, where something happens all the time, after this long.
const LONGEST: Duration = Duration::from_millis(500);

/// Follows until the process ends. Without it, edits are seen by `validate_bundle` alone.
pub(super) fn watch_bundles(loaded: &Arc<LoadedBundles>) {
    let (sender, news) = bounded(MAX_WAITING_CHANGES);
    let loaded = Arc::clone(loaded);
    let watch = match FolderWatcher::start(sender) {
        Ok(watch) => watch,
        Err(error) => return tracing::error!(%error, "edits by other programs are not noticed"),
    };
    let run = move || BundleFolderWatch { loaded, watch, changes: news }.run();
    if let Err(error) = std::thread::Builder::new().name("bundle-files".to_owned()).spawn(run) {
        tracing::error!(%error, "edits by other programs are not noticed");
    }
}

struct BundleFolderWatch {
    loaded: Arc<LoadedBundles>,
    watch: FolderWatcher,
    changes: Receiver<FolderChange>,
}

impl BundleFolderWatch {
    fn run(mut self) {
        self.watch_folders();
        while let Some(paths) = self.wait() {
            self.loaded.reload_changed(paths.as_ref());
            self.watch_folders();
        }
    }

    fn watch_folders(&mut self) {
        if self.watch.watch(&self.loaded.folders()) {
            self.loaded.reload_changed(None);
        }
    }

    /// The paths of one burst of news; nothing inside when any may have changed.
    fn wait(&self) -> Option<Option<BTreeSet<PathBuf>>> {
        let mut paths = BTreeSet::new();
        let mut everything = false;
        let mut take = |news: FolderChange| match news {
            FolderChange::Path(path) => drop(paths.insert(path)),
            FolderChange::Everything => everything = true,
        };
        take(self.changes.recv().ok()?);
        let latest = Instant::now() + LONGEST;
        while Instant::now() < latest {
            match self.changes.recv_timeout(QUIET) {
                Ok(news) => take(news),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        Some((!everything).then_some(paths))
    }
}
