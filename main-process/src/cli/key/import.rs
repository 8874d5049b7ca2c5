//! `draftboard key import`: the key of a backup becomes the key of this device.

use super::{KeyResult, ask_passphrase, refused};
use crate::device_keys;
use serde_json::json;
use shared_protocol::{Refusal, RefusalCode};
use std::{io::Read as _, path::Path};
use workspace::time_and_seed;

pub(super) const HELP: &str = "Asks for the passphrase, or reads it as one line from standard input.\n\n\
    Examples:\n  draftboard key import draftboard-key.json\n  draftboard key import draftboard-key.json --replace";

const MAX_BACKUP_BYTES: u64 = 64 << 10;

pub(super) fn run(file: &Path, replace: bool) -> Result<KeyResult, Refusal> {
    let mut backup = String::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(MAX_BACKUP_BYTES).read_to_string(&mut backup))
        .map_err(|error| {
            Refusal::new(RefusalCode::BadRequest, format!("{} cannot be read: {error}", file.display()))
        })?;
    let passphrase = ask_passphrase("Passphrase of the backup: ")?;
    let about = (device_keys::device_name(), time_and_seed().time);
    let key = device_keys::all_keys()
        .import(&backup, &passphrase, replace, (&about.0, about.1))
        .map_err(refused)?;
    let words =
        format!("The key of this device is {}. A running Draftboard uses it after its next start.", key.id());
    Ok(KeyResult { words, data: json!({ "key": key.id() }) })
}
