//! Workspace files: no path leads outside, no write is partial.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use journal::{Digest, FileError, Journal, WorkspaceFiles, WorkspacePath};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};
use tempfile::TempDir;

fn workspace() -> (TempDir, WorkspaceFiles) {
    let folder = tempfile::tempdir().unwrap();
    let files = WorkspaceFiles::open(folder.path()).unwrap();
    (folder, files)
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_machines_folder_is_private_and_hidden_from_git() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".draftboard")).unwrap();
    fs::set_permissions(folder.path().join(".draftboard"), Permissions::from_mode(0o755)).unwrap();
    let files = WorkspaceFiles::open(folder.path()).unwrap();
    assert_eq!(mode(&files.state_folder()), 0o700);
    assert_eq!(fs::read_to_string(files.state_folder().join(".gitignore")).unwrap(), "*\n");
    let fresh = workspace();
    assert_eq!(mode(&fresh.1.state_folder()), 0o700);
}

#[test]
fn files_are_replaced_whole_and_keep_their_permissions() {
    let (folder, files) = workspace();
    let board = path("boards/main.board.json");
    files.write_atomic(&board, b"one").unwrap();
    let file = folder.path().join("boards/main.board.json");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let before = fs::File::open(&file).unwrap();
    files.write_atomic(&board, b"two").unwrap();
    assert_eq!((files.read(&board).unwrap(), mode(&file)), (b"two".to_vec(), 0o640));
    assert_eq!(std::io::read_to_string(before).unwrap(), "one", "who had it open sees the old file whole");
    assert_eq!(fs::read_dir(folder.path().join("boards")).unwrap().count(), 1, "no temporary file is left");
    files.remove(&board).unwrap();
    files.remove(&board).unwrap();
    assert!(matches!(files.read(&board), Err(FileError::Missing { .. })));
}

#[test]
fn a_protected_file_is_not_replaced() {
    let (folder, files) = workspace();
    files.write_atomic(&path("draftboard.toml"), b"one").unwrap();
    let file = folder.path().join("draftboard.toml");
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    let error = files.write_atomic(&path("draftboard.toml"), b"two").unwrap_err();
    assert!(matches!(error, FileError::Protected { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
}

#[test]
fn links_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim.board.json");
    fs::write(&victim, "mine").unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    symlink(outside.path(), folder.path().join("boards")).unwrap();
    symlink("real", folder.path().join("modules")).unwrap();
    symlink(&victim, folder.path().join("draftboard.toml")).unwrap();
    symlink(outside.path().join("new"), folder.path().join("dangling")).unwrap();
    let files = WorkspaceFiles::open(folder.path()).unwrap();
    for text in
        ["boards/victim.board.json", "boards/new.board.json", "modules/x.json", "draftboard.toml", "dangling"]
    {
        assert!(
            matches!(files.write_atomic(&path(text), b"theirs"), Err(FileError::Link { .. })),
            "write {text}"
        );
        assert!(matches!(files.read(&path(text)), Err(FileError::Link { .. })), "read {text}");
        assert!(matches!(files.set_aside(&path(text), "x"), Err(FileError::Link { .. })), "aside {text}");
    }
    assert!(matches!(files.remove(&path("boards/victim.board.json")), Err(FileError::Link { .. })));
    assert!(matches!(files.list_boards(), Err(FileError::Link { .. })));
    let modules = files.read_modules(&["modules/*.json".to_owned(), "boards/*.json".to_owned()]);
    assert!(
        modules.iter().all(|(_, text)| matches!(text, Err(FileError::Link { .. }))) && modules.len() == 2
    );
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "nothing was made outside");
}

#[test]
fn a_linked_board_is_reported_and_never_read_or_written_through() {
    let (folder, files) = workspace();
    fs::create_dir(folder.path().join("boards")).unwrap();
    symlink("/etc/passwd", folder.path().join("boards/x.board.json")).unwrap();
    let list = files.list_boards().unwrap();
    assert!(list.boards.is_empty());
    assert!(list.others[0].to_string().contains("boards/x.board.json is ignored: it is a symbolic link"));
    let before = fs::read("/etc/passwd").unwrap();
    assert!(matches!(files.read(&path("boards/x.board.json")), Err(FileError::Link { .. })));
    assert!(matches!(files.write_atomic(&path("boards/x.board.json"), b"x"), Err(FileError::Link { .. })));
    assert_eq!(fs::read("/etc/passwd").unwrap(), before);
}

#[test]
fn a_linked_machine_folder_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    symlink(outside.path(), folder.path().join(".draftboard")).unwrap();
    assert!(matches!(WorkspaceFiles::open(folder.path()), Err(FileError::Link { .. })));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn pipes_and_folders_are_not_files() {
    let (folder, files) = workspace();
    fs::create_dir_all(folder.path().join("boards/a.board.json")).unwrap();
    let pipe = folder.path().join("boards/b.board.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for text in ["boards/a.board.json", "boards/b.board.json"] {
        assert!(matches!(files.read(&path(text)), Err(FileError::NotAFile { .. })), "{text}");
        assert!(matches!(files.write_atomic(&path(text), b"x"), Err(FileError::NotAFile { .. })), "{text}");
    }
    assert_eq!(files.list_boards().unwrap().others.len(), 2);
}

#[test]
fn boards_are_listed_by_name_and_others_with_a_reason() {
    let (folder, files) = workspace();
    assert_eq!(files.list_boards().unwrap(), journal::BoardList::default());
    fs::create_dir(folder.path().join("boards")).unwrap();
    for name in [
        "b.board.json",
        "a.board.json",
        "a-1.board.json",
        "Upper.board.json",
        "notes.txt",
        ".hidden",
        "a.board.json~",
    ] {
        fs::write(folder.path().join("boards").join(name), "").unwrap();
    }
    let list = files.list_boards().unwrap();
    assert_eq!(list.boards.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["a", "a-1", "b"]);
    let others: Vec<String> = list.others.iter().map(ToString::to_string).collect();
    assert!(others[0].contains("Upper") && others[0].contains("expected a lower-case letter"), "{others:?}");
    assert!(others[1].contains("notes.txt") && others[1].contains(".board.json"), "{others:?}");
    assert_eq!(others.len(), 2);
}

#[test]
fn what_an_interrupted_save_left_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("boards")).unwrap();
    let ours = [".draftboard-saving-123-4", "boards/.draftboard-saving-9-9"];
    let others = [".draftboard-saving-x", "boards/.saving", "boards/a.board.json.tmp"];
    for name in ours.iter().chain(&others) {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let _files = WorkspaceFiles::open(folder.path()).unwrap();
    assert!(ours.iter().all(|name| !folder.path().join(name).exists()));
    assert!(others.iter().all(|name| folder.path().join(name).exists()));
}

#[test]
fn what_is_set_aside_never_replaces_anything() {
    let (folder, files) = workspace();
    let board = path("boards/main.board.json");
    files.write_atomic(&board, b"damaged").unwrap();
    let first = files.set_aside(&board, "damaged").unwrap();
    assert_eq!(first.as_str(), ".draftboard/aside/main-damaged-1.board.json");
    let second = files.set_aside_bytes(&board, "damaged", b"ours").unwrap();
    assert_eq!(second.as_str(), ".draftboard/aside/main-damaged-2.board.json");
    assert_eq!(files.read(&first).unwrap(), b"damaged");
    assert_eq!(files.read(&second).unwrap(), b"ours");
    assert_eq!(files.read(&board).unwrap(), b"damaged", "the file itself stays");
    assert_eq!(mode(&folder.path().join(first.as_str())), 0o600);
}

#[test]
fn modules_are_read_each_once_beside_their_errors() {
    let (folder, files) = workspace();
    fs::create_dir_all(folder.path().join("modules")).unwrap();
    fs::write(folder.path().join("modules/b.json"), "{}").unwrap();
    fs::write(folder.path().join("modules/a.json"), b"ok\n\xff").unwrap();
    fs::write(folder.path().join("modules/readme.md"), "").unwrap();
    let patterns = ["modules/*.json", "modules/b.json", "gone.json", "*/x.json", "../x", "none/*.json"];
    let modules = files.read_modules(&patterns.map(str::to_owned));
    let shown: Vec<String> = modules
        .iter()
        .map(|(origin, text)| match text {
            Ok(text) => format!("{origin} = {text}"),
            Err(error) => format!("{origin}: {error}"),
        })
        .collect();
    assert_eq!(shown.len(), 5, "{shown:?}");
    assert!(shown[0].starts_with("*/x.json") && shown[0].contains("last part"), "{shown:?}");
    assert!(shown[1].starts_with("../x") && shown[1].contains("not a path inside"), "{shown:?}");
    assert!(shown[2].starts_with("gone.json") && shown[2].contains("does not exist"), "{shown:?}");
    assert!(
        shown[3].starts_with("modules/a.json") && shown[3].contains("line 2, column 1: not UTF-8"),
        "{shown:?}"
    );
    assert_eq!(shown[4], "modules/b.json = {}");
}

#[test]
fn a_save_that_stops_at_any_step_is_recognised() {
    let (folder, files) = workspace();
    let board = path("boards/main.board.json");
    let (old, new) = (b"old".as_slice(), b"new".as_slice());
    for steps in 0..=3 {
        let state = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(state.path()).unwrap();
        files.write_atomic(&board, old).unwrap();
        journal.record_content(&[(board.clone(), Digest::hash(old))]).unwrap();
        if steps >= 1 {
            journal.record_pending(&[(board.clone(), Digest::hash(new))]).unwrap();
        }
        if steps >= 2 {
            files.write_atomic(&board, new).unwrap();
        }
        if steps >= 3 {
            journal.confirm_pending(std::slice::from_ref(&board)).unwrap();
        }
        drop(journal);
        let journal = Journal::open(state.path()).unwrap();
        let content = Digest::hash(&files.read(&board).unwrap());
        assert!(journal.file_record(&board).unwrap().is_known(content), "after {steps} steps");
        fs::write(folder.path().join(board.as_str()), "theirs").unwrap();
        let content = Digest::hash(&files.read(&board).unwrap());
        assert!(
            !journal.file_record(&board).unwrap().is_known(content),
            "an edit by somebody else is not ours"
        );
    }
}
