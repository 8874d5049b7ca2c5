//! Agents propose, people decide: the checks on a verdict, and the consistency of partial acceptance.

use super::AuthorityFixture;
use crate::{
    decide,
    proposals::{
        CallingClient, DraftSelector, ProposalSubmission, QueueLimits, ReviewQueue, lines, open, risks,
        with_needs,
    },
};
use shared_protocol::{
    Change, Command, Proposal, ProposalId, ProposalState, ProposalSubject, Refusal, RefusalCode,
    proposal::{ElementChangeKind, ProposalComment, ProposedAction, Proposer, ReviewVerdict, Risk},
};
use std::{collections::BTreeSet, sync::Arc};

pub(super) const NOW: u64 = 1_000_000;

pub(super) fn agent(key: &str) -> CallingClient {
    let proposer = Proposer { key: key.to_owned(), name: "Agent".to_owned(), version: "1".to_owned() };
    CallingClient { proposer, connected: true, inherited_key: None }
}

pub(super) fn verdict(queue: &ReviewQueue, proposal: &Proposal) -> ReviewVerdict {
    let destructive = proposal.changes.iter().map(ProposalSubject::of_change).collect();
    ReviewVerdict {
        proposal: proposal.id,
        version: proposal.version,
        hash: proposal.content_hash().unwrap(),
        base: queue.base(proposal),
        chosen: None,
        confirmed: destructive,
        plan: None,
    }
}

/// A workspace and a queue, wired as in the host process.
pub(super) struct Room {
    pub(super) bench: AuthorityFixture,
    pub(super) queue: ReviewQueue,
    seed: u64,
}

impl Room {
    pub(super) fn new() -> Self {
        let mut bench = AuthorityFixture::with_board();
        bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
        bench
            .json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
        let queue = ReviewQueue::from_stored([], QueueLimits::default(), bench.state.revision());
        Self { bench, queue, seed: 100 }
    }

    pub(super) fn propose(&mut self, who: &str, command: &str) -> Result<Arc<Proposal>, Refusal> {
        self.seed += 1;
        let command: Command = serde_json::from_str(command).unwrap();
        let proposed = self.queue.propose(
            &self.bench.state,
            &agent(who),
            DraftSelector::Current,
            &command,
            (NOW, self.seed),
        )?;
        Ok(proposed.proposal)
    }

    pub(super) fn submit(&mut self, who: &str) -> Result<Arc<Proposal>, Refusal> {
        let submission = ProposalSubmission {
            title: "More servers".to_owned(),
            rationale: "There is load".to_owned(),
            supersedes: None,
        };
        self.queue.submit(&self.bench.state, &agent(who), None, &submission, NOW)
    }

    /// Submits a server in the subnet.
    pub(super) fn open(&mut self) -> Arc<Proposal> {
        self.propose(
            "one",
            r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web","props":{"ami":"ami-0123456789abcdef0"}}}"#,
        )
        .unwrap();
        self.submit("one").unwrap()
    }

    /// Applies a person's edit and rebases the queue.
    pub(super) fn edit(&mut self, command: &str) {
        let decision = self.bench.json(command);
        self.queue.rebase_after(&self.bench.state, &decision.changes, "ada");
    }

    pub(super) fn accept(&mut self, verdict: &ReviewVerdict) -> Result<Arc<Proposal>, Refusal> {
        let acceptance = self.queue.accept(verdict, &self.bench.state, NOW)?;
        self.bench.state.apply(self.bench.state.revision().next(), &acceptance.changes).unwrap();
        self.bench.log.push(acceptance.changes.clone());
        let changed = self.queue.record_acceptance(verdict, &acceptance, &self.bench.state, ("ada", NOW))?;
        Ok(Arc::clone(&changed[0]))
    }

    pub(super) fn get(&self, id: ProposalId) -> &Proposal {
        self.queue.get(id).unwrap()
    }
}

pub(super) fn code(result: Result<impl std::fmt::Debug, Refusal>) -> RefusalCode {
    result.unwrap_err().code
}

#[test]
fn nothing_happens_before_a_yes_and_a_no_changes_nothing() {
    let mut room = Room::new();
    let before = serde_json::to_vec(&room.bench.state.to_document()).unwrap();
    let proposal = room.open();
    assert_eq!(code(room.queue.reject((proposal.id, 1), "  ", "ada")), RefusalCode::BadRequest);
    let rejected = room.queue.reject((proposal.id, 1), "Too expensive", "ada").unwrap();
    assert!(matches!(rejected.state, ProposalState::Rejected { .. }));
    assert_eq!(
        code(room.accept(&verdict(&room.queue, &proposal))),
        RefusalCode::Conflict,
        "a rejection rejects"
    );
    assert_eq!(serde_json::to_vec(&room.bench.state.to_document()).unwrap(), before);
}

#[test]
fn a_yes_is_one_operation_and_can_be_used_once() {
    let mut room = Room::new();
    let proposal = room.open();
    let yes = verdict(&room.queue, &proposal);
    assert_eq!(room.accept(&yes).unwrap().state, ProposalState::Accepted);
    assert_eq!(room.bench.log.len(), 4);
    room.bench.node("web");
    assert_eq!(code(room.accept(&yes)), RefusalCode::Conflict);
    assert_eq!(room.bench.log.len(), 4, "a replayed yes does nothing");
}

#[test]
fn a_yes_is_bound_to_what_was_seen() {
    // The same version with different content.
    let mut room = Room::new();
    let proposal = room.open();
    let other = Proposal { changes: proposal.changes[..1].to_vec(), ..Proposal::clone(&proposal) };
    let hash = other.content_hash().unwrap();
    assert_eq!(
        code(room.accept(&ReviewVerdict { hash, ..verdict(&room.queue, &proposal) })),
        RefusalCode::Stale
    );

    // The agent revised it.
    let yes = verdict(&room.queue, &proposal);
    room.queue.revise(proposal.id, &agent("one"), NOW).unwrap();
    assert_eq!(code(room.accept(&yes)), RefusalCode::Conflict, "it is a draft again");
    room.propose(
        "one",
        r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"more","props":{"ami":"ami-0123456789abcdef0"}}}"#,
    )
    .unwrap();
    let newer = room.submit("one").unwrap();
    assert_eq!((newer.id, newer.version), (proposal.id, 2));
    assert_eq!(code(room.accept(&yes)), RefusalCode::Stale, "the version that was seen is gone");

    // The proposal expired, was withdrawn, or never existed.
    let yes = verdict(&room.queue, &newer);
    let late = room.queue.accept(&yes, &room.bench.state, newer.expires);
    assert_eq!(code(late), RefusalCode::Stale);
    room.queue.withdraw(newer.id, &agent("one")).unwrap();
    assert_eq!(code(room.accept(&yes)), RefusalCode::Conflict);
    let unknown = ReviewVerdict { proposal: ProposalId::from_bits(1), ..yes };
    assert_eq!(code(room.accept(&unknown)), RefusalCode::NotFound);
    assert_eq!(room.bench.log.len(), 3, "none of them did anything");
}

#[test]
fn the_version_counts_by_itself_and_so_does_the_state_that_it_is_applied_to() {
    let mut room = Room::new();
    let proposal = room.open();
    let yes = verdict(&room.queue, &proposal);
    for version in [0, proposal.version + 1] {
        // Even with the current hash.
        assert_eq!(code(room.accept(&ReviewVerdict { version, ..yes.clone() })), RefusalCode::Stale);
    }
    // The queue did not see the last operation: verdict and queue agree on a base that the state no longer has.
    let told = room.bench.state.clone();
    room.bench.json(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files"}}"#);
    assert_eq!(code(room.queue.accept(&yes, &room.bench.state, NOW)), RefusalCode::Stale);
    assert!(room.queue.accept(&yes, &told, NOW).is_ok(), "all else was in order");
}

#[test]
fn what_was_only_done_became_no_operation() {
    let mut room = Room::new();
    let submission = ProposalSubmission { title: "Save".to_owned(), ..ProposalSubmission::default() };
    let proposal = room
        .queue
        .propose_act(&room.bench.state, &agent("one"), ProposedAction::Save, &submission, (NOW, 7))
        .unwrap();
    let yes = verdict(&room.queue, &proposal);
    let acceptance = room.queue.accept(&yes, &room.bench.state, NOW).unwrap();
    let accepted =
        room.queue.record_acceptance(&yes, &acceptance, &room.bench.state, ("ada", NOW)).unwrap().remove(0);
    assert_eq!((&accepted.state, accepted.decisions[0].revision), (&ProposalState::Accepted, None));
}

#[test]
fn what_waited_too_long_is_over() {
    let mut room = Room::new();
    let proposal = room.open();
    assert!(room.queue.expire(proposal.expires - 1).is_empty());
    assert_eq!(room.queue.expire(proposal.expires).len(), 1);
    assert_eq!(code(room.accept(&verdict(&room.queue, &proposal))), RefusalCode::Conflict);
}

#[test]
fn the_workspace_goes_on_under_a_proposal() {
    let mut room = Room::new();
    let proposal = room.open();
    let seen = verdict(&room.queue, &proposal);
    // An unrelated edit: the proposal moves along, and the earlier verdict is void.
    room.edit(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files"}}"#);
    assert_eq!(room.get(proposal.id).state, ProposalState::Open);
    assert_eq!(code(room.accept(&seen)), RefusalCode::Stale);
    let now = verdict(&room.queue, room.get(proposal.id));
    assert_eq!(now.hash, seen.hash, "the content is the same");
    // A move of its container: the proposal is refitted.
    room.edit(r#"{"remove":{"nodes":["a"]}}"#);
    assert!(matches!(room.get(proposal.id).state, ProposalState::Stale { .. }));
    assert_eq!(code(room.accept(&now)), RefusalCode::Stale);
    assert_eq!(code(room.queue.rebase_stale((proposal.id, 1), &room.bench.state)), RefusalCode::Stale);
}

#[test]
fn a_touched_element_that_changed_waits_for_a_second_look() {
    let mut room = Room::new();
    room.propose("one", r#"{"updateNode":{"node":"net","label":"Theirs"}}"#).unwrap();
    let proposal = room.submit("one").unwrap();
    room.edit(r#"{"updateNode":{"node":"net","set":{"cidr_block":"10.9.0.0/16"}}}"#);
    assert!(matches!(room.get(proposal.id).state, ProposalState::Stale { .. }));
    assert_eq!(code(room.accept(&verdict(&room.queue, room.get(proposal.id)))), RefusalCode::Stale);
    let again = room.queue.rebase_stale((proposal.id, 1), &room.bench.state).unwrap();
    assert_eq!(room.accept(&verdict(&room.queue, &again)).unwrap().state, ProposalState::Accepted);
}

#[test]
fn a_client_knows_its_own_proposals_alone() {
    let mut room = Room::new();
    let proposal = room.open();
    let other = agent("two");
    assert_eq!(code(room.queue.owned_by(proposal.id, &other)), RefusalCode::NotFound);
    assert_eq!(code(room.queue.revise(proposal.id, &other, NOW)), RefusalCode::NotFound);
    assert_eq!(code(room.queue.withdraw(proposal.id, &other)), RefusalCode::NotFound);
    room.queue.revise(proposal.id, &agent("one"), NOW).unwrap();
    let command = serde_json::from_str(r#"{"updateNode":{"node":"net","label":"x"}}"#).unwrap();
    let meddling =
        room.queue.propose(&room.bench.state, &other, DraftSelector::ById(proposal.id), &command, (NOW, 9));
    assert_eq!(code(meddling), RefusalCode::NotFound);
    let mine = room.propose("two", r#"{"updateNode":{"node":"net","label":"x"}}"#).unwrap();
    assert_ne!(mine.id, proposal.id);
}

#[test]
fn a_draft_sees_its_own_earlier_calls_and_nobody_else_does() {
    let mut room = Room::new();
    room.propose(
        "one",
        r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"b"}}"#,
    )
    .unwrap();
    room.propose(
        "one",
        r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"b","name":"web","props":{"ami":"ami-0123456789abcdef0"}}}"#,
    )
    .unwrap();
    let alone = room.propose("two", r#"{"updateNode":{"node":"b","label":"x"}}"#);
    assert_eq!(code(alone), RefusalCode::NotFound);
    assert_eq!(room.bench.state.node_count(), 2);
}

#[test]
fn bounds_are_refusals() {
    let mut room = Room::new();
    room.queue.limits = QueueLimits { max_undecided_per_client: 2, max_changes: 3, ..QueueLimits::default() };
    for label in ["x", "y"] {
        room.propose("one", &format!(r#"{{"updateNode":{{"node":"net","label":"{label}"}}}}"#)).unwrap();
        room.submit("one").unwrap();
    }
    let third = room.propose("one", r#"{"updateNode":{"node":"net","label":"x"}}"#);
    assert_eq!(code(third), RefusalCode::LimitExceeded);
    assert!(room.propose("two", r#"{"updateNode":{"node":"net","label":"x"}}"#).is_ok());
    let many = r#"{"batch":{"commands":[
        {"addNode":{"board":"main","type":"aws/storage/s3_bucket"}},
        {"addNode":{"board":"main","type":"aws/storage/s3_bucket"}}]}}"#;
    assert_eq!(code(room.propose("two", many)), RefusalCode::LimitExceeded);
}

#[test]
fn beginning_and_withdrawing_without_end_is_refused() {
    let mut room = Room::new();
    room.queue.limits = QueueLimits { max_withdrawn_per_hour: 2, ..QueueLimits::default() };
    let begin = |room: &mut Room| room.propose("one", r#"{"updateNode":{"node":"net","label":"x"}}"#);
    for _ in 0..2 {
        let id = begin(&mut room).unwrap().id;
        room.queue.withdraw(id, &agent("one")).unwrap();
    }
    assert_eq!(code(begin(&mut room)), RefusalCode::LimitExceeded);
}

#[test]
fn a_draft_with_errors_or_without_content_is_not_submitted() {
    let mut room = Room::new();
    assert_eq!(code(room.submit("one")), RefusalCode::NotFound);
    room.propose("one", r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket"}}"#).unwrap();
    let refusal = room.submit("one").unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ValidationError, "{refusal}");
    assert!(!refusal.hints.is_empty());
}

#[test]
fn what_goes_takes_a_deliberate_yes_for_each() {
    let mut room = Room::new();
    room.propose("one", r#"{"remove":{"nodes":["net"]}}"#).unwrap();
    let proposal = room.submit("one").unwrap();
    let all = verdict(&room.queue, &proposal);
    let one = all.confirmed.iter().next().cloned();
    let careless = ReviewVerdict { confirmed: one.into_iter().collect(), ..all.clone() };
    assert_eq!(code(room.accept(&careless)), RefusalCode::ConfirmationRequired);
    assert_eq!(room.accept(&all).unwrap().state, ProposalState::Accepted);
    assert_eq!(room.bench.state.node_count(), 0);
}

#[test]
fn a_part_takes_along_what_it_needs_and_the_rest_stays_open() {
    let mut room = Room::new();
    room.propose(
        "one",
        r#"{"batch":{"commands":[
        {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"b"}},
        {"addNode":{"board":"main","type":"aws/compute/instance","parent":"b","name":"web","props":{"ami":"ami-0123456789abcdef0"}}},
        {"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files","props":{"bucket":"files"}}}]}}"#,
    )
    .unwrap();
    let proposal = room.submit("one").unwrap();
    let web = proposal.changes.iter().find_map(|change| match change {
        Change::Node { id, after: Some(node), .. } if node.name.as_str() == "web" => {
            Some(ProposalSubject::Node(*id))
        }
        _ => None,
    });
    let chosen = BTreeSet::from([web.unwrap()]);
    let rest =
        room.accept(&ReviewVerdict { chosen: Some(chosen), ..verdict(&room.queue, &proposal) }).unwrap();
    room.bench.node("b");
    assert_eq!((rest.state.clone(), rest.version), (ProposalState::Open, 2));
    assert_eq!(room.bench.state.node_count(), 4);
    assert_eq!(
        code(room.accept(&verdict(&room.queue, &proposal))),
        RefusalCode::Stale,
        "the yes for the whole is void"
    );
    assert_eq!(room.accept(&verdict(&room.queue, &rest)).unwrap().state, ProposalState::Accepted);
    room.bench.node("files");
    assert_eq!(room.get(proposal.id).decisions.len(), 2);
}

#[test]
fn a_reviewers_edit_is_recorded_as_theirs() {
    let mut room = Room::new();
    let proposal = room.open();
    let command = serde_json::from_str(r#"{"updateNode":{"node":"web","label":"Smaller"}}"#).unwrap();
    let amended = room
        .queue
        .amend((proposal.id, 1, proposal.content_hash().unwrap()), &command, &room.bench.state, "ada", 5)
        .unwrap();
    assert_eq!(amended.steps.last().unwrap().by_reviewer.as_deref(), Some("ada"));
    assert_eq!(code(room.accept(&verdict(&room.queue, &proposal))), RefusalCode::Stale);
    room.accept(&verdict(&room.queue, &amended)).unwrap();
    assert_eq!(room.bench.state.node(room.bench.node("web")).unwrap().label, "Smaller");
}

#[test]
fn a_comment_is_on_the_whole_or_on_an_element_of_it() {
    let mut room = Room::new();
    let proposal = room.open();
    let said = |about: Option<ProposalSubject>| ProposalComment {
        by: "ada".into(),
        time: 1,
        about,
        text: "Why?".into(),
    };
    let (net, web) = (ProposalSubject::Node(room.bench.node("net")), proposal.subjects().remove(0));
    assert_eq!(code(room.queue.comment(proposal.id, said(Some(net)))), RefusalCode::BadRequest);
    room.queue.comment(proposal.id, said(Some(web))).unwrap();
    assert_eq!(room.queue.comment(proposal.id, said(None)).unwrap().comments.len(), 2);
}

#[test]
fn without_a_connection_a_draft_is_known_by_its_id_alone() {
    let mut room = Room::new();
    let mut propose = |client: &CallingClient, draft: DraftSelector, label: &str| {
        room.seed += 1;
        let command =
            serde_json::from_str(&format!(r#"{{"updateNode":{{"node":"net","label":"{label}"}}}}"#));
        let moment = (NOW, room.seed);
        let proposed = room.queue.propose(&room.bench.state, client, draft, &command.unwrap(), moment);
        proposed.map(|proposed| proposed.proposal)
    };
    let stateless = CallingClient { connected: false, ..agent("same name") };
    let first = propose(&stateless, DraftSelector::Current, "x").unwrap();
    let second = propose(&stateless, DraftSelector::Current, "y").unwrap();
    assert_ne!(first.id, second.id, "another that calls itself the same does not come upon it");
    assert_eq!(propose(&stateless, DraftSelector::ById(first.id), "z").unwrap().steps.len(), 2);
    // A reconnected client can continue the drafts whose ids it knows, and no others.
    let gone = propose(&agent("bridge 1"), DraftSelector::Current, "x").unwrap();
    let back = CallingClient { inherited_key: Some("bridge 1".to_owned()), ..agent("bridge 2") };
    assert_ne!(propose(&back, DraftSelector::Current, "y").unwrap().id, gone.id);
    let mine = propose(&back, DraftSelector::ById(gone.id), "y").unwrap();
    assert_eq!(mine.proposer.key, "bridge 2");
    assert_eq!(code(propose(&agent("bridge 1"), DraftSelector::ById(gone.id), "z")), RefusalCode::NotFound);
    assert_eq!(code(propose(&back, DraftSelector::ById(first.id), "z")), RefusalCode::NotFound);
}

#[test]
fn a_place_that_was_taken_stays_and_voids_the_yes() {
    let mut room = Room::new();
    room.edit(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files"}}"#);
    let batch = r#"{"batch":{"commands":[
        {"updateNode":{"node":"net","label":"Theirs"}},
        {"place":{"items":[{"node":"files","x":900,"y":40}]}}]}}"#;
    room.propose("one", batch).unwrap();
    let proposal = room.submit("one").unwrap();
    let seen = verdict(&room.queue, &proposal);
    room.edit(r#"{"place":{"items":[{"node":"files","x":700,"y":500}]}}"#);
    let now = Arc::clone(room.queue.get(proposal.id).unwrap());
    assert_eq!((now.state.clone(), now.version), (ProposalState::Open, 2));
    assert_eq!(code(room.accept(&seen)), RefusalCode::Stale);
    room.accept(&verdict(&room.queue, &now)).unwrap();
    let files = room.bench.node("files");
    assert_eq!(room.bench.state.placement(files).unwrap().x, 700, "later work keeps its place");
}

#[test]
fn what_is_opened_is_what_a_yes_takes() {
    let mut room = Room::new();
    let batch = r#"{"batch":{"commands":[
        {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"b"}},
        {"addNode":{"board":"main","type":"aws/compute/instance","parent":"b","name":"web","props":{"ami":"ami-0123456789abcdef0"}}},
        {"remove":{"nodes":["a"]}}]}}"#;
    room.propose("one", batch).unwrap();
    let proposal = room.submit("one").unwrap();
    let opened = open(&room.queue, &room.bench.state, &proposal, 7).unwrap();
    assert_eq!((opened.brief.stamp, opened.brief.number, opened.conflicts.len()), (7, 1, 0));
    assert_eq!((opened.brief.counts.added, opened.brief.counts.removed), (2, 1));
    assert!(opened.brief.risks.contains(&Risk::Destructive));
    let gone = &opened.elements[0];
    assert!(gone.destructive && gone.kind == ElementChangeKind::Removed, "{gone:?}");
    let web = opened.elements.iter().find(|element| element.text.contains("web")).unwrap();
    assert!(web.differences.iter().any(|field| field.field == "ami" && field.after.is_some()), "{web:?}");
    let chosen = opened.with_dependencies([web.subject.clone()]);
    assert_eq!(chosen, with_needs(&room.bench.state, &proposal.changes, [web.subject.clone()]));
    assert!(chosen.len() >= 2);
    room.accept(&opened.verdict(Some(chosen), BTreeSet::new())).unwrap();
    room.bench.node("web");
    room.bench.node("a");
}

#[test]
fn an_older_one_gives_way_and_a_secret_on_a_new_node_is_a_risk() {
    let mut room = Room::new();
    let older = room.open();
    room.propose("one", r#"{"updateNode":{"node":"net","label":"x"}}"#).unwrap();
    let submission = ProposalSubmission {
        title: "Instead".to_owned(),
        supersedes: Some(older.id),
        ..ProposalSubmission::default()
    };
    let newer = room.queue.submit(&room.bench.state, &agent("one"), None, &submission, NOW).unwrap();
    assert_eq!(room.get(older.id).state, ProposalState::Superseded { by: newer.id });
    assert_eq!(code(room.accept(&verdict(&room.queue, &older))), RefusalCode::Conflict);
    let command = r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","props":{"associate_public_ip_address":true}}}"#;
    let decision = decide(&room.bench.state, &serde_json::from_str(command).unwrap(), 3).unwrap();
    assert!(risks(&room.bench.state, &decision.changes).contains(&Risk::Security));
}

#[test]
fn risks_are_judged_from_the_changes() {
    let mut room = Room::new();
    let mut judge = |command: &str| {
        let command: Command = serde_json::from_str(command).unwrap();
        let decision = decide(&room.bench.state, &command, 3).unwrap();
        room.seed += 1;
        risks(&room.bench.state, &decision.changes)
    };
    assert!(judge(r#"{"remove":{"nodes":["a"]}}"#).contains(&Risk::Destructive));
    let label = judge(r#"{"updateNode":{"node":"net","label":"x"}}"#);
    assert_eq!(label, BTreeSet::from([Risk::Cosmetic]));
    let group = r#"{"addNode":{"board":"main","type":"aws/compute/security_group","parent":"net"}}"#;
    assert!(judge(group).contains(&Risk::Security));
    let route = r#"{"updateNode":{"node":"net","set":{"cidr_block":"10.9.0.0/16"}}}"#;
    assert!(judge(route).is_empty());
}

#[test]
fn lines_say_it_in_words() {
    let mut room = Room::new();
    let batch = r#"{"batch":{"commands":[
        {"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web","props":{"ami":"ami-0123456789abcdef0"}}},
        {"updateNode":{"node":"net","set":{"cidr_block":"10.9.0.0/16"}}}]}}"#;
    let proposal = room.propose("one", batch).unwrap();
    let overlay =
        crate::proposals::ProposalOverlay::rebase_strict(&room.bench.state, &proposal.changes).unwrap();
    let lines = lines(&room.bench.state, &overlay.state, &proposal.changes);
    let texts: Vec<&str> = lines
        .iter()
        .filter(|line| line.kind != ElementChangeKind::Placed)
        .map(|line| line.text.as_str())
        .collect();
    assert!(texts[0].starts_with("adds ") && texts[0].ends_with("web in a"), "{texts:?}");
    assert!(texts[1].contains("cidr_block of net:") && texts[1].contains("10.9.0.0/16"), "{texts:?}");
}

// ---- side effects of removals ----------------------------------------------------------------------------------

/// A subnet with a server that is connected to a bucket, and a balancer that references this and another subnet.
fn with_effects(more: &str) -> (Room, Arc<Proposal>) {
    let mut room = Room::new();
    for command in [
        r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"b"}}"#,
        r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web","props":{"ami":"ami-0123456789abcdef0"}}}"#,
        r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files","props":{"bucket":"files"}}}"#,
        r#"{"addNode":{"board":"main","type":"aws/compute/alb","name":"front"}}"#,
        r#"{"updateNode":{"node":"front","references":{"subnet_ids":["a","b"]}}}"#,
        r#"{"connect":{"source":{"node":"web"},"target":{"node":"files"}}}"#,
    ] {
        room.edit(command);
    }
    let command = format!(r#"{{"batch":{{"commands":[{more}{{"remove":{{"nodes":["a"]}}}}]}}}}"#);
    room.propose("one", &command).unwrap();
    let proposal = room.submit("one").unwrap();
    (room, proposal)
}

fn targets(room: &Room, name: &str) -> Vec<String> {
    let node = room.bench.state.node(room.bench.node(name)).unwrap();
    let found = node.references.get("subnet_ids").cloned().unwrap_or_default();
    found.iter().map(|id| room.bench.state.node(*id).unwrap().name.to_string()).collect()
}

#[test]
fn side_effects_of_a_removal_go_with_it_and_never_alone() {
    let (mut room, proposal) = with_effects("");
    let node = |name: &str| ProposalSubject::Node(room.bench.node(name));
    let (a, web, front) = (node("a"), node("web"), node("front"));
    let edge = ProposalSubject::Edge(room.bench.state.edges_of(room.bench.node("web")).next().unwrap().id);
    let opened = open(&room.queue, &room.bench.state, &proposal, 0).unwrap();
    let causes = |subject: &ProposalSubject| {
        opened.elements.iter().find(|element| element.subject == *subject).unwrap().effect_of.clone()
    };
    assert_eq!(causes(&a), [], "asked for");
    assert_eq!(causes(&web), std::slice::from_ref(&a), "it stands in it");
    assert_eq!(causes(&edge), std::slice::from_ref(&web), "it loses an end");
    assert_eq!(causes(&front), std::slice::from_ref(&a), "it loses a target");
    let effects = |of: &ProposalSubject| -> BTreeSet<ProposalSubject> {
        opened.effects_of(of).into_iter().map(|element| element.subject.clone()).collect()
    };
    let all = BTreeSet::from([web.clone(), edge.clone(), front.clone()]);
    assert_eq!(effects(&a), all, "what goes with what goes with it, too");
    assert_eq!((effects(&web), effects(&front)), (BTreeSet::from([edge.clone()]), BTreeSet::new()));
    for alone in [&web, &edge, &front] {
        let chosen = BTreeSet::from([alone.clone()]);
        let yes = ReviewVerdict { chosen: Some(chosen.clone()), ..verdict(&room.queue, &proposal) };
        let refusal = room.accept(&yes).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::BadRequest, "{alone}: {refusal}");
        assert_eq!(opened.effect_without_cause(&chosen).map(|element| &element.subject), Some(alone));
    }
    assert_eq!(targets(&room, "front"), ["a", "b"]);
    let yes = ReviewVerdict { chosen: Some(BTreeSet::from([a])), ..verdict(&room.queue, &proposal) };
    assert_eq!(room.accept(&yes).unwrap().state, ProposalState::Accepted, "the cause takes all of it along");
    assert_eq!(targets(&room, "front"), ["b"]);
    assert_eq!(room.bench.state.edge_count(), 0);
}

#[test]
fn an_element_keeps_what_only_an_unaccepted_removal_would_take_from_it() {
    let (mut room, proposal) = with_effects(r#"{"updateNode":{"node":"front","label":"Front door"}},"#);
    let front = ProposalSubject::Node(room.bench.node("front"));
    let yes = ReviewVerdict { chosen: Some(BTreeSet::from([front])), ..verdict(&room.queue, &proposal) };
    let rest = room.accept(&yes).unwrap();
    let label = |room: &Room| room.bench.state.node(room.bench.node("front")).unwrap().label.clone();
    assert_eq!((label(&room).as_str(), rest.state.clone()), ("Front door", ProposalState::Open));
    assert_eq!(targets(&room, "front"), ["a", "b"], "the subnet stays, and so does the reference to it");
    let rest = room.accept(&verdict(&room.queue, &rest)).unwrap();
    assert_eq!((rest.state.clone(), label(&room).as_str()), (ProposalState::Accepted, "Front door"));
    assert_eq!(targets(&room, "front"), ["b"]);
}

#[test]
fn an_edge_between_two_that_go_is_an_effect_of_either() {
    let (mut room, _) = with_effects("");
    room.propose("two", r#"{"remove":{"nodes":["web","files"]}}"#).unwrap();
    let proposal = room.submit("two").unwrap();
    let files = ProposalSubject::Node(room.bench.node("files"));
    let yes = ReviewVerdict { chosen: Some(BTreeSet::from([files])), ..verdict(&room.queue, &proposal) };
    room.accept(&yes).unwrap();
    assert_eq!(room.bench.state.edge_count(), 0);
    room.bench.node("web");
}

// ---- the order of the queue ------------------------------------------------------------------------------------

#[test]
fn the_gravest_comes_first_then_the_oldest() {
    let mut room = Room::new();
    let label = r#"{"updateNode":{"node":"net","label":"x"}}"#;
    let plain = r#"{"updateNode":{"node":"net","set":{"cidr_block":"10.9.0.0/16"}}}"#;
    let destructive = r#"{"remove":{"nodes":["a"]}}"#;
    let guard = r#"{"addNode":{"board":"main","type":"aws/compute/security_group","parent":"net","name":"guard","props":{"name":"guard"}}}"#;
    for (who, command) in [("1", label), ("2", plain), ("3", plain), ("4", guard), ("5", destructive)] {
        room.propose(who, command).unwrap();
        room.submit(who).unwrap();
    }
    room.propose("6", destructive).unwrap();
    let mut briefs: Vec<_> =
        room.queue.iter().map(|p| crate::proposals::brief(&room.queue, &room.bench.state, p, 0)).collect();
    briefs.sort_by(shared_protocol::review::ProposalBrief::queue_order);
    let numbers: Vec<u64> = briefs.iter().map(|brief| brief.number).collect();
    assert_eq!(
        numbers,
        [5, 4, 2, 3, 1, 6],
        "a draft waits for nobody, places and labels come last of what waits"
    );
}
