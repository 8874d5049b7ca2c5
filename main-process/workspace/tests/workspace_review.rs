//! The review queue in a workspace: what a yes is bound to when it is applied, and what a restart or a crash leaves of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use authority::proposals::{
    AgentCallOutcome, AgentRequest, CallingClient, DraftSelector, ProposalInput, ProposalSubmission,
};
use journal::check_audit;
use shared_protocol::{
    Change, Proposal, ProposalId, ProposalState, ProposalSubject, Refusal, RefusalCode,
    messages::AppliedCommand,
    proposal::{ProposedAction, Proposer, ReviewVerdict},
    review::{ApprovalGrant, AuditEntry, AuditEvent, ProposalDetails},
};
use std::collections::BTreeSet;
use workspace::{Mutation, MutationGroup, Reviewer, TimeAndSeed};
use workspace_fixture::WorkspaceFixture;

const DAY: u64 = 24 * 3600 * 1000;

fn agent(key: &str) -> CallingClient {
    let proposer = Proposer { key: key.to_owned(), name: "Agent".to_owned(), version: "1".to_owned() };
    CallingClient { proposer, connected: true, inherited_key: None }
}

fn ada() -> Reviewer {
    Reviewer::in_window("ada".to_owned())
}

/// One step in a group of its own, durable; what is noted of a refusal is kept, too.
fn step<T>(
    bench: &mut WorkspaceFixture,
    run: impl FnOnce(&mut MutationGroup<'_>, TimeAndSeed) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let moment = bench.moment();
    step_at(bench, moment, run)
}

fn step_at<T>(
    bench: &mut WorkspaceFixture,
    moment: TimeAndSeed,
    run: impl FnOnce(&mut MutationGroup<'_>, TimeAndSeed) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let mut group = bench.workspace().begin();
    let result = run(&mut group, moment);
    group.commit().unwrap();
    result
}

fn ask(bench: &mut WorkspaceFixture, who: &str, ask: &AgentRequest) -> Result<AgentCallOutcome, Refusal> {
    step(bench, |group, moment| group.submit(&agent(who), ask, moment))
}

fn propose(bench: &mut WorkspaceFixture, who: &str, command: &str) -> ProposalId {
    let what = ProposalInput::Command(Box::new(serde_json::from_str(command).unwrap()));
    let asked = AgentRequest::Propose { draft: DraftSelector::Current, what, submit: None };
    ask(bench, who, &asked).unwrap().response.proposal.id
}

fn submit(bench: &mut WorkspaceFixture, who: &str) -> ProposalId {
    let submission = ProposalSubmission { title: "Notes".to_owned(), ..ProposalSubmission::default() };
    ask(bench, who, &AgentRequest::Submit { draft: None, submission }).unwrap().response.proposal.id
}

fn note(name: &str) -> String {
    format!(r#"{{"addNode":{{"board":"main","type":"notes/sticky","name":"{name}"}}}}"#)
}

/// A note that waits.
fn waiting(bench: &mut WorkspaceFixture) -> ProposalId {
    propose(bench, "one", &note("proposed"));
    submit(bench, "one")
}

fn opened(bench: &WorkspaceFixture, id: ProposalId) -> ProposalDetails {
    bench.ws().proposal_details(id).unwrap()
}

/// A yes to all that is shown.
fn yes(bench: &WorkspaceFixture, id: ProposalId) -> ReviewVerdict {
    let opened = opened(bench, id);
    let confirmed = opened.elements.iter().map(|element| element.subject.clone()).collect();
    opened.verdict(None, confirmed)
}

fn accept(bench: &mut WorkspaceFixture, verdict: &ReviewVerdict) -> Result<Option<AppliedCommand>, Refusal> {
    step(bench, |group, moment| group.accept_verdict(verdict, &ada(), moment))
        .map(|decision| decision.applied)
}

fn accept_all(bench: &mut WorkspaceFixture, id: ProposalId) -> Result<Option<AppliedCommand>, Refusal> {
    let verdict = yes(bench, id);
    accept(bench, &verdict)
}

fn state(bench: &WorkspaceFixture, id: ProposalId) -> ProposalState {
    bench.ws().review_state().queue.get(id).unwrap().state.clone()
}

fn audit(bench: &WorkspaceFixture) -> Vec<AuditEntry> {
    let lines = bench.ws().audit(0, 1_000).unwrap();
    check_audit(None, &lines).unwrap();
    lines.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}

fn events(bench: &WorkspaceFixture) -> Vec<AuditEvent> {
    audit(bench).iter().map(|entry| entry.event).collect()
}

fn has(bench: &WorkspaceFixture, name: &str) -> bool {
    bench.ws().snapshot().nodes().any(|node| node.name.as_str() == name)
}

#[test]
fn a_yes_is_one_operation_with_its_origin_and_one_undo_takes_it_back() {
    let mut bench = WorkspaceFixture::new();
    propose(&mut bench, "one", &note("a"));
    propose(&mut bench, "one", &note("b"));
    let id = submit(&mut bench, "one");
    let before = bench.content();
    let applied = accept_all(&mut bench, id).unwrap().unwrap();
    assert!(has(&bench, "a") && has(&bench, "b"));
    assert_eq!(state(&bench, id), ProposalState::Accepted);
    let origin = bench.ws().origins(&[applied.revision]).unwrap().remove(0);
    assert_eq!((origin.proposal, origin.client.as_str(), origin.reviewer.as_str()), (id, "Agent", "ada"));
    bench.reopen();
    assert_eq!(bench.ws().origins(&[applied.revision]).unwrap(), [origin], "also after a restart");
    bench.undo();
    assert_eq!(bench.content(), before);
    bench.redo();
    // Later work stays when the proposal is reverted.
    bench.add("main", "later");
    bench.mutate(&Mutation::Revert { revision: applied.revision, partial: false }).unwrap();
    assert!(has(&bench, "later") && !has(&bench, "a"));
    assert_eq!(events(&bench), [AuditEvent::Begin, AuditEvent::Submit, AuditEvent::Accept]);
}

fn revert(bench: &mut WorkspaceFixture, id: ProposalId, partial: bool) -> Result<AppliedCommand, Refusal> {
    step(bench, |group, moment| group.revert_proposal(id, partial, &ada(), moment))
}

#[test]
fn reverting_what_was_only_done_touches_nothing() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "mine");
    let submission = ProposalSubmission { title: "Save".to_owned(), ..ProposalSubmission::default() };
    let asked = AgentRequest::Act { act: ProposedAction::Save, submission };
    let id = ask(&mut bench, "one", &asked).unwrap().response.proposal.id;
    assert!(accept_all(&mut bench, id).unwrap().is_none());
    let (before, brief) = (bench.content(), opened(&bench, id).brief);
    assert_eq!((brief.revisions, brief.decided.unwrap().revision), (vec![], None));
    assert_eq!(revert(&mut bench, id, false).unwrap_err().code, RefusalCode::BadRequest);
    assert_eq!(bench.content(), before, "the newest operation was somebody's own work");
}

#[test]
fn what_was_accepted_in_parts_is_reverted_as_one_and_later_work_stays() {
    let mut bench = WorkspaceFixture::new();
    for name in ["a", "b", "c"] {
        propose(&mut bench, "one", &note(name));
    }
    let id = submit(&mut bench, "one");
    let take = |bench: &mut WorkspaceFixture, name: &str| {
        let opened = opened(bench, id);
        let found = opened.elements.iter().find(|element| element.text.ends_with(&format!(" {name}")));
        let chosen = BTreeSet::from([found.unwrap().subject.clone()]);
        accept(bench, &opened.verdict(Some(chosen), BTreeSet::new())).unwrap().unwrap().revision
    };
    let before = bench.content();
    let first = take(&mut bench, "a");
    bench.add("main", "between");
    let second = take(&mut bench, "b");
    bench.add("main", "later");
    let version = opened(&bench, id).brief.version;
    step(&mut bench, |group, moment| group.reject((id, version), "The rest is too much", &ada(), moment))
        .unwrap();
    let brief = opened(&bench, id).brief;
    assert_eq!(brief.revisions, [first, second]);
    assert_eq!(brief.state_label(), "partly accepted, rejected");
    bench.reopen();
    let applied = revert(&mut bench, id, false).unwrap();
    assert!(!has(&bench, "a") && !has(&bench, "b") && has(&bench, "between") && has(&bench, "later"));
    assert!(events(&bench).contains(&AuditEvent::Revert));
    let again = revert(&mut bench, id, false).unwrap_err();
    assert_eq!(again.code, RefusalCode::NotFound, "{again}");
    bench.undo();
    assert_eq!(bench.ws().snapshot().revision(), applied.revision.next(), "it was one operation");
    assert!(has(&bench, "a") && has(&bench, "b"));
    // What was built on since is named, and the rest can go.
    bench.label("a", "Mine");
    let refusal = revert(&mut bench, id, false).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Conflict, "{refusal}");
    assert!(refusal.message.contains("label of a was changed in the meantime"), "{refusal}");
    assert!(has(&bench, "b"));
    revert(&mut bench, id, true).unwrap();
    assert!(has(&bench, "a") && !has(&bench, "b"));
    assert_ne!(bench.content(), before);
}

#[test]
fn what_was_acknowledged_is_there_after_a_restart_and_after_a_crash() {
    let mut bench = WorkspaceFixture::new();
    let draft = propose(&mut bench, "two", &note("draft"));
    propose(&mut bench, "two", &note("draft_2"));
    let open = waiting(&mut bench);
    step(&mut bench, |group, moment| group.comment_on_proposal(open, None, "Why?", &ada(), moment)).unwrap();
    let grant =
        ApprovalGrant { client: None, scope: "diagram".parse().unwrap(), boards: vec![], expires: None };
    step(&mut bench, |group, moment| group.grant(grant, false, &ada(), moment)).unwrap();
    let proposals = |bench: &WorkspaceFixture| {
        let all = bench.ws().review_state().queue.iter().map(|proposal| Proposal::clone(proposal));
        all.collect::<Vec<_>>()
    };
    let (known, approvals, entries) =
        (proposals(&bench), bench.ws().review_state().approvals.clone(), audit(&bench));
    for crash in [false, true] {
        if crash {
            bench.crash();
            bench.open();
        } else {
            bench.reopen();
        }
        assert_eq!(proposals(&bench), known);
        // After the crash it is a copy in another folder, and approvals are of one folder.
        let expected = if crash { &[][..] } else { &approvals[..] };
        assert_eq!(&bench.ws().review_state().approvals[..], expected);
        assert_eq!(audit(&bench), entries);
    }
    // It goes on where it was: the draft takes more, the open one can be decided.
    assert_eq!(propose(&mut bench, "two", &note("draft_3")), draft);
    bench.reopen();
    assert_eq!(bench.ws().review_state().queue.get(draft).unwrap().steps.len(), 3);
    accept_all(&mut bench, open).unwrap();
    assert!(has(&bench, "proposed"));
}

#[test]
fn a_crash_around_a_yes_leaves_all_of_it_or_nothing() {
    for after in [false, true] {
        let mut bench = WorkspaceFixture::new();
        let id = waiting(&mut bench);
        let verdict = yes(&bench, id);
        if after {
            accept(&mut bench, &verdict).unwrap();
        } else {
            // Decided, and not yet written when the power goes.
            let moment = bench.moment();
            let mut group = bench.workspace().begin();
            group.accept_verdict(&verdict, &ada(), moment).unwrap();
            drop(group);
        }
        bench.crash();
        bench.open();
        assert_eq!(has(&bench, "proposed"), after);
        assert_eq!(state(&bench, id) == ProposalState::Accepted, after);
        assert_eq!(accept(&mut bench, &verdict).is_ok(), !after, "a yes is used once, also across a crash");
        assert_eq!(bench.ws().snapshot().nodes().count(), 1);
    }
}

#[test]
fn approval_of_one_content_is_not_approval_of_another() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    let seen = yes(&bench, id);
    // The agent writes again, and submits.
    ask(&mut bench, "one", &AgentRequest::Revise(id)).unwrap();
    assert_eq!(accept(&mut bench, &seen).unwrap_err().code, RefusalCode::Conflict, "a draft is not decided");
    propose(&mut bench, "one", &note("more"));
    assert_eq!(submit(&mut bench, "one"), id);
    assert_eq!(accept(&mut bench, &seen).unwrap_err().code, RefusalCode::Stale, "a superseded version");
    // The same version with another hash, and the hash of one version for another.
    let now = yes(&bench, id);
    let forged = ReviewVerdict { hash: seen.hash, ..now.clone() };
    assert_eq!(accept(&mut bench, &forged).unwrap_err().code, RefusalCode::Stale, "hash A, content B");
    let forged = ReviewVerdict { version: now.version, base: now.base, ..seen };
    assert_eq!(accept(&mut bench, &forged).unwrap_err().code, RefusalCode::Stale);
    assert!(!has(&bench, "proposed") && !has(&bench, "more"));
    accept(&mut bench, &now).unwrap();
    let refused = events(&bench).iter().filter(|event| **event == AuditEvent::Refused).count();
    assert_eq!(refused, 4, "each is on record");
}

#[test]
fn a_yes_is_used_once_and_a_replay_does_nothing() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    let verdict = yes(&bench, id);
    accept(&mut bench, &verdict).unwrap();
    let content = bench.content();
    for _ in 0..3 {
        assert_eq!(accept(&mut bench, &verdict).unwrap_err().code, RefusalCode::Conflict);
    }
    // Both in one group, before anything is written.
    let id = waiting_named(&mut bench, "twice");
    let verdict = yes(&bench, id);
    let moment = bench.moment();
    let mut group = bench.workspace().begin();
    group.accept_verdict(&verdict, &ada(), moment).unwrap();
    assert!(group.accept_verdict(&verdict, &ada(), moment).is_err());
    group.commit().unwrap();
    assert_ne!(bench.content(), content);
    assert_eq!(bench.ws().snapshot().nodes().count(), 2);
}

fn waiting_named(bench: &mut WorkspaceFixture, name: &str) -> ProposalId {
    propose(bench, "one", &note(name));
    submit(bench, "one")
}

#[test]
fn after_its_time_nothing_can_be_accepted() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    let verdict = yes(&bench, id);
    let late = TimeAndSeed { time: bench.now() + 15 * DAY, seed: 9 };
    let refusal = step_at(&mut bench, late, |group, moment| group.accept_verdict(&verdict, &ada(), moment))
        .unwrap_err();
    assert!(matches!(refusal.code, RefusalCode::Conflict | RefusalCode::Stale), "{refusal}");
    assert_eq!(state(&bench, id), ProposalState::Expired);
    assert!(!has(&bench, "proposed"));
    // A clock that went back does not bring it back.
    assert!(accept(&mut bench, &verdict).is_err());
}

#[test]
fn while_the_base_moves_a_yes_is_void_and_what_was_touched_is_stale() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    propose(&mut bench, "one", r#"{"updateNode":{"node":"a","label":"Theirs"}}"#);
    let id = submit(&mut bench, "one");
    let seen = yes(&bench, id);
    bench.add("main", "elsewhere");
    assert_eq!(accept(&mut bench, &seen).unwrap_err().code, RefusalCode::Stale, "the base moved");
    assert_eq!(state(&bench, id), ProposalState::Open);
    let now = yes(&bench, id);
    assert_eq!(now.hash, seen.hash, "and the content did not");
    bench.label("a", "Mine");
    assert!(matches!(state(&bench, id), ProposalState::Stale { .. }));
    assert_eq!(accept(&mut bench, &now).unwrap_err().code, RefusalCode::Stale);
    assert_eq!(bench.label_of("a"), "Mine");
    bench.reopen();
    assert!(matches!(state(&bench, id), ProposalState::Stale { .. }), "also after a restart");
    let stale = audit(&bench).into_iter().find(|entry| entry.event == AuditEvent::Stale).unwrap();
    assert!(stale.reason.unwrap().starts_with("ada: labels a “Mine”"));
}

#[test]
fn a_no_is_a_no() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    let (before, verdict) = (bench.content(), yes(&bench, id));
    step(&mut bench, |group, moment| group.reject((id, 1), "Too many notes", &ada(), moment)).unwrap();
    assert_eq!(bench.content(), before);
    assert_eq!(accept(&mut bench, &verdict).unwrap_err().code, RefusalCode::Conflict);
    assert!(step(&mut bench, |group, moment| group.reject((id, 1), "Again", &ada(), moment)).is_err());
    bench.reopen();
    assert!(
        matches!(state(&bench, id), ProposalState::Rejected { reason, .. } if reason == "Too many notes")
    );
    assert_eq!(bench.content(), before);
    // A no to an older version is none to the newer.
    ask(&mut bench, "one", &AgentRequest::Revise(id)).unwrap();
    submit(&mut bench, "one");
    assert!(step(&mut bench, |group, moment| group.reject((id, 1), "No", &ada(), moment)).is_err());
    assert_eq!(state(&bench, id), ProposalState::Open);
}

#[test]
fn what_goes_needs_a_deliberate_yes_and_a_part_takes_what_it_needs() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "old");
    let batch = format!(r#"{{"batch":{{"commands":[{},{{"remove":{{"nodes":["old"]}}}}]}}}}"#, note("new"));
    propose(&mut bench, "one", &batch);
    let id = submit(&mut bench, "one");
    let opened = opened(&bench, id);
    let careless = opened.verdict(None, BTreeSet::new());
    assert_eq!(accept(&mut bench, &careless).unwrap_err().code, RefusalCode::ConfirmationRequired);
    assert!(has(&bench, "old"));
    let harmless: BTreeSet<ProposalSubject> =
        opened.elements.iter().filter(|e| !e.destructive).map(|e| e.subject.clone()).collect();
    accept(&mut bench, &opened.verdict(Some(harmless), BTreeSet::new())).unwrap();
    assert!(has(&bench, "old") && has(&bench, "new"));
    assert_eq!(state(&bench, id), ProposalState::Open, "the rest waits");
    bench.reopen();
    accept_all(&mut bench, id).unwrap();
    assert!(!has(&bench, "old"));
    assert_eq!(state(&bench, id), ProposalState::Accepted);
}

#[test]
fn another_client_reaches_neither_draft_nor_proposal() {
    let mut bench = WorkspaceFixture::new();
    let draft = propose(&mut bench, "one", &note("mine"));
    let what = ProposalInput::Command(Box::new(serde_json::from_str(&note("theirs")).unwrap()));
    let meddling = AgentRequest::Propose { draft: DraftSelector::ById(draft), what, submit: None };
    let submission = ProposalSubmission { title: "Theirs".to_owned(), ..ProposalSubmission::default() };
    let submitting = AgentRequest::Submit { draft: Some(draft), submission };
    for asked in [meddling, submitting, AgentRequest::Revise(draft), AgentRequest::Withdraw(draft)] {
        assert_eq!(ask(&mut bench, "two", &asked).unwrap_err().code, RefusalCode::NotFound, "{asked:?}");
    }
    assert_eq!(bench.ws().review_state().queue.get(draft).unwrap().steps.len(), 1);
    assert_eq!(state(&bench, draft), ProposalState::Draft);
}

#[test]
fn a_standing_approval_covers_what_it_says_and_nothing_else() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "old");
    let grant = |client: Option<&str>, scope: &str| ApprovalGrant {
        client: client.map(str::to_owned),
        scope: scope.parse().unwrap(),
        boards: vec![],
        expires: Some(workspace_fixture::START + DAY),
    };
    let other = grant(Some("Another"), "diagram:destructive");
    step(&mut bench, |group, moment| group.grant(other, false, &ada(), moment)).unwrap();
    let id = waiting(&mut bench);
    assert_eq!(state(&bench, id), ProposalState::Open, "it is for another client");
    let own = grant(Some("Agent"), "diagram");
    let approval = step(&mut bench, |group, moment| group.grant(own, false, &ada(), moment)).unwrap();
    assert_eq!(state(&bench, id), ProposalState::Open, "what waits already waits on");

    let at_once = |bench: &mut WorkspaceFixture, command: &str| {
        let what = ProposalInput::Command(Box::new(serde_json::from_str(command).unwrap()));
        let submit =
            Some(ProposalSubmission { title: "At once".to_owned(), ..ProposalSubmission::default() });
        ask(bench, "one", &AgentRequest::Propose { draft: DraftSelector::New, what, submit }).unwrap()
    };
    let outcome = at_once(&mut bench, &note("approved"));
    let granted = outcome.accepted.unwrap();
    assert_eq!(granted.approval, approval.id);
    assert!(has(&bench, "approved"));
    assert_eq!(outcome.response.proposal.state, ProposalState::Accepted);
    let removal = at_once(&mut bench, r#"{"remove":{"nodes":["old"]}}"#);
    assert!(removal.accepted.is_none() && has(&bench, "old"), "destruction is never covered unless named");
    let entry = audit(&bench).into_iter().rfind(|entry| entry.event == AuditEvent::Accept).unwrap();
    assert_eq!(entry.way, "standing approval");
    assert!(entry.by.unwrap().contains("ada"));
    bench.undo();
    assert!(!has(&bench, "approved"), "its own undo");

    step(&mut bench, |group, moment| group.revoke(approval.id, &ada(), moment)).unwrap();
    assert!(at_once(&mut bench, &note("revoked")).accepted.is_none());
    // One of the command line ends with the run.
    let run = grant(None, "all:destructive");
    step(&mut bench, |group, moment| group.grant(run, true, &ada(), moment)).unwrap();
    assert!(at_once(&mut bench, r#"{"remove":{"nodes":["old"]}}"#).accepted.is_some());
    bench.reopen();
    assert_eq!(bench.ws().review_state().approvals.len(), 1);
}

#[test]
fn the_audit_says_what_was_taken_and_what_was_allowed_for_how_long() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    let taken = opened(&bench, id).elements[0].subject.to_string();
    accept_all(&mut bench, id).unwrap();
    let accepted = audit(&bench).into_iter().find(|entry| entry.event == AuditEvent::Accept).unwrap();
    assert_eq!(accepted.elements, [taken]);
    let main = bench.board("main");
    let grant = ApprovalGrant {
        client: Some("Agent".to_owned()),
        scope: "diagram".parse().unwrap(),
        boards: vec![main],
        expires: Some(workspace_fixture::START + DAY),
    };
    let approval = step(&mut bench, |group, moment| group.grant(grant, false, &ada(), moment)).unwrap();
    let granted = audit(&bench).into_iter().find(|entry| entry.event == AuditEvent::Grant).unwrap();
    let words = granted.reason.unwrap();
    for part in ["diagram", "\"Agent\"", "main (b-", "until 2023-11-15T"] {
        assert!(words.contains(part), "{words}");
    }
    let late = TimeAndSeed { time: workspace_fixture::START + DAY, seed: 9 };
    step_at(&mut bench, late, |group, moment| {
        group.expire(moment.time);
        Ok(())
    })
    .unwrap();
    let over = audit(&bench).into_iter().find(|entry| entry.event == AuditEvent::Expire).unwrap();
    assert_eq!((over.approval, over.way.as_str()), (Some(approval.id), "clock"));
}

#[test]
fn a_reviewers_edit_is_theirs_and_voids_what_was_seen() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    let seen = yes(&bench, id);
    let commands = [serde_json::from_str(r#"{"updateNode":{"node":"proposed","label":"Better"}}"#).unwrap()];
    let at = (id, seen.version, seen.hash);
    step(&mut bench, |group, moment| group.edit_proposal(at, &commands, &ada(), moment)).unwrap();
    assert_eq!(accept(&mut bench, &seen).unwrap_err().code, RefusalCode::Stale);
    assert!(step(&mut bench, |group, moment| group.edit_proposal(at, &commands, &ada(), moment)).is_err());
    let opened = opened(&bench, id);
    assert_eq!(opened.steps.last().unwrap().by_reviewer.as_deref(), Some("ada"));
    accept_all(&mut bench, id).unwrap();
    assert_eq!(bench.label_of("proposed"), "Better");
}

#[test]
fn a_changed_line_of_the_audit_is_noticed_and_none_can_be_changed_in_place() {
    let mut bench = WorkspaceFixture::new();
    let id = waiting(&mut bench);
    accept_all(&mut bench, id).unwrap();
    let lines = bench.ws().audit(0, 1_000).unwrap();
    assert!(lines.len() >= 3);
    let mut changed = lines.clone();
    changed[1].text = changed[1].text.replace("Agent", "Agnes");
    assert_eq!(check_audit(None, &changed).unwrap_err().number, 2);
    let mut missing = lines.clone();
    missing.remove(1);
    assert_eq!(check_audit(None, &missing).unwrap_err().number, 2);
    bench.close();
    let journal = rusqlite::Connection::open(bench.root().join(".draftboard/journal.db")).unwrap();
    for sql in ["UPDATE audit SET text = 'x'", "DELETE FROM audit"] {
        assert!(journal.execute_batch(sql).is_err(), "{sql}");
    }
    drop(journal);
    bench.open();
}

#[test]
fn changes_of_a_proposal_are_written_as_they_come() {
    let mut bench = WorkspaceFixture::new();
    for index in 0..30 {
        propose(&mut bench, "one", &note(&format!("n{index}")));
    }
    let id = submit(&mut bench, "one");
    let changes = bench.ws().review_state().queue.get(id).unwrap().changes.clone();
    bench.crash();
    bench.open();
    assert_eq!(bench.ws().review_state().queue.get(id).unwrap().changes, changes, "in their order");
    let nodes = changes.iter().filter(|change| matches!(change, Change::Node { .. })).count();
    assert_eq!(nodes, 30);
}
