//! Errors of the device's key. Each message names the problem and the next step; none contains a secret.

use crate::KeyId;
use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{} cannot be read: {problem}", .path.display())]
    Unreadable { path: PathBuf, problem: String },
    #[error("{} could not be written: {source}", .path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    #[error(
        "the key {id} of this device is in the desktop keyring, which does not answer: start Draftboard in your desktop \
         session, or restore a backup with `draftboard key import FILE`"
    )]
    NoKeyring { id: KeyId },
    #[error(
        "the key {id} of this device is no longer in {place}: restore a backup with `draftboard key import FILE`, or start \
         a new key with `draftboard key rotate --lost`"
    )]
    Lost { id: KeyId, place: String },
    #[error("the key could not be used: {0}")]
    Store(String),
    #[error("this device has no key yet: it gets one when it first opens a workspace")]
    NoKey,
    #[error("the key {0} is not known here: `draftboard key list` shows the known keys")]
    Unknown(String),
    #[error(
        "this is not a public key of Draftboard: paste the line that `draftboard key show` prints on the other device"
    )]
    NotAKey,
    #[error("{0} is the key of this device and stays known: replace it with `draftboard key rotate`")]
    InUse(KeyId),
    #[error("this device already has the key {0}: import with --replace to use the backup instead")]
    HasKey(KeyId),
    #[error("the key {0} claims to replace a key of this list, and the signature of that key does not match")]
    WrongRotation(KeyId),
    #[error("this is not a backup of a key: {0}")]
    NotABackup(&'static str),
    #[error("the passphrase is wrong, or the backup was changed")]
    WrongPassphrase,
    #[error("the passphrase has fewer than {0} characters: choose a longer one")]
    ShortPassphrase(usize),
    #[error("the system returned no random numbers")]
    NoRandomness,
}
