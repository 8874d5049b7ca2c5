//! Saving: what it writes, moves and removes; what a crash in the middle of it leaves; and what counts as saved.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_bench;

use journal::{Digest, Journal, WorkspaceFiles, WorkspacePath, write_board};
use shared_protocol::{BoardName, Code, Document, messages::{HeldReason, Keep}};
use std::{fs, os::unix::fs::PermissionsExt as _};
use workspace_bench::Bench;

fn two_notes() -> Bench {
    let mut bench = Bench::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.save();
    bench
}

#[test]
fn what_is_saved_is_told_by_revision() {
    let mut bench = Bench::new();
    assert!(bench.is_saved(), "a new workspace is saved");
    assert_eq!(bench.ws().status().undo, None);
    let saved = |bench: &Bench| (bench.ws().saved_revision().0, bench.revision());
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
    assert_eq!((bench.files(), bench.names()), (vec!["main".to_owned(), "other".to_owned()], vec!["a".into(), "b".into()]));
}

#[test]
fn a_removed_board_leaves_a_file_that_is_not_ours() {
    let mut bench = two_notes();
    bench.run(r#"{"removeBoard":{"board":"main"}}"#);
    bench.edit_label("main", "a", "theirs");
    bench.save();
    assert!(bench.text("main").contains("theirs"));
    bench.look("main");
    assert_eq!(bench.label_of("a"), "theirs");
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
    for keep in [Keep::Mine, Keep::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
        bench.write("web", r#"{"format":1,"board":{"id":"b-00000000002b","kind":"spec","title":"Theirs"},"nodes":{}}"#);
        let foreign = bench.text("web");
        assert_eq!(bench.workspace().save().unwrap_err().code, Code::Conflict);
        assert_eq!(bench.held(), [("web".to_owned(), HeldReason::Conflict)]);
        assert_eq!((bench.files(), bench.text("web")), (vec!["main".to_owned(), "web".to_owned()], foreign));
        bench.resolve("web", keep).unwrap();
        bench.save();
        assert_eq!((bench.files(), bench.boards()), (vec!["web".to_owned()], vec!["web".to_owned()]));
        assert_eq!(bench.names().len(), if keep == Keep::Mine { 2 } else { 0 });
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

/// The steps of a save, done by hand up to some point, as a crash would leave them.
#[test]
fn a_crash_in_the_middle_of_a_save_leaves_files_that_are_known_as_ours() {
    for steps in 0..=3 {
        let mut bench = two_notes();
        bench.label("a", "mine");
        bench.run(r#"{"addBoard":{"kind":"spec","title":"New"}}"#);
        let content = bench.content();
        let texts = ["main", "new"].map(|name| {
            let document = bench.ws().snapshot().board_document(bench.board(name));
            (WorkspacePath::board(&BoardName::parse(name).unwrap()), write_board(&document).unwrap())
        });
        bench.crash();
        {
            let files = WorkspaceFiles::open(bench.root()).unwrap();
            let mut journal = Journal::open(&files.state_folder()).unwrap();
            let pending = texts.clone().map(|(path, text)| (path, Digest::of(text.as_bytes())));
            if steps > 0 {
                journal.record_pending(&pending).unwrap();
            }
            if steps > 1 {
                texts.iter().for_each(|(path, text)| files.write_atomic(path, text.as_bytes()).unwrap());
            }
            if steps > 2 {
                journal.confirm(&[texts[0].0.clone()]).unwrap();
            }
        }
        bench.open();
        assert_eq!((bench.content(), bench.held(), bench.notices()), (content.clone(), vec![], vec![]), "{steps}");
        assert_eq!(bench.is_saved(), steps > 1);
        let log = bench.log().len();
        bench.look_at_everything();
        assert_eq!(bench.log().len(), log, "nothing is taken for somebody's edit");
        bench.save();
        assert!(bench.is_saved());
        bench.close();
        bench.edit_label("main", "b", "theirs");
        bench.open();
        assert_eq!((bench.label_of("b"), bench.held()), ("theirs".to_owned(), vec![]));
    }
}

#[test]
fn a_crash_between_writing_the_new_file_and_removing_the_old_one_is_finished_by_the_next_save() {
    let mut bench = two_notes();
    let old = bench.text("main");
    bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
    let content = bench.content();
    let new = write_board(&bench.ws().snapshot().board_document(bench.board("web"))).unwrap();
    bench.crash();
    {
        let files = WorkspaceFiles::open(bench.root()).unwrap();
        let path = WorkspacePath::parse("boards/web.board.json").unwrap();
        let mut journal = Journal::open(&files.state_folder()).unwrap();
        journal.record_pending(&[(path.clone(), Digest::of(new.as_bytes()))]).unwrap();
        files.write_atomic(&path, new.as_bytes()).unwrap();
        journal.confirm(&[path]).unwrap();
    }
    assert_eq!(bench.text("main"), old);
    bench.open();
    assert_eq!((bench.content(), bench.notices()), (content, vec![]));
    assert!(!bench.is_saved());
    assert_eq!(bench.save(), ["boards/main.board.json"]);
    assert_eq!(bench.files(), ["web"]);
    assert!(bench.is_saved());
}

#[test]
fn a_crash_before_the_first_state_is_whole_is_no_harm() {
    let mut bench = two_notes();
    let content = bench.content();
    let mut clone = bench.clone_by_git();
    clone.close();
    // The records are there, the checkpoint is not.
    let journal = rusqlite::Connection::open(clone.root().join(".draftboard/journal.db")).unwrap();
    journal.execute_batch("DELETE FROM checkpoint").unwrap();
    drop(journal);
    clone.open();
    assert_eq!((clone.content(), clone.held()), (content, vec![]));
    assert!(clone.is_saved() && clone.ws().status().undo.is_none());
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
    bench.run(r#"{"addNode":{"board":"main","type":"notes/frame","name":"frame","label":"Füße \"quoted\" \\"}}"#);
    bench.save();
    let mut clone = bench.clone_by_git();
    assert_eq!(clone.content(), bench.content());
    assert!(clone.is_saved());
    assert_eq!((clone.ws().status().undo, clone.revision()), (None, 0));
    assert_eq!(clone.log(), []);
    assert!(clone.save().is_empty());
    assert_eq!(Document { ..clone.content() }, bench.content());
}
