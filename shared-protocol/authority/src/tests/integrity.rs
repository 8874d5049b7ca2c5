//! Checks that a state is consistent, from its content alone and independently of the code under test.

use crate::Snapshot;
use shared_protocol::{GraphDocument, NodeId};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check_whole(state: &Snapshot) {
    let document = state.to_document();
    check_content(&document);
    check_indexes(state, document);
}

fn check_content(document: &GraphDocument) {
    let boards: BTreeSet<_> = document.boards.iter().map(|board| board.id).collect();
    let nodes: BTreeMap<_, _> = document.nodes.iter().map(|node| (node.id, node)).collect();
    let board_names: BTreeSet<_> = document.boards.iter().map(|board| &board.name).collect();
    assert_eq!(board_names.len(), document.boards.len(), "a board name twice");
    let names: BTreeSet<_> = document.nodes.iter().map(|node| (node.board, &node.name)).collect();
    assert_eq!(names.len(), document.nodes.len(), "a name twice on a board");
    for node in &document.nodes {
        assert!(boards.contains(&node.board), "{} is on no board", node.id);
        for target in node.references.values().flatten() {
            assert!(nodes.contains_key(target), "{} refers to nothing", node.id);
        }
        assert!(
            node.references.values().all(|targets| !targets.is_empty()),
            "{} has an empty reference",
            node.id
        );
        let mut seen = BTreeSet::from([node.id]);
        let mut parent = node.parent;
        while let Some(id) = parent {
            assert!(seen.insert(id), "{} stands within itself", node.id);
            let container = nodes.get(&id).unwrap_or_else(|| panic!("{} stands in nothing", node.id));
            assert_eq!(container.board, node.board, "{} stands on another board than its container", node.id);
            parent = container.parent;
        }
    }
    for edge in &document.edges {
        for end in [edge.source.node, edge.target.node] {
            let node = nodes.get(&end).unwrap_or_else(|| panic!("{} ends in nothing", edge.id));
            assert_eq!(node.board, edge.board, "{} leads to another board", edge.id);
        }
    }
    let placed: BTreeSet<NodeId> = document.layout.iter().map(|(id, _)| *id).collect();
    assert_eq!(placed, nodes.keys().copied().collect(), "every node has a place, and nothing else has");
}

/// Indexes that were updated incrementally equal those of a fresh build.
fn check_indexes(state: &Snapshot, document: GraphDocument) {
    let fresh = Snapshot::from_document(document, state.registry().clone()).expect("a whole state loads");
    assert_eq!(*state, fresh);
    assert!(state.board_names == fresh.board_names, "board names");
    assert!(state.names == fresh.names, "names");
    assert!(state.children == fresh.children, "children");
    assert!(state.incident == fresh.incident, "incident edges");
    assert!(state.referrers == fresh.referrers, "referrers");
    assert!(state.occupancy == fresh.occupancy, "occupancy");
}
