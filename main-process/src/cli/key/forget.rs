//! `draftboard key forget`: lines that the key signed are findings again.

use super::{KeyResult, refused};
use crate::device_keys;
use serde_json::json;
use shared_protocol::Refusal;

pub(super) fn run(key: &str) -> Result<KeyResult, Refusal> {
    let keys = device_keys::present_keys().map_err(refused)?;
    let forgotten = keys.forget(key).map_err(refused)?;
    let words = format!("Forgotten: {} ({})", forgotten.id, forgotten.name);
    Ok(KeyResult { words, data: json!({ "key": forgotten }) })
}
