//! Holds the loaded key for a process. A keyring can ask the user to unlock it, so loading runs on its own thread and
//! keeps nobody from opening a workspace.

use crate::{DeviceKey, KeyError};
use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
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
    Loading,
    Ready(Arc<DeviceKey>),
    Failed(String),
}

impl KeyHolder {
    /// Starts loading.
    pub fn start(load: impl Fn() -> Result<DeviceKey, KeyError> + Send + Sync + 'static) -> Self {
        let shared =
            Shared { state: Mutex::new(KeyState::Loading), changed: Condvar::new(), load: Box::new(load) };
        let holder = Self(Arc::new(shared));
        holder.spawn();
        holder
    }

    /// The key, without waiting for it.
    pub fn key(&self) -> Option<Arc<DeviceKey>> {
        match &*self.state() {
            KeyState::Ready(key) => Some(Arc::clone(key)),
            _ => None,
        }
    }

    /// Waits a moment for the key. After a failure it is loaded again, because a keyring may have been unlocked. The
    /// error says what to do.
    pub fn wait(&self) -> Result<Arc<DeviceKey>, String> {
        let mut state = self.state();
        if matches!(*state, KeyState::Failed(_)) {
            *state = KeyState::Loading;
            self.spawn();
        }
        let is_loading = |state: &mut KeyState| matches!(state, KeyState::Loading);
        let (state, _) = self
            .0
            .changed
            .wait_timeout_while(state, MAX_WAIT, is_loading)
            .unwrap_or_else(PoisonError::into_inner);
        match &*state {
            KeyState::Ready(key) => Ok(Arc::clone(key)),
            KeyState::Failed(problem) => Err(problem.clone()),
            KeyState::Loading => {
                Err("the keyring has not answered yet: unlock it, then decide again".to_owned())
            }
        }
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
        let holder = KeyHolder::start(move || match is_locked.load(Ordering::SeqCst) {
            true => Err(KeyError::Store("it is locked".to_owned())),
            false => DeviceKey::generate(),
        });
        assert!(holder.wait().unwrap_err().contains("it is locked"));
        assert!(holder.key().is_none());
        locked.store(false, Ordering::SeqCst);
        let key = holder.wait().unwrap();
        assert_eq!(holder.key().unwrap().id(), key.id());
    }
}
