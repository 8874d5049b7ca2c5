//! Servers that take long to be found out: silent at the first question of the newer protocol, or ended by it. What was learnt is
//! kept beside what is installed, so that it costs its time once and not at every start.

use crate::config::{McpConfig, McpTransport};
use sha2::{Digest as _, Sha256};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// Whoever answers sooner is asked each time: it may have learnt the newer protocol meanwhile.
const LONG: Duration = Duration::from_secs(2);

/// Whether a server is known to speak only the older protocol.
pub(super) struct KnownEra {
    mark: PathBuf,
}

impl KnownEra {
    pub(super) fn of(config: &McpConfig, data: &Path) -> Self {
        let address = match &config.transport {
            McpTransport::Http { url, .. } => url.as_str(),
            McpTransport::Stdio => "",
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

    pub(super) fn is_older(&self) -> bool {
        self.mark.exists()
    }

    /// It was found to speak the older protocol, after this time, or after it had to be started twice.
    pub(super) fn found_older(&self, took: Duration, started_twice: bool) {
        if took < LONG && !started_twice {
            return;
        }
        let written =
            self.mark.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&self.mark, ""));
        if let Err(error) = written {
            tracing::debug!(%error, "what a server speaks could not be noted and will be found out again");
        }
    }

    /// It does not understand the older protocol any more.
    pub(super) fn forget(&self) {
        match fs::remove_file(&self.mark) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(%error, "what a server speaks could not be forgotten");
            }
            _ => {}
        }
    }
}
