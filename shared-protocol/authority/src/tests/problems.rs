//! Incremental updates of problems equal a full check, also after file edits.

use super::AuthorityFixture;
use crate::{ProblemIndex, Snapshot};
use shared_protocol::{BoardKind, GraphDocument};

fn bench() -> AuthorityFixture {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files"}}"#);
    bench.json(r#"{"connect":{"source":{"node":"web"},"target":{"node":"files"}}}"#);
    bench
}

/// Edits the board file as an external program does, and compares the update with a full check.
fn check(edits: &[&dyn Fn(&mut GraphDocument)]) {
    let mut state: Snapshot = bench().state;
    let mut problems = ProblemIndex::check_all(&state);
    let board = state.boards().next().unwrap().id;
    for edit in edits {
        let mut document = state.board_document(board);
        edit(&mut document);
        let changes = crate::diff(&state, board, &document).unwrap();
        state.apply(state.revision().next(), &changes).unwrap();
        problems.update(&state, &changes);
        assert_eq!(problems, ProblemIndex::check_all(&state));
    }
}

fn retype(document: &mut GraphDocument, name: &str, to: &str) {
    let node = document.nodes.iter_mut().find(|node| node.name.as_str() == name).unwrap();
    node.type_id = to.parse().unwrap();
}

#[test]
fn another_type_is_felt_by_content_referrers_and_edges() {
    check(&[&|document| retype(document, "net", "aws/storage/s3_bucket")]);
    check(&[&|document| retype(document, "a", "aws/networking/vpc")]);
    check(&[&|document| retype(document, "files", "aws/networking/vpc")]);
}

#[test]
fn another_kind_of_board_is_felt_by_all_on_it() {
    check(&[&|document| document.boards[0].kind = BoardKind::Interface]);
}

#[test]
fn problems_name_others_by_their_present_label() {
    let relabel = |document: &mut GraphDocument| {
        for node in &mut document.nodes {
            node.label = format!("New {}", node.name);
        }
    };
    check(&[&|document| retype(document, "net", "aws/storage/s3_bucket"), &relabel]);
    check(&[&|document| retype(document, "files", "aws/networking/vpc"), &relabel]);
}
