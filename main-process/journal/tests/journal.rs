//! The journal through its public API.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod common;

use common::{board_document, operation, operations, plain_operations, small_board};
use journal::{
    Digest, Journal, JournalError, ProposalWrite, RecoveredHistory, ReviewWrite, VerifiedHashChain,
    WorkspacePath,
};
use proptest::prelude::*;
use rusqlite::Connection;
use shared_protocol::{
    GraphDocument, Operation, Proposal, ProposalId, ProposalState, Revision,
    proposal::{AutoAssignments, Proposer},
};
use std::{os::unix::fs::PermissionsExt as _, path::Path};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn journal_with(folder: &Path, count: u64) -> Journal {
    let mut journal = Journal::open(folder).unwrap();
    journal.append(&plain_operations(1..=count)).unwrap();
    journal
}

fn at(revision: u64) -> GraphDocument {
    GraphDocument { revision: Revision(revision), ..small_board() }
}

/// Modifies a closed journal.
fn meddle(folder: &Path, sql: &str) {
    Connection::open(folder.join("journal.db")).unwrap().execute_batch(sql).unwrap();
}

fn revisions(operations: &[Operation]) -> Vec<u64> {
    operations.iter().map(|operation| operation.revision.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_appended_is_recovered(operations in operations(1, 12), split in any::<prop::sample::Index>()) {
        let folder = folder();
        let (first, second) = operations.split_at(split.index(operations.len()));
        let mut journal = Journal::open(folder.path()).unwrap();
        journal.append(first).unwrap();
        journal.append(second).unwrap();
        prop_assert_eq!(&journal.recover().unwrap().operations, &operations);
        drop(journal);
        let journal = Journal::open(folder.path()).unwrap();
        prop_assert_eq!(journal.recover().unwrap(), RecoveredHistory { checkpoint: None, operations: operations.clone() });
        prop_assert_eq!(journal.verify().unwrap().count, operations.len() as u64);
        prop_assert_eq!(journal.operation(Revision(1)).unwrap(), operations.first().cloned());
    }

    #[test]
    fn a_checkpoint_changes_nothing_that_matters(
        operations in operations(1, 12), document in board_document(), at in any::<prop::sample::Index>(), keep in 0usize..14,
    ) {
        let folder = folder();
        let count = operations.len();
        let at = at.index(count + 1);
        let document = GraphDocument { revision: Revision(at as u64), ..document };
        let mut journal = Journal::open(folder.path()).unwrap();
        journal.append(&operations).unwrap();
        journal.checkpoint(&document, keep).unwrap();
        let kept_from = at.min(count.saturating_sub(keep));
        drop(journal);
        let journal = Journal::open(folder.path()).unwrap();
        let expected = RecoveredHistory { checkpoint: Some(document), operations: operations[at..].to_vec() };
        prop_assert_eq!(journal.recover().unwrap(), expected);
        prop_assert_eq!(journal.newest_operations(100).unwrap(), operations[kept_from..].to_vec());
        let verified = journal.verify().unwrap();
        prop_assert_eq!(verified.count as usize, count - kept_from);
        prop_assert_eq!(verified.last, Revision(count as u64));
        prop_assert_eq!(journal.operations_since(Revision(kept_from as u64), 100).unwrap().unwrap(), operations[kept_from..].to_vec());
        if kept_from > 0 {
            prop_assert_eq!(journal.operations_since(Revision(kept_from as u64 - 1), 100).unwrap(), None);
        }
    }
}

#[test]
fn revisions_must_follow() {
    let folder = folder();
    let mut journal = journal_with(folder.path(), 3);
    for wrong in [vec![operation(3, 1)], vec![operation(5, 1)], vec![operation(4, 1), operation(6, 1)]] {
        let error = journal.append(&wrong).unwrap_err();
        assert!(matches!(error, JournalError::Gap { .. }), "{error}");
        assert_eq!(journal.revision(), Revision(3));
    }
    journal.append(&[operation(4, 1)]).unwrap();
    assert_eq!(revisions(&journal.recover().unwrap().operations), [1, 2, 3, 4]);
}

#[test]
fn any_changed_byte_shows_and_names_the_revision() {
    for (sql, at, readable) in [
        ("UPDATE operations SET changes = replace(changes, 'xxxx', 'xxyx') WHERE revision = 4", 4, 3),
        ("UPDATE operations SET summary = summary || ' ' WHERE revision = 5", 5, 4),
        ("UPDATE operations SET time = time + 1 WHERE revision = 2", 2, 1),
        ("UPDATE operations SET actor = replace(actor, 'ada', 'eve') WHERE revision = 6", 6, 5),
        ("UPDATE operations SET kind = '\"redo\"' WHERE revision = 6", 6, 5),
        ("UPDATE operations SET hash = zeroblob(32) WHERE revision = 3", 3, 2),
        ("UPDATE operations SET hash = zeroblob(31) WHERE revision = 3", 3, 2),
        ("UPDATE operations SET change_count = 2 WHERE revision = 3", 3, 2),
        ("UPDATE operations SET summary = CAST(x'ff' AS TEXT) WHERE revision = 3", 3, 2),
        ("DELETE FROM operations WHERE revision = 4", 4, 3),
        ("DELETE FROM operations WHERE revision = 1", 1, 0),
    ] {
        let folder = folder();
        drop(journal_with(folder.path(), 6));
        meddle(folder.path(), sql);
        let journal = Journal::open(folder.path());
        // Opening reads the end of the chain; damage there prevents opening, without a panic.
        let journal = journal.unwrap_or_else(|error| panic!("{sql}: {error}"));
        match journal.recover() {
            Err(JournalError::Damaged { revision, readable: found, .. }) => {
                assert_eq!(revision, Revision(at), "{sql}");
                assert_eq!(revisions(&found.operations), (1..=readable).collect::<Vec<_>>(), "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
        assert!(matches!(journal.verify(), Err(JournalError::Damaged { .. })), "{sql}");
    }
}

#[test]
fn two_operations_cannot_change_places() {
    let folder = folder();
    drop(journal_with(folder.path(), 5));
    meddle(
        folder.path(),
        "UPDATE operations SET revision = 99 WHERE revision = 2;
         UPDATE operations SET revision = 2 WHERE revision = 3;
         UPDATE operations SET revision = 3 WHERE revision = 99;",
    );
    let error = Journal::open(folder.path()).unwrap().recover().unwrap_err();
    assert!(matches!(error, JournalError::Damaged { revision: Revision(2), .. }), "{error}");
}

#[test]
fn a_damaged_checkpoint_shows() {
    for sql in [
        "UPDATE checkpoint SET document = replace(document, 'Main', 'Mail')",
        "UPDATE checkpoint SET document_hash = zeroblob(32)",
        "UPDATE checkpoint SET chain_hash = zeroblob(32)",
    ] {
        let folder = folder();
        journal_with(folder.path(), 6).checkpoint(&at(4), 1).unwrap();
        meddle(folder.path(), sql);
        let error = Journal::open(folder.path()).unwrap().recover().unwrap_err();
        assert!(matches!(error, JournalError::Damaged { .. }), "{sql}: {error}");
    }
}

#[test]
fn damage_before_the_checkpoint_does_not_keep_a_workspace_from_opening() {
    let folder = folder();
    journal_with(folder.path(), 6).checkpoint(&at(5), 100).unwrap();
    meddle(folder.path(), "UPDATE operations SET summary = 'x' WHERE revision = 2");
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(revisions(&journal.recover().unwrap().operations), [6]);
    assert!(matches!(journal.verify(), Err(JournalError::Damaged { revision: Revision(2), .. })));
}

#[test]
fn compaction_keeps_what_can_be_undone_and_goes_on() {
    let folder = folder();
    let mut journal = journal_with(folder.path(), 10);
    journal.checkpoint(&at(10), 4).unwrap();
    assert_eq!(revisions(&journal.newest_operations(99).unwrap()), [7, 8, 9, 10]);
    assert_eq!(journal.recover().unwrap(), RecoveredHistory { checkpoint: Some(at(10)), operations: vec![] });
    journal.append(&plain_operations(11..=12)).unwrap();
    journal.checkpoint(&at(11), 0).unwrap();
    assert_eq!(revisions(&journal.recover().unwrap().operations), [12]);
    assert_eq!(
        journal.verify().unwrap(),
        VerifiedHashChain { first: Revision(12), last: Revision(12), count: 1 }
    );
    journal.checkpoint(&at(12), 0).unwrap();
    drop(journal);
    let mut journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.revision(), Revision(12));
    assert_eq!(
        journal.verify().unwrap(),
        VerifiedHashChain { first: Revision(13), last: Revision(12), count: 0 }
    );
    journal.append(&[operation(13, 1)]).unwrap();
    assert_eq!(journal.verify().unwrap().count, 1);
}

#[test]
fn a_checkpoint_must_be_of_a_revision_the_journal_holds() {
    let folder = folder();
    let mut journal = journal_with(folder.path(), 5);
    assert!(matches!(journal.checkpoint(&at(6), 0), Err(JournalError::NotKept { .. })));
    journal.checkpoint(&at(4), 100).unwrap();
    assert!(matches!(journal.checkpoint(&at(3), 0), Err(JournalError::NotKept { .. })), "never backwards");
    assert_eq!(journal.recover().unwrap().checkpoint, Some(at(4)));
}

#[test]
fn a_new_journal_can_go_on_from_any_revision() {
    let folder = folder();
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.checkpoint(&at(812), 10).unwrap();
    assert!(matches!(journal.append(&[operation(1, 1)]), Err(JournalError::Gap { .. })));
    journal.append(&[operation(813, 1)]).unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.recover().unwrap().checkpoint, Some(at(812)));
    assert_eq!(
        journal.verify().unwrap(),
        VerifiedHashChain { first: Revision(813), last: Revision(813), count: 1 }
    );
    assert_eq!(journal.operations_since(Revision(3), 9).unwrap(), None);
}

#[test]
fn many_operations_ask_for_compaction() {
    let folder = folder();
    let mut journal = journal_with(folder.path(), 5_000);
    assert!(!journal.should_compact());
    journal.append(&[operation(5_001, 1)]).unwrap();
    assert!(journal.should_compact());
    drop(journal);
    let mut journal = Journal::open(folder.path()).unwrap();
    assert!(journal.should_compact(), "also after a start");
    journal.checkpoint(&at(5_001), 10_000).unwrap();
    assert!(!journal.should_compact(), "what is kept for undo does not count");
    for revision in 5_002..=5_005 {
        journal.append(&[operation(revision, 17 * 1024 * 1024)]).unwrap();
    }
    assert!(journal.should_compact(), "large ones count by their bytes");
}

#[test]
fn the_log_is_newest_first() {
    let folder = folder();
    let journal = journal_with(folder.path(), 9);
    let log = journal.log(3).unwrap();
    assert_eq!(log.iter().map(|entry| entry.revision.0).collect::<Vec<_>>(), [9, 8, 7]);
    assert_eq!(
        (log[0].summary.as_str(), log[0].change_count, log[0].actor.name.as_str()),
        ("Rename node 9", 1, "ada")
    );
    assert_eq!(revisions(&journal.operations_since(Revision(4), 3).unwrap().unwrap()), [5, 6, 7]);
    assert_eq!(journal.operations_since(Revision(9), 3).unwrap(), Some(vec![]));
    assert_eq!(journal.operation(Revision(10)).unwrap(), None);
}

#[test]
fn a_newer_journal_is_refused_politely_and_left_alone() {
    let folder = folder();
    drop(journal_with(folder.path(), 2));
    meddle(folder.path(), "PRAGMA user_version = 99");
    let error = Journal::open(folder.path()).unwrap_err();
    assert!(matches!(error, JournalError::Newer { found: 99, known: 2 }));
    assert!(error.to_string().contains("update Draftboard"));
    meddle(folder.path(), "PRAGMA user_version = 2");
    assert_eq!(Journal::open(folder.path()).unwrap().recover().unwrap().operations.len(), 2);
}

#[test]
fn what_is_no_journal_is_refused_and_can_be_set_aside() {
    let foreign = |path: &Path| Connection::open(path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let garbage = |path: &Path| {
        std::fs::write(path, "not a database, but longer than a header is".repeat(100)).unwrap()
    };
    let link = |path: &Path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap();
    let makers: [&dyn Fn(&Path); 3] = [&foreign, &garbage, &link];
    for make in makers {
        let folder = folder();
        let path = folder.path().join("journal.db");
        make(&path);
        let before = std::fs::read(&path).unwrap();
        let error = Journal::open(folder.path()).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), before, "what is not ours is left as it is");
        assert!(matches!(error, JournalError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("set it aside"));
        let aside = Journal::set_aside(folder.path()).unwrap();
        assert!(aside.as_ref().unwrap().symlink_metadata().is_ok());
        drop(journal_with(folder.path(), 1));
        assert_ne!(Journal::set_aside(folder.path()).unwrap(), aside, "never over another");
    }
}

#[test]
fn torn_pages_are_found_at_the_start() {
    let folder = folder();
    drop(journal_with(folder.path(), 400));
    let path = folder.path().join("journal.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 64].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(Journal::open(folder.path()), Err(JournalError::Unreadable { .. })));
}

#[test]
fn a_second_one_is_refused_while_the_first_is_open() {
    let folder = folder();
    let mut journal = journal_with(folder.path(), 1);
    assert!(matches!(Journal::open(folder.path()), Err(JournalError::InUse)));
    journal.append(&[operation(2, 1)]).unwrap();
    drop(journal);
    assert_eq!(Journal::open(folder.path()).unwrap().revision(), Revision(2));
}

#[test]
fn the_files_are_for_their_owner_alone() {
    let folder = folder();
    std::fs::write(folder.path().join("journal.db"), "").unwrap();
    let _journal = journal_with(folder.path(), 1);
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.file_name());
        seen += 1;
    }
    assert_eq!(seen, 2, "the database and its log");
}

#[test]
fn a_copy_taken_at_any_moment_has_all_that_was_acknowledged() {
    let folder = folder();
    let mut journal = Journal::open(folder.path()).unwrap();
    for revision in 1..=20 {
        journal.append(&[operation(revision, 3_000)]).unwrap();
        // Copies the files as a crash at this moment would leave them. Read by name, because opening the database
        // here would unlock it.
        let crashed = tempfile::tempdir().unwrap();
        let copied = std::process::Command::new("cp")
            .args([folder.path().join("journal.db"), folder.path().join("journal.db-wal")])
            .arg(crashed.path())
            .status();
        assert!(copied.unwrap().success());
        let recovered = Journal::open(crashed.path()).unwrap().recover().unwrap();
        assert_eq!(revisions(&recovered.operations), (1..=revision).collect::<Vec<_>>());
    }
}

#[test]
fn after_a_crash_in_a_save_both_contents_are_ours() {
    let folder = folder();
    let path = WorkspacePath::parse("boards/main.board.json").unwrap();
    let (old, new, theirs) = (Digest::hash(b"old"), Digest::hash(b"new"), Digest::hash(b"theirs"));
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.record_content(&[(path.clone(), old)]).unwrap();
    journal.record_pending(&[(path.clone(), new)]).unwrap();
    drop(journal);
    let mut journal = Journal::open(folder.path()).unwrap();
    let known = journal.file_record(&path).unwrap();
    assert!(known.is_known(old) && known.is_known(new) && !known.is_known(theirs));
    assert_eq!(journal.file_records().unwrap(), [(path.clone(), known)]);
    journal.confirm_pending(std::slice::from_ref(&path)).unwrap();
    let known = journal.file_record(&path).unwrap();
    assert!(!known.is_known(old) && known.is_known(new) && known.pending.is_none());
    journal.confirm_pending(std::slice::from_ref(&path)).unwrap();
    assert_eq!(journal.file_record(&path).unwrap(), known, "confirming twice changes nothing");
    journal.forget_file(&path).unwrap();
    assert!(!journal.file_record(&path).unwrap().is_known(new));
}

#[test]
fn a_new_file_is_known_while_its_first_save_is_pending() {
    let folder = folder();
    let path = WorkspacePath::config();
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.record_pending(&[(path.clone(), Digest::hash(b"new"))]).unwrap();
    let known = journal.file_record(&path).unwrap();
    assert!(known.recorded.is_none() && known.is_known(Digest::hash(b"new")));
}

#[test]
fn state_is_kept_by_key_and_never_in_the_way() {
    let folder = folder();
    let mut journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.get_state::<Vec<u32>>("presence").unwrap(), None);
    journal.set_state("presence", &[1, 2]).unwrap();
    journal.set_state("presence", &[3]).unwrap();
    drop(journal);
    let mut journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.get_state("presence").unwrap(), Some(vec![3]));
    assert_eq!(journal.get_state::<String>("presence").unwrap(), None, "of another shape counts as absent");
    journal.append(&[operation(1, 1)]).unwrap();
    assert_eq!(journal.revision(), Revision(1));
}

#[test]
fn a_proposal_is_written_over_the_one_that_was_looked_at_and_over_no_other() {
    let folder = folder();
    let mut journal = Journal::open(folder.path()).unwrap();
    let proposer = Proposer { key: "one".to_owned(), name: "Agent".to_owned(), version: "1".to_owned() };
    let first = Proposal {
        id: ProposalId::from_bits(7),
        number: 1,
        version: 1,
        proposer,
        state: ProposalState::Open,
        title: "First".to_owned(),
        rationale: String::new(),
        base: Revision::START,
        changes: Vec::new(),
        chosen: AutoAssignments::default(),
        act: None,
        steps: Vec::new(),
        comments: Vec::new(),
        decisions: Vec::new(),
        outcome: None,
        created: 1,
        expires: 2,
    };
    let accepted = Proposal { state: ProposalState::Accepted, ..first.clone() };
    let write = |journal: &mut Journal, proposal: &Proposal, stamp: u64, over: Option<u64>| {
        let proposals = vec![ProposalWrite { proposal, stamp, base_revision: over, unchanged_prefix: None }];
        let write = ReviewWrite { stamp, proposals, ..ReviewWrite::default() };
        journal.append_with(&[operation(journal.revision().0 + 1, 20)], &write)
    };
    write(&mut journal, &first, 1, None).unwrap();
    let refused = write(&mut journal, &accepted, 9, Some(5)).unwrap_err();
    assert!(
        matches!(refused, JournalError::AnotherProposal { proposal } if proposal == first.id),
        "{refused}"
    );
    // Nothing was written, including the operation of the approval.
    assert_eq!((journal.revision(), journal.review_stamp()), (Revision(1), 1));
    assert_eq!(journal.review().unwrap().proposals[0].proposal, first);
    write(&mut journal, &accepted, 9, Some(1)).unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.review().unwrap().proposals[0].proposal, accepted);
    assert_eq!(journal.revision(), Revision(2));
}

#[test]
fn a_deleted_journal_is_written_no_more_and_made_anew_with_all_that_was_in_it() {
    let folder = folder();
    let mut journal = journal_with(folder.path(), 3);
    let path = folder.path().join("journal.db");
    std::fs::remove_file(&path).unwrap();
    let more = plain_operations(4..=4);
    assert!(matches!(journal.append(&more), Err(JournalError::Displaced { .. })));
    std::fs::write(&path, "somebody else's").unwrap();
    let renewed = journal.rebuild(folder.path(), &at(3)).unwrap();
    assert!(renewed.is_complete);
    assert_eq!(std::fs::read(renewed.set_aside_path.unwrap()).unwrap(), b"somebody else's");
    journal.append(&more).unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.verify().unwrap().count, 4);
}

#[test]
fn a_journal_that_cannot_be_read_any_more_starts_from_the_document() {
    let folder = folder();
    // More data than SQLite keeps in memory; closed once, so that it is not in the log either.
    let mut operations = plain_operations(1..=500);
    operations.iter_mut().for_each(|operation| operation.summary = "x".repeat(10_000));
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.append(&operations).unwrap();
    drop(journal);
    let mut journal = Journal::open(folder.path()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("journal.db-wal")).unwrap();
    file.set_len(0).unwrap();
    let database = folder.path().join("journal.db");
    std::fs::rename(&database, folder.path().join("kept")).unwrap();
    std::fs::write(folder.path().join("kept"), "").unwrap();
    assert!(matches!(journal.check_consistency(), Err(JournalError::Displaced { .. })));
    let renewed = journal.rebuild(folder.path(), &at(500)).unwrap();
    assert!(!renewed.is_complete);
    // Nothing is acknowledged before the review queue is restored.
    assert!(matches!(journal.append(&plain_operations(501..=501)), Err(JournalError::Displaced { .. })));
    journal.roll_back(&ReviewWrite::default()).unwrap();
    journal.append(&plain_operations(501..=501)).unwrap();
    drop(journal);
    let recovered = Journal::open(folder.path()).unwrap().recover().unwrap();
    assert_eq!((recovered.checkpoint, recovered.operations.len()), (Some(at(500)), 1));
}
