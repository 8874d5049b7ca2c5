//! Stores of secret keys.

use crate::{KeyError, KeyId};
use safe_fs::PrivateFile;
use std::path::PathBuf;
use zeroize::Zeroizing;

const MAX_SECRET_BYTES: u64 = 1_024;

/// A store of secrets by the name of their key, such as the desktop's keyring.
pub trait KeyStore: Send + Sync {
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<String>>, KeyError>;
    fn set(&self, id: &KeyId, secret: &str) -> Result<(), KeyError>;
    fn remove(&self, id: &KeyId) -> Result<(), KeyError>;
    /// The location of the store, for people.
    fn location(&self) -> String;
}

/// One file with mode 0600 for each key, for machines without a keyring.
pub struct FileKeyStore {
    folder: PathBuf,
}

impl FileKeyStore {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn file(&self, id: &KeyId) -> PrivateFile {
        PrivateFile::new(self.folder.join(format!("device-key-{id}")))
    }
}

impl KeyStore for FileKeyStore {
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<String>>, KeyError> {
        let file = self.file(id);
        let unreadable = |problem: String| KeyError::Unreadable { path: file.path().to_owned(), problem };
        let Some(bytes) = file.read(MAX_SECRET_BYTES).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(None);
        };
        let bytes = Zeroizing::new(bytes);
        let text = std::str::from_utf8(&bytes).map_err(|_| unreadable("it is not a key".to_owned()))?;
        Ok(Some(Zeroizing::new(text.to_owned())))
    }

    fn set(&self, id: &KeyId, secret: &str) -> Result<(), KeyError> {
        let file = self.file(id);
        file.write(secret.as_bytes())
            .map_err(|source| KeyError::Unwritten { path: file.path().to_owned(), source })
    }

    fn remove(&self, id: &KeyId) -> Result<(), KeyError> {
        let file = self.file(id);
        file.remove().map_err(|source| KeyError::Unwritten { path: file.path().to_owned(), source })
    }

    fn location(&self) -> String {
        format!("a file in {}, readable only by you", self.folder.display())
    }
}
