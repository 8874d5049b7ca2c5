//! Small state by key, such as where each window looked last. Written without waiting for the disk: the newest may be
//! lost with the power, and nothing that was acknowledged depends on it.

use super::{Durability, Journal};
use crate::JournalError;
use rusqlite::OptionalExtension as _;
use serde::{Serialize, de::DeserializeOwned};

impl Journal {
    /// The value of a key. One that does not decode, because another version wrote it, counts as absent: state is a
    /// convenience and must not keep a workspace from opening.
    pub fn get_state<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, JournalError> {
        let mut select = self.connection.prepare_cached("SELECT value FROM state WHERE key = ?1")?;
        let text: Option<String> = select.query_row([key], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| {
            serde_json::from_str(&text)
                .inspect_err(|error| tracing::warn!(key, %error, "state of another version is left out"))
                .ok()
        }))
    }

    pub fn set_state<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), JournalError> {
        let text =
            serde_json::to_string(value).map_err(|error| JournalError::unstorable("the state", error))?;
        self.in_transaction(Durability::Relaxed, |transaction| {
            transaction.execute("INSERT OR REPLACE INTO state (key, value) VALUES (?1, ?2)", (key, text))?;
            Ok(())
        })
    }
}
