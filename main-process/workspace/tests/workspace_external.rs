//! Another program edits the files: what it did is taken in, or held where it meets unsaved work. Neither side is lost.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use shared_protocol::{
    ActorKind, NodeId, RefusalCode,
    messages::{ConflictResolution, HeldReason},
};
use std::fs;
use workspace_fixture::{WorkspaceFixture, add_note, named};

/// Notes `a` and `b` on `main`, saved.
fn two_notes() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.save();
    bench
}

#[test]
fn an_edit_enters_as_an_operation_that_can_be_undone() {
    let mut bench = two_notes();
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    assert_eq!(bench.label_of("a"), "theirs");
    let newest = &bench.log()[0];
    assert_eq!((newest.actor.kind, newest.time), (ActorKind::External, bench.now()));
    assert!(newest.summary.contains("boards/main.board.json"), "{}", newest.summary);
    assert!(bench.is_saved());
    bench.undo();
    assert_eq!(bench.label_of("a"), "a");
    assert!(!bench.is_saved());
    bench.save();
    assert!(bench.text("main").contains(r#""label":"a""#));
}

#[test]
fn an_edit_while_nobody_was_looking_is_logged_when_it_was_noticed() {
    let mut bench = two_notes();
    bench.close();
    bench.edit_label("main", "a", "theirs");
    bench.open();
    assert_eq!(bench.label_of("a"), "theirs");
    assert_eq!(bench.log()[0].time, bench.now());
    assert!(bench.is_saved());
}

#[test]
fn an_edit_elsewhere_on_a_board_with_unsaved_work_is_merged() {
    let mut bench = two_notes();
    bench.label("a", "mine");
    bench.edit("main", |document| {
        named(document, "b").label = "theirs".to_owned();
        add_note(document, 5, "c");
    });
    bench.look("main");
    assert_eq!(
        (bench.label_of("a"), bench.label_of("b"), bench.label_of("c")),
        ("mine".into(), "theirs".into(), "c".into())
    );
    assert_eq!(bench.held(), []);
    assert!(!bench.is_saved());
    // And another one, before anything was saved.
    bench.edit_label("main", "b", "theirs again");
    bench.look("main");
    assert_eq!((bench.label_of("a"), bench.label_of("b")), ("mine".into(), "theirs again".into()));
    bench.save();
    let text = bench.text("main");
    assert!(text.contains("mine") && text.contains("theirs again") && bench.is_saved());
}

#[test]
fn unsaved_work_survives_an_edit_while_nobody_was_looking() {
    let mut bench = two_notes();
    bench.label("a", "mine");
    bench.crash();
    bench.edit_label("main", "b", "theirs");
    bench.open();
    assert_eq!((bench.label_of("a"), bench.label_of("b")), ("mine".into(), "theirs".into()));
    assert!(!bench.is_saved());

    // The same on files that nobody has saved yet, in a form that is not ours.
    let mut bench = two_notes().clone_by_git();
    bench.write("main", bench.text("main").replace("  ", "\t"));
    bench.look("main");
    bench.label("a", "mine");
    bench.close();
    bench.write("main", bench.text("main").replace(r#""label":"b""#, r#""label":"theirs""#));
    bench.open();
    assert_eq!((bench.label_of("a"), bench.label_of("b")), ("mine".into(), "theirs".into()));
    assert_eq!(bench.held(), []);
}

#[test]
fn an_edit_in_the_same_place_is_held_until_a_person_chooses() {
    for keep in [ConflictResolution::Mine, ConflictResolution::Theirs] {
        for restarted in [false, true] {
            let mut bench = two_notes();
            bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
            bench.label("a", "mine");
            bench.edit_label("main", "a", "theirs");
            if restarted {
                bench.reopen()
            } else {
                bench.look("main")
            }
            assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
            assert_eq!(bench.label_of("a"), "mine");
            let refusal = bench.try_run(r#"{"updateNode":{"node":"b","label":"x"}}"#).unwrap_err();
            assert_eq!(refusal.code, RefusalCode::ReadOnly);
            bench.add("other", "elsewhere");
            bench.save();
            assert!(bench.text("main").contains("theirs"), "the held file is not touched");
            assert!(bench.text("other").contains("elsewhere"), "others are saved");
            assert!(!bench.is_saved());

            bench.resolve("main", keep).unwrap();
            assert_eq!(bench.held(), []);
            bench.add("main", "goes_on");
            bench.save();
            let (kept, aside) =
                if keep == ConflictResolution::Mine { ("mine", "theirs") } else { ("theirs", "mine") };
            assert_eq!(bench.label_of("a"), kept);
            assert!(bench.text("main").contains(kept));
            assert_eq!(bench.aside(), [format!("main-{aside}-1.board.json")]);
            assert!(bench.aside_text(&bench.aside()[0]).contains(&format!(r#""label":"{aside}""#)));
            bench.reopen();
            assert!(bench.is_saved() && bench.held().is_empty());
        }
    }
}

#[test]
fn after_mine_was_kept_a_further_edit_of_the_file_is_merged() {
    let mut bench = two_notes();
    bench.label("a", "mine");
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    bench.resolve("main", ConflictResolution::Mine).unwrap();
    bench.edit_label("main", "b", "theirs, too");
    bench.look("main");
    assert_eq!(bench.held(), []);
    assert_eq!((bench.label_of("a"), bench.label_of("b")), ("mine".into(), "theirs, too".into()));
}

#[test]
fn a_save_that_meets_an_edit_holds_it_and_theirs_can_be_kept() {
    for keep in [ConflictResolution::Mine, ConflictResolution::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
        bench.label("a", "mine");
        bench.edit_label("main", "a", "theirs");
        let refusal = bench.workspace().save().unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Conflict);
        assert!(!refusal.hints.is_empty());
        assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
        assert!(bench.text("main").contains("theirs"));
        assert_eq!(bench.files(), ["main", "other"], "the other board was saved");
        bench.resolve("main", keep).unwrap();
        bench.save();
        let kept = if keep == ConflictResolution::Mine { "mine" } else { "theirs" };
        assert!(bench.text("main").contains(kept) && bench.is_saved());
        assert_eq!(bench.aside().len(), 1);
    }
}

#[test]
fn a_hold_goes_when_the_file_is_as_before() {
    let mut bench = two_notes();
    let before = bench.text("main");
    bench.label("a", "mine");
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    assert_eq!(bench.held().len(), 1);
    bench.write("main", before);
    bench.look("main");
    assert_eq!(bench.held(), []);
    bench.label("a", "mine again");
    bench.save();
}

#[test]
fn what_theirs_means_is_read_when_it_is_chosen() {
    let mut bench = two_notes();
    bench.label("a", "mine");
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    bench.edit_label("main", "a", "theirs, corrected");
    bench.resolve("main", ConflictResolution::Theirs).unwrap();
    assert_eq!(bench.label_of("a"), "theirs, corrected");
    assert!(bench.is_saved());
}

#[test]
fn another_form_of_the_same_content_is_saved() {
    let mut bench = WorkspaceFixture::new();
    bench.run(r#"{"addNode":{"board":"main","type":"notes/frame","name":"outer"}}"#);
    for name in ["a", "b", "c"] {
        bench.run(&format!(
            r#"{{"addNode":{{"board":"main","type":"notes/sticky","name":"{name}","parent":"outer"}}}}"#
        ));
        bench.add("main", &format!("{name}_outside"));
    }
    bench.save();
    let revision = bench.revision();
    bench.write("main", bench.text("main").replace("  ", "\t"));
    bench.look("main");
    assert_eq!((bench.revision(), bench.is_saved()), (revision, true));
    bench.reopen();
    assert_eq!((bench.revision(), bench.is_saved()), (revision, true));
    let clone = bench.clone_by_git();
    assert!(clone.is_saved());
    assert_eq!(clone.content(), bench.content());
}

#[test]
fn nodes_without_a_place_get_one_and_the_file_learns_of_it() {
    let mut bench = two_notes();
    bench.edit("main", |document| document.layout.clear());
    bench.look("main");
    assert!(bench.is_saved() || bench.ws().snapshot().placement(bench.find("a").unwrap().id).is_some());
    bench.edit("main", |document| {
        add_note(document, 5, "c");
        document.layout.clear();
    });
    bench.look("main");
    let place =
        |bench: &WorkspaceFixture, name: &str| bench.ws().snapshot().placement(bench.find(name).unwrap().id);
    assert!(place(&bench, "c").is_some() && !bench.is_saved());
    bench.save();
    assert!(bench.text("main").contains(&format!("\"{}\": [", NodeId::from_bits(5))));

    let mut bench = WorkspaceFixture::with_files(|root| {
        let file = root.join("boards/main.board.json");
        let nodes = r#""nodes": {"n-000000000005": {"type":"notes/sticky","name":"a"}, "n-000000000006": {"type":"gone/type","name":"b"}}"#;
        let text = fs::read_to_string(&file).unwrap().replace(r#""nodes": {}"#, nodes);
        fs::write(&file, text).unwrap();
    });
    assert!(place(&bench, "a").is_some() && place(&bench, "b").is_some());
    assert_ne!(place(&bench, "a"), place(&bench, "b"));
    assert!(!bench.is_saved() && bench.ws().status().undo.is_none());
    bench.save();
    assert!(bench.is_saved() && bench.text("main").contains("layout"));
    let before = bench.content();
    bench.reopen();
    assert_eq!(bench.content(), before);
}
