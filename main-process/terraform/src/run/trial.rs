//! A temporary folder for a plan that must leave no trace: the files to plan, a copy of the state, and links to the
//! installed providers of the board. Terraform does not touch the folder of the board.

use super::runner::RunError;
use crate::{generate::GeneratedHcl, settings::Backend};
use rustix::fs::{FileType, Mode, mkdirat, symlinkat};
use rustix::io::Errno;
use safe_fs::{PathError, PathProblem, SafeFolder};
use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The parent of trial folders, in the state folder of the workspace.
const TRIALS_FOLDER: &str = "trials";
const PROVIDERS_FOLDER: &str = ".terraform/providers";
const STATE_FILE: &str = "terraform.tfstate";
const LOCK_FILE: &str = ".terraform.lock.hcl";
/// The number of names that are tried until one is free.
const MAX_TRIAL_FOLDERS: u32 = 1_000;
/// The depth of host/namespace/type/version/platform, the provider layout of Terraform.
const PROVIDER_DEPTH: usize = 5;
const MAX_LINKED_PROVIDERS: usize = 500;
/// The maximum size of a copied state or lock file.
const MAX_COPIED_BYTES: u64 = 256 << 20;
const MAX_NAME_BYTES: u64 = 4096;
/// Backends whose state is only read by `plan` and `init`.
const READ_ONLY_BACKENDS: [&str; 8] = ["s3", "azurerm", "gcs", "http", "consul", "kubernetes", "oss", "cos"];
/// Replaces the configured state file with the copy.
const OVERRIDE_FILE: &str = "draftboard_trial_override.tf";
const LOCAL_BACKEND: &str = "terraform {\n  backend \"local\" {}\n}\n";

/// The folder and its content are removed on drop.
#[derive(Debug)]
pub struct TrialFolder {
    root: PathBuf,
    folder: PathBuf,
}

/// The configuration to plan, and the folder of its board.
pub struct TrialInput<'a> {
    pub generated: &'a GeneratedHcl,
    /// Foreign files of the configuration, by path in the folder.
    pub others: &'a [(String, Vec<u8>)],
    pub backend: Option<&'a Backend>,
    pub folder: &'a Path,
}

impl TrialFolder {
    /// Removes the folders that an earlier process left behind.
    pub fn remove_leftovers(state_folder: &Path) -> io::Result<()> {
        match fs::remove_dir_all(state_folder.join(TRIALS_FOLDER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub fn create(state_folder: &Path, planned: &TrialInput<'_>) -> Result<Self, RunError> {
        let board = match SafeFolder::open(planned.folder) {
            Err(error) if error.problem.is_missing() => None,
            other => Some(other?),
        };
        let state = state_of(planned, board.as_ref())?;
        let all = SafeFolder::create(state_folder)?.create_folder(TRIALS_FOLDER)?;
        let (scratch, folder) = Self::new(&all)?;
        scratch.fill(&folder, planned, board.as_ref(), &state)?;
        Ok(scratch)
    }

    fn new(all: &SafeFolder) -> Result<(Self, SafeFolder), RunError> {
        for number in 1..=MAX_TRIAL_FOLDERS {
            let name = number.to_string();
            // The content may be secret.
            match mkdirat(all.fd(), &name, Mode::RWXU) {
                Ok(()) => {
                    let root = all.folder(&name)?;
                    let folder = root.create_folder("board")?;
                    let scratch = Self { root: root.path().to_owned(), folder: folder.path().to_owned() };
                    return Ok((scratch, folder));
                }
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    return Err(PathError { path: all.path().join(name), problem: errno.into() }.into());
                }
            }
        }
        let source = io::Error::other("too many trial folders were left behind: remove this folder");
        Err(RunError::Files { path: all.path().to_owned(), source })
    }

    /// Returns the working folder of Terraform.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the log.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn fill(
        &self,
        folder: &SafeFolder,
        planned: &TrialInput<'_>,
        board: Option<&SafeFolder>,
        state: &TrialStateSource,
    ) -> Result<(), RunError> {
        for (name, text) in &planned.generated.files {
            write_new(folder, name, text.as_bytes())?;
        }
        for (name, bytes) in planned.others {
            write_new(folder, name, bytes)?;
        }
        if let TrialStateSource::File(path) = state {
            if planned.backend.is_some() {
                write_new(folder, OVERRIDE_FILE, LOCAL_BACKEND.as_bytes())?;
            }
            copy(SafeFolder::parent_of(path), folder, STATE_FILE)?;
        }
        let Some(board) = board else { return Ok(()) };
        copy(SafeFolder::parent_of(&board.path().join(LOCK_FILE)), folder, LOCK_FILE)?;
        let providers = match board.folder(PROVIDERS_FOLDER) {
            Err(error) if error.problem.is_missing() => return Ok(()),
            other => other?,
        };
        let mut most = MAX_LINKED_PROVIDERS;
        link_providers(&providers, folder, Path::new(PROVIDERS_FOLDER), PROVIDER_DEPTH, &mut most)
    }
}

fn write_new(folder: &SafeFolder, name: &str, bytes: &[u8]) -> Result<(), RunError> {
    let written = folder.create_new(name)?.write_all(bytes);
    written.map_err(|source| RunError::Files { path: folder.path().join(name), source })
}

/// Copies a file when it exists.
fn copy(
    from: Result<(SafeFolder, String), PathError>,
    folder: &SafeFolder,
    name: &str,
) -> Result<(), RunError> {
    match from.and_then(|(from, file)| from.read(file, MAX_COPIED_BYTES)) {
        Ok(bytes) => write_new(folder, name, &bytes),
        Err(error) if error.problem.is_missing() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Drop for TrialFolder {
    fn drop(&mut self) {
        // A leftover is removed when the workspace is opened again.
        let _ = fs::remove_dir_all(&self.root);
    }
}

enum TrialStateSource {
    /// A local file, copied when it exists.
    File(PathBuf),
    /// A remote state, read in place without its lock.
    Elsewhere,
}

/// Returns the location of the state, or an error when a plan would modify it.
fn state_of(planned: &TrialInput<'_>, board: Option<&SafeFolder>) -> Result<TrialStateSource, RunError> {
    let other = |why: String| Err(RunError::NoTrial(why));
    if let Some(name) = selected_workspace(board)? {
        return other(format!("the Terraform workspace {name} is selected for this board"));
    }
    if planned.others.iter().any(|(name, bytes)| names_backend(name, bytes)) {
        return other("a file that Draftboard did not create configures the backend".to_owned());
    }
    match planned.backend {
        None => Ok(TrialStateSource::File(planned.folder.join(STATE_FILE))),
        Some(backend) if backend.kind == "local" => {
            let path = backend.config.get("path").and_then(|path| path.as_text()).unwrap_or(STATE_FILE);
            Ok(TrialStateSource::File(planned.folder.join(path)))
        }
        Some(backend) if READ_ONLY_BACKENDS.contains(&backend.kind.as_str()) => {
            Ok(TrialStateSource::Elsewhere)
        }
        Some(backend) => other(format!("a plan would write to the backend {}", backend.kind)),
    }
}

/// Returns the selected Terraform workspace when it is not `default`.
fn selected_workspace(folder: Option<&SafeFolder>) -> Result<Option<String>, PathError> {
    let chosen = match (std::env::var("TF_WORKSPACE"), folder) {
        (Ok(name), _) => name,
        (Err(_), None) => return Ok(None),
        (Err(_), Some(folder)) => match folder.read(".terraform/environment", MAX_NAME_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.problem.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    Ok(Some(chosen.trim().to_owned()).filter(|name| !name.is_empty() && name != "default"))
}

fn names_backend(name: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if name.ends_with(".json") {
        return text.contains("\"backend\"") || text.contains("\"cloud\"");
    }
    text.lines().map(str::trim_start).any(|line| line.starts_with("backend") || line.starts_with("cloud"))
}

/// Links to the installed providers. Terraform replaces a link with a folder when it needs another version, so it
/// never changes the target. Only the last part may itself be a link, as created by a provider cache: it is linked
/// to and never opened.
fn link_providers(
    from: &SafeFolder,
    scratch: &SafeFolder,
    to: &Path,
    depth: usize,
    most: &mut usize,
) -> Result<(), RunError> {
    for entry in from.list()? {
        let is_link = depth == 1 && entry.kind == FileType::Symlink;
        if *most == 0 || !(entry.kind == FileType::Directory || is_link) {
            continue;
        }
        if depth > 1 {
            link_providers(&from.folder(&entry.name)?, scratch, &to.join(&entry.name), depth - 1, most)?;
            continue;
        }
        *most -= 1;
        let target = from.path().join(&entry.name);
        let folder = scratch.create_folder(to)?;
        symlinkat(&target, folder.fd(), &entry.name)
            .map_err(|errno| PathError { path: target, problem: PathProblem::from(errno) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::PropValue;
    use std::{collections::BTreeMap, os::unix::fs::PermissionsExt as _, sync::Arc};

    struct Board {
        root: tempfile::TempDir,
        generated: GeneratedHcl,
    }

    impl Board {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("terraform/shop")).unwrap();
            let files = BTreeMap::from([
                ("main.tf".to_owned(), Arc::from("# made\n")),
                ("modules/net/main.tf".to_owned(), Arc::from("# module\n")),
            ]);
            Self { root, generated: GeneratedHcl { files, ..GeneratedHcl::default() } }
        }

        fn folder(&self) -> PathBuf {
            self.root.path().join("terraform/shop")
        }

        fn make(
            &self,
            others: &[(String, Vec<u8>)],
            backend: Option<&Backend>,
        ) -> Result<TrialFolder, RunError> {
            let folder = self.folder();
            let planned = TrialInput { generated: &self.generated, others, backend, folder: &folder };
            TrialFolder::create(&self.root.path().join(".draftboard"), &planned)
        }
    }

    fn backend(kind: &str, path: Option<&str>) -> Backend {
        let config = path.map(|path| ("path".to_owned(), PropValue::Text(path.into())));
        Backend { kind: kind.to_owned(), config: config.into_iter().collect() }
    }

    #[test]
    fn everything_is_a_copy_or_a_link_and_goes_again() {
        let board = Board::new();
        let folder = board.folder();
        fs::write(folder.join(STATE_FILE), "state").unwrap();
        fs::write(folder.join(LOCK_FILE), "lock").unwrap();
        let provider = folder.join(".terraform/providers/registry/acme/thing/1.0.0/linux_amd64");
        fs::create_dir_all(&provider).unwrap();
        fs::write(provider.join("binary"), "code").unwrap();
        let scratch = board.make(&[("own.tf".to_owned(), b"# own\n".to_vec())], None).unwrap();
        let within = |name: &str| scratch.folder().join(name);
        for (name, text) in [
            ("main.tf", "# made\n"),
            ("modules/net/main.tf", "# module\n"),
            ("own.tf", "# own\n"),
            (STATE_FILE, "state"),
            (LOCK_FILE, "lock"),
            (".terraform/providers/registry/acme/thing/1.0.0/linux_amd64/binary", "code"),
        ] {
            assert_eq!(fs::read_to_string(within(name)).unwrap(), text, "{name}");
        }
        assert!(!within(OVERRIDE_FILE).exists());
        let mode = fs::metadata(scratch.root()).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "a state may hold secrets");
        fs::write(within(STATE_FILE), "other").unwrap();
        assert_eq!(fs::read_to_string(folder.join(STATE_FILE)).unwrap(), "state");
        let second = board.make(&[], None).unwrap();
        assert_ne!(second.root(), scratch.root());
        let root = scratch.root().to_owned();
        drop(scratch);
        assert!(!root.exists());
        assert!(provider.join("binary").exists(), "what is linked to stays");
        TrialFolder::remove_leftovers(&board.root.path().join(".draftboard")).unwrap();
        assert!(!second.root().exists());
        TrialFolder::remove_leftovers(&board.root.path().join(".draftboard")).unwrap();
    }

    #[test]
    fn a_state_that_is_named_is_copied_and_one_elsewhere_is_read_only_or_left_alone() {
        let board = Board::new();
        fs::create_dir_all(board.root.path().join("states")).unwrap();
        fs::write(board.root.path().join("states/shop.tfstate"), "named").unwrap();
        let local = backend("local", Some("../../states/shop.tfstate"));
        let scratch = board.make(&[], Some(&local)).unwrap();
        assert_eq!(fs::read_to_string(scratch.folder().join(STATE_FILE)).unwrap(), "named");
        assert_eq!(fs::read_to_string(scratch.folder().join(OVERRIDE_FILE)).unwrap(), LOCAL_BACKEND);

        fs::write(board.folder().join(STATE_FILE), "stray").unwrap();
        let scratch = board.make(&[], Some(&backend("s3", None))).unwrap();
        assert!(!scratch.folder().join(STATE_FILE).exists(), "it would be offered for migration");
        assert!(!scratch.folder().join(OVERRIDE_FILE).exists());

        let why = |result: Result<TrialFolder, RunError>| result.unwrap_err().to_string();
        for kind in ["remote", "pg"] {
            assert!(why(board.make(&[], Some(&backend(kind, None)))).contains(kind));
        }
        let own = ("own.tf".to_owned(), b"terraform {\n  backend \"s3\" {}\n}\n".to_vec());
        assert!(why(board.make(&[own], None)).contains("did not create"));
        fs::create_dir_all(board.folder().join(".terraform")).unwrap();
        fs::write(board.folder().join(".terraform/environment"), "live\n").unwrap();
        assert!(why(board.make(&[], None)).contains("live"));
    }
}
