//! Secrets by reference: configurations hold names, a store holds values, and a value leaves it only for the
//! environment of a process or a request header.

mod file;
mod keyring;
mod redact;

pub use file::FileSecrets;
pub use keyring::Keyring;
pub(crate) use redact::Redactor;

use crate::config::ManagedServerConfig;
use shared_protocol::Refusal;
use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};
use uuid::Uuid;

/// The minimum bytes of a secret. Redacting shorter texts would garble every log and protect nothing.
pub const MIN_SECRET_BYTES: usize = 4;
const MAX_SECRET_BYTES: usize = 16_384;

/// A secret value, redacted in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: &str) -> Result<Self, Refusal> {
        // Pasted values often end in a line break.
        let value = value.trim();
        if !(MIN_SECRET_BYTES..=MAX_SECRET_BYTES).contains(&value.len()) || value.contains(['\0', '\n', '\r'])
        {
            let message =
                format!("A secret must be one line of {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} bytes");
            return Err(Refusal::validation("secret", message));
        }
        Ok(Self(value.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

/// A store of secret values. Their names are chosen by Draftboard and are not secret.
pub trait SecretStore: Send + Sync {
    fn get(&self, name: &str) -> Result<Option<Secret>, Refusal>;
    fn set(&self, name: &str, secret: &Secret) -> Result<(), Refusal>;
    fn remove(&self, name: &str) -> Result<(), Refusal>;
    /// The location of the store, for people.
    fn location(&self) -> String;
}

/// Returns the desktop keyring when one is usable, otherwise a file in the configuration folder. Queries D-Bus, so it
/// may take a moment.
pub fn best_secret_store(config_folder: &Path) -> Arc<dyn SecretStore> {
    match Keyring::connect(None) {
        Ok(keyring) => Arc::new(keyring),
        Err(failure) => {
            tracing::info!(%failure, "no keyring available; storing secrets in a file");
            Arc::new(FileSecrets::new(&config_folder.join("secrets.json")))
        }
    }
}

/// Returns the storage name of a server's secret: of a variable, or of its URL as `auth`.
pub(crate) fn secret_name(server: Uuid, part: &str) -> String {
    format!("mcp/{server}/{part}")
}

/// The resolved secrets of one server.
pub(crate) struct ResolvedSecrets {
    by_reference: BTreeMap<String, Secret>,
}

impl ResolvedSecrets {
    /// Resolves all secrets of a server, or returns the parts without one.
    pub(crate) fn resolve(
        config: &ManagedServerConfig,
        store: &dyn SecretStore,
    ) -> Result<Self, UnresolvedSecrets> {
        let mut by_reference = BTreeMap::new();
        let mut missing = Vec::new();
        for (part, reference, required) in config.secret_refs() {
            match store.get(reference) {
                Ok(Some(secret)) => drop(by_reference.insert(reference.to_owned(), secret)),
                Ok(None) if required => missing.push(part.to_owned()),
                Ok(None) => {}
                Err(failure) => return Err(UnresolvedSecrets::Store(failure)),
            }
        }
        if missing.is_empty() { Ok(Self { by_reference }) } else { Err(UnresolvedSecrets::Missing(missing)) }
    }

    pub(crate) fn get(&self, reference: &str) -> Option<&Secret> {
        self.by_reference.get(reference)
    }

    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.by_reference.values())
    }
}

pub(crate) enum UnresolvedSecrets {
    Missing(Vec<String>),
    Store(Refusal),
}
