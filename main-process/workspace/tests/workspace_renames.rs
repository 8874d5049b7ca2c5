//! Another program renames, copies, removes or replaces the files of boards: neither side is lost, nothing is overwritten.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use shared_protocol::{
    BoardId, NodeId, RefusalCode,
    messages::{ConflictResolution, HeldReason},
};
use std::fs;
use workspace_fixture::WorkspaceFixture;

/// Notes `a` and `b` on `main`, saved.
fn two_notes() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.save();
    bench
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
    for keep in [ConflictResolution::Mine, ConflictResolution::Theirs] {
        let mut bench = two_notes();
        bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
        bench.edit("main", |document| document.boards[0].title = "Their title".to_owned());
        bench.look("main");
        assert_eq!(bench.held(), [("web".to_owned(), HeldReason::Conflict)]);
        bench.save();
        assert!(bench.text("main").contains("Their title"));
        bench.resolve("web", keep).unwrap();
        bench.save();
        let kept = if keep == ConflictResolution::Mine { "web" } else { "main" };
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
    bench.resolve("web", ConflictResolution::Mine).unwrap();
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
    let another = |bench: &WorkspaceFixture| {
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

    for keep in [ConflictResolution::Mine, ConflictResolution::Theirs] {
        let mut bench = two_notes();
        bench.label("a", "mine");
        bench.write("main", another(&bench));
        bench.look("main");
        assert_eq!(bench.held(), [("main".to_owned(), HeldReason::Conflict)]);
        bench.resolve("main", keep).unwrap();
        bench.save();
        let expected = if keep == ConflictResolution::Mine { ("mine", 77) } else { ("a", 78) };
        assert_eq!((bench.label_of("a").as_str(), bench.board("main").bits()), expected);
        bench.reopen();
        assert!(bench.is_saved() && bench.held().is_empty() && bench.notices().is_empty());
        assert_eq!((bench.files(), bench.aside().len()), (vec!["main".to_owned()], 1));
    }
}

#[test]
fn a_new_board_is_never_written_over_a_file_that_came_meanwhile() {
    for keep in [ConflictResolution::Mine, ConflictResolution::Theirs] {
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
        assert_eq!(bench.workspace().save().unwrap_err().code, RefusalCode::Conflict);
        bench.look("other");
        assert_eq!(bench.held(), [("other".to_owned(), HeldReason::Conflict)]);
        assert_eq!(bench.text("other"), theirs);
        bench.resolve("other", keep).unwrap();
        bench.save();
        assert_eq!(bench.text("other").contains("mine"), keep == ConflictResolution::Mine);
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
