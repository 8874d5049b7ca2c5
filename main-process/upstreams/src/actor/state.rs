//! The state of a server as seen from outside its actor.

use super::link::Link;
use crate::{failure::Failure, log::Log, status::ServerProcessExit};
use serde::Serialize;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::watch;

/// The phases of a start, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Credentials,
    Installing,
    Connecting,
}

#[derive(Clone)]
pub(crate) enum State {
    Stopped,
    Starting(Phase),
    Connected(Arc<Link>),
    /// Calls are refused, and a process may still run.
    Stopping,
    Backoff {
        attempt: u32,
        retry_at: Instant,
        failure: Failure,
    },
    NeedsCredentials {
        missing: Vec<String>,
        failure: Failure,
    },
    Failed(Failure),
}

pub(crate) struct Shared {
    state: Mutex<(State, Option<Failure>)>,
    /// The exit of its last process.
    exit: Mutex<Option<ServerProcessExit>>,
    pub(crate) log: Arc<Log>,
    changed: watch::Sender<u64>,
}

impl Shared {
    pub(crate) fn new(changed: watch::Sender<u64>) -> Self {
        Self {
            state: Mutex::new((State::Stopped, None)),
            exit: Mutex::default(),
            log: Arc::default(),
            changed,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.locked().0.clone()
    }

    pub(crate) fn link(&self) -> Option<Arc<Link>> {
        match &self.locked().0 {
            State::Connected(link) => Some(link.clone()),
            _ => None,
        }
    }

    /// The last failure, until the server runs again.
    pub(crate) fn last_failure(&self) -> Option<Failure> {
        self.locked().1.clone()
    }

    pub(crate) fn exit(&self) -> Option<ServerProcessExit> {
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ended(&self, exit: ServerProcessExit) {
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
    }

    pub(crate) fn set(&self, state: State) {
        {
            let mut current = self.locked();
            match &state {
                State::Backoff { failure, .. }
                | State::NeedsCredentials { failure, .. }
                | State::Failed(failure) => {
                    current.1 = Some(failure.clone());
                }
                State::Connected(_) => current.1 = None,
                State::Stopped | State::Starting(_) | State::Stopping => {}
            }
            current.0 = state;
        }
        self.tell();
    }

    /// Notifies subscribers of a change.
    pub(crate) fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn locked(&self) -> MutexGuard<'_, (State, Option<Failure>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
