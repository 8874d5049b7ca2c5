//! `draftboard key export`: an encrypted backup.

use super::{KeyResult, ask_passphrase, refused};
use crate::device_keys;
use safe_fs::PrivateFile;
use serde_json::json;
use shared_protocol::{Refusal, RefusalCode};
use std::{io::IsTerminal as _, path::Path};

pub(super) const HELP: &str = "Asks for a passphrase, or reads it as one line from standard input. Without the passphrase the backup is worthless:\n\
    keep the two apart.\n\nExamples:\n  draftboard key export draftboard-key.json\n  \
    pass show draftboard | draftboard key export draftboard-key.json";

pub(super) fn run(file: &Path) -> Result<KeyResult, Refusal> {
    let keys = device_keys::present_keys().map_err(refused)?;
    let id = keys.load().map_err(refused)?.key.id().clone();
    let passphrase = ask_passphrase("Passphrase of the backup: ")?;
    if std::io::stdin().is_terminal() && *ask_passphrase("Again: ")? != *passphrase {
        return Err(Refusal::new(RefusalCode::BadRequest, "the two passphrases differ"));
    }
    let backup = keys.export(&passphrase).map_err(refused)?;
    PrivateFile::new(file.to_owned()).create(backup.as_bytes()).map_err(|error| {
        let message = format!("{} could not be written: {error}", file.display());
        Refusal::new(RefusalCode::StorageError, message)
    })?;
    let words = format!(
        "Backup of the key {id} in {}\nKeep it off this computer, and the passphrase somewhere else.",
        file.display()
    );
    Ok(KeyResult { words, data: json!({ "key": id, "file": file }) })
}
