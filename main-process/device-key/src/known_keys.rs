//! The known public keys: those of this device, present and earlier, and those of other devices that the user trusts.

use crate::{KeyError, KeyId, KeySignature, PublicKey, SignedPurpose};
use safe_fs::PrivateFile;
use serde::{Deserialize, Serialize};

const MAX_FILE_BYTES: u64 = 1 << 20;
const VERSION: u32 = 1;

/// The content of `keys.json` in the user's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnownKeys {
    version: u32,
    /// The key that this device signs with.
    pub current: Option<KeyId>,
    /// Whether the secret of that key is in the desktop's keyring, or else in a file.
    pub in_keyring: bool,
    /// Oldest first.
    pub keys: Vec<KnownKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnownKey {
    pub id: KeyId,
    pub public_key: PublicKey,
    /// The name of the device, for people.
    pub name: String,
    /// Whether it is a key of this device.
    pub own: bool,
    /// When it became known, in milliseconds since 1970, UTC.
    pub added: u64,
    /// The key that it replaced.
    #[serde(default)]
    pub replaces: Option<KeyRotation>,
}

/// The replacement of a key by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRotation {
    pub key: KeyId,
    pub time: u64,
    /// By the replaced key; `None` when that key was lost.
    pub signature: Option<KeySignature>,
}

/// The result of checking a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureCheck<'a> {
    Valid(&'a KnownKey),
    /// The key is not known here, so nothing can be said.
    UnknownKey,
    Wrong,
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self { version: VERSION, current: None, in_keyring: false, keys: Vec::new() }
    }
}

impl KnownKeys {
    /// A missing file knows no key; a damaged one is an error and is left alone.
    pub fn read(file: &PrivateFile) -> Result<Self, KeyError> {
        let unreadable = |problem: String| KeyError::Unreadable { path: file.path().to_owned(), problem };
        let Some(text) = file.read(MAX_FILE_BYTES).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(Self::default());
        };
        let keys: Self = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        if keys.version != VERSION {
            return Err(unreadable(format!("its version is {} and not {VERSION}", keys.version)));
        }
        if let Some(wrong) = keys.keys.iter().find(|known| known.public_key.id() != known.id) {
            return Err(unreadable(format!("the key {} has the name of another", wrong.id)));
        }
        Ok(keys)
    }

    pub(crate) fn write(&self, file: &PrivateFile) -> Result<(), KeyError> {
        let unwritten = |source| KeyError::Unwritten { path: file.path().to_owned(), source };
        let text = serde_json::to_vec_pretty(self).map_err(|error| unwritten(error.into()))?;
        file.write(&text).map_err(unwritten)
    }

    pub fn get(&self, id: &KeyId) -> Option<&KnownKey> {
        self.keys.iter().find(|known| known.id == *id)
    }

    /// Returns whether the key is the present or an earlier one of this device.
    pub fn is_own(&self, id: &KeyId) -> bool {
        self.get(id).is_some_and(|known| known.own)
    }

    pub fn check(
        &self,
        purpose: SignedPurpose,
        message: &[u8],
        signature: &KeySignature,
    ) -> SignatureCheck<'_> {
        match self.get(&signature.key) {
            None => SignatureCheck::UnknownKey,
            Some(known) if known.public_key.has_signed(purpose, message, signature) => {
                SignatureCheck::Valid(known)
            }
            Some(_) => SignatureCheck::Wrong,
        }
    }

    /// Returns whether the replaced key is known and signed the replacement.
    pub fn confirms(&self, new: &PublicKey, rotation: &KeyRotation) -> bool {
        let Some(signature) = rotation.signature.as_ref().filter(|by| by.key == rotation.key) else {
            return false;
        };
        let message = rotation_message(new, rotation.time);
        matches!(self.check(SignedPurpose::KeyRotation, &message, signature), SignatureCheck::Valid(_))
    }

    /// Adds a key, or updates its name and owner.
    pub(crate) fn put(&mut self, key: KnownKey) {
        match self.keys.iter_mut().find(|known| known.id == key.id) {
            Some(known) => {
                known.own |= key.own;
                known.name = key.name;
                known.replaces = key.replaces.or(known.replaces.take());
            }
            None => self.keys.push(key),
        }
    }
}

pub(crate) fn rotation_message(new: &PublicKey, time: u64) -> Vec<u8> {
    format!("{} {time}", new.to_text()).into_bytes()
}
