//! `draftboard key rotate`: a new key in place of the old one.

use super::{KeyResult, refused, trust_command};
use crate::device_keys;
use device_key::KeyError;
use serde_json::json;
use shared_protocol::Refusal;
use workspace::time_and_seed;

pub(super) const HELP: &str = "The old public key stays known, so that what it signed is still verified. Its secret is removed: make a backup of the new\n\
    key.\n\nExamples:\n  draftboard key rotate\n  draftboard key rotate --lost";

pub(super) fn run(lost: bool) -> Result<KeyResult, Refusal> {
    let keys = device_keys::all_keys();
    let name = device_keys::device_name();
    let new = keys.rotate(lost, (&name, time_and_seed().time)).map_err(refused)?;
    let known = keys.known().map_err(refused)?;
    let key = known.get(new.id()).ok_or(KeyError::NoKey).map_err(refused)?;
    let command = trust_command(key);
    let words = format!(
        "The key of this device is {} now. A running Draftboard uses it after its next start.\n\
         Make a backup with `draftboard key export FILE`.\n\nOther devices trust it with:\n  {command}",
        key.id
    );
    Ok(KeyResult { words, data: json!({ "key": key, "trustCommand": command }) })
}
