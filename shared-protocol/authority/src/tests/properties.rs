//! Properties of every sequence of commands.

use super::{AuthorityFixture, integrity::check_whole, random};
use crate::{ProblemIndex, Snapshot, UndoHistory, decide};
use proptest::prelude::*;
use shared_protocol::{
    Change, ElementId, GraphDocument, OperationKind, Provenance, Revision, change::inverse,
};
use std::collections::BTreeMap;
use test_support::RandomSource;

const COMMANDS: usize = 40;

/// Runs a random sequence; returns the bench and the number of refused commands.
fn played(seed: u64, commands: usize) -> (AuthorityFixture, usize) {
    let mut bench = AuthorityFixture::empty();
    let mut random = RandomSource::new(seed);
    let mut refused = 0;
    for _ in 0..commands {
        let command = random::command(&mut random, &bench.state);
        refused += usize::from(bench.run(&command).is_err());
    }
    (bench, refused)
}

fn bytes(state: &Snapshot) -> Vec<u8> {
    serde_json::to_vec(&state.to_document()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn applying_and_inverting_is_identity(seed: u64) {
        let mut bench = AuthorityFixture::empty();
        let mut random = RandomSource::new(seed);
        for step in 0..COMMANDS as u64 {
            let before = bench.state.clone();
            let command = random::command(&mut random, &before);
            let Ok(decision) = decide(&before, &command, seed ^ step) else { continue };
            let mut state = before.clone();
            for change in decision.changes.iter().chain(&inverse(&decision.changes)) {
                state.apply_change(change).unwrap();
            }
            prop_assert_eq!(bytes(&state), bytes(&before));
            bench.run(&command).unwrap();
        }
        check_whole(&bench.state);
    }

    #[test]
    fn a_replica_fed_with_patches_equals_the_authority(seed: u64) {
        let (bench, _) = played(seed, COMMANDS);
        let mut replica = Snapshot::new(bench.state.registry().clone());
        let mut problems = ProblemIndex::default();
        for (index, changes) in bench.log.iter().enumerate() {
            // Encoded and decoded, as a renderer receives it.
            let wire = postcard::to_stdvec(changes).unwrap();
            let changes: Vec<Change> = postcard::from_bytes(&wire).unwrap();
            replica.apply(Revision(index as u64 + 1), &changes).unwrap();
            problems.update(&replica, &changes);
        }
        prop_assert_eq!(bytes(&replica), bytes(&bench.state));
        prop_assert_eq!(problems, ProblemIndex::check_all(&bench.state));
    }

    #[test]
    fn every_element_knows_its_operations(seed: u64) {
        let (bench, _) = played(seed, COMMANDS);
        let state = &bench.state;
        let mut seen: BTreeMap<ElementId, Provenance> = BTreeMap::new();
        let mut past = Snapshot::new(state.registry().clone());
        for (index, changes) in bench.log.iter().enumerate() {
            let revision = Revision(index as u64 + 1);
            let before = past.clone();
            past.apply(revision, changes).unwrap();
            for element in changes.iter().filter_map(Change::element) {
                let created = if before.has(element) { seen[&element].created } else { revision };
                seen.insert(element, Provenance { created, changed: revision });
            }
            seen.retain(|element, _| past.has(*element));
        }
        for (element, expected) in &seen {
            prop_assert_eq!(state.provenance(*element), *expected);
        }
        let document = state.to_document();
        prop_assert_eq!(document.provenance.len(), seen.len(), "nothing is kept of what is gone");
        let again = Snapshot::from_document(document.clone(), state.registry().clone()).unwrap();
        prop_assert_eq!(again.to_document(), document);
    }

    #[test]
    fn undo_all_the_way_gives_the_start_and_redo_the_end(seed: u64) {
        let (bench, _) = played(seed, COMMANDS);
        let start = Snapshot::new(bench.state.registry().clone());
        let content = |state: &Snapshot| {
            // Undo and redo are operations too, so revision and provenance differ.
            let document = GraphDocument { revision: Revision::START, provenance: Vec::new(), ..state.to_document() };
            serde_json::to_vec(&document).unwrap()
        };
        let end = content(&bench.state);
        let mut state = bench.state.clone();
        let mut log = bench.log.clone();
        let mut history = UndoHistory::default();
        for revision in 1..=log.len() as u64 {
            history.record(Revision(revision), OperationKind::Edit);
        }
        let step = |state: &mut Snapshot, log: &mut Vec<Vec<Change>>, of: Revision| {
            let changes = inverse(&log[of.0 as usize - 1]);
            state.apply(state.revision().next(), &changes).unwrap();
            log.push(changes);
        };
        while let Some(of) = history.next_undo() {
            step(&mut state, &mut log, of);
            history.record(state.revision(), OperationKind::Undo(of));
        }
        prop_assert_eq!(state.node_count() + state.edge_count() + state.boards().count(), start.node_count());
        prop_assert_eq!(state.overrides().count(), 0);
        while let Some(of) = history.next_redo() {
            step(&mut state, &mut log, of);
            history.record(state.revision(), OperationKind::Redo(of));
        }
        prop_assert_eq!(content(&state), end);
    }

    #[test]
    fn reverting_any_operation_keeps_the_graph_whole(seed: u64, which: usize) {
        let (bench, _) = played(seed, COMMANDS);
        prop_assume!(!bench.log.is_empty());
        let operation = &bench.log[which % bench.log.len()];
        let rebased = crate::rebase(&bench.state, &inverse(operation));
        let mut state = bench.state.clone();
        state.apply(state.revision().next(), &rebased.fitting).unwrap();
        check_whole(&state);
    }

    #[test]
    fn a_diff_leads_from_any_board_to_any_other_version(seed: u64, more in 1usize..20) {
        let mut bench = AuthorityFixture::empty();
        let mut random = RandomSource::new(seed);
        for _ in 0..COMMANDS {
            let command = random::command(&mut random, &bench.state);
            let _ = bench.run(&command);
        }
        let before = bench.state.clone();
        for _ in 0..more {
            let command = random::command(&mut random, &bench.state);
            let _ = bench.run(&command);
        }
        for board in before.boards() {
            let wanted = bench.state.board_document(board.id);
            let changes = match crate::diff(&before, board.id, &wanted) {
                Ok(changes) => changes,
                // Another board took the name in the meantime: each board is diffed on its own.
                Err(crate::ApplyError::NameTaken { .. }) => continue,
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            };
            let mut state = before.clone();
            state.apply(state.revision().next(), &changes).unwrap();
            let mut found = state.board_document(board.id);
            found.revision = wanted.revision;
            prop_assert_eq!(found, wanted);
        }
    }
}

#[test]
fn random_commands_get_somewhere() {
    let (mut accepted, mut refused, mut nodes, mut edges, mut overrides) = (0, 0, 0, 0, 0);
    for seed in 0..50 {
        let (bench, no) = played(seed, 200);
        accepted += bench.log.len();
        refused += no;
        nodes += bench.state.node_count();
        edges += bench.state.edge_count();
        overrides += bench.state.overrides().count();
    }
    assert!(
        accepted > 3000 && refused > 500 && nodes > 500 && edges > 50 && overrides > 100,
        "accepted {accepted}, refused {refused}, nodes left {nodes}, edges left {edges}, overrides left {overrides}"
    );
}
