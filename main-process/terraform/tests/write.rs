//! Workspace files: generated files follow the board, foreign files stay unchanged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use common::HclFixture;
use journal::WorkspaceFiles;
use std::fs;
use terraform::write::{difference, write};

#[test]
fn ours_follow_the_board_and_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let files = WorkspaceFiles::open(folder.path()).unwrap();
    let name = "main".parse().unwrap();
    let root = folder.path().join("terraform/main");
    let mut bench = HclFixture::new();
    let group = bench.add("terraform/core/group", "inner", None, "{}");
    bench.add("terraform/core/terraform_data", "one", Some(group), r#"{"input":1}"#);
    bench.add("terraform/core/output", "shown", None, r#"{"value":1}"#);
    let first = write(&files, &name, &bench.generate()).unwrap();
    assert!(
        first.removed.is_empty()
            && first.written.contains(&"terraform/main/modules/inner/main.tf".to_owned())
    );
    assert!(difference(&files, &name, &bench.generate()).unwrap().is_empty());

    fs::write(root.join("own.tf"), "# mine\n").unwrap();
    fs::write(root.join("outputs.tf"), "# mine now\n").unwrap();
    bench.run(&shared_protocol::Command::Remove { nodes: vec![group.into()], edges: Vec::new() });
    let second = write(&files, &name, &bench.generate()).unwrap();
    assert!(second.removed.contains(&"terraform/main/modules/inner/main.tf".to_owned()), "{second:?}");
    assert_eq!(second.in_the_way, ["terraform/main/outputs.tf"]);
    assert_eq!(fs::read_to_string(root.join("own.tf")).unwrap(), "# mine\n");
    assert_eq!(fs::read_to_string(root.join("outputs.tf")).unwrap(), "# mine now\n");
    assert!(!root.join("modules/inner/main.tf").exists());
}

#[test]
fn a_link_in_the_way_leads_nowhere() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = WorkspaceFiles::open(folder.path()).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("terraform")).unwrap();
    let mut bench = HclFixture::new();
    bench.add("terraform/core/terraform_data", "one", None, "{}");
    assert!(write(&files, &"main".parse().unwrap(), &bench.generate()).is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
