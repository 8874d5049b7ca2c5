//! Files and journals that cannot be read: the rest opens, the last good state is kept, and nothing is written over them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use shared_protocol::{
    RefusalCode, Revision,
    messages::{ConflictResolution, HeldReason},
};
use std::{fs, os::unix::fs::symlink};
use workspace_fixture::WorkspaceFixture;

fn two_notes() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
    bench.save();
    bench
}

/// Ways in which a file breaks, and a word of the reason.
fn damages(text: &str) -> Vec<(Vec<u8>, &'static str)> {
    let conflict = format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> theirs\n");
    let mut not_text = text.as_bytes().to_vec();
    let at = text.find(r#""label":"a""#).unwrap() + 9;
    not_text[at] = 0xff;
    vec![
        (text.as_bytes()[..text.len() / 2].to_vec(), "line"),
        (Vec::new(), "line"),
        (conflict.into_bytes(), "merge"),
        (not_text, "UTF-8"),
        (text.replace(r#""name":"a""#, r#""name":"b""#).into_bytes(), "taken"),
    ]
}

#[test]
fn a_file_that_breaks_holds_its_board_until_it_is_mended() {
    for restarted in [false, true] {
        let whole = two_notes().text("main");
        for (damaged, words) in damages(&whole) {
            let mut bench = two_notes();
            bench.label("b", "unsaved");
            bench.write("main", &damaged);
            if restarted {
                bench.reopen()
            } else {
                bench.look("main")
            }
            assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Damaged)], "{words}");
            let message = &bench.ws().held_boards()[0].message;
            assert!(message.contains("boards/main.board.json") && message.contains(words), "{message}");
            assert_eq!((bench.label_of("a"), bench.label_of("b")), ("a".into(), "unsaved".into()));
            assert_eq!(
                bench.try_run(r#"{"remove":{"nodes":["a"]}}"#).unwrap_err().code,
                RefusalCode::ReadOnly
            );
            bench.add("other", "goes_on");
            bench.save();
            assert_eq!(fs::read(bench.file("main")).unwrap(), damaged, "not overwritten");
            let refusal = bench.resolve("main", ConflictResolution::Theirs).unwrap_err();
            assert!(refusal.message.contains(words) && !refusal.hints.is_empty(), "{refusal}");

            bench.write("main", whole.replace(r#""label":"a""#, r#""label":"mended""#));
            bench.look("main");
            assert_eq!((bench.held(), bench.notices()), (vec![], vec![]));
            assert_eq!((bench.label_of("a"), bench.label_of("b")), ("mended".into(), "unsaved".into()));
            bench.save();
        }
    }
}

#[test]
fn the_last_good_state_can_be_kept_and_the_damaged_file_is_set_aside() {
    for (damaged, words) in damages(&two_notes().text("main")) {
        let mut bench = two_notes();
        bench.write("main", &damaged);
        bench.reopen();
        bench.resolve("main", ConflictResolution::Mine).unwrap();
        assert!(!bench.is_saved(), "{words}");
        bench.crash_and_open();
        assert!(!bench.is_saved() && bench.held().is_empty());
        assert_eq!(
            fs::read(bench.root().join(".draftboard/aside").join(&bench.aside()[0])).unwrap(),
            damaged
        );
        bench.save();
        assert!(bench.text("main").contains(r#""name":"a""#) && bench.is_saved());
    }
}

#[test]
fn a_damaged_file_of_which_nothing_is_known_is_named_and_left_alone() {
    for (damaged, words) in damages(&two_notes().text("main")) {
        let mut origin = two_notes();
        origin.write("main", &damaged);
        let mut bench = origin.clone_by_git();
        assert_eq!(bench.boards(), ["other"]);
        let [notice] = &bench.notices()[..] else { panic!("{:?}", bench.notices()) };
        assert!(notice.contains("boards/main.board.json") && notice.contains(words), "{notice}");
        bench.add("other", "x");
        bench.save();
        assert_eq!(fs::read(bench.file("main")).unwrap(), damaged);
        // Nor is it when a board of that name is made.
        bench.run(r#"{"addBoard":{"kind":"spec","title":"Main"}}"#);
        assert_eq!(bench.workspace().save().unwrap_err().code, RefusalCode::Conflict);
        assert_eq!(fs::read(bench.file("main")).unwrap(), damaged);
        bench.write("main", two_notes().text("main"));
        bench.look("main");
        assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
        bench.resolve("main", ConflictResolution::Theirs).unwrap();
        assert_eq!((bench.names(), bench.notices()), (vec!["a".into(), "b".into(), "x".into()], vec![]));
        assert_eq!(bench.held(), []);
    }
}

#[test]
fn nothing_is_read_or_written_through_a_link() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.json");
    let mut bench = two_notes();
    fs::write(&secret, bench.text("main")).unwrap();
    let before = fs::read(&secret).unwrap();
    bench.label("a", "mine");
    fs::remove_file(bench.file("main")).unwrap();
    symlink(&secret, bench.file("main")).unwrap();
    bench.run(r#"{"addNode":{"board":"other","type":"notes/sticky","name":"c"}}"#);
    assert!(bench.workspace().save().is_err());
    assert!(bench.text("other").contains(r#""name":"c""#), "the others are saved");
    bench.look("main");
    assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Damaged)]);
    bench.save();
    assert!(bench.resolve("main", ConflictResolution::Mine).is_err());
    assert_eq!(fs::read(&secret).unwrap(), before);
    fs::remove_file(bench.file("main")).unwrap();
    bench.look("main");
    bench.save();
    assert!(bench.text("main").contains("mine"));
    assert_eq!(fs::read(&secret).unwrap(), before);

    // The whole folder.
    let folder = bench.root().join("boards");
    fs::rename(&folder, outside.path().join("boards")).unwrap();
    symlink(outside.path().join("boards"), &folder).unwrap();
    bench.look_at_everything();
    assert_eq!(bench.names(), ["a", "b", "c"]);
    assert!(!bench.notices().is_empty());
    fs::remove_file(&folder).unwrap();
    fs::rename(outside.path().join("boards"), &folder).unwrap();
    bench.look_at_everything();
    assert_eq!((bench.held(), bench.notices()), (vec![], vec![]));
}

#[test]
fn a_newer_workspace_is_refused_politely() {
    let newer = |text: String| text.replace("\"format\": 1", "\"format\": 2");
    // While it is open the board is held.
    let mut bench = two_notes();
    bench.label("a", "unsaved");
    bench.write("main", newer(bench.text("main")));
    bench.look("main");
    assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Damaged)]);
    bench.save();
    bench.close();
    let before = (bench.text("main"), bench.text("other"));
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().contains("update Draftboard"), "{error}");
    assert_eq!((bench.text("main"), bench.text("other")), before);
    bench.write("main", bench.text("main").replace("\"format\": 2", "\"format\": 1"));
    bench.open();
    assert_eq!(bench.label_of("a"), "unsaved");

    let mut bench = WorkspaceFixture::closed();
    bench.write("main", newer(bench.text("main")));
    assert!(bench.try_open().unwrap_err().to_string().contains("update Draftboard"));

    let mut bench = WorkspaceFixture::closed();
    fs::write(bench.root().join("draftboard.toml"), "format = 2\nname = \"x\"\n").unwrap();
    assert!(bench.try_open().unwrap_err().to_string().contains("update Draftboard"));

    let mut bench = two_notes();
    bench.close();
    meddle(&bench, "PRAGMA user_version = 99");
    assert!(bench.try_open().unwrap_err().to_string().contains("update Draftboard"));
}

fn meddle(bench: &WorkspaceFixture, sql: &str) {
    let journal = rusqlite::Connection::open(bench.root().join(".draftboard/journal.db")).unwrap();
    journal.execute_batch(sql).unwrap();
}

#[test]
fn a_damaged_journal_is_set_aside_and_work_goes_on() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.save();
    bench.add("main", "b");
    bench.add("main", "c");
    bench.add("main", "d");
    bench.crash();
    meddle(&bench, "UPDATE operations SET summary = 'x' WHERE revision = 4");
    bench.open();
    assert_eq!(bench.names(), ["a", "b", "c"], "all before the damage");
    let [notice] = &bench.notices()[..] else { panic!("{:?}", bench.notices()) };
    assert!(notice.contains("damaged") && notice.contains("journal-1.db"), "{notice}");
    assert_eq!(bench.ws().snapshot().revision(), Revision(3));
    // Which is newer, the file or what was recovered, cannot be told.
    assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
    bench.resolve("main", ConflictResolution::Mine).unwrap();
    bench.add("main", "e");
    bench.crash_and_open();
    assert_eq!((bench.names(), bench.notices()), (["a", "b", "c", "e"].map(str::to_owned).to_vec(), vec![]));
    bench.undo();
    bench.save();
    assert_eq!(bench.names(), ["a", "b", "c"]);
}

#[test]
fn a_file_that_is_newer_than_what_a_damaged_journal_gives_is_not_overwritten() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.add("main", "c");
    bench.save();
    bench.crash();
    meddle(&bench, "UPDATE operations SET summary = 'x' WHERE revision = 2");
    bench.open();
    assert_eq!(bench.names(), ["a"]);
    assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
    bench.save();
    assert!(bench.text("main").contains(r#""name":"c""#));
    bench.resolve("main", ConflictResolution::Theirs).unwrap();
    assert_eq!(bench.names(), ["a", "b", "c"]);
    assert!(bench.is_saved());
}

#[test]
fn an_unreadable_journal_is_set_aside_and_the_files_are_the_start() {
    let mut bench = two_notes();
    bench.close();
    let journal = bench.root().join(".draftboard/journal.db");
    fs::write(&journal, vec![7; 9000]).unwrap();
    bench.open();
    assert_eq!((bench.names(), bench.held()), (vec!["a".to_owned(), "b".to_owned()], vec![]));
    assert!(bench.is_saved() && bench.notices().len() == 1 && bench.ws().status().undo.is_none());
    bench.add("main", "c");
    bench.crash_and_open();
    assert_eq!(bench.names(), ["a", "b", "c"]);
    assert_eq!(bench.notices(), [""; 0]);
}

#[test]
fn damage_in_the_past_does_not_keep_a_workspace_from_opening() {
    let mut bench = two_notes();
    bench.close();
    meddle(&bench, "UPDATE operations SET actor = 'x' WHERE revision = 1");
    bench.open();
    assert_eq!(bench.names(), ["a", "b"]);
    assert_eq!(bench.notices().len(), 1);
    assert!(bench.is_saved());
    bench.add("main", "c");
    bench.crash_and_open();
    assert_eq!(bench.names(), ["a", "b", "c"]);
}
