//! Public keys, their short names, and signatures.

use crate::KeyError;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

pub(crate) const ALGORITHM: &str = "ed25519";
const ID_BYTES: usize = 8;

/// A short fingerprint of a public key: 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(String);

impl KeyId {
    /// Takes a name as it was written; it may belong to no key.
    pub fn written(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kind of statement that is signed. A signature for one kind never passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedPurpose {
    /// A line of a workspace's audit.
    AuditLine,
    /// The head of an audit, stored outside of the workspace.
    AuditAnchor,
    /// The replacement of a key by another.
    KeyRotation,
}

impl SignedPurpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::AuditLine => "draftboard audit line 1",
            Self::AuditAnchor => "draftboard audit anchor 1",
            Self::KeyRotation => "draftboard key rotation 1",
        }
    }

    /// The signed bytes: the purpose, a zero byte, the message.
    pub(crate) fn statement(self, message: &[u8]) -> Vec<u8> {
        [self.as_str().as_bytes(), &[0], message].concat()
    }
}

/// A signature with the name of its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeySignature {
    pub key: KeyId,
    pub algorithm: String,
    /// In Base64.
    pub value: String,
}

/// An ed25519 public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    pub(crate) fn of(key: VerifyingKey) -> Self {
        Self(key)
    }

    /// Reads the form that [`Self::to_text`] writes.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let encoded = text.trim().strip_prefix("ed25519:").ok_or(KeyError::NotAKey)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| KeyError::NotAKey)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| KeyError::NotAKey)?;
        // A weak key accepts signatures that nobody made.
        let key = VerifyingKey::from_bytes(&bytes).ok().filter(|key| !key.is_weak());
        key.map(Self).ok_or(KeyError::NotAKey)
    }

    pub fn to_text(self) -> String {
        format!("{ALGORITHM}:{}", STANDARD.encode(self.0.as_bytes()))
    }

    pub fn id(&self) -> KeyId {
        let digest = Sha256::digest(self.0.as_bytes());
        KeyId(digest.iter().take(ID_BYTES).map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns whether this key signed the message for the purpose.
    pub fn has_signed(&self, purpose: SignedPurpose, message: &[u8], signature: &KeySignature) -> bool {
        let Some(value) = STANDARD.decode(&signature.value).ok().filter(|_| signature.algorithm == ALGORITHM)
        else {
            return false;
        };
        Signature::from_slice(&value)
            .is_ok_and(|value| self.0.verify_strict(&purpose.statement(message), &value).is_ok())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
