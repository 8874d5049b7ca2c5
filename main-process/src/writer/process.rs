//! The process itself: whether it has a window, its end, and the recent workspaces.

use super::launching::{self, FailedWorkspaces};
use crate::background;
use crossbeam_channel::{Receiver, Sender, bounded};
use shared_protocol::{Refusal, RefusalCode, messages::RecentWorkspace, request::Responder};
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use user_folders as paths;

/// A signal to the thread that supervises the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessSignal {
    /// A window or a terminal asked for the end.
    Quit,
}

/// Answers the requests that concern the process and no workspace.
#[derive(Clone)]
pub(crate) struct ProcessHandle {
    has_window: bool,
    signals: Sender<ProcessSignal>,
    /// Workspaces that did not open in this run, with the reason.
    failed: Arc<Mutex<FailedWorkspaces>>,
}

impl ProcessHandle {
    pub(crate) fn new(has_window: bool, failed: FailedWorkspaces) -> (Self, Receiver<ProcessSignal>) {
        let (signals, receiver) = bounded(4);
        (Self { has_window, signals, failed: Arc::new(Mutex::new(failed)) }, receiver)
    }

    pub(crate) fn has_window(&self) -> bool {
        self.has_window
    }

    pub(crate) fn require_window(&self) -> Result<(), Refusal> {
        if self.has_window {
            return Ok(());
        }
        let pid = std::process::id();
        let message = format!("the workspace is open in a Draftboard without a window (pid {pid})");
        Err(Refusal::new(RefusalCode::Conflict, message)
            .hint(format!("Stop that one to open a window: kill {pid}")))
    }

    pub(crate) fn quit(&self) {
        // Full: the end is asked for already.
        let _ = self.signals.try_send(ProcessSignal::Quit);
    }

    /// Lists the recent workspaces. A disk may not respond, so the list is read on a thread of its own.
    pub(crate) fn list_recents(&self, responder: Responder<Vec<RecentWorkspace>>) {
        let failed = self.failed().clone();
        background::spawn("recents", responder, move |responder| {
            responder.send(Ok(launching::recents(&failed)));
        });
    }

    /// Takes a workspace off the list; the workspace itself stays.
    pub(crate) fn forget_recent(&self, path: &Path, responder: Responder<Vec<RecentWorkspace>>) {
        paths::remove_recent(path);
        self.failed().remove(path);
        self.list_recents(responder);
    }

    /// Closes the tour of the demo for good.
    pub(crate) fn close_tour(&self) -> Result<(), Refusal> {
        paths::close_tour().map_err(|error| {
            Refusal::new(RefusalCode::StorageError, format!("the closed tour was not saved: {error}")).hint(
                "The tour appears again in the next demo. Free some space, or check your folder ~/.local/state.",
            )
        })
    }

    /// Notes whether a workspace opened.
    pub(super) fn note_opened(&self, path: &Path, problem: Option<String>) {
        let mut failed = self.failed();
        match problem {
            Some(problem) => drop(failed.insert(path.to_owned(), problem)),
            None => drop(failed.remove(path)),
        }
    }

    fn failed(&self) -> MutexGuard<'_, FailedWorkspaces> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
