//! The key of this device, with the user's folders and the desktop's keyring.

use device_key::{DeviceKeys, KeyError, KeyHolder, KeyId, KeyStore, Zeroizing};
use managed_servers::{Keyring, Secret, SecretStore as _};
use std::sync::OnceLock;
use user_folders as paths;
use workspace::{ProofFiles, time_and_seed};

/// The key of this device, for this process. It is loaded, or made, when it is first needed.
pub(crate) fn key() -> KeyHolder {
    static KEY: OnceLock<KeyHolder> = OnceLock::new();
    let load = || present_keys()?.load_or_create(&device_name(), time_and_seed().time);
    KEY.get_or_init(|| KeyHolder::new(load)).clone()
}

/// The keys, to use the present one. The keyring is asked only where it has the key, or could take a new one.
pub(crate) fn present_keys() -> Result<DeviceKeys, KeyError> {
    let known = DeviceKeys::new(&paths::config_folder(), None).known()?;
    let is_in_file = known.current.is_some() && !known.in_keyring;
    Ok(DeviceKeys::new(&paths::config_folder(), if is_in_file { None } else { keyring() }))
}

/// The keys, to change them.
pub(crate) fn all_keys() -> DeviceKeys {
    DeviceKeys::new(&paths::config_folder(), keyring())
}

pub(crate) fn proof_files() -> ProofFiles {
    ProofFiles { known_keys: paths::known_keys(), anchors: paths::anchors(), approvals: paths::approvals() }
}

/// The name of this computer, for people.
pub(crate) fn device_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "this device".to_owned(),
        name => name.to_owned(),
    }
}

fn keyring() -> Option<Box<dyn KeyStore>> {
    match Keyring::connect(None) {
        Ok(keyring) => Some(Box::new(DesktopKeyring(keyring))),
        Err(failure) => {
            tracing::info!(%failure, "no keyring answers");
            None
        }
    }
}

/// The desktop's keyring as a store of keys.
struct DesktopKeyring(Keyring);

fn item(id: &KeyId) -> String {
    format!("device-key/{id}")
}

impl KeyStore for DesktopKeyring {
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<String>>, KeyError> {
        let secret = self.0.get(&item(id)).map_err(|failure| KeyError::Store(failure.message))?;
        Ok(secret.map(|secret| Zeroizing::new(secret.reveal().to_owned())))
    }

    fn set(&self, id: &KeyId, secret: &str) -> Result<(), KeyError> {
        let stored = Secret::new(secret).and_then(|secret| self.0.set(&item(id), &secret));
        stored.map_err(|failure| KeyError::Store(failure.message))
    }

    fn remove(&self, id: &KeyId) -> Result<(), KeyError> {
        self.0.remove(&item(id)).map_err(|failure| KeyError::Store(failure.message))
    }

    fn location(&self) -> String {
        self.0.location()
    }
}
