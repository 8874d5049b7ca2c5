//! The real program, when it is installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use terraform::GeneratedHcl;

/// Returns `terraform` or `tofu`, when it is on the PATH.
pub(crate) fn program() -> Option<&'static str> {
    ["terraform", "tofu"].into_iter().find(|name| Command::new(name).arg("version").output().is_ok())
}

/// Reports a skipped test, or fails when Terraform is required.
pub(crate) fn skip(what: &str) {
    assert!(std::env::var_os("DRAFTBOARD_REQUIRE_TERRAFORM").is_none(), "{what}");
    eprintln!("SKIPPED: {what}");
}

pub(crate) fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output()
        .unwrap()
}

pub(crate) fn write(folder: &Path, generated: &GeneratedHcl) {
    for (name, text) in &generated.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.as_bytes()).unwrap();
    }
}

/// Fails with the difference when `fmt` would change anything in the folder.
pub(crate) fn assert_formatted(folder: &Path) {
    let Some(program) = program() else {
        return skip("formatting was not compared, because neither terraform nor tofu is on the path");
    };
    let output = run(program, folder, &["fmt", "-check", "-diff", "-recursive", "-no-color"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "not as fmt would leave it:\n{shown}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns a folder with unpacked providers in the layout of `terraform init -plugin-dir` that contains this
/// provider.
pub(crate) fn mirror_of(provider: &str) -> Option<PathBuf> {
    let from_variable = std::env::var_os("DRAFTBOARD_TEST_PROVIDERS").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let usual = ["/opt/tf-plugins", "/usr/share/terraform/plugins", "/usr/local/share/terraform/plugins"];
    let candidates = from_variable
        .into_iter()
        .chain(usual.map(PathBuf::from))
        .chain([home.join(".terraform.d/plugins"), home.join(".terraform.d/plugin-cache")]);
    candidates
        .into_iter()
        .find(|folder| folder.join("registry.terraform.io/hashicorp").join(provider).is_dir())
}
