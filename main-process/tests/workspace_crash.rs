//! Crashes in the middle of a save: what they leave is known as ours, and the next save finishes it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_bench;

use journal::{Digest, Journal, WorkspaceFiles, WorkspacePath, write_board};
use shared_protocol::BoardName;
use workspace_bench::Bench;

fn two_notes() -> Bench {
    let mut bench = Bench::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.save();
    bench
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
        assert_eq!(
            (bench.content(), bench.held(), bench.notices()),
            (content.clone(), vec![], vec![]),
            "{steps}"
        );
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
