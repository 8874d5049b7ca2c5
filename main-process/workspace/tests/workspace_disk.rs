//! A disk that is full or read-only, on a real one: a small file system in memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may unwrap and panic")]

mod workspace_fixture;

use shared_protocol::{Actor, ActorKind, RefusalCode};
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use test_support::TmpfsFixture;
use workspace::Mutation;
use workspace_fixture::{WorkspaceFixture, copy};

fn root_on(disk: &TmpfsFixture) -> PathBuf {
    disk.path().join("shop")
}

fn long_text(letter: &str) -> String {
    let text = letter.repeat(4_000);
    format!(r#"{{"updateNode":{{"node":"a","set":{{"text":"{text}"}}}}}}"#)
}

/// Edits until the disk has no room for one more; gives the refusal.
fn edit_until_full(bench: &mut WorkspaceFixture) -> shared_protocol::Refusal {
    for round in 0..500 {
        let before = bench.content();
        if let Err(refusal) = bench.try_run(&long_text(if round % 2 == 0 { "x" } else { "y" })) {
            assert_eq!(bench.content(), before);
            return refusal;
        }
    }
    panic!("the disk never gets full")
}

#[test]
fn a_full_disk_refuses_edits_and_loses_nothing() {
    let Some(disk) = TmpfsFixture::mount(1024) else { return };
    let mut bench = WorkspaceFixture::at(&root_on(&disk));
    bench.add("main", "a");
    bench.save();
    let filler = disk.fill();
    let refusal = edit_until_full(&mut bench);
    assert_eq!(refusal.code, RefusalCode::StorageError);
    assert!(
        refusal.message.contains("nothing was changed") && refusal.message.contains("free some space"),
        "{refusal}"
    );
    let (content, revision) = (bench.content(), bench.revision());

    // A group is refused as a whole.
    let actor = Actor::new(ActorKind::Window, "ada");
    let moments: Vec<_> = (0..20).map(|_| bench.moment()).collect();
    let mut group = bench.workspace().begin();
    for (round, moment) in moments.into_iter().enumerate() {
        let command = long_text(if round % 2 == 0 { "v" } else { "w" });
        group.run(&Mutation::Run(Box::new(serde_json::from_str(&command).unwrap())), &actor, moment).unwrap();
    }
    assert_eq!(group.commit().unwrap_err().code, RefusalCode::StorageError);
    assert_eq!((bench.content(), bench.revision()), (content, revision));

    // What was acknowledged is there after a crash, on a disk with room.
    let elsewhere = tempfile::tempdir().unwrap();
    let crashed = elsewhere.path().join("crashed");
    copy(&root_on(&disk), &crashed);
    let moment = bench.moment();
    let found = workspace::Workspace::open(&crashed, moment).unwrap();
    assert_eq!(found.snapshot(), bench.ws().snapshot());

    std::fs::remove_file(filler).unwrap();
    bench.add("main", "b");
    bench.save();
    bench.reopen();
    assert_eq!((bench.names(), bench.is_saved()), (vec!["a".to_owned(), "b".to_owned()], true));
}

#[test]
fn a_full_disk_refuses_a_save_and_keeps_the_old_file() {
    let Some(disk) = TmpfsFixture::mount(2048) else { return };
    let mut bench = WorkspaceFixture::at(&root_on(&disk));
    bench.add("main", "a");
    bench.save();
    for count in 0..30 {
        let text = "z".repeat(4_000);
        bench.run(&format!(
            r#"{{"addNode":{{"board":"main","type":"notes/sticky","name":"n{count}","props":{{"text":"{text}"}}}}}}"#
        ));
    }
    let (before, content) = (bench.text("main"), bench.content());
    let filler = disk.fill();
    let refusal = bench.workspace().save().unwrap_err();
    assert!(refusal.message.contains("free some space"), "{refusal}");
    assert_eq!(bench.text("main"), before);
    assert!(!bench.is_saved());
    assert_eq!((bench.content(), bench.files()), (content, vec!["main".to_owned()]));
    bench.look("main");
    assert_eq!((bench.held(), bench.log()[0].actor.kind), (vec![], ActorKind::Window));
    std::fs::remove_file(filler).unwrap();
    bench.save();
    assert!(bench.is_saved() && bench.text("main").contains("zzz"));
    bench.look("main");
    bench.reopen();
    assert!(bench.is_saved() && bench.held().is_empty());
}

#[test]
fn an_edit_by_another_program_on_a_full_disk_is_taken_in_later() {
    let Some(disk) = TmpfsFixture::mount(1024) else { return };
    let mut bench = WorkspaceFixture::at(&root_on(&disk));
    bench.add("main", "a");
    bench.save();
    let filler = disk.fill();
    edit_until_full(&mut bench);
    std::fs::remove_file(&filler).unwrap();
    bench.edit("main", |document| {
        for bits in 1..100 {
            workspace_fixture::add_note(document, bits, &format!("theirs_{bits}"));
        }
    });
    disk.fill();
    let before = bench.content();
    bench.look("main");
    assert_eq!(bench.content(), before);
    assert!(bench.notices()[0].contains("free some space"), "{:?}", bench.notices());
    std::fs::remove_file(&filler).unwrap();
    bench.look("main");
    assert_eq!((bench.names().len(), bench.notices(), bench.held()), (100, vec![], vec![]));
}

#[test]
fn a_disk_that_becomes_read_only_is_opened_for_reading_and_works_again_after() {
    let Some(disk) = TmpfsFixture::mount(2048) else { return };
    let mut bench = WorkspaceFixture::at(&root_on(&disk));
    bench.add("main", "a");
    bench.save();
    bench.label("a", "mine");
    let (content, before) = (bench.content(), bench.text("main"));
    bench.close();
    disk.remount("ro");
    bench.open();
    let notices = bench.notices();
    assert!(
        notices.iter().any(|notice| notice.contains("read-only") && notice.contains("never saved")),
        "{notices:?}"
    );
    let command = r#"{"updateNode":{"node":"a","label":"theirs"}}"#;
    assert_eq!(bench.try_run(command).unwrap_err().code, RefusalCode::ReadOnly);
    assert_eq!(bench.text("main"), before);
    bench.close();
    disk.remount("rw");
    bench.open();
    assert_eq!((bench.content(), bench.text("main")), (content, before));
    bench.save();
    assert!(bench.text("main").contains("mine"));
}

#[test]
fn a_folder_that_cannot_be_written_refuses_the_save_and_nothing_else() {
    let Some(disk) = TmpfsFixture::mount(2048) else { return };
    let mut bench = WorkspaceFixture::at(&root_on(&disk));
    bench.add("main", "a");
    bench.save();
    let boards = bench.root().join("boards");
    let mount = |options: &[&str], path: &Path| {
        Command::new("mount").args(options).arg(path).status().unwrap().success()
    };
    assert!(
        mount(&["--bind", &boards.display().to_string()], &boards)
            && mount(&["-o", "remount,bind,ro"], &boards)
    );
    bench.label("a", "mine");
    let refusal = bench.workspace().save().unwrap_err();
    assert!(refusal.message.contains("read-only") && refusal.message.contains("writable"), "{refusal}");
    bench.label("a", "still mine");
    assert!(Command::new("umount").arg(&boards).status().unwrap().success());
    bench.save();
    assert!(bench.text("main").contains("still mine") && bench.is_saved());
}
