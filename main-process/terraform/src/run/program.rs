//! Finds the program: the configured one, otherwise `terraform` or `tofu` on the PATH.

use super::{
    runner::RunError,
    spawn::{capture, terraform_launch},
};
use processes::ProgramSpawner;
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerraformProgram {
    pub path: PathBuf,
    /// The first line of its version output, such as `Terraform v1.11.4`.
    pub version: String,
}

impl TerraformProgram {
    /// Finds the program and reads its version. `set` is the configured program.
    pub fn find(
        spawner: &dyn ProgramSpawner,
        set: Option<&str>,
        path: Option<&OsStr>,
    ) -> Result<Self, RunError> {
        let found = match set {
            Some(set) if set.contains('/') => {
                let file = PathBuf::from(set);
                // A relative path has no defined base, and a project must not bring its own program.
                if !file.is_absolute() || !is_program(&file) {
                    return Err(RunError::NotAProgram { path: file });
                }
                file
            }
            Some(name) => on_path(name, path).ok_or_else(|| RunError::NotFound { names: name.to_owned() })?,
            None => ["terraform", "tofu"]
                .into_iter()
                .find_map(|name| on_path(name, path))
                .ok_or_else(|| RunError::NotFound { names: "terraform or tofu".to_owned() })?,
        };
        let launch = terraform_launch(&found, vec!["version".to_owned()], "/", &BTreeMap::new());
        let (success, out) = capture(spawner, &launch, 1 << 20, VERSION_TIMEOUT)?;
        let version = String::from_utf8_lossy(&out).lines().next().unwrap_or_default().trim().to_owned();
        if !success || version.is_empty() {
            return Err(RunError::NotAProgram { path: found });
        }
        Ok(Self { path: found, version })
    }
}

fn on_path(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
