//! Small state by key, such as the last viewport of each window. Written without a sync: the newest values may be
//! lost in a power loss, and no acknowledged change depends on them.

use super::{Durability, Journal};
use crate::JournalError;
use rusqlite::OptionalExtension as _;
use serde::{Serialize, de::DeserializeOwned};

impl Journal {
    /// Returns the value of a key. A value that does not decode, because another version wrote it, counts as
    /// absent, so that it cannot keep a workspace from opening.
    pub fn get_state<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, JournalError> {
        let mut select = self.connection.prepare_cached("SELECT value FROM state WHERE key = ?1")?;
        let text: Option<String> = select.query_row([key], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| {
            serde_json::from_str(&text)
                .inspect_err(|error| tracing::warn!(key, %error, "ignoring state written by another version"))
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
