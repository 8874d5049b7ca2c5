//! The watcher on a real folder. Time limits are generous: the tests check that events arrive, not how fast.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may unwrap and panic")]

use crossbeam_channel::{Receiver, bounded};
use journal::{FileChange, WorkspaceFiles, WorkspacePath, WorkspaceWatcher};
use shared_protocol::SourcePath;
use std::{fs, path::Path, time::Instant};
use tempfile::TempDir;
use test_support::{PATIENCE, wait_until};

fn watched(folders: &[&str]) -> (TempDir, WorkspaceWatcher, Receiver<FileChange>) {
    let root = tempfile::tempdir().unwrap();
    for folder in folders {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    let (sender, receiver) = bounded(4);
    let watcher = WorkspaceWatcher::start(root.path(), sender).unwrap();
    (root, watcher, receiver)
}

fn wait_for(receiver: &Receiver<FileChange>, expected: &FileChange) {
    let deadline = Instant::now() + PATIENCE;
    while let Ok(change) = receiver.recv_deadline(deadline) {
        if change == *expected {
            return;
        }
    }
    panic!("{expected:?} was not noticed");
}

fn changed(path: &str) -> FileChange {
    FileChange::Path(WorkspacePath::parse(path).unwrap())
}

/// Returns every change that arrives before that of a file written last.
fn all_before(root: &Path, receiver: &Receiver<FileChange>) -> Vec<FileChange> {
    fs::write(root.join("modules/zzz-last.json"), "").unwrap();
    let last = changed("modules/zzz-last.json");
    let deadline = Instant::now() + PATIENCE;
    let mut all = Vec::new();
    while let Ok(change) = receiver.recv_deadline(deadline) {
        if change == last {
            return all;
        }
        all.push(change);
    }
    panic!("the last change was not noticed");
}

#[test]
fn writes_renames_and_removals_are_noticed() {
    let (root, _watcher, receiver) = watched(&["boards", "modules", "components"]);
    let board = root.path().join("boards/a.board.json");
    fs::write(&board, "1").unwrap();
    wait_for(&receiver, &changed("boards/a.board.json"));
    fs::write(root.path().join("elsewhere"), "2").unwrap();
    fs::rename(root.path().join("elsewhere"), &board).unwrap();
    wait_for(&receiver, &changed("boards/a.board.json"));
    fs::rename(&board, root.path().join("boards/b.board.json")).unwrap();
    wait_for(&receiver, &changed("boards/b.board.json"));
    fs::remove_file(root.path().join("boards/b.board.json")).unwrap();
    wait_for(&receiver, &changed("boards/b.board.json"));
    fs::write(root.path().join("draftboard.toml"), "").unwrap();
    wait_for(&receiver, &changed("draftboard.toml"));
    fs::write(root.path().join("components/x.component.json"), "").unwrap();
    wait_for(&receiver, &changed("components/x.component.json"));
}

#[test]
fn a_burst_is_gathered_and_noise_is_not_news() {
    let (root, _watcher, receiver) = watched(&["boards", "modules"]);
    for round in 0..200 {
        fs::write(root.path().join("boards/a.board.json"), round.to_string()).unwrap();
    }
    fs::write(root.path().join("README.md"), "").unwrap();
    fs::write(root.path().join("boards/.a.swp"), "").unwrap();
    fs::write(root.path().join("boards/a.board.json~"), "").unwrap();
    fs::create_dir_all(root.path().join("target/debug")).unwrap();
    let all = all_before(root.path(), &receiver);
    assert!(!all.is_empty() && all.iter().all(|change| *change == changed("boards/a.board.json")), "{all:?}");
    assert!(all.len() < 50, "two hundred writes are {} pieces of news", all.len());
    let _ = fs::read(root.path().join("boards/a.board.json")).unwrap();
    let _ = fs::read_dir(root.path().join("boards")).unwrap().count();
    assert_eq!(all_before(root.path(), &receiver), [], "reading is not a change");
}

#[test]
fn folders_that_come_later_or_again_are_watched() {
    let (root, _watcher, receiver) = watched(&[]);
    for _ in 0..2 {
        fs::create_dir(root.path().join("boards")).unwrap();
        wait_for(&receiver, &FileChange::Everything);
        fs::write(root.path().join("boards/a.board.json"), "1").unwrap();
        wait_for(&receiver, &changed("boards/a.board.json"));
        fs::remove_dir_all(root.path().join("boards")).unwrap();
        wait_for(&receiver, &FileChange::Everything);
    }
    fs::create_dir(root.path().join("prepared")).unwrap();
    fs::rename(root.path().join("prepared"), root.path().join("modules")).unwrap();
    wait_for(&receiver, &FileChange::Everything);
    fs::write(root.path().join("modules/m.json"), "1").unwrap();
    wait_for(&receiver, &changed("modules/m.json"));
}

#[test]
fn too_much_at_once_is_everything_and_a_full_channel_blocks_nobody() {
    let (root, watcher, receiver) = watched(&["boards"]);
    for number in 0..3_000 {
        fs::write(root.path().join(format!("boards/b{number}.board.json")), "").unwrap();
    }
    wait_for(&receiver, &FileChange::Everything);
    for number in 0..50 {
        fs::write(root.path().join(format!("boards/c{number}.board.json")), "").unwrap();
    }
    // The channel is full and nobody receives from it: stopping must not block.
    wait_until("a full channel", || receiver.is_full());
    let started = Instant::now();
    drop(watcher);
    assert!(started.elapsed() < PATIENCE);
    drop(receiver);
}

#[test]
fn our_own_saves_are_one_piece_of_news_and_links_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let (root, _watcher, receiver) = watched(&["boards", "modules"]);
    std::os::unix::fs::symlink(outside.path(), root.path().join("components")).unwrap();
    wait_for(&receiver, &FileChange::Everything);
    fs::write(outside.path().join("x"), "").unwrap();
    let files = WorkspaceFiles::open(root.path()).unwrap();
    files.write_atomic(&WorkspacePath::parse("boards/a.board.json").unwrap(), b"1").unwrap();
    let all = all_before(root.path(), &receiver);
    assert!(!all.is_empty() && all.iter().all(|change| *change == changed("boards/a.board.json")), "{all:?}");
}

#[test]
fn a_missing_root_is_refused() {
    let (sender, _receiver) = bounded(1);
    let error = WorkspaceWatcher::start(Path::new("/nonexistent/workspace"), sender).unwrap_err();
    assert!(error.to_string().contains("noticed only at the next start"), "{error}");
}

#[test]
fn folders_of_sources_are_watched_once_they_are_named() {
    let (root, watcher, receiver) = watched(&["boards", "modules", "components", "specs"]);
    fs::create_dir_all(root.path().join("specs/shop/features")).unwrap();
    let folder = |text: &str| SourcePath::parse(text).unwrap();
    watcher.watch_sources([folder("specs"), folder("specs/shop"), folder("specs/shop/features")]);
    // Existing files of a new folder are reported.
    wait_for(&receiver, &changed("specs/shop/features"));
    fs::write(root.path().join("specs/shop/features/F-1.yaml"), "1").unwrap();
    wait_for(&receiver, &changed("specs/shop/features/F-1.yaml"));
    fs::create_dir(root.path().join("specs/other")).unwrap();
    wait_for(&receiver, &changed("specs/other"));
    watcher.watch_sources([folder("specs")]);
    fs::create_dir(root.path().join("specs/third")).unwrap();
    wait_for(&receiver, &changed("specs/third"));
    fs::write(root.path().join("specs/shop/features/F-1.yaml"), "2").unwrap();
    let not_any_more = changed("specs/shop/features/F-1.yaml");
    assert!(!all_before(root.path(), &receiver).contains(&not_any_more));
}
