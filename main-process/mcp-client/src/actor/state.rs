//! The state of a server as seen from outside its actor.

use super::session::ServerSession;
use crate::log::ServerLog;
use shared_protocol::{
    Refusal,
    managed_servers::{ServerExit, StartPhase},
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::watch;

#[derive(Clone)]
pub(crate) enum ServerRunState {
    Stopped,
    Starting(StartPhase),
    Connected(Arc<ServerSession>),
    /// Calls are refused, and a process may still run.
    Stopping,
    Backoff {
        attempt: u32,
        retry_at: Instant,
        failure: Refusal,
    },
    NeedsCredentials {
        missing: Vec<String>,
        failure: Refusal,
    },
    Failed(Refusal),
}

pub(crate) struct SharedServerState {
    state: Mutex<(ServerRunState, Option<Refusal>)>,
    /// The exit of its last process.
    exit: Mutex<Option<ServerExit>>,
    pub(crate) log: Arc<ServerLog>,
    changed: watch::Sender<u64>,
}

impl SharedServerState {
    pub(crate) fn new(changed: watch::Sender<u64>) -> Self {
        Self {
            state: Mutex::new((ServerRunState::Stopped, None)),
            exit: Mutex::default(),
            log: Arc::default(),
            changed,
        }
    }

    pub(crate) fn state(&self) -> ServerRunState {
        self.lock_state().0.clone()
    }

    pub(crate) fn session(&self) -> Option<Arc<ServerSession>> {
        match &self.lock_state().0 {
            ServerRunState::Connected(link) => Some(link.clone()),
            _ => None,
        }
    }

    /// The last failure, until the server runs again.
    pub(crate) fn last_failure(&self) -> Option<Refusal> {
        self.lock_state().1.clone()
    }

    pub(crate) fn exit(&self) -> Option<ServerExit> {
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record_exit(&self, exit: ServerExit) {
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
    }

    pub(crate) fn set(&self, state: ServerRunState) {
        {
            let mut current = self.lock_state();
            match &state {
                ServerRunState::Backoff { failure, .. }
                | ServerRunState::NeedsCredentials { failure, .. }
                | ServerRunState::Failed(failure) => {
                    current.1 = Some(failure.clone());
                }
                ServerRunState::Connected(_) => current.1 = None,
                ServerRunState::Stopped | ServerRunState::Starting(_) | ServerRunState::Stopping => {}
            }
            current.0 = state;
        }
        self.notify_changed();
    }

    /// Notifies subscribers of a change.
    pub(crate) fn notify_changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn lock_state(&self) -> MutexGuard<'_, (ServerRunState, Option<Refusal>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
