//! Stores secrets in one 0600 file, for machines without a keyring. Anybody who can read the user's files can read
//! it, so its path is displayed.

use super::{Secret, SecretStore};
use crate::durable;
use shared_protocol::{Refusal, RefusalCode};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

const MAX_SECRETS_FILE_BYTES: u64 = 4 << 20;

pub struct FileSecrets {
    path: PathBuf,
    /// Serialises changes. Each change rereads the file, so that two processes see each other's changes.
    turn: Mutex<()>,
}

impl FileSecrets {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), turn: Mutex::new(()) }
    }

    fn failure(&self, why: impl std::fmt::Display) -> Refusal {
        Refusal::new(
            RefusalCode::Internal,
            format!("Using the secrets in {} failed: {why}", self.path.display()),
        )
    }

    fn read(&self) -> Result<BTreeMap<String, String>, Refusal> {
        let Some(bytes) =
            durable::read(&self.path, MAX_SECRETS_FILE_BYTES).map_err(|error| self.failure(error))?
        else {
            return Ok(BTreeMap::new());
        };
        if durable::is_accessible_to_others(&self.path).map_err(|error| self.failure(error))? {
            let path = self.path.display();
            return Err(self.failure(format!(
                "other users can read the file. Run `chmod 600 {path}` and change the secrets."
            )));
        }
        // Hides the serde message, which may quote a value.
        serde_json::from_slice(&bytes).map_err(|_| self.failure("the file is not a JSON object of strings"))
    }

    fn update(&self, edit: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<(), Refusal> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut secrets = self.read()?;
        edit(&mut secrets);
        let bytes = serde_json::to_vec_pretty(&secrets).map_err(|error| self.failure(error))?;
        safe_fs::write_private(&self.path, &bytes).map_err(|error| self.failure(error))
    }
}

impl SecretStore for FileSecrets {
    fn get(&self, name: &str) -> Result<Option<Secret>, Refusal> {
        self.read()?.get(name).map(|value| Secret::new(value)).transpose()
    }

    fn set(&self, name: &str, secret: &Secret) -> Result<(), Refusal> {
        self.update(|secrets| drop(secrets.insert(name.to_owned(), secret.reveal().to_owned())))
    }

    fn remove(&self, name: &str) -> Result<(), Refusal> {
        if self.read()?.contains_key(name) {
            self.update(|secrets| drop(secrets.remove(name)))?;
        }
        Ok(())
    }

    fn location(&self) -> String {
        format!("the file {}, readable only by you", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn secrets_are_kept_privately_and_refused_when_they_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secrets.json");
        let store = FileSecrets::new(&path);
        assert_eq!(store.get("key"), Ok(None));
        let secret = Secret::new(" hunter22\n").expect("long enough");
        store.set("key", &secret).expect("writes");
        assert_eq!(FileSecrets::new(&path).get("key").expect("reads").expect("there").reveal(), "hunter22");
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(format!("{secret:?}"), "[redacted]");

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("ours");
        let refused = store.get("key").expect_err("others can read it");
        assert!(refused.message.contains("chmod 600") && !refused.message.contains("hunter22"), "{refused}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("ours");
        store.remove("key").expect("writes");
        assert_eq!(store.get("key"), Ok(None));
    }

    #[test]
    fn a_damaged_file_does_not_tell_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secrets.json");
        safe_fs::write_private(&path, br#"{"key": ["hunter22"]}"#).expect("writes");
        let refused = FileSecrets::new(&path).get("key").expect_err("not a text");
        assert!(!refused.message.contains("hunter22"), "{refused}");
    }
}
