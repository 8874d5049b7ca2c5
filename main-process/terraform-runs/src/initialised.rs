//! Unattended runs: under a standing approval, or main's own plan of an agent's request. Such a run may execute, send and read
//! only what can be judged beforehand. Everything else waits until a person starts it.

use super::{
    drafts::GeneratedBoard, request_plan::configuration, user::TerraformUserFiles, workspace_inputs::storage,
};
use journal::{Digest, WorkspacePath};
use shared_protocol::{Refusal, terraform::TerraformOperation};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use terraform::{reach::ConfigurationGraph, run::fingerprint};

pub(super) const NOT_HERE: &str =
    "This board's folder was not initialised here. Press Plan to run it yourself.";
/// A folder beside the configuration from which Terraform takes providers.
const PLUGINS: &str = "terraform.d";

/// The record of what our `init` left in a folder. It is outside the workspace, so that no clone brings it along.
fn record(user: &TerraformUserFiles, folder: &Path) -> PathBuf {
    let name = Digest::hash(folder.as_os_str().as_encoded_bytes()).to_string();
    user.plans.with_file_name("initialised").join(name)
}

/// Whether `.terraform` is empty, or as an `init` that ran here left it.
pub(super) fn is_ours(user: Option<&TerraformUserFiles>, folder: &Path) -> bool {
    match fingerprint(folder) {
        Ok(None) => true,
        Ok(Some(now)) => {
            let known = user.map(|user| fs::read_to_string(record(user, folder)));
            matches!(known, Some(Ok(known)) if known == now.to_string())
        }
        Err(error) => {
            tracing::warn!(%error, folder = %folder.display(), ".terraform cannot be judged");
            false
        }
    }
}

/// Records what an `init` that ran here has left.
pub(super) fn record_init(user: &TerraformUserFiles, folder: &Path) -> io::Result<()> {
    let path = record(user, folder);
    match fingerprint(folder)? {
        Some(now) => safe_fs::write_private(&path, now.to_string().as_bytes()),
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// The reason why a run needs a person; `None` when it may start unattended.
pub(super) fn needs_person(
    draft: &GeneratedBoard,
    user: Option<&TerraformUserFiles>,
    operation: TerraformOperation,
) -> Result<Option<String>, Refusal> {
    let configuration = configuration(draft)?;
    if let Some(sink) = configuration.first_sink() {
        return Ok(Some(format!("This board's plan runs {sink}. Press Plan to run it yourself.")));
    }
    let folder = draft.inputs.folder(&draft.board);
    if folder.join(PLUGINS).symlink_metadata().is_ok() {
        return Ok(Some(format!(
            "This board's folder contains its own providers in {PLUGINS}. Press Plan to run it yourself."
        )));
    }
    if !is_ours(user, &folder) {
        return Ok(Some(NOT_HERE.to_owned()));
    }
    if operation != TerraformOperation::Init {
        return Ok(None);
    }
    let fetched = match configuration.first_fetched() {
        None => test_file(draft)?,
        some => some,
    };
    let fetched = match fetched {
        None => state(draft, &configuration),
        some => some,
    };
    Ok(fetched.map(|what| format!("Init would fetch a provider for {what}. Press Init to run it yourself.")))
}

/// A test file of the module, in its folder or in `tests`: `init` fetches the modules and providers that it names.
fn test_file(draft: &GeneratedBoard) -> Result<Option<String>, Refusal> {
    let root = terraform::write::folder_of(&draft.board.name);
    for folder in [root.clone(), format!("{root}/tests")] {
        let listed = WorkspacePath::parse(folder).and_then(|folder| draft.inputs.files.list(&folder));
        let names = listed.map_err(|error| storage(&error))?.files;
        if let Some(name) = names.into_iter().find(|name| is_test(name)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn is_test(name: &str) -> bool {
    name != ".terraform.lock.hcl" && (name.ends_with(".hcl") || name.ends_with("test.json"))
}

/// A state names providers, which `init` fetches too. Only Terraform can read them, so any state counts.
fn state(draft: &GeneratedBoard, configuration: &ConfigurationGraph) -> Option<String> {
    let state = draft.inputs.folder(&draft.board).join("terraform.tfstate");
    (configuration.has_backend() || state.symlink_metadata().is_ok())
        .then(|| "the providers of the state".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_ours_as_long_as_it_stays_as_our_init_left_it() {
        let root = tempfile::tempdir().unwrap();
        let board = root.path().join("board");
        let user = TerraformUserFiles {
            settings: root.path().join("settings.toml"),
            plans: root.path().join("state/plans"),
            read_program: |_| Ok(None),
        };
        fs::create_dir_all(&board).unwrap();
        assert!(is_ours(None, &board), "nothing is initialised");
        let provider = board.join(".terraform/providers/h/n/t/1.0.0/linux_amd64");
        fs::create_dir_all(&provider).unwrap();
        fs::write(provider.join("binary"), "code").unwrap();
        assert!(!is_ours(Some(&user), &board), "it came with a clone");
        record_init(&user, &board).unwrap();
        assert!(is_ours(Some(&user), &board) && !is_ours(None, &board));
        fs::create_dir_all(board.join(".terraform/modules")).unwrap();
        fs::write(board.join(".terraform/modules/modules.json"), "{}").unwrap();
        assert!(!is_ours(Some(&user), &board), "a module is read from elsewhere");
        fs::remove_dir_all(board.join(".terraform")).unwrap();
        record_init(&user, &board).unwrap();
        assert!(is_ours(Some(&user), &board));
    }

    #[test]
    fn tests_of_a_module_are_not_fetched_for() {
        assert!(["x.tftest.hcl", "x.tftest.json", "x.tofutest.hcl"].into_iter().all(is_test));
        assert!(!is_test(".terraform.lock.hcl") && !is_test("main.tf") && !is_test("notes.json"));
    }
}
