//! Whatever is done, in whatever order: a restart finds what was there, and the files alone hold what was saved.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use proptest::{prelude::*, test_runner::RngSeed};
use shared_protocol::messages::ConflictResolution;
use workspace_fixture::{WorkspaceFixture, add_note};

#[derive(Debug, Clone)]
enum Step {
    AddBoard(u8),
    RenameBoard(u8, u8),
    RemoveBoard(u8),
    AddNode(u8, u8),
    Label(u8, u8),
    Remove(u8),
    Undo,
    Redo,
    Save,
    Reopen,
    Crash,
    /// Another program relabels a note, or adds one, and the watcher tells of it now or later.
    TheirLabel {
        board: u8,
        node: u8,
        label: u8,
        seen: bool,
    },
    TheirNote {
        board: u8,
        seen: bool,
    },
    TheirRemoval {
        board: u8,
        seen: bool,
    },
    TheirForm {
        board: u8,
        seen: bool,
    },
    LookAtEverything,
    Resolve(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let seen = any::<bool>;
    prop_oneof![
        1 => (0u8..4).prop_map(Step::AddBoard),
        1 => (0u8..4, 0u8..4).prop_map(|(board, name)| Step::RenameBoard(board, name)),
        1 => (0u8..4).prop_map(Step::RemoveBoard),
        5 => (0u8..4, 0u8..9).prop_map(|(board, name)| Step::AddNode(board, name)),
        4 => (any::<u8>(), any::<u8>()).prop_map(|(node, label)| Step::Label(node, label)),
        1 => any::<u8>().prop_map(Step::Remove),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        3 => Just(Step::Save),
        1 => Just(Step::Reopen),
        2 => Just(Step::Crash),
        3 => (0u8..4, any::<u8>(), any::<u8>(), seen())
            .prop_map(|(board, node, label, seen)| Step::TheirLabel { board, node, label, seen }),
        2 => (0u8..4, seen()).prop_map(|(board, seen)| Step::TheirNote { board, seen }),
        1 => (0u8..4, seen()).prop_map(|(board, seen)| Step::TheirRemoval { board, seen }),
        1 => (0u8..4, seen()).prop_map(|(board, seen)| Step::TheirForm { board, seen }),
        1 => Just(Step::LookAtEverything),
        2 => seen().prop_map(Step::Resolve),
    ]
}

fn take(bench: &mut WorkspaceFixture, step: &Step, number: usize) {
    let board_name = |number: u8| ["main", "web", "shop", "zoo"][usize::from(number)];
    let node_at = |bench: &WorkspaceFixture, pick: u8| {
        let nodes: Vec<String> = bench.ws().snapshot().nodes().map(|node| node.id.to_string()).collect();
        nodes.get(usize::from(pick) % nodes.len().max(1)).cloned()
    };
    // Refusals are part of the game; they change nothing, which the callers see.
    let run = |bench: &mut WorkspaceFixture, command: String| drop(bench.try_run(&command));
    match *step {
        Step::AddBoard(name) => {
            let name = board_name(name);
            run(bench, format!(r#"{{"addBoard":{{"kind":"spec","title":"{name}","name":"{name}"}}}}"#));
        }
        Step::RenameBoard(board, name) => {
            let (board, name) = (board_name(board), board_name(name));
            run(bench, format!(r#"{{"updateBoard":{{"board":"{board}","name":"{name}"}}}}"#));
        }
        Step::RemoveBoard(board) => {
            run(bench, format!(r#"{{"removeBoard":{{"board":"{}"}}}}"#, board_name(board)));
        }
        Step::AddNode(board, name) => {
            let board = board_name(board);
            let kind = if name % 4 == 0 { "frame" } else { "sticky" };
            run(
                bench,
                format!(r#"{{"addNode":{{"board":"{board}","type":"notes/{kind}","name":"n{name}"}}}}"#),
            );
        }
        Step::Label(node, label) => {
            if let Some(node) = node_at(bench, node) {
                run(bench, format!(r#"{{"updateNode":{{"node":"{node}","label":"mine {label}"}}}}"#));
            }
        }
        Step::Remove(node) => {
            if let Some(node) = node_at(bench, node) {
                run(bench, format!(r#"{{"remove":{{"nodes":["{node}"]}}}}"#));
            }
        }
        Step::Undo => drop(bench.mutate(&workspace::Mutation::Undo)),
        Step::Redo => drop(bench.mutate(&workspace::Mutation::Redo)),
        Step::Save => drop(bench.workspace().save()),
        Step::Reopen | Step::Crash => restart(bench, matches!(step, Step::Crash)),
        Step::TheirLabel { board, node, label, seen } => {
            their_edit(bench, board_name(board), seen, |document| {
                let count = document.nodes.len().max(1);
                if let Some(node) = document.nodes.get_mut(usize::from(node) % count) {
                    node.label = format!("theirs {label}");
                }
            })
        }
        Step::TheirNote { board, seen } => their_edit(bench, board_name(board), seen, |document| {
            add_note(document, 5_000 + number as u64, &format!("theirs_{number}"));
        }),
        Step::TheirRemoval { board, seen } => {
            let board = board_name(board);
            let _ = std::fs::remove_file(bench.file(board));
            if seen {
                bench.look(board);
            }
        }
        Step::TheirForm { board, seen } => {
            let board = board_name(board);
            if bench.file(board).exists() {
                bench.write(board, bench.text(board).replace("  ", "\t"));
                if seen {
                    bench.look(board);
                }
            }
        }
        Step::LookAtEverything => bench.look_at_everything(),
        Step::Resolve(mine) => {
            let keep = if mine { ConflictResolution::Mine } else { ConflictResolution::Theirs };
            for (board, _) in bench.held() {
                let _ = bench.resolve(&board, keep);
            }
        }
    }
}

fn their_edit(
    bench: &mut WorkspaceFixture,
    board: &str,
    seen: bool,
    edit: impl FnOnce(&mut shared_protocol::GraphDocument),
) {
    if bench.file(board).exists() {
        bench.edit(board, edit);
        if seen {
            bench.look(board);
        }
    }
}

/// A restart finds everything as it was, once all that others did has been seen.
fn restart(bench: &mut WorkspaceFixture, crashed: bool) {
    bench.look_at_everything();
    let before = bench.ws().snapshot().clone();
    let (held, saved) = (bench.held(), bench.ws().saved_revision());
    let (undo, redo) = (bench.ws().status().undo, bench.ws().status().redo);
    if crashed {
        bench.crash_and_open()
    } else {
        bench.reopen()
    }
    assert_eq!(bench.ws().snapshot(), &before);
    let status = bench.ws().status();
    assert_eq!(bench.held(), held);
    // Work that led back to what the files hold is found out now.
    assert!(bench.ws().saved_revision() == saved || bench.is_saved());
    assert_eq!((status.undo, status.redo), (undo, redo));
}

/// The same cases every time; more of them, and others, with `WORKSPACE_CASES` and `WORKSPACE_SEED`.
fn config() -> ProptestConfig {
    let from_env =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    ProptestConfig {
        cases: from_env("WORKSPACE_CASES", 60) as u32,
        rng_seed: RngSeed::Fixed(from_env("WORKSPACE_SEED", 1)),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_is_lost(steps in prop::collection::vec(step(), 1..40)) {
        let mut bench = WorkspaceFixture::new();
        for (number, step) in steps.iter().enumerate() {
            take(&mut bench, step, number);
        }
        restart(&mut bench, true);
        for (board, _) in bench.held() {
            bench.resolve(&board, ConflictResolution::Mine).unwrap();
        }
        bench.save();
        prop_assert!(bench.is_saved());
        prop_assert_eq!(bench.held(), vec![]);
        bench.look_at_everything();
        prop_assert!(bench.is_saved());
        let clone = bench.clone_by_git();
        prop_assert_eq!(clone.content(), bench.content());
        prop_assert!(clone.is_saved() && clone.notices().is_empty(), "{:?}", clone.notices());
    }
}
