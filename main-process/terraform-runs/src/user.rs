//! The user's own choices, which no workspace makes: the program to run, and the folder of plans.

use shared_protocol::Refusal;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct TerraformUserFiles {
    /// The user's `settings.toml`.
    pub settings: PathBuf,
    /// The folder of saved plans of requests. Plans hold secrets, so it is never in a workspace.
    pub plans: PathBuf,
    /// Reads the program from the settings file. `None` means `terraform` or `tofu` on the path.
    pub read_program: fn(&Path) -> Result<Option<String>, Refusal>,
}

impl TerraformUserFiles {
    pub(super) fn program(&self) -> Result<Option<String>, Refusal> {
        (self.read_program)(&self.settings)
    }
}
