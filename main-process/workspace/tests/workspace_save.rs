//! Saving: what it writes, moves and removes; and what counts as saved.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use shared_protocol::{
    GraphDocument, RefusalCode,
    messages::{ConflictResolution, HeldReason},
};
use std::{fs, os::unix::fs::PermissionsExt as _};
use workspace_fixture::WorkspaceFixture;

fn two_notes() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.save();
    bench
}

#[test]
fn what_is_saved_is_told_by_revision() {
    let mut bench = WorkspaceFixture::new();
    assert!(bench.is_saved(), "a new workspace is saved");
    assert_eq!(bench.ws().status().undo, None);
    let saved = |bench: &WorkspaceFixture| (bench.ws().saved_revision().0, bench.revision());
    bench.add("main", "a");
    assert_eq!(saved(&bench), (0, 1));
    let (revision, files) = bench.workspace().save().unwrap();
    assert_eq!((revision.0, files), (1, vec!["boards/main.board.json".to_owned()]));
    assert_eq!(saved(&bench), (1, 1));
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    assert_eq!(saved(&bench), (2, 2), "the file has it already");
    bench.label("a", "mine");
    assert_eq!(saved(&bench), (2, 3), "the files hold what the other program wrote");
    bench.add("main", "b");
    bench.crash_and_open();
    assert_eq!(saved(&bench), (2, 4));
    bench.undo();
    assert_eq!(saved(&bench), (2, 5));
    bench.undo();
    assert_eq!(saved(&bench), (6, 6), "taken back to what the files hold");
    bench.redo();
    assert_eq!(saved(&bench), (6, 7));
    bench.save();
    assert_eq!(saved(&bench), (7, 7));
    assert!(bench.save().is_empty(), "nothing is written twice");
    bench.run(r#"{"addBoard":{"kind":"spec","title":"Passing"}}"#);
    bench.run(r#"{"removeBoard":{"board":"passing"}}"#);
    assert_eq!(saved(&bench), (9, 9), "it never was in a file");
}

#[test]
fn a_removed_board_takes_its_file_along() {
    let mut bench = two_notes();
    bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
    bench.save();
    bench.run(r#"{"removeBoard":{"board":"main"}}"#);
    assert!(!bench.is_saved());
    bench.crash_and_open();
    assert!(!bench.is_saved(), "the file is still there");
    assert_eq!(bench.save(), ["boards/main.board.json"]);
    assert_eq!(bench.files(), ["other"]);
    assert!(bench.is_saved());
    bench.undo();
    bench.save();
    assert_eq!(
        (bench.files(), bench.names()),
        (vec!["main".to_owned(), "other".to_owned()], vec!["a".into(), "b".into()])
    );
}

#[test]
fn a_new_board_may_take_the_name_of_a_removed_one() {
    let mut bench = two_notes();
    bench.run(r#"{"removeBoard":{"board":"main"}}"#);
    bench.run(r#"{"addBoard":{"kind":"spec","title":"Main"}}"#);
    bench.save();
    assert!(bench.is_saved() && bench.files() == ["main"]);
    assert_eq!(bench.aside(), ["main-before-emptied-1.board.json"]);
    bench.reopen();
    assert!(bench.is_saved() && bench.names().is_empty());
}

#[test]
fn a_removed_board_leaves_a_file_that_is_not_ours() {
    let mut bench = two_notes();
    bench.run(r#"{"removeBoard":{"board":"main"}}"#);
    bench.edit_label("main", "a", "theirs");
    bench.save();
    assert!(bench.text("main").contains("theirs") && !bench.is_saved());
    bench.look("main");
    assert_eq!(bench.label_of("a"), "theirs");
}

#[test]
fn a_removal_that_is_taken_back_meets_an_edit_of_the_file() {
    let mut bench = two_notes();
    bench.run(r#"{"removeBoard":{"board":"main"}}"#);
    bench.edit_label("main", "a", "theirs");
    bench.save();
    bench.undo();
    bench.label("b", "mine");
    bench.look("main");
    assert_eq!(
        (bench.label_of("a"), bench.label_of("b"), bench.held()),
        ("theirs".into(), "mine".into(), vec![])
    );
    bench.save();
    assert!(bench.is_saved() && bench.files() == ["main"]);
}

#[test]
fn a_renamed_board_whose_old_file_was_edited_is_not_saved_past_the_edit() {
    let mut bench = two_notes();
    bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
    bench.edit_label("main", "a", "theirs");
    assert_eq!(bench.workspace().save().unwrap_err().code, RefusalCode::Conflict);
    assert_eq!(bench.files(), ["main"]);
    bench.look("main");
    bench.save();
    assert_eq!(
        (bench.files(), bench.label_of("a"), bench.held()),
        (vec!["web".to_owned()], "theirs".into(), vec![])
    );
}

#[test]
fn a_renamed_board_moves_its_file() {
    let mut bench = two_notes();
    bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
    bench.crash_and_open();
    assert!(!bench.is_saved());
    assert_eq!(bench.save(), ["boards/main.board.json", "boards/web.board.json"]);
    assert_eq!(bench.files(), ["web"]);
    bench.look("main");
    bench.look("web");
    bench.reopen();
    assert_eq!((bench.boards(), bench.names()), (vec!["web".to_owned()], vec!["a".into(), "b".into()]));
    assert!(bench.is_saved());
}

#[test]
fn a_rename_onto_a_foreign_file_overwrites_nothing_and_keeps_the_old_file() {
    for keep in [ConflictResolution::Mine, ConflictResolution::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
        bench.write(
            "web",
            r#"{"format":1,"board":{"id":"b-00000000002b","kind":"spec","title":"Theirs"},"nodes":{}}"#,
        );
        let foreign = bench.text("web");
        assert_eq!(bench.workspace().save().unwrap_err().code, RefusalCode::Conflict);
        assert_eq!(bench.held(), [("web".to_owned(), HeldReason::Conflict)]);
        assert_eq!((bench.files(), bench.text("web")), (vec!["main".to_owned(), "web".to_owned()], foreign));
        bench.resolve("web", keep).unwrap();
        bench.save();
        assert_eq!((bench.files(), bench.boards()), (vec!["web".to_owned()], vec!["web".to_owned()]));
        assert_eq!(bench.names().len(), if keep == ConflictResolution::Mine { 2 } else { 0 });
        assert!(bench.is_saved() && bench.aside().len() == 1);
        bench.reopen();
        assert!(bench.is_saved() && bench.held().is_empty());
    }
}

#[test]
fn boards_that_swap_names_swap_files() {
    let mut bench = two_notes();
    bench.run(r#"{"addBoard":{"kind":"infrastructure","title":"Web"}}"#);
    bench.add("web", "c");
    bench.save();
    for (from, to) in [("main", "passing"), ("web", "main"), ("passing", "web")] {
        bench.run(&format!(r#"{{"updateBoard":{{"board":"{from}","name":"{to}"}}}}"#));
    }
    bench.save();
    assert!(bench.text("main").contains(r#""name":"c""#) && bench.text("web").contains(r#""name":"a""#));
    let content = bench.content();
    bench.look_at_everything();
    bench.reopen();
    assert_eq!(bench.content(), content);
    assert!(bench.is_saved() && bench.held().is_empty() && bench.notices().is_empty());
}

#[test]
fn the_last_content_of_an_emptied_board_is_kept() {
    let mut bench = two_notes();
    let before = bench.text("main");
    bench.run(r#"{"updateBoard":{"board":"main","title":"A title that makes the file of the board longer than it was with the two notes that it held before they went, and much more than that, so that sizes say nothing"}}"#);
    bench.run(r#"{"remove":{"nodes":["a","b"]}}"#);
    bench.save();
    assert_eq!(bench.aside(), ["main-before-emptied-1.board.json"]);
    assert_eq!(bench.aside_text("main-before-emptied-1.board.json"), before);
    bench.run(r#"{"updateBoard":{"board":"main","title":"Short"}}"#);
    bench.save();
    assert_eq!(bench.aside().len(), 1, "an empty one needs no keeping");
}

#[test]
fn a_file_that_is_marked_read_only_is_respected() {
    let mut bench = two_notes();
    bench.label("a", "mine");
    bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
    let file = bench.file("main");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let refusal = bench.workspace().save().unwrap_err();
    assert!(refusal.message.contains("chmod"), "{refusal}");
    assert!(!bench.text("main").contains("mine") && !bench.is_saved());
    bench.crash_and_open();
    fs::set_permissions(bench.file("main"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!((bench.label_of("a"), bench.held()), ("mine".to_owned(), vec![]));
    bench.save();
    assert!(bench.text("main").contains("mine") && bench.is_saved());
    assert_eq!(bench.files(), ["main", "other"]);
}

#[test]
fn a_folder_without_machine_state_opens_as_it_was_saved() {
    let mut bench = two_notes();
    bench.run(
        r#"{"addNode":{"board":"main","type":"notes/frame","name":"frame","label":"Füße \"quoted\" \\"}}"#,
    );
    bench.save();
    let mut clone = bench.clone_by_git();
    assert_eq!(clone.content(), bench.content());
    assert!(clone.is_saved());
    assert_eq!((clone.ws().status().undo, clone.revision()), (None, 0));
    assert_eq!(clone.log(), []);
    assert!(clone.save().is_empty());
    assert_eq!(GraphDocument { ..clone.content() }, bench.content());
}
