//! Proof of the audit: each forgery on a real journal file is found and named, and what is no forgery has words of its own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod proof_bench;

use device_key::{DeviceKey, DeviceKeys, SignedPurpose};
use proof_bench::{Signed, append, copy_folder, rechain, sql};
use rusqlite::Connection;
use shared_protocol::review::{AuditEvent, AuditFindingKind as Kind, AuditLine};
use std::{fs, os::unix::fs::PermissionsExt as _, sync::atomic::Ordering};
use workspace::{settle_findings, verify_exported, verify_missing};

/// Its name, the edit, and what is found.
type Forgery<'a> = (&'a str, &'a dyn Fn(&Connection), Vec<(Kind, Option<(u64, u64)>)>);

fn line(kind: Kind, number: u64) -> (Kind, Option<(u64, u64)>) {
    (kind, Some((number, number)))
}

#[test]
fn an_honest_history_has_no_findings_and_every_line_is_signed() {
    let mut signed = Signed::with_history();
    let report = signed.verify();
    assert_eq!(report.findings, []);
    assert_eq!((report.lines, report.signed, report.before_signing, report.anchored), (10, 10, 0, true));
    assert!(report.operations >= 2);
    signed.open();
    assert_eq!(signed.notices(), "");
}

#[test]
fn each_forgery_is_named_with_its_line() {
    let forgeries: [Forgery<'_>; 12] = [
        (
            "a changed line",
            &sql("UPDATE audit SET text = replace(text, 'ada', 'eve') WHERE number = 3"),
            vec![line(Kind::ChangedLine, 3)],
        ),
        (
            "a changed line, with the chain made right again",
            &|connection| {
                sql("UPDATE audit SET text = replace(text, 'ada', 'eve') WHERE number = 6")(connection);
                rechain(connection, 6);
            },
            vec![(Kind::ForgedLine, Some((6, 10))), line(Kind::Rewritten, 10)],
        ),
        ("a removed line", &sql("DELETE FROM audit WHERE number = 5"), vec![line(Kind::RemovedLine, 5)]),
        (
            "a cut end",
            &sql("DELETE FROM audit WHERE number > 7"),
            vec![(Kind::CutTail, Some((8, 10))), (Kind::MissingDecision, None)],
        ),
        (
            "a decision without the key",
            &|connection| drop(append(connection, AuditEvent::Accept)),
            vec![line(Kind::UnsignedDecision, 11)],
        ),
        (
            "another line without the key",
            &|connection| drop(append(connection, AuditEvent::Comment)),
            vec![line(Kind::ForgedLine, 11)],
        ),
        (
            "a line with the signature of another",
            &|connection| {
                append(connection, AuditEvent::Accept);
                sql("UPDATE audit SET (key, algorithm, signature) =
                    (SELECT key, algorithm, signature FROM audit WHERE number = 3) WHERE number = 11")(
                    connection,
                );
            },
            vec![line(Kind::ForgedLine, 11)],
        ),
        (
            "signatures taken away",
            &sql("UPDATE audit SET key = NULL, algorithm = NULL, signature = NULL WHERE number <= 3"),
            vec![(Kind::ForgedLine, Some((1, 2))), line(Kind::UnsignedDecision, 3)],
        ),
        (
            "an operation that no decision led to",
            &sql(
                "UPDATE origins SET origin = json_set(origin, '$.revision', 99) WHERE revision = (SELECT min(revision) FROM origins)",
            ),
            vec![(Kind::MissingDecision, None)],
        ),
        (
            "a rejected proposal that is said to be accepted",
            &sql(
                "UPDATE proposals SET head = json_set(head, '$.state', 'accepted') WHERE head LIKE '%\"rejected\"%'",
            ),
            vec![(Kind::MissingDecision, None)],
        ),
        (
            "a changed operation",
            &sql(
                "UPDATE operations SET summary = summary || '!' WHERE revision = (SELECT min(revision) FROM operations)",
            ),
            vec![(Kind::ChangedOperation, None)],
        ),
        (
            "a removed operation",
            &sql("DELETE FROM operations WHERE revision = (SELECT min(revision) FROM operations)"),
            vec![(Kind::ChangedOperation, None)],
        ),
    ];
    for (name, forge, expected) in forgeries {
        let mut signed = Signed::with_history();
        signed.meddle(forge);
        assert_eq!(signed.findings(), expected, "{name}");
    }
}

#[test]
fn a_line_by_an_unknown_key_is_a_finding_of_its_own_until_the_key_is_trusted() {
    let mut signed = Signed::with_history();
    let other = DeviceKey::generate().unwrap();
    let identity = signed.ws().journal().identity().to_owned();
    signed.meddle(|connection| {
        let (number, hash) = append(connection, AuditEvent::Reject);
        let text = AuditLine::signed_text(&identity, number, &hash);
        let by = other.sign(SignedPurpose::AuditLine, text.as_bytes());
        connection
            .execute(
                "UPDATE audit SET key = ?2, algorithm = ?3, signature = ?4 WHERE number = ?1",
                (number.cast_signed(), by.key.as_str(), by.algorithm, by.value),
            )
            .unwrap();
    });
    let report = signed.verify();
    assert_eq!(report.findings.len(), 1);
    let found = &report.findings[0];
    assert_eq!((found.kind, found.lines), line(Kind::UnknownKey, 11));
    assert!(found.message.contains(other.id().as_str()) && found.hint.contains("key trust"), "{found:?}");
    signed.keys().trust(other.public(), None, ("laptop", 1)).unwrap();
    assert_eq!(signed.kinds(), []);
}

#[test]
fn an_approval_without_its_grant_is_found() {
    for (from, to) in [
        // It covers more than was granted.
        (r#""diagram": "security""#, r#""diagram": "destructive""#),
        // Another one.
        (r#""id": "#, r#""id": 9"#),
        (r#""by": "ada""#, r#""by": "eve""#),
    ] {
        let mut signed = Signed::with_history();
        signed.close();
        let file = signed.files().approvals;
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
        assert_eq!(signed.kinds(), [Kind::MissingGrant], "{to}");
    }
    // The end of an approval is on record, too.
    let mut signed = Signed::with_history();
    let file = signed.files().approvals;
    let granted = fs::read_to_string(&file).unwrap();
    let id = signed.ws().review_state().approvals[0].id;
    signed.revoke(id).unwrap();
    assert_eq!(signed.kinds(), []);
    fs::write(&file, granted).unwrap();
    assert_eq!(signed.kinds(), [Kind::MissingGrant]);
}

#[test]
fn an_acceptance_by_an_approval_that_nobody_granted_is_found() {
    let mut signed = Signed::with_history();
    let id = signed.ws().review_state().approvals[0].id;
    signed.meddle(|connection| {
        connection
            .execute(
                "UPDATE audit SET text = json_set(text, '$.approval', ?1) WHERE number = 10",
                [id.cast_signed() + 1],
            )
            .unwrap();
        rechain(connection, 10);
    });
    assert!(signed.kinds().contains(&Kind::MissingGrant));
}

#[test]
fn a_lost_anchor_a_moved_folder_and_a_copy_have_words_of_their_own() {
    let mut signed = Signed::with_history();
    signed.close();
    fs::remove_dir_all(signed.files().anchors).unwrap();
    assert_eq!(signed.kinds(), [Kind::LostAnchor]);
    signed.open();
    assert!(signed.notices().contains("its anchor is gone"), "{}", signed.notices());
    assert_eq!(signed.ws().audit(0, 100).unwrap().len(), 10, "the workspace opens as it was");
    // Any line, and closing, anchors it again.
    signed.propose("four");
    assert_eq!(signed.kinds(), []);

    let copy = signed.path("copy");
    copy_folder(&signed.root, &copy);
    let original = std::mem::replace(&mut signed.root, copy.canonicalize().unwrap());
    assert_eq!(signed.kinds(), [Kind::Copied]);
    fs::remove_dir_all(&original).unwrap();
    assert_eq!(signed.kinds(), [Kind::Moved]);
    signed.open();
    signed.propose("five");
    assert_eq!(signed.kinds(), []);
    assert_eq!(fs::read_dir(signed.files().anchors).unwrap().count(), 1, "the old anchor is gone");
}

#[test]
fn a_cut_is_found_in_a_moved_folder_as_well() {
    let mut signed = Signed::with_history();
    signed.meddle(sql("DELETE FROM audit WHERE number > 9"));
    let moved = signed.path("moved");
    fs::rename(&signed.root, &moved).unwrap();
    signed.root = moved.canonicalize().unwrap();
    let kinds = signed.kinds();
    assert!(kinds.contains(&Kind::Moved) && kinds.contains(&Kind::CutTail), "{kinds:?}");
}

#[test]
fn a_restored_backup_stays_a_finding_until_it_is_settled() {
    let mut signed = Signed::with_history();
    signed.close();
    let journal = signed.root.join(".draftboard/journal.db");
    let backup = fs::read(&journal).unwrap();
    signed.open();
    let four = signed.propose("four");
    assert!(signed.accept(four).is_err(), "the standing approval did it");
    signed.close();
    fs::write(&journal, backup).unwrap();
    let report = signed.verify();
    assert_eq!(report.findings.iter().map(|found| found.kind).collect::<Vec<_>>(), [Kind::Rewound]);
    assert!(report.findings[0].message.contains("A backup was restored"), "{report:?}");
    signed.open();
    assert!(signed.notices().contains("older than its anchor"), "{}", signed.notices());
    signed.propose("five");
    signed.reopen();
    signed.propose("six");
    let later = signed.verify();
    assert_eq!(later.findings.len(), 1, "{later:?}");
    assert!(later.findings[0].message.starts_with("Found on 2023-11-14"), "{later:?}");
    let key = signed.keys().load().unwrap().key;
    assert_eq!(settle_findings(&signed.files(), &signed.root, &key), Ok(1));
    assert_eq!(signed.kinds(), []);
}

#[test]
fn a_replaced_and_a_missing_journal_are_found() {
    let mut signed = Signed::with_history();
    signed.close();
    fs::remove_file(signed.root.join(".draftboard/journal.db")).unwrap();
    let missing = verify_missing(&signed.files(), &signed.root).unwrap();
    assert_eq!(missing.findings[0].kind, Kind::MissingJournal);
    assert!(missing.findings[0].message.contains("10 audit lines"), "{missing:?}");
    signed.open();
    assert!(signed.notices().contains("Another journal was anchored here"), "{}", signed.notices());
    signed.propose("four");
    let kinds = signed.kinds();
    assert!(kinds.contains(&Kind::Replaced), "{kinds:?}");
    let another = signed.path("another");
    assert_eq!(verify_missing(&signed.files(), &another).unwrap().findings, [], "nothing was anchored there");
}

#[test]
fn an_anchor_that_was_edited_or_is_not_private_does_not_count() {
    for (edit, mode) in [("\\\"lines\\\":9", 0o600), ("\\\"lines\\\":10", 0o644)] {
        let mut signed = Signed::with_history();
        signed.close();
        let anchor = fs::read_dir(signed.files().anchors).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&anchor).unwrap();
        assert!(text.contains("\\\"lines\\\":10"), "{text}");
        fs::write(&anchor, text.replace("\\\"lines\\\":10", edit)).unwrap();
        fs::set_permissions(&anchor, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(signed.kinds(), [Kind::WrongAnchor], "{edit}");
        let key = signed.keys().load().unwrap().key;
        settle_findings(&signed.files(), &signed.root, &key).unwrap_err();
    }
}

#[test]
fn a_journal_of_the_first_edition_opens_and_its_lines_are_from_before_signing() {
    let mut signed = Signed::with_history();
    signed.meddle(|connection| {
        let old = "ALTER TABLE audit DROP COLUMN key; ALTER TABLE audit DROP COLUMN algorithm;
            ALTER TABLE audit DROP COLUMN signature; DROP TABLE identity; PRAGMA user_version = 2;";
        connection.execute_batch(old).unwrap();
    });
    fs::remove_dir_all(signed.path("state")).unwrap();
    let before = signed.verify();
    assert_eq!((before.findings.len(), before.before_signing, before.signed), (0, 10, 0), "{before:?}");
    signed.open();
    assert_eq!(signed.notices(), "");
    signed.propose("four");
    let after = signed.verify();
    assert_eq!((after.findings.len(), after.before_signing, after.signed), (0, 10, 3), "{after:?}");
    // From now on a line without a signature is a finding, also when all signatures are taken away.
    signed.meddle(sql("UPDATE audit SET key = NULL, algorithm = NULL, signature = NULL"));
    assert_eq!(signed.findings().first(), Some(&(Kind::ForgedLine, Some((11, 12)))));
}

#[test]
fn verifying_changes_nothing() {
    let mut signed = Signed::with_history();
    signed.close();
    let journal = signed.root.join(".draftboard/journal.db");
    let connection = Connection::open(&journal).unwrap();
    connection.execute_batch("PRAGMA user_version = 2; DROP TABLE identity; ALTER TABLE audit DROP COLUMN key; ALTER TABLE audit DROP COLUMN algorithm; ALTER TABLE audit DROP COLUMN signature").unwrap();
    drop(connection);
    let before = fs::read(&journal).unwrap();
    signed.verify();
    assert_eq!(fs::read(&journal).unwrap(), before, "not even the format");
}

#[test]
fn ordinary_edits_need_no_key() {
    let mut signed = Signed::new();
    signed.edit("one");
    signed.edit("two");
    assert_eq!(signed.loads.load(Ordering::SeqCst), 0);
    signed.propose("three");
    assert_eq!(signed.loads.load(Ordering::SeqCst), 1);
}

#[test]
fn without_the_key_nothing_is_decided_and_everything_else_goes_on() {
    let mut signed = Signed::with_history();
    signed.close();
    signed.keyring_is_locked = true;
    signed.open();
    signed.edit("goes_on");
    let waiting = signed.propose("covered_by_the_approval");
    for refused in [signed.accept(waiting), signed.reject(waiting), signed.grant("all").map(drop)] {
        let message = refused.unwrap_err().message;
        assert!(
            message.contains("could not be signed: the key could not be used: the keyring is locked"),
            "{message}"
        );
    }
    assert!(signed.ws().proposal_details(waiting).unwrap().brief.needs_decision());
    let findings = signed.verify().findings;
    assert!(
        !findings.is_empty() && findings.iter().all(|found| found.kind == Kind::ForgedLine),
        "{findings:?}"
    );
}

#[test]
fn a_new_machine_names_the_key_it_does_not_know() {
    let mut signed = Signed::with_history();
    let key = signed.keys().load().unwrap().key.public();
    signed.close();
    for folder in ["config", "state"] {
        fs::remove_dir_all(signed.path(folder)).unwrap();
    }
    assert_eq!(signed.kinds(), [Kind::UnknownKey, Kind::NoAnchor]);
    signed.keys().trust(key, None, ("old desk", 1)).unwrap();
    assert_eq!(signed.kinds(), [Kind::NoAnchor]);
    signed.open();
    signed.propose("four");
    assert_eq!(signed.kinds(), []);
}

#[test]
fn lines_of_the_key_before_a_rotation_stay_valid() {
    let mut signed = Signed::with_history();
    signed.close();
    signed.keys().rotate(false, ("desk", 2)).unwrap();
    signed.open();
    signed.propose("four");
    assert_eq!(signed.ws().journal().audit_signers().unwrap().len(), 2);
    assert_eq!(signed.kinds(), []);
}

#[test]
fn an_exported_audit_is_verified_with_the_known_keys() {
    let signed = Signed::with_history();
    let lines = signed.ws().audit(0, 100).unwrap();
    let verified = |lines: &[AuditLine], files| {
        let report = verify_exported(lines.iter().cloned().map(Ok), &files).unwrap();
        (report.signed, report.findings.iter().map(|found| found.kind).collect::<Vec<_>>())
    };
    assert_eq!(verified(&lines, signed.files()), (10, vec![]));
    let mut changed = lines.clone();
    changed[4].text = changed[4].text.replace("Agent", "Other");
    assert_eq!(verified(&changed, signed.files()).1, [Kind::ChangedLine]);
    let elsewhere = Signed::closed();
    DeviceKeys::new(&elsewhere.path("config"), None).load_or_create("laptop", 1).unwrap();
    assert_eq!(verified(&lines, elsewhere.files()), (0, vec![Kind::UnknownKey]));
}
