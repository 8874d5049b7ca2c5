//! Full and read-only disks, tested on a small tmpfs.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod common;

use common::{operation, small_board};
use journal::{FileError, Journal, JournalError, WorkspaceFiles, WorkspacePath};
use shared_protocol::{GraphDocument, Revision};
use std::process::Command;
use test_support::TmpfsFixture;

#[test]
fn a_full_disk_refuses_keeps_everything_and_recovers() {
    let Some(disk) = TmpfsFixture::mount(512) else { return };
    let mut journal = Journal::open(disk.path()).unwrap();
    journal.append(&(1..=5).map(|revision| operation(revision, 2_000)).collect::<Vec<_>>()).unwrap();
    let filler = disk.fill();
    let mut acknowledged = 5;
    let error = loop {
        // The log may have room left in its file.
        match journal.append(&[operation(acknowledged + 1, 20_000)]) {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 100, "the disk never gets full");
    };
    assert!(matches!(error, JournalError::DiskFull), "{error:?}");
    assert!(error.to_string().contains("free some space"));
    for _ in 0..3 {
        let group: Vec<_> = (1..=3).map(|next| operation(acknowledged + next, 20_000)).collect();
        assert!(matches!(journal.append(&group), Err(JournalError::DiskFull)));
    }
    let document = GraphDocument { revision: Revision(acknowledged), ..small_board() };
    let mut large = document.clone();
    large.boards[0].title = "x".repeat(40_000);
    assert!(matches!(journal.checkpoint(&large, 0), Err(JournalError::DiskFull)));
    assert_eq!(journal.revision(), Revision(acknowledged));
    assert_eq!(
        journal.recover().unwrap().operations.len() as u64,
        acknowledged,
        "nothing is kept of what was refused"
    );

    std::fs::remove_file(filler).unwrap();
    journal.append(&[operation(acknowledged + 1, 20_000)]).unwrap();
    drop(journal);
    let mut journal = Journal::open(disk.path()).unwrap();
    let recovered = journal.recover().unwrap().operations;
    let expected: Vec<_> = (1..=acknowledged + 1).collect();
    assert_eq!(recovered.iter().map(|operation| operation.revision.0).collect::<Vec<_>>(), expected);
    assert_eq!(journal.verify().unwrap().count, acknowledged + 1);
    journal.checkpoint(&GraphDocument { revision: Revision(acknowledged + 1), ..document }, 1).unwrap();
}

#[test]
fn a_journal_left_by_a_crash_on_a_full_disk_can_be_read_once_there_is_room() {
    let Some(disk) = TmpfsFixture::mount(512) else { return };
    let crashed = disk.path().join("crashed");
    std::fs::create_dir(&crashed).unwrap();
    let original = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(original.path()).unwrap();
    journal.append(&(1..=9).map(|revision| operation(revision, 9_000)).collect::<Vec<_>>()).unwrap();
    let files = ["journal.db", "journal.db-wal"].map(|name| original.path().join(name));
    assert!(Command::new("cp").args(files).arg(&crashed).status().unwrap().success());
    let filler = disk.fill();
    // Reading needs no space, or reports a full disk; it never reports a damaged journal.
    match Journal::open(&crashed) {
        Ok(journal) => assert_eq!(journal.recover().unwrap().operations.len(), 9),
        Err(error) => assert!(matches!(error, JournalError::DiskFull), "{error:?}"),
    }
    std::fs::remove_file(filler).unwrap();
    assert_eq!(Journal::open(&crashed).unwrap().recover().unwrap().operations.len(), 9);
}

#[test]
fn a_read_only_disk_is_refused_with_words_and_nothing_is_lost() {
    let Some(disk) = TmpfsFixture::mount(1024) else { return };
    let path = WorkspacePath::parse("boards/main.board.json").unwrap();
    {
        let files = WorkspaceFiles::open(disk.path()).unwrap();
        files.write_atomic(&path, b"old").unwrap();
        Journal::open(&files.state_folder()).unwrap().append(&[operation(1, 10)]).unwrap();
    }
    let files = WorkspaceFiles::open(disk.path()).unwrap();
    disk.remount("ro");
    let error = Journal::open(&files.state_folder()).unwrap_err();
    assert!(matches!(error, JournalError::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("make the folder and its disk writable"), "{error}");
    for error in [files.write_atomic(&path, b"new").unwrap_err(), files.remove(&path).unwrap_err()] {
        assert!(matches!(error, FileError::ReadOnlyDisk { .. }), "{error:?}");
    }
    assert!(matches!(files.set_aside(&path, "x"), Err(FileError::ReadOnlyDisk { .. })));
    assert_eq!(files.read(&path).unwrap(), b"old");
    disk.remount("rw");
    files.write_atomic(&path, b"new").unwrap();
    assert_eq!(Journal::open(&files.state_folder()).unwrap().recover().unwrap().operations.len(), 1);
}

#[test]
fn a_save_on_a_full_disk_leaves_the_old_file_and_no_litter() {
    let Some(disk) = TmpfsFixture::mount(512) else { return };
    let files = WorkspaceFiles::open(disk.path()).unwrap();
    let path = WorkspacePath::parse("boards/main.board.json").unwrap();
    files.write_atomic(&path, b"old").unwrap();
    let filler = disk.fill();
    let error = files.write_atomic(&path, &[b'x'; 100_000]).unwrap_err();
    assert!(matches!(error, FileError::DiskFull { .. }), "{error:?}");
    assert!(files.set_aside_bytes(&path, "ours", &[b'x'; 100_000]).is_err());
    assert_eq!(files.read(&path).unwrap(), b"old");
    let litter = std::fs::read_dir(disk.path().join("boards")).unwrap().count();
    assert_eq!(litter, 1, "the temporary file is gone");
    std::fs::remove_file(filler).unwrap();
    files.write_atomic(&path, &[b'x'; 100_000]).unwrap();
}
