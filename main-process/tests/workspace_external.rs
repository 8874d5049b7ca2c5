//! Another program edits the files: what it did is taken in, or held where it meets unsaved work. Neither side is lost.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_bench;

use shared_protocol::{
    ActorKind, BoardId, Code, NodeId,
    messages::{HeldReason, Keep},
};
use std::fs;
use workspace_bench::{Bench, add_note, named};

/// Notes `a` and `b` on `main`, saved.
fn two_notes() -> Bench {
    let mut bench = Bench::new();
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
    for keep in [Keep::Mine, Keep::Theirs] {
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
            assert_eq!(refusal.code, Code::ReadOnly);
            bench.add("other", "elsewhere");
            bench.save();
            assert!(bench.text("main").contains("theirs"), "the held file is not touched");
            assert!(bench.text("other").contains("elsewhere"), "others are saved");
            assert!(!bench.is_saved());

            bench.resolve("main", keep).unwrap();
            assert_eq!(bench.held(), []);
            bench.add("main", "goes_on");
            bench.save();
            let (kept, aside) = if keep == Keep::Mine { ("mine", "theirs") } else { ("theirs", "mine") };
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
    bench.resolve("main", Keep::Mine).unwrap();
    bench.edit_label("main", "b", "theirs, too");
    bench.look("main");
    assert_eq!(bench.held(), []);
    assert_eq!((bench.label_of("a"), bench.label_of("b")), ("mine".into(), "theirs, too".into()));
}

#[test]
fn a_save_that_meets_an_edit_holds_it_and_theirs_can_be_kept() {
    for keep in [Keep::Mine, Keep::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
        bench.label("a", "mine");
        bench.edit_label("main", "a", "theirs");
        let refusal = bench.workspace().save().unwrap_err();
        assert_eq!(refusal.code, Code::Conflict);
        assert!(!refusal.hints.is_empty());
        assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
        assert!(bench.text("main").contains("theirs"));
        assert_eq!(bench.files(), ["main", "other"], "the other board was saved");
        bench.resolve("main", keep).unwrap();
        bench.save();
        let kept = if keep == Keep::Mine { "mine" } else { "theirs" };
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
    bench.resolve("main", Keep::Theirs).unwrap();
    assert_eq!(bench.label_of("a"), "theirs, corrected");
    assert!(bench.is_saved());
}

#[test]
fn another_form_of_the_same_content_is_saved() {
    let mut bench = Bench::new();
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
fn a_board_that_was_renamed_and_not_saved_keeps_both_sides_of_an_edit() {
    let mut bench = two_notes();
    bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    assert_eq!((bench.boards(), bench.label_of("a")), (vec!["web".to_owned()], "theirs".to_owned()));
    bench.save();
    assert_eq!(bench.files(), ["web"]);
    assert!(bench.text("web").contains("theirs"));

    // The title is in the same place as the name.
    for keep in [Keep::Mine, Keep::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
        bench.edit("main", |document| document.boards[0].title = "Their title".to_owned());
        bench.look("main");
        assert_eq!(bench.held(), [("web".to_owned(), HeldReason::Conflict)]);
        bench.save();
        assert!(bench.text("main").contains("Their title"));
        bench.resolve("web", keep).unwrap();
        bench.save();
        let kept = if keep == Keep::Mine { "web" } else { "main" };
        assert_eq!((bench.files(), bench.boards()), (vec![kept.to_owned()], vec![kept.to_owned()]));
        assert_eq!(bench.names(), ["a", "b"]);
        assert_eq!(bench.aside().len(), 1);
        assert!(bench.is_saved());
    }
}

#[test]
fn a_board_that_was_renamed_and_whose_old_file_is_damaged_is_held() {
    let mut bench = two_notes();
    bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
    bench.write("main", "{");
    bench.look("main");
    assert_eq!(bench.held(), [("web".to_owned(), HeldReason::Damaged)]);
    bench.resolve("web", Keep::Mine).unwrap();
    bench.save();
    assert_eq!((bench.files(), bench.aside().len()), (vec!["web".to_owned()], 1));
}

#[test]
fn a_copied_file_is_refused_and_nothing_changes() {
    for restarted in [false, true] {
        let mut bench = two_notes();
        let (content, original) = (bench.content(), bench.text("main"));
        fs::copy(bench.file("main"), bench.file("copy")).unwrap();
        if restarted {
            bench.reopen()
        } else {
            bench.look("copy")
        }
        assert_eq!(bench.content(), content);
        let [notice] = &bench.notices()[..] else { panic!("{:?}", bench.notices()) };
        assert!(notice.contains("boards/copy.board.json") && notice.contains("main"), "{notice}");
        bench.label("a", "changed");
        bench.save();
        assert_eq!(bench.files(), ["copy", "main"]);
        assert_eq!(bench.text("copy"), original);
        fs::remove_file(bench.file("copy")).unwrap();
        bench.look("copy");
        assert_eq!(bench.notices(), [""; 0]);
    }
}

#[test]
fn a_copy_that_has_only_a_board_of_its_own_is_refused() {
    for restarted in [false, true] {
        let mut bench = two_notes();
        fs::copy(bench.file("main"), bench.file("copy")).unwrap();
        let id = bench.board("main").to_string();
        bench.write("copy", bench.text("copy").replace(&id, &BoardId::from_bits(78).to_string()));
        let (content, copied) = (bench.content(), bench.text("copy"));
        if restarted {
            bench.reopen()
        } else {
            bench.look("copy")
        }
        assert_eq!(bench.content(), content);
        assert_eq!(bench.notices().len(), 1, "{:?}", bench.notices());
        bench.save();
        assert_eq!(bench.text("copy"), copied);
        // With nodes of its own it is a board like any other.
        for name in ["a", "b"] {
            let id = bench.find(name).unwrap().id.to_string();
            let new = NodeId::from_bits(900 + u64::from(name.as_bytes()[0])).to_string();
            bench.write("copy", bench.text("copy").replace(&id, &new));
        }
        bench.look("copy");
        assert_eq!((bench.boards().len(), bench.notices()), (2, Vec::new()));
    }
}

#[test]
fn a_file_that_was_renamed_renames_the_board() {
    for (new_name, together) in [("aaa", false), ("zzz", false), ("aaa", true), ("zzz", true)] {
        for restarted in [false, true] {
            let mut bench = two_notes();
            bench.label("a", "mine");
            let board = bench.board("main");
            fs::rename(bench.file("main"), bench.file(new_name)).unwrap();
            match (restarted, together) {
                (true, _) => bench.reopen(),
                (_, true) => bench.look_at_everything(),
                (_, false) => {
                    bench.look("main");
                    bench.look(new_name);
                }
            }
            assert_eq!((bench.boards(), bench.held()), (vec![new_name.to_owned()], vec![]));
            assert_eq!((bench.board(new_name), bench.label_of("a")), (board, "mine".to_owned()));
            bench.save();
            assert_eq!(bench.files(), [new_name]);
            assert!(bench.text(new_name).contains("mine") && bench.is_saved() && bench.notices().is_empty());
        }
    }
}

#[test]
fn a_removed_file_removes_a_saved_board_and_can_be_undone() {
    for restarted in [false, true] {
        let mut bench = two_notes();
        fs::remove_file(bench.file("main")).unwrap();
        if restarted {
            bench.reopen()
        } else {
            bench.look("main")
        }
        assert_eq!(bench.boards(), [""; 0]);
        assert!(bench.is_saved());
        bench.undo();
        assert_eq!(bench.names(), ["a", "b"]);
        assert!(!bench.is_saved());
        bench.save();
        assert_eq!(bench.files(), ["main"]);
    }
}

#[test]
fn a_removed_file_of_a_board_with_unsaved_work_is_written_again() {
    for restarted in [false, true] {
        let mut bench = two_notes();
        bench.label("a", "mine");
        fs::remove_file(bench.file("main")).unwrap();
        if restarted {
            bench.reopen()
        } else {
            bench.look("main")
        }
        assert_eq!(bench.label_of("a"), "mine");
        assert_eq!(bench.notices().len(), 1, "{:?}", bench.notices());
        assert!(!bench.is_saved());
        bench.look_at_everything();
        assert_eq!(bench.notices().len(), 1);
        bench.save();
        assert!(bench.text("main").contains("mine") && bench.is_saved());
        assert_eq!(bench.notices(), [""; 0]);
    }
}

#[test]
fn a_file_that_goes_takes_its_hold_along() {
    let mut bench = two_notes();
    bench.label("a", "mine");
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    fs::remove_file(bench.file("main")).unwrap();
    bench.look("main");
    assert_eq!(bench.held(), []);
    bench.label("a", "mine again");
    bench.save();
    assert!(bench.text("main").contains("mine again"));
}

#[test]
fn an_edit_brings_back_a_board_whose_removal_was_not_saved() {
    let mut bench = two_notes();
    bench.run(r#"{"removeBoard":{"board":"main"}}"#);
    bench.edit_label("main", "a", "theirs");
    bench.look("main");
    assert_eq!((bench.label_of("a"), bench.names().len()), ("theirs".to_owned(), 2));
    bench.save();
    assert_eq!(bench.files(), ["main"]);
    assert!(bench.is_saved());
}

#[test]
fn another_board_under_the_name_of_a_saved_one_takes_its_place() {
    let another = |bench: &Bench| {
        let id = bench.board("main").to_string();
        let text = bench.text("main").replace(&id, &BoardId::from_bits(78).to_string());
        let mut text = text;
        for name in ["a", "b"] {
            let new = NodeId::from_bits(900 + u64::from(name.as_bytes()[0])).to_string();
            text = text.replace(&bench.find(name).unwrap().id.to_string(), &new);
        }
        text
    };
    let mut bench = two_notes();
    bench.write("main", another(&bench));
    bench.look("main");
    assert_eq!((bench.board("main"), bench.names().len()), (BoardId::from_bits(78), 2));
    assert!(bench.is_saved() && bench.held().is_empty());
    bench.undo();
    assert_eq!(bench.board("main"), BoardId::from_bits(77));

    for keep in [Keep::Mine, Keep::Theirs] {
        let mut bench = two_notes();
        bench.label("a", "mine");
        bench.write("main", another(&bench));
        bench.look("main");
        assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
        bench.resolve("main", keep).unwrap();
        bench.save();
        let expected = if keep == Keep::Mine { ("mine", 77) } else { ("a", 78) };
        assert_eq!((bench.label_of("a").as_str(), bench.board("main").bits()), expected);
        bench.reopen();
        assert!(bench.is_saved() && bench.held().is_empty() && bench.notices().is_empty());
        assert_eq!((bench.files(), bench.aside().len()), (vec!["main".to_owned()], 1));
    }
}

#[test]
fn a_new_board_is_never_written_over_a_file_that_came_meanwhile() {
    for keep in [Keep::Mine, Keep::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
        bench.add("other", "mine");
        fs::write(
            bench.file("other"),
            format!(
                r#"{{"format":1,"board":{{"id":"{}","kind":"spec","title":"Theirs"}},"nodes":{{}}}}"#,
                BoardId::from_bits(78)
            ),
        )
        .unwrap();
        let theirs = bench.text("other");
        assert_eq!(bench.workspace().save().unwrap_err().code, Code::Conflict);
        bench.look("other");
        assert_eq!(bench.held(), [("other".to_owned(), HeldReason::Conflict)]);
        assert_eq!(bench.text("other"), theirs);
        bench.resolve("other", keep).unwrap();
        bench.save();
        assert_eq!(bench.text("other").contains("mine"), keep == Keep::Mine);
        assert_eq!(bench.aside().len(), 1);
        assert!(bench.is_saved());
    }
}

#[test]
fn an_element_that_moved_from_one_file_to_another_is_taken_in() {
    let mut bench = two_notes();
    bench.run(r#"{"addBoard":{"kind":"infrastructure","title":"Aaa"}}"#);
    bench.save();
    let id = bench.find("a").unwrap().id;
    let to = bench.board("aaa");
    let mut moved = None;
    bench.edit("main", |document| {
        moved = document.nodes.iter().position(|node| node.id == id).map(|at| document.nodes.remove(at));
        document.layout.retain(|(node, _)| *node != id);
    });
    let mut moved = moved.unwrap();
    moved.board = to;
    bench.edit("aaa", |document| document.nodes.push(moved));
    bench.look("aaa");
    bench.look("main");
    assert_eq!((bench.find("a").unwrap().board, bench.held()), (to, vec![]));
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
    let place = |bench: &Bench, name: &str| bench.ws().snapshot().placement(bench.find(name).unwrap().id);
    assert!(place(&bench, "c").is_some() && !bench.is_saved());
    bench.save();
    assert!(bench.text("main").contains(&format!("\"{}\": [", NodeId::from_bits(5))));

    let mut bench = Bench::with_files(|root| {
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
