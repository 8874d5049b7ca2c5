//! Reverting an older operation while later work stays.

use super::{AuthorityFixture, integrity::check_whole};
use crate::{RebaseResult, Snapshot, rebase};
use shared_protocol::change::inverse;

fn reverted(bench: &AuthorityFixture, index: usize) -> RebaseResult {
    rebase(&bench.state, &inverse(&bench.log[index]))
}

fn after(bench: &AuthorityFixture, rebased: &RebaseResult) -> Snapshot {
    let mut state = bench.state.clone();
    state.apply(state.revision().next(), &rebased.fitting).unwrap();
    check_whole(&state);
    state
}

#[test]
fn a_node_that_cannot_go_keeps_its_place_and_its_values() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(
        r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net","props":{"cidr_block":"10.1.0.0/16"}}}"#,
    );
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
    let rebased = reverted(&bench, 1);
    assert_eq!(rebased.fitting, []);
    assert_eq!(rebased.conflicts.len(), 1);
    assert_eq!(after(&bench, &rebased).to_document().nodes, bench.state.to_document().nodes);
    assert!(
        rebased.require_complete(&bench.state, "it").unwrap_err().hints.is_empty(),
        "there is nothing to offer"
    );
}

#[test]
fn what_goes_takes_along_no_reference_of_what_stays() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(
        r#"{"batch":{"commands":[
            {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}},
            {"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web"}}]}}"#,
    );
    bench.json(r#"{"updateNode":{"node":"web","label":"Kept"}}"#);
    let rebased = reverted(&bench, 2);
    let state = after(&bench, &rebased);
    assert_eq!(state.node_count(), 3);
}

#[test]
fn what_is_gone_already_is_no_conflict() {
    let mut bench = AuthorityFixture::with_board();
    let add = r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files"}}"#;
    bench.json(add);
    bench.json(r#"{"remove":{"nodes":["files"]}}"#);
    // Another node has the name now.
    bench.json(add);
    let rebased = reverted(&bench, 1);
    assert_eq!((rebased.fitting.len(), rebased.conflicts), (0, vec![]));
}

#[test]
fn a_container_that_was_moved_since_does_not_keep_what_was_put_into_it() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    // `net` grows, so its size is a part of the operation.
    bench.json(
        r#"{"batch":{"commands":[
            {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}},
            {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"b"}}]}}"#,
    );
    bench.json(r#"{"place":{"items":[{"node":"net","x":4000,"y":0}]}}"#);
    let rebased = reverted(&bench, 2);
    assert!(!rebased.conflicts.is_empty(), "its size was changed by one and its place by the other");
    let state = after(&bench, &rebased);
    assert_eq!(state.node_count(), 1);
    assert_eq!(state.placement(bench.node("net")).map(|place| place.x), Some(4000));
    assert!(rebased.require_complete(&bench.state, "it").is_ok());
}

#[test]
fn taking_back_a_move_of_what_was_moved_again_is_a_conflict() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"place":{"items":[{"node":"net","x":4000,"y":0}]}}"#);
    bench.json(r#"{"place":{"items":[{"node":"net","x":4010,"y":0}]}}"#);
    assert!(reverted(&bench, 2).require_complete(&bench.state, "it").is_err());
}
