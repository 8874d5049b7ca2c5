//! `draftboard key show`: the key of this device.

use super::{KeyResult, date, refused, trust_command};
use crate::device_keys;
use device_key::KeyError;
use serde_json::json;
use shared_protocol::Refusal;

pub(super) fn run() -> Result<KeyResult, Refusal> {
    let keys = device_keys::present_keys().map_err(refused)?;
    let known = keys.known().map_err(refused)?;
    let stored = keys.load().map_err(refused)?;
    let key = known.get(stored.key.id()).ok_or(KeyError::NoKey).map_err(refused)?;
    let command = trust_command(key);
    let words = format!(
        "Key {} of {}, since {}, in {}\n{}\n\nAnother device trusts it with:\n  {command}",
        key.id,
        key.name,
        date(key.added),
        stored.place,
        key.public_key.to_text()
    );
    Ok(KeyResult { words, data: json!({ "key": key, "place": stored.place, "trustCommand": command }) })
}
