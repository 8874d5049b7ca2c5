//! A backup of the key: one JSON file, encrypted with a passphrase. A backup leaves this computer, and a file mode
//! protects nothing there, so there is no unencrypted form.

use crate::{DeviceKey, KeyError, KeyId, PublicKey, Zeroizing};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    pbkdf2,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

pub(crate) const MIN_PASSPHRASE_CHARS: usize = 10;
const VERSION: u32 = 1;
const KDF: &str = "pbkdf2-hmac-sha256";
const CIPHER: &str = "chacha20-poly1305";
/// As OWASP recommends for PBKDF2 with SHA-256.
const ITERATIONS: u32 = 600_000;
/// A changed backup must not keep the computer busy for hours.
const MAX_ITERATIONS: u32 = 20_000_000;
const SALT_BYTES: usize = 16;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Backup {
    draftboard_key: u32,
    id: KeyId,
    public_key: PublicKey,
    kdf: String,
    iterations: u32,
    salt: String,
    cipher: String,
    nonce: String,
    sealed: String,
}

impl Backup {
    /// The parts that the encryption confirms without hiding them.
    fn header(&self) -> Vec<u8> {
        let Self { draftboard_key, id, public_key, kdf, iterations, salt, cipher, nonce, sealed: _ } = self;
        let public_key = public_key.to_text();
        format!("{draftboard_key} {id} {public_key} {kdf} {iterations} {salt} {cipher} {nonce}").into_bytes()
    }
}

pub(crate) fn seal(key: &DeviceKey, passphrase: &str) -> Result<String, KeyError> {
    if passphrase.chars().count() < MIN_PASSPHRASE_CHARS {
        return Err(KeyError::ShortPassphrase(MIN_PASSPHRASE_CHARS));
    }
    let (mut salt, mut nonce) = ([0; SALT_BYTES], [0; NONCE_LEN]);
    getrandom::fill(&mut salt)
        .and_then(|()| getrandom::fill(&mut nonce))
        .map_err(|_| KeyError::NoRandomness)?;
    let mut backup = Backup {
        draftboard_key: VERSION,
        id: key.id().clone(),
        public_key: key.public(),
        kdf: KDF.to_owned(),
        iterations: ITERATIONS,
        salt: STANDARD.encode(salt),
        cipher: CIPHER.to_owned(),
        nonce: STANDARD.encode(nonce),
        sealed: String::new(),
    };
    let cipher = cipher_of(passphrase, &salt, ITERATIONS)?;
    let mut sealed = Zeroizing::new(key.seed().to_vec());
    // Reserved at once: a buffer that is outgrown would keep the secret.
    sealed.reserve_exact(CHACHA20_POLY1305.tag_len());
    let nonce = Nonce::assume_unique_for_key(nonce);
    cipher
        .seal_in_place_append_tag(nonce, Aad::from(backup.header()), &mut *sealed)
        .map_err(|_| KeyError::NotABackup("it could not be encrypted"))?;
    backup.sealed = STANDARD.encode(&*sealed);
    serde_json::to_string_pretty(&backup).map_err(|_| KeyError::NotABackup("it could not be written"))
}

pub(crate) fn open(text: &str, passphrase: &str) -> Result<DeviceKey, KeyError> {
    let backup: Backup =
        serde_json::from_str(text).map_err(|_| KeyError::NotABackup("it is not the file of a backup"))?;
    if backup.draftboard_key != VERSION || backup.kdf != KDF || backup.cipher != CIPHER {
        return Err(KeyError::NotABackup("a newer Draftboard wrote it"));
    }
    if !(1..=MAX_ITERATIONS).contains(&backup.iterations) {
        return Err(KeyError::NotABackup("its number of iterations is out of range"));
    }
    let decoded = |text: &str| STANDARD.decode(text).map_err(|_| KeyError::NotABackup("it is damaged"));
    let nonce: [u8; NONCE_LEN] =
        decoded(&backup.nonce)?.try_into().map_err(|_| KeyError::NotABackup("it is damaged"))?;
    let cipher = cipher_of(passphrase, &decoded(&backup.salt)?, backup.iterations)?;
    let mut sealed = Zeroizing::new(decoded(&backup.sealed)?);
    let opened = cipher
        .open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(backup.header()), &mut sealed)
        .map_err(|_| KeyError::WrongPassphrase)?;
    let seed: Zeroizing<[u8; 32]> =
        Zeroizing::new((&*opened).try_into().map_err(|_| KeyError::NotABackup("it is damaged"))?);
    Ok(DeviceKey::of_seed(&seed))
}

fn cipher_of(passphrase: &str, salt: &[u8], iterations: u32) -> Result<LessSafeKey, KeyError> {
    let iterations = NonZeroU32::new(iterations).ok_or(KeyError::NotABackup("it is damaged"))?;
    let mut derived = Zeroizing::new([0; 32]);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, passphrase.as_bytes(), &mut *derived);
    let key = UnboundKey::new(&CHACHA20_POLY1305, &*derived).map_err(|_| KeyError::WrongPassphrase)?;
    Ok(LessSafeKey::new(key))
}
