//! The secret half of a key. It is overwritten in memory when it is dropped and has no printed form.

use crate::{KeyError, KeyId, KeySignature, PublicKey, SignedPurpose, Zeroizing, public_key::ALGORITHM};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};
use std::fmt;

/// A key that can sign. [`SigningKey`] overwrites itself when it is dropped.
pub struct DeviceKey {
    key: SigningKey,
    id: KeyId,
}

impl DeviceKey {
    pub fn generate() -> Result<Self, KeyError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|_| KeyError::NoRandomness)?;
        Ok(Self::of_seed(&seed))
    }

    pub(crate) fn of_seed(seed: &[u8; 32]) -> Self {
        let key = SigningKey::from_bytes(seed);
        let id = PublicKey::of(key.verifying_key()).id();
        Self { key, id }
    }

    /// Reads the form that [`Self::to_secret`] writes.
    pub(crate) fn from_secret(text: &str) -> Result<Self, KeyError> {
        let damaged = || KeyError::Store("its stored form is damaged; restore a backup".to_owned());
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| damaged())?);
        let seed: Zeroizing<[u8; 32]> = Zeroizing::new(bytes.as_slice().try_into().map_err(|_| damaged())?);
        Ok(Self::of_seed(&seed))
    }

    pub(crate) fn to_secret(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.key.as_bytes()))
    }

    pub(crate) fn seed(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    pub fn id(&self) -> &KeyId {
        &self.id
    }

    pub fn public(&self) -> PublicKey {
        PublicKey::of(self.key.verifying_key())
    }

    pub fn sign(&self, purpose: SignedPurpose, message: &[u8]) -> KeySignature {
        let signature = self.key.sign(&purpose.statement(message));
        KeySignature {
            key: self.id.clone(),
            algorithm: ALGORITHM.to_owned(),
            value: STANDARD.encode(signature.to_bytes()),
        }
    }
}

impl fmt::Debug for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_for_one_key_one_purpose_and_one_message() {
        let (key, other) = (DeviceKey::generate().unwrap(), DeviceKey::generate().unwrap());
        let signature = key.sign(SignedPurpose::AuditLine, b"line");
        assert!(key.public().has_signed(SignedPurpose::AuditLine, b"line", &signature));
        assert!(!key.public().has_signed(SignedPurpose::AuditAnchor, b"line", &signature));
        assert!(!key.public().has_signed(SignedPurpose::AuditLine, b"lines", &signature));
        assert!(!other.public().has_signed(SignedPurpose::AuditLine, b"line", &signature));
        let renamed = KeySignature { algorithm: "none".to_owned(), ..signature };
        assert!(!key.public().has_signed(SignedPurpose::AuditLine, b"line", &renamed));
    }

    #[test]
    fn it_is_the_algorithm_of_the_standard() {
        // RFC 8032, section 7.1, test 1.
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let seed: Vec<u8> =
            (0..32).map(|at| u8::from_str_radix(&seed[at * 2..at * 2 + 2], 16).unwrap()).collect();
        let key = DeviceKey::of_seed(&seed.try_into().unwrap());
        assert_eq!(key.public().to_text(), "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
        assert_eq!(PublicKey::parse(&key.public().to_text()).unwrap(), key.public());
    }

    #[test]
    fn nothing_prints_the_secret() {
        let key = DeviceKey::generate().unwrap();
        assert_eq!(format!("{key:?}"), format!("DeviceKey({})", key.id()));
        assert_eq!(DeviceKey::from_secret(&key.to_secret()).unwrap().id(), key.id());
        let damaged = DeviceKey::from_secret("c2VjcmV0").unwrap_err().to_string();
        assert!(!damaged.contains("c2VjcmV0"), "{damaged}");
    }

    #[test]
    fn what_is_no_public_key_is_refused() {
        let weak = format!("ed25519:{}", STANDARD.encode([0; 32]));
        for text in
            ["", "ed25519:", "ed25519:AAAA", "rsa:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", &weak]
        {
            assert!(matches!(PublicKey::parse(text), Err(KeyError::NotAKey)), "{text}");
        }
    }
}
