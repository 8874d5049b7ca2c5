//! `draftboard key trust`: the public key of another device.

use super::{KeyResult, refused};
use crate::device_keys;
use device_key::{KeyId, KeyRotation, KeySignature, PublicKey};
use serde_json::json;
use shared_protocol::{Refusal, RefusalCode};
use workspace::time_and_seed;

pub(super) const HELP: &str = "`draftboard key show` on the other device prints the whole command. Compare the key with the one on its screen.\n\n\
    Example: draftboard key trust ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= --name laptop";

#[derive(Debug, clap::Args)]
pub(super) struct TrustArguments {
    /// The public key: `ed25519:` and its text
    key: String,
    /// A name for the device
    #[arg(long, default_value = "another device")]
    name: String,
    /// The key that it replaces, with that key's signature, as the other device shows it
    #[arg(long, value_name = "KEY,TIME,SIGNATURE")]
    replaces: Option<String>,
}

pub(super) fn run(arguments: &TrustArguments) -> Result<KeyResult, Refusal> {
    let key = PublicKey::parse(&arguments.key).map_err(refused)?;
    let replaces = arguments.replaces.as_deref().map(rotation_of).transpose()?;
    let keys = device_keys::present_keys().map_err(refused)?;
    let trusted = keys.trust(key, replaces, (&arguments.name, time_and_seed().time)).map_err(refused)?;
    let words = format!("Trusted: {} ({})", trusted.id, trusted.name);
    Ok(KeyResult { words, data: json!({ "key": trusted }) })
}

/// The form of `--replaces`; `None` without a signature.
pub(super) fn replaces_text(rotation: &KeyRotation) -> Option<String> {
    let signature = rotation.signature.as_ref()?;
    Some(format!("{},{},{}", rotation.key, rotation.time, signature.value))
}

fn rotation_of(text: &str) -> Result<KeyRotation, Refusal> {
    let wrong = || {
        Refusal::new(RefusalCode::BadRequest, "--replaces is not KEY,TIME,SIGNATURE")
            .hint("Copy the command that `draftboard key show` prints on the other device.")
    };
    let mut parts = text.splitn(3, ',');
    let (Some(key), Some(time), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(wrong());
    };
    let (key, time) = (KeyId::written(key), time.parse().map_err(|_| wrong())?);
    let signature =
        KeySignature { key: key.clone(), algorithm: "ed25519".to_owned(), value: value.to_owned() };
    Ok(KeyRotation { key, time, signature: Some(signature) })
}
