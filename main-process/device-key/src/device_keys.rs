//! The operations on the keys of this device.

use crate::{
    DeviceKey, FileKeyStore, KeyError, KeyId, KeyRotation, KeyStore, KnownKey, KnownKeys, PublicKey,
    SignedPurpose, backup, known_keys::rotation_message,
};
use safe_fs::PrivateFile;
use std::path::Path;

const MAX_NAME_CHARS: usize = 80;

/// The keys in a configuration folder, and the keyring where one answers.
pub struct DeviceKeys {
    known: PrivateFile,
    files: FileKeyStore,
    keyring: Option<Box<dyn KeyStore>>,
}

/// A key with the place of its secret, for people.
#[derive(Debug)]
pub struct StoredKey {
    pub key: DeviceKey,
    pub place: String,
}

impl DeviceKeys {
    pub fn new(config_folder: &Path, keyring: Option<Box<dyn KeyStore>>) -> Self {
        Self {
            known: PrivateFile::new(config_folder.join("keys.json")),
            files: FileKeyStore::new(config_folder.to_owned()),
            keyring,
        }
    }

    /// The known public keys. Needs no secret and no keyring.
    pub fn known(&self) -> Result<KnownKeys, KeyError> {
        KnownKeys::read(&self.known)
    }

    /// The present key. It is made here when this device has never had one; `name` is for people.
    pub fn load_or_create(&self, name: &str, now: u64) -> Result<DeviceKey, KeyError> {
        let _lock = self.lock()?;
        let mut known = self.known()?;
        match self.load_from(&known) {
            Err(KeyError::NoKey) => self.install(&mut known, DeviceKey::generate()?, name, now, None),
            loaded => loaded.map(|stored| stored.key),
        }
    }

    pub fn load(&self) -> Result<StoredKey, KeyError> {
        self.load_from(&self.known()?)
    }

    /// Returns an encrypted backup of the present key.
    pub fn export(&self, passphrase: &str) -> Result<String, KeyError> {
        backup::seal(&self.load()?.key, passphrase)
    }

    /// Makes the key of a backup the present one. A different present key is replaced only when `replace` says so, and
    /// stays known.
    pub fn import(
        &self,
        text: &str,
        passphrase: &str,
        replace: bool,
        (name, now): (&str, u64),
    ) -> Result<DeviceKey, KeyError> {
        let key = backup::open(text, passphrase)?;
        let _lock = self.lock()?;
        let mut known = self.known()?;
        // A key whose secret is lost has nothing left to replace. One that cannot be read now may still be there.
        let is_lost = matches!(self.load_from(&known), Err(KeyError::Lost { .. }));
        if let Some(present) = known.current.clone().filter(|present| present != key.id())
            && !(replace || is_lost)
        {
            return Err(KeyError::HasKey(present));
        }
        self.install(&mut known, key, name, now, None)
    }

    /// Replaces the present key by a new one. The old key signs the replacement and stays known. With `lost`, the old
    /// secret is not needed, and nothing confirms the replacement to others.
    pub fn rotate(&self, lost: bool, (name, now): (&str, u64)) -> Result<DeviceKey, KeyError> {
        let _lock = self.lock()?;
        let mut known = self.known()?;
        let old = known.current.clone().ok_or(KeyError::NoKey)?;
        let new = DeviceKey::generate()?;
        let signature = match self.load_from(&known) {
            Ok(present) => {
                let message = rotation_message(&new.public(), now);
                Some(present.key.sign(SignedPurpose::KeyRotation, &message))
            }
            Err(_) if lost => None,
            Err(error) => return Err(error),
        };
        let replaces = KeyRotation { key: old, time: now, signature };
        self.install(&mut known, new, name, now, Some(replaces))
    }

    /// Adds the public key of another device. A key that says which key it replaces must have that key's signature when
    /// the replaced key is known here.
    pub fn trust(
        &self,
        public_key: PublicKey,
        replaces: Option<KeyRotation>,
        (name, now): (&str, u64),
    ) -> Result<KnownKey, KeyError> {
        let _lock = self.lock()?;
        let mut known = self.known()?;
        let id = public_key.id();
        if let Some(rotation) = &replaces
            && known.get(&rotation.key).is_some()
            && rotation.signature.is_some()
            && !known.confirms(&public_key, rotation)
        {
            return Err(KeyError::WrongRotation(id));
        }
        let key = KnownKey { id, public_key, name: short(name), own: false, added: now, replaces };
        known.put(key.clone());
        known.write(&self.known)?;
        Ok(key)
    }

    /// Forgets a known key. The present key of this device cannot be forgotten.
    pub fn forget(&self, id: &str) -> Result<KnownKey, KeyError> {
        let _lock = self.lock()?;
        let mut known = self.known()?;
        let id = KeyId::written(id);
        if known.current.as_ref() == Some(&id) {
            return Err(KeyError::InUse(id));
        }
        let place = known.keys.iter().position(|key| key.id == id);
        let place = place.ok_or_else(|| KeyError::Unknown(id.to_string()))?;
        let forgotten = known.keys.remove(place);
        known.write(&self.known)?;
        Ok(forgotten)
    }

    fn lock(&self) -> Result<std::fs::File, KeyError> {
        self.known.lock().map_err(|source| KeyError::Unwritten { path: self.known.path().to_owned(), source })
    }

    fn load_from(&self, known: &KnownKeys) -> Result<StoredKey, KeyError> {
        let id = known.current.clone().ok_or(KeyError::NoKey)?;
        let store = match (known.in_keyring, &self.keyring) {
            (false, _) => &self.files as &dyn KeyStore,
            (true, Some(keyring)) => keyring.as_ref(),
            (true, None) => return Err(KeyError::NoKeyring { id }),
        };
        let secret =
            store.get(&id)?.ok_or_else(|| KeyError::Lost { id: id.clone(), place: store.location() })?;
        let key = DeviceKey::from_secret(&secret)?;
        if *key.id() != id {
            return Err(KeyError::Store(format!("the key {} is stored under the name {id}", key.id())));
        }
        Ok(StoredKey { key, place: store.location() })
    }

    /// Stores the secret first, then makes the key the present one, then removes the secret of the key before: a crash
    /// in between leaves a usable key.
    fn install(
        &self,
        known: &mut KnownKeys,
        key: DeviceKey,
        name: &str,
        now: u64,
        replaces: Option<KeyRotation>,
    ) -> Result<DeviceKey, KeyError> {
        let before = (known.current.clone(), known.in_keyring);
        let in_keyring = match &self.keyring {
            Some(keyring) => match keyring.set(key.id(), &key.to_secret()) {
                Ok(()) => true,
                Err(error) => {
                    tracing::info!(%error, "the keyring takes no key; it is stored in a file");
                    false
                }
            },
            None => false,
        };
        if !in_keyring {
            self.files.set(key.id(), &key.to_secret())?;
        }
        known.put(KnownKey {
            id: key.id().clone(),
            public_key: key.public(),
            name: short(name),
            own: true,
            added: now,
            replaces,
        });
        (known.current, known.in_keyring) = (Some(key.id().clone()), in_keyring);
        known.write(&self.known)?;
        if let (Some(old), was_in_keyring) = before
            && (old != *key.id() || was_in_keyring != in_keyring)
        {
            let removed = match (was_in_keyring, &self.keyring) {
                (false, _) => self.files.remove(&old),
                (true, Some(keyring)) => keyring.remove(&old),
                (true, None) => Ok(()),
            };
            if let Err(error) = removed {
                tracing::warn!(%error, key = %old, "the secret of the replaced key was not removed");
            }
        }
        Ok(key)
    }
}

fn short(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect()
}
