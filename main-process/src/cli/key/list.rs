//! `draftboard key list`: the known public keys.

use super::{KeyResult, date, refused};
use crate::device_keys;
use device_key::{KnownKey, KnownKeys};
use serde_json::json;
use shared_protocol::Refusal;

pub(super) fn run() -> Result<KeyResult, Refusal> {
    let known = device_keys::present_keys().and_then(|keys| keys.known()).map_err(refused)?;
    let lines: Vec<String> = known.keys.iter().map(|key| line(key, &known)).collect();
    let words = if lines.is_empty() { "No key is known.".to_owned() } else { lines.join("\n") };
    Ok(KeyResult { words, data: json!({ "current": known.current, "keys": known.keys }) })
}

fn line(key: &KnownKey, known: &KnownKeys) -> String {
    let kind = match (known.current.as_ref() == Some(&key.id), key.own) {
        (true, _) => "this device",
        (false, true) => "this device, earlier",
        (false, false) => "trusted",
    };
    let replaces = match &key.replaces {
        None => String::new(),
        Some(rotation) if known.confirms(&key.public_key, rotation) => {
            format!(", replaces {} and is signed by it", rotation.key)
        }
        Some(rotation) => format!(", replaces {} without its signature", rotation.key),
    };
    format!("{}  {}  {kind}, since {}{replaces}", key.id, key.name, date(key.added))
}
