//! The user's own choices, which no workspace makes: which program runs, and where plans of requests are kept.

use crate::mcp::terraform_program;
use shared_protocol::{Code, Refusal};
use std::path::PathBuf;
use user_folders as paths;

#[derive(Debug, Clone)]
pub(crate) struct UserFolders {
    /// The user's `settings.toml`.
    pub(crate) settings: PathBuf,
    /// Where plans of requests are kept: they hold secrets, so never in a workspace.
    pub(crate) plans: PathBuf,
}

impl UserFolders {
    pub(crate) fn of_user() -> Self {
        Self { settings: paths::settings(), plans: paths::plans() }
    }

    /// The program that the user has set; none means `terraform` or `tofu` on the path.
    pub(super) fn program(&self) -> Result<Option<String>, Refusal> {
        terraform_program(&self.settings).map_err(|error| Refusal::new(Code::StorageError, error.to_string()))
    }
}
