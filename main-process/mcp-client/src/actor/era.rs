//! Remembers servers whose protocol era takes long to detect, because they ignore the first modern request or exit on
//! it. The mark is stored beside installed packages, so that detection costs its time once.

use crate::config::{ManagedServerConfig, ManagedServerTransport};
use sha2::{Digest as _, Sha256};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// A server that answers faster is probed at every start, because an update may support the modern protocol.
const MIN_SLOW_DETECTION: Duration = Duration::from_secs(2);

/// The mark of a server that supports only the legacy protocol.
pub(super) struct LegacyServerMark {
    mark: PathBuf,
}

impl LegacyServerMark {
    pub(super) fn new(config: &ManagedServerConfig, data: &Path) -> Self {
        let address = match &config.transport {
            ManagedServerTransport::Http { url, .. } => url.as_str(),
            ManagedServerTransport::Stdio => "",
        };
        let package = format!("{:?}", config.package);
        let mut hash = Sha256::new();
        for part in [package.as_str(), address].into_iter().chain(config.args.iter().map(String::as_str)) {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { mark: data.join("older").join(name) }
    }

    pub(super) fn is_legacy(&self) -> bool {
        self.mark.exists()
    }

    /// Records a legacy server when detection took long or needed a second start.
    pub(super) fn record_legacy(&self, took: Duration, started_twice: bool) {
        if took < MIN_SLOW_DETECTION && !started_twice {
            return;
        }
        if let Err(error) = safe_fs::write_private(&self.mark, b"") {
            tracing::debug!(%error, "recording the protocol era of a server failed; it will be detected again");
        }
    }

    /// Removes the mark.
    pub(super) fn remove(&self) {
        match fs::remove_file(&self.mark) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(%error, "removing the recorded protocol era of a server failed");
            }
            _ => {}
        }
    }
}
