//! The key of this device: one ed25519 key that signs what a person decides here.
//!
//! Owns: the secret (in a store that the caller names, else in a 0600 file), the list of known public keys, backup,
//! rotation and loss. Must not know: what is signed, D-Bus, the command line. A program that runs as this user can
//! reach the key as well; a signature proves the device, not the person.

mod backup;
mod device_keys;
mod error;
mod holder;
mod key_store;
mod known_keys;
mod public_key;
mod signing_key;

pub use device_keys::{DeviceKeys, StoredKey};
pub use error::KeyError;
pub use holder::KeyHolder;
pub use key_store::{FileKeyStore, KeyStore};
pub use known_keys::{KeyRotation, KnownKey, KnownKeys, SignatureCheck};
pub use public_key::{KeyId, KeySignature, PublicKey, SignedPurpose};
pub use signing_key::DeviceKey;
pub use zeroize::Zeroizing;
