//! Notices that somebody else changed a file: an editor, a git pull. Tells which, never what: reading is the caller's, and
//! the caller's own saves come by here as well.
//!
//! Folders are watched and not files, because editors replace files by renaming. News is gathered until nothing has
//! happened for a moment, each path once. When it cannot be told what changed (the kernel's queue ran over, a folder
//! came or went, too much at once) it says [`FileChanged::Everything`].

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

const FOLDERS: [&str; 3] = ["boards", "modules", "components"];
const FILES: [&str; 3] = ["draftboard.toml", "links.json", ".draftboard/overrides.v0.json"];
/// Holds one of the files, and much that is nobody's business.
const STATE_FOLDER: &str = ".draftboard";
/// News is passed on when nothing has happened for this long …
const QUIET: Duration = Duration::from_millis(100);
/// … or, where something happens all the time, after this long.
const LONGEST: Duration = Duration::from_secs(1);
/// More paths than this at once are `Everything`.
const MOST_PATHS: usize = 1_000;

/// Some files may be other than they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChanged {
    /// This file was written, created, renamed or removed.
    Path(WorkspacePath),
    /// Any file: look at all of them.
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

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    news: Arc<Mutex<News>>,
    wake: Sender<()>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Watches `boards/`, `modules/`, `components/`, `draftboard.toml`, `links.json` and the file of the overrides under
    /// `root`; these folders may come later, and others may be added. The channel should be bounded: while it is full, news is gathered here.
    pub fn start(root: &Path, sender: Sender<FileChanged>) -> Result<Self, WatchError> {
        let failed = |error: &dyn std::fmt::Display| WatchError::Failed {
            path: root.to_owned(),
            problem: error.to_string(),
        };
        let root = root.canonicalize().map_err(|error| failed(&error))?;
        let news = Arc::new(Mutex::new(News::default()));
        // Room for one: a second wake-up says nothing that the first does not.
        let (wake, woken) = bounded(1);
        let (stop, stopped) = bounded(0);
        let handler = {
            let (root, news, wake) = (root.clone(), Arc::clone(&news), wake.clone());
            move |event: notify::Result<Event>| {
                if lock(&news).take_in(&root, &event) {
                    let _ = wake.try_send(());
                }
            }
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| failed(&error))?;
        let mut folders = Folders { watcher, root, sources: BTreeSet::new() };
        folders.watch_root()?;
        folders.watch_subfolders()?;
        let thread = std::thread::Builder::new()
            .name("file-watcher".to_owned())
            .spawn({
                let news = Arc::clone(&news);
                move || Courier { folders, news, woken, stopped, sender }.run()
            })
            .map_err(|error| failed(&error))?;
        Ok(Self { news, wake, stop: Some(stop), thread: Some(thread) })
    }

    /// Watches these folders as well, and no others that were given before. What changes directly in them is news.
    pub fn watch_sources(&self, folders: impl IntoIterator<Item = SourcePath>) {
        let folders: BTreeSet<String> = folders.into_iter().map(|folder| folder.to_string()).collect();
        let mut news = lock(&self.news);
        if news.sources != folders {
            let before = std::mem::replace(&mut news.sources, folders.clone());
            news.folders = true;
            // Something may have happened in a new one before it was watched.
            for folder in folders.difference(&before) {
                news.add(folder);
            }
            let _ = self.wake.try_send(());
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What has been noticed and not passed on.
#[derive(Debug, Default)]
struct News {
    paths: BTreeSet<WorkspacePath>,
    everything: bool,
    /// One of the watched folders came or went, or others are to be watched.
    folders: bool,
    /// Folders that are watched besides our own.
    sources: BTreeSet<String>,
}

fn lock(news: &Mutex<News>) -> MutexGuard<'_, News> {
    news.lock().unwrap_or_else(PoisonError::into_inner)
}

impl News {
    /// Whether there is something new.
    fn take_in(&mut self, root: &Path, event: &notify::Result<Event>) -> bool {
        match event {
            Err(error) => {
                tracing::warn!(%error, "watching files failed for a moment");
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
                    is_news |= self.take_in_path(root, path, event.kind);
                }
                is_news
            }
        }
    }

    fn take_in_path(&mut self, root: &Path, path: &Path, kind: EventKind) -> bool {
        let Ok(relative) = path.strip_prefix(root) else { return false };
        let Some(relative) = relative.to_str() else { return false };
        let parent = relative.rsplit_once('/').map_or("", |(parent, _)| parent);
        match relative.split_once('/') {
            _ if relative.is_empty() || FOLDERS.contains(&relative) || self.sources.contains(relative) => {
                let came_or_went =
                    !matches!(kind, EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Data(_)));
                self.everything |= came_or_went;
                self.folders |= came_or_went;
                came_or_went
            }
            _ if FILES.contains(&relative) => self.add(relative),
            Some((folder, name)) if FOLDERS.contains(&folder) && !is_passing(name) => self.add(relative),
            _ if self.sources.contains(parent) && !relative.rsplit('/').next().is_some_and(is_passing) => {
                self.add(relative)
            }
            _ => false,
        }
    }

    fn add(&mut self, relative: &str) -> bool {
        if self.paths.len() >= MOST_PATHS {
            self.everything = true;
        }
        if !self.everything {
            self.paths.extend(WorkspacePath::parse(relative).ok());
        }
        true
    }

    /// The sources' folders, if the folders must be watched anew.
    fn take_folders(&mut self) -> Option<BTreeSet<String>> {
        std::mem::take(&mut self.folders).then(|| self.sources.clone())
    }

    /// Hands out what was gathered.
    fn take_changes(&mut self) -> Vec<FileChanged> {
        let paths = std::mem::take(&mut self.paths);
        if std::mem::take(&mut self.everything) {
            vec![FileChanged::Everything]
        } else {
            paths.into_iter().map(FileChanged::Path).collect()
        }
    }
}

/// Reading a file is news as well to the kernel, and not to us.
fn may_change_content(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// Temporary files and backups: ours, and what editors leave for a moment.
fn is_passing(name: &str) -> bool {
    is_temporary(name) || name.starts_with('.') || name.ends_with('~')
}

struct Folders {
    watcher: RecommendedWatcher,
    root: PathBuf,
    /// Those besides our own that are watched now.
    sources: BTreeSet<String>,
}

impl Folders {
    fn watch_root(&mut self) -> Result<(), WatchError> {
        let root = self.root.clone();
        self.watch(&root)
    }

    /// Watches the folders that are there, anew: one may have been replaced by another of the same name.
    fn watch_subfolders(&mut self) -> Result<(), WatchError> {
        for folder in FOLDERS.into_iter().chain([STATE_FOLDER]) {
            let path = self.root.join(folder);
            // It is no error that it was not watched, or that it is gone.
            let _ = self.watcher.unwatch(&path);
            self.watch_if_there(&path)?;
        }
        Ok(())
    }

    /// Watches the sources' folders that are there, anew, and lets go of the others.
    fn watch_sources(&mut self, wanted: BTreeSet<String>) -> Result<(), WatchError> {
        for folder in std::mem::replace(&mut self.sources, wanted.clone()) {
            let _ = self.watcher.unwatch(&self.root.join(folder));
        }
        wanted.iter().try_for_each(|folder| self.watch_if_there(&self.root.join(folder)))
    }

    /// Not through a link: nothing outside the workspace is looked at.
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

/// The thread that carries news from the kernel's side to the caller's.
struct Courier {
    folders: Folders,
    news: Arc<Mutex<News>>,
    woken: Receiver<()>,
    stopped: Receiver<()>,
    sender: Sender<FileChanged>,
}

impl Courier {
    fn run(mut self) {
        while self.wait_for_news() {
            let sources = lock(&self.news).take_folders();
            // Watched before the news is passed on, so that whoever looks then misses nothing.
            if let Some(sources) = sources {
                let watched = self.folders.watch_subfolders().and(self.folders.watch_sources(sources));
                if let Err(error) = watched {
                    tracing::warn!(%error, "a folder is no longer watched");
                }
            }
            let changes = lock(&self.news).take_changes();
            for change in changes {
                select! {
                    send(self.sender, change) -> sent => if sent.is_err() { return },
                    recv(self.stopped) -> _ => return,
                }
            }
        }
    }

    /// Waits for news and then until it is quiet. False when it is time to stop.
    fn wait_for_news(&self) -> bool {
        select! {
            recv(self.woken) -> woken => if woken.is_err() { return false },
            recv(self.stopped) -> _ => return false,
        }
        let latest = Instant::now() + LONGEST;
        while Instant::now() < latest {
            select! {
                recv(self.woken) -> woken => if woken.is_err() { return false },
                recv(self.stopped) -> _ => return false,
                default(QUIET) => return true,
            }
        }
        true
    }
}
