//! Source files as a part of the state.

use super::AuthorityFixture;
use crate::{ApplyError, Snapshot, rebase};
use shared_protocol::{
    Change, SourcePath,
    change::inverse,
    limits::{MAX_SOURCE_BYTES, MAX_SOURCE_FILES},
};
use std::sync::Arc;

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> Change {
    let path = SourcePath::parse(path).unwrap();
    Change::Source { path, before: before.map(Arc::from), after: after.map(Arc::from) }
}

#[test]
fn a_file_comes_changes_goes_and_comes_back() {
    let mut state = AuthorityFixture::with_board().state;
    let steps = [change("a.yaml", None, Some("1")), change("a.yaml", Some("1"), Some("2"))];
    let before = state.clone();
    for step in &steps {
        state.apply(state.revision().next(), std::slice::from_ref(step)).unwrap();
    }
    assert_eq!(Snapshot::from_document(state.to_document(), state.registry().clone()).unwrap(), state);
    state.apply(state.revision().next(), &inverse(&steps)).unwrap();
    assert_eq!(state.to_document().sources, before.to_document().sources);
}

#[test]
fn a_file_that_is_not_as_expected_is_a_conflict_and_one_that_is_there_already_is_none() {
    let mut state = Snapshot::default();
    state.apply(state.revision().next(), &[change("a.yaml", None, Some("1"))]).unwrap();
    let wrong = change("a.yaml", Some("0"), Some("2"));
    assert!(matches!(rebase(&state, &[wrong]).conflicts[..], [(_, ApplyError::Changed { .. })]));
    let done = rebase(&state, &[change("a.yaml", None, Some("1"))]);
    assert_eq!((done.fitting.len(), done.conflicts.len()), (0, 0));
}

#[test]
fn there_is_a_bound_on_size_and_number() {
    let mut state = Snapshot::default();
    let large = change("a.yaml", None, Some(&"x".repeat(MAX_SOURCE_BYTES + 1)));
    assert!(matches!(state.apply_change(&large), Err(ApplyError::LimitExceeded { .. })));
    for number in 0..MAX_SOURCE_FILES {
        state.apply_change(&change(&format!("{number}.yaml"), None, Some(""))).unwrap();
    }
    let one_more = change("more.yaml", None, Some(""));
    assert!(matches!(state.apply_change(&one_more), Err(ApplyError::LimitExceeded { .. })));
}

#[test]
fn no_path_leads_out() {
    for text in ["", "/a", "../a", "a/../b", "a//b", ".draftboard/journal.db", "a/.git/config", "a\0", "a\n"]
    {
        assert!(SourcePath::parse(text).is_err(), "{text:?}");
    }
}
