//! Writes anchors on a thread of its own, so that nobody who changes a workspace waits for a second file. The newest anchor
//! wins. A crash leaves an older anchor, and the lines after it are signed one by one.

use super::anchor::{Anchor, AnchorFolder, EarlierFinding};
use device_key::DeviceKey;
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

/// An anchor to write.
#[derive(Debug)]
pub(super) struct AnchorJob {
    pub(super) anchor: Anchor,
    /// Findings that the anchor before does not contain.
    pub(super) noticed: Vec<EarlierFinding>,
    /// A path whose anchor is over.
    pub(super) moved_from: Option<String>,
    pub(super) key: Arc<DeviceKey>,
}

/// Writes what is pending when it is dropped.
#[derive(Debug)]
pub(super) struct AnchorWriter {
    folder: AnchorFolder,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<WriterState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WriterState {
    next: Option<AnchorJob>,
    /// The last write, if it failed, and why.
    failed: Option<(AnchorJob, String)>,
    is_closed: bool,
}

impl AnchorWriter {
    pub(super) fn new(folder: AnchorFolder) -> Self {
        Self { folder, shared: Arc::default(), thread: None }
    }

    /// Hands an anchor over. Returns why the one before could not be written.
    pub(super) fn post(&mut self, mut job: AnchorJob) -> Option<String> {
        let mut state = self.shared.state();
        let (failed, problem) = state.failed.take().unzip();
        // What a replaced anchor would have kept is kept by the next one.
        for older in failed.into_iter().chain(state.next.take()) {
            job.noticed.splice(0..0, older.noticed);
            job.moved_from = job.moved_from.or(older.moved_from);
        }
        state.next = Some(job);
        drop(state);
        self.shared.changed.notify_all();
        if self.thread.is_none() {
            let (folder, shared) = (self.folder.clone(), Arc::clone(&self.shared));
            let spawned =
                std::thread::Builder::new().name("anchor".to_owned()).spawn(move || shared.run(&folder));
            match spawned {
                Ok(thread) => self.thread = Some(thread),
                Err(error) => return Some(error.to_string()),
            }
        }
        problem
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, folder: &AnchorFolder) {
        loop {
            let waits = |state: &mut WriterState| state.next.is_none() && !state.is_closed;
            let mut state =
                self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
            let Some(job) = state.next.take() else { return };
            drop(state);
            match folder.write(&job.anchor, &job.noticed, &job.key) {
                Ok(()) => {
                    if let Some(from) = &job.moved_from {
                        folder.remove(from);
                    }
                }
                Err(problem) => {
                    tracing::warn!(problem, "the head of the audit was not anchored");
                    self.state().failed = Some((job, problem));
                }
            }
        }
    }
}

impl Drop for AnchorWriter {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has logged it.
            let _ = thread.join();
        }
    }
}
