//! Holds the loaded key for a process. A keyring can ask the user to unlock it, so loading runs on its own thread and
//! keeps nobody from opening a workspace.

use crate::{DeviceKey, KeyError};
use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The time that a decision waits for a key that is being loaded.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The key of this device, as far as it is loaded. Cheap to clone.
#[derive(Clone)]
pub struct KeyHolder(Arc<Shared>);

struct Shared {
    state: Mutex<KeyState>,
    changed: Condvar,
    load: Box<dyn Fn() -> Result<DeviceKey, KeyError> + Send + Sync>,
}

enum KeyState {
    /// Nobody has needed it yet.
    Idle,
    /// Since this moment.
    Loading(Instant),
    Ready(Arc<DeviceKey>),
    Failed(String),
}

impl KeyHolder {
    /// The key is loaded when it is first needed, or at [`Self::begin`].
    pub fn new(load: impl Fn() -> Result<DeviceKey, KeyError> + Send + Sync + 'static) -> Self {
        let shared =
            Shared { state: Mutex::new(KeyState::Idle), changed: Condvar::new(), load: Box::new(load) };
        Self(Arc::new(shared))
    }

    /// Starts loading, if nobody has.
    pub fn begin(&self) {
        self.begin_in(&mut self.state());
    }

    fn begin_in(&self, state: &mut KeyState) {
        if matches!(state, KeyState::Idle) {
            *state = KeyState::Loading(Instant::now());
            self.spawn();
        }
    }

    /// The key, without waiting for it.
    pub fn key(&self) -> Option<Arc<DeviceKey>> {
        match &*self.state() {
            KeyState::Ready(key) => Some(Arc::clone(key)),
            _ => None,
        }
    }

    /// The key, once loading has ended or taken too long. Waits for one loading once, so that a locked keyring does not
    /// slow every caller down.
    pub fn settled(&self) -> Option<Arc<DeviceKey>> {
        let mut state = self.state();
        self.begin_in(&mut state);
        match &*self.wait_for(state) {
            KeyState::Ready(key) => Some(Arc::clone(key)),
            _ => None,
        }
    }

    /// Waits a moment for the key. After a failure it is loaded again, because a keyring may have been unlocked. The
    /// error says what to do.
    pub fn wait(&self) -> Result<Arc<DeviceKey>, String> {
        let mut state = self.state();
        if matches!(*state, KeyState::Failed(_)) {
            *state = KeyState::Idle;
        }
        self.begin_in(&mut state);
        match &*self.wait_for(state) {
            KeyState::Ready(key) => Ok(Arc::clone(key)),
            KeyState::Failed(problem) => Err(problem.clone()),
            KeyState::Idle | KeyState::Loading(_) => {
                Err("the keyring has not answered yet: unlock it, then decide again".to_owned())
            }
        }
    }

    fn wait_for<'a>(&'a self, state: MutexGuard<'a, KeyState>) -> MutexGuard<'a, KeyState> {
        let left = match &*state {
            KeyState::Loading(since) => MAX_WAIT.saturating_sub(since.elapsed()),
            _ => Duration::ZERO,
        };
        let is_loading = |state: &mut KeyState| matches!(state, KeyState::Loading(_));
        let waited = self.0.changed.wait_timeout_while(state, left, is_loading);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn state(&self) -> MutexGuard<'_, KeyState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self) {
        let holder = self.clone();
        let spawned = std::thread::Builder::new().name("device-key".to_owned()).spawn(move || {
            let loaded = (holder.0.load)();
            *holder.state() = match loaded {
                Ok(key) => KeyState::Ready(Arc::new(key)),
                Err(error) => {
                    tracing::warn!(%error, "the key of this device cannot be used");
                    KeyState::Failed(error.to_string())
                }
            };
            holder.0.changed.notify_all();
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "the key of this device was not loaded");
        }
    }
}

impl fmt::Debug for KeyHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyHolder").field(&self.key()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_key_that_could_not_be_loaded_is_loaded_at_the_next_need() {
        let locked = Arc::new(AtomicBool::new(true));
        let is_locked = Arc::clone(&locked);
        let holder = KeyHolder::new(move || match is_locked.load(Ordering::SeqCst) {
            true => Err(KeyError::Store("it is locked".to_owned())),
            false => DeviceKey::generate(),
        });
        assert!(holder.key().is_none());
        assert!(holder.settled().is_none());
        assert!(holder.wait().unwrap_err().contains("it is locked"));
        locked.store(false, Ordering::SeqCst);
        let key = holder.wait().unwrap();
        assert_eq!(holder.key().unwrap().id(), key.id());
    }
}
