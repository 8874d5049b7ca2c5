//! The real program, when it is installed.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};
use terraform::GeneratedHcl;
use test_support::requirements::{TERRAFORM, terraform_program};

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
    if !TERRAFORM.is_available() {
        return;
    }
    let program = terraform_program().unwrap();
    let output = run(program, folder, &["fmt", "-check", "-diff", "-recursive", "-no-color"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "not as fmt would leave it:\n{shown}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
