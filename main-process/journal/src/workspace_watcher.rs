//! Watches workspace files for edits by other programs, such as an editor or `git pull`. Reports paths, not
//! contents: the caller reads the files, and also receives the paths of its own saves.
//!
//! Watches folders instead of files, because editors replace files by renaming. Gathers changes until the folders
//! are quiet and reports each path once. Reports [`FileChange::Everything`] when the changed paths are unknown:
//! the queue of the kernel overflowed, a folder was added or removed, or too many paths changed at once.

use crate::WorkspacePath;
use crossbeam_channel::{Receiver, Sender, bounded, select};
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode, ModifyKind},
};
use safe_fs::is_temporary;
use shared_protocol::SourcePath;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

const WATCHED_FOLDERS: [&str; 3] = ["boards", "modules", "components"];
const WATCHED_FILES: [&str; 3] = ["draftboard.toml", "links.json", ".draftboard/overrides.v0.json"];
/// Contains one watched file and many files that are ignored.
const STATE_FOLDER: &str = ".draftboard";
/// Changes are reported after no event arrived for this long …
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// … or after this long while events keep arriving.
const MAX_GATHER_TIME: Duration = Duration::from_secs(1);
/// More gathered paths than this are reported as `Everything`.
const MAX_GATHERED_PATHS: usize = 1_000;

/// A change of workspace files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// This file was written, created, renamed or removed.
    Path(WorkspacePath),
    /// Any file may have changed: check all of them.
    Everything,
}

#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error(
        "the limit on watched folders is reached: raise it (sysctl fs.inotify.max_user_watches) or close other programs that watch files"
    )]
    LimitReached,
    #[error("{} cannot be watched ({problem}): edits by other programs are noticed only at the next start", path.display())]
    Failed { path: PathBuf, problem: String },
}

/// Watches a workspace until it is dropped.
#[derive(Debug)]
pub struct WorkspaceWatcher {
    pending_changes: Arc<Mutex<PendingFileChanges>>,
    wake: Sender<()>,
    /// Dropping the sender stops the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WorkspaceWatcher {
    /// Watches `boards/`, `modules/`, `components/`, `draftboard.toml`, `links.json` and the overrides file under
    /// `root`. The folders may be created later, and more can be added. The channel should be bounded: while it is
    /// full, changes are gathered here.
    pub fn start(root: &Path, sender: Sender<FileChange>) -> Result<Self, WatchError> {
        let failed = |error: &dyn std::fmt::Display| WatchError::Failed {
            path: root.to_owned(),
            problem: error.to_string(),
        };
        let root = root.canonicalize().map_err(|error| failed(&error))?;
        let news = Arc::new(Mutex::new(PendingFileChanges::default()));
        // One slot is enough: a second wake-up adds no information.
        let (wake, woken) = bounded(1);
        let (stop, stopped) = bounded(0);
        let handler = {
            let (root, news, wake) = (root.clone(), Arc::clone(&news), wake.clone());
            move |event: notify::Result<Event>| {
                if lock(&news).ingest(&root, &event) {
                    let _ = wake.try_send(());
                }
            }
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| failed(&error))?;
        let mut folders = WatchedFolders { watcher, root, sources: BTreeSet::new() };
        folders.watch_root()?;
        folders.watch_subfolders()?;
        let thread = std::thread::Builder::new()
            .name("file-watcher".to_owned())
            .spawn({
                let news = Arc::clone(&news);
                move || {
                    WorkspaceWatcherThread { folders, pending_changes: news, woken, stopped, sender }.run()
                }
            })
            .map_err(|error| failed(&error))?;
        Ok(Self { pending_changes: news, wake, stop: Some(stop), thread: Some(thread) })
    }

    /// Watches these source folders in addition, in place of those of the previous call. Reports changes of their
    /// direct entries.
    pub fn watch_sources(&self, folders: impl IntoIterator<Item = SourcePath>) {
        let folders: BTreeSet<String> = folders.into_iter().map(|folder| folder.to_string()).collect();
        let mut news = lock(&self.pending_changes);
        if news.sources != folders {
            let before = std::mem::replace(&mut news.sources, folders.clone());
            news.folders = true;
            // Files in a new folder may have changed before it was watched.
            for folder in folders.difference(&before) {
                news.add(folder);
            }
            let _ = self.wake.try_send(());
        }
    }
}

impl Drop for WorkspaceWatcher {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Changes that were gathered and not yet reported.
#[derive(Debug, Default)]
struct PendingFileChanges {
    paths: BTreeSet<WorkspacePath>,
    everything: bool,
    /// A watched folder was added or removed, or the set of source folders changed.
    folders: bool,
    /// Source folders, watched in addition to the fixed folders.
    sources: BTreeSet<String>,
}

fn lock(news: &Mutex<PendingFileChanges>) -> MutexGuard<'_, PendingFileChanges> {
    news.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PendingFileChanges {
    /// Returns whether the event adds a change.
    fn ingest(&mut self, root: &Path, event: &notify::Result<Event>) -> bool {
        match event {
            Err(error) => {
                tracing::warn!(%error, "the file watcher reported an error");
                self.everything = true;
                true
            }
            Ok(event) if event.need_rescan() => {
                (self.everything, self.folders) = (true, true);
                true
            }
            Ok(event) if !may_change_content(event.kind) => false,
            Ok(event) => {
                let mut is_news = false;
                for path in &event.paths {
                    is_news |= self.ingest_path(root, path, event.kind);
                }
                is_news
            }
        }
    }

    fn ingest_path(&mut self, root: &Path, path: &Path, kind: EventKind) -> bool {
        let Ok(relative) = path.strip_prefix(root) else { return false };
        let Some(relative) = relative.to_str() else { return false };
        let parent = relative.rsplit_once('/').map_or("", |(parent, _)| parent);
        match relative.split_once('/') {
            _ if relative.is_empty()
                || WATCHED_FOLDERS.contains(&relative)
                || self.sources.contains(relative) =>
            {
                let came_or_went =
                    !matches!(kind, EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Data(_)));
                self.everything |= came_or_went;
                self.folders |= came_or_went;
                came_or_went
            }
            _ if WATCHED_FILES.contains(&relative) => self.add(relative),
            Some((folder, name)) if WATCHED_FOLDERS.contains(&folder) && !is_transient(name) => {
                self.add(relative)
            }
            _ if self.sources.contains(parent) && !relative.rsplit('/').next().is_some_and(is_transient) => {
                self.add(relative)
            }
            _ => false,
        }
    }

    fn add(&mut self, relative: &str) -> bool {
        if self.paths.len() >= MAX_GATHERED_PATHS {
            self.everything = true;
        }
        if !self.everything {
            self.paths.extend(WorkspacePath::parse(relative).ok());
        }
        true
    }

    /// Returns the source folders when the folders must be watched again.
    fn take_folders(&mut self) -> Option<BTreeSet<String>> {
        std::mem::take(&mut self.folders).then(|| self.sources.clone())
    }

    /// Takes the gathered changes.
    fn take_changes(&mut self) -> Vec<FileChange> {
        let paths = std::mem::take(&mut self.paths);
        if std::mem::take(&mut self.everything) {
            vec![FileChange::Everything]
        } else {
            paths.into_iter().map(FileChange::Path).collect()
        }
    }
}

/// The kernel also reports read access, which changes nothing.
fn may_change_content(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// Returns whether a name belongs to a temporary file or an editor backup.
fn is_transient(name: &str) -> bool {
    is_temporary(name) || name.starts_with('.') || name.ends_with('~')
}

struct WatchedFolders {
    watcher: RecommendedWatcher,
    root: PathBuf,
    /// The source folders that are watched now.
    sources: BTreeSet<String>,
}

impl WatchedFolders {
    fn watch_root(&mut self) -> Result<(), WatchError> {
        let root = self.root.clone();
        self.watch(&root)
    }

    /// Watches the existing folders again: a folder may have been replaced under the same name.
    fn watch_subfolders(&mut self) -> Result<(), WatchError> {
        for folder in WATCHED_FOLDERS.into_iter().chain([STATE_FOLDER]) {
            let path = self.root.join(folder);
            // Fails when the folder was not watched or is gone, which is fine.
            let _ = self.watcher.unwatch(&path);
            self.watch_if_there(&path)?;
        }
        Ok(())
    }

    /// Watches the existing source folders again and stops watching the others.
    fn watch_sources(&mut self, wanted: BTreeSet<String>) -> Result<(), WatchError> {
        for folder in std::mem::replace(&mut self.sources, wanted.clone()) {
            let _ = self.watcher.unwatch(&self.root.join(folder));
        }
        wanted.iter().try_for_each(|folder| self.watch_if_there(&self.root.join(folder)))
    }

    /// Does not watch through a link, so that nothing outside the workspace is observed.
    fn watch_if_there(&mut self, path: &Path) -> Result<(), WatchError> {
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            self.watch(path)
        } else {
            Ok(())
        }
    }

    fn watch(&mut self, path: &Path) -> Result<(), WatchError> {
        self.watcher.watch(path, RecursiveMode::NonRecursive).map_err(|error| match error.kind {
            notify::ErrorKind::MaxFilesWatch => WatchError::LimitReached,
            _ => WatchError::Failed { path: path.to_owned(), problem: error.to_string() },
        })
    }
}

/// The thread that reports gathered changes to the caller.
struct WorkspaceWatcherThread {
    folders: WatchedFolders,
    pending_changes: Arc<Mutex<PendingFileChanges>>,
    woken: Receiver<()>,
    stopped: Receiver<()>,
    sender: Sender<FileChange>,
}

impl WorkspaceWatcherThread {
    fn run(mut self) {
        while self.wait_for_changes() {
            let sources = lock(&self.pending_changes).take_folders();
            // Watches before reporting, so that a reader misses no later change.
            if let Some(sources) = sources {
                let watched = self.folders.watch_subfolders().and(self.folders.watch_sources(sources));
                if let Err(error) = watched {
                    tracing::warn!(%error, "stopped watching a folder");
                }
            }
            let changes = lock(&self.pending_changes).take_changes();
            for change in changes {
                select! {
                    send(self.sender, change) -> sent => if sent.is_err() { return },
                    recv(self.stopped) -> _ => return,
                }
            }
        }
    }

    /// Waits for a change and then for quiet. Returns false when the watcher stops.
    fn wait_for_changes(&self) -> bool {
        select! {
            recv(self.woken) -> woken => if woken.is_err() { return false },
            recv(self.stopped) -> _ => return false,
        }
        let latest = Instant::now() + MAX_GATHER_TIME;
        while Instant::now() < latest {
            select! {
                recv(self.woken) -> woken => if woken.is_err() { return false },
                recv(self.stopped) -> _ => return false,
                default(QUIET_PERIOD) => return true,
            }
        }
        true
    }
}
