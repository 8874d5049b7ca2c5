//! Whatever is proposed: a no leaves everything that the workspace holds as it was, and what was accepted can be taken back
//! with later work kept.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use authority::proposals::{AgentRequest, CallingClient, DraftSelector, ProposalInput, ProposalSubmission};
use proptest::prelude::*;
use shared_protocol::{Node, NodeId, Placement, ProposalId, ProposalSubject, Refusal, proposal::Proposer};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use workspace::{MutationGroup, Reviewer, TimeAndSeed};
use workspace_fixture::WorkspaceFixture;

/// One call, about the notes `n0` to `n5` that are there, and about new ones.
#[derive(Debug, Clone)]
enum Call {
    Add,
    Within(u8),
    Label(u8, u8),
    Rename(u8, u8),
    Place(u8, i32),
    Remove(u8),
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => Just(Call::Add),
        1 => (0u8..6).prop_map(Call::Within),
        3 => (0u8..6, any::<u8>()).prop_map(|(node, label)| Call::Label(node, label)),
        1 => (0u8..6, any::<u8>()).prop_map(|(node, name)| Call::Rename(node, name)),
        2 => (0u8..6, 0i32..4_000).prop_map(|(node, x)| Call::Place(node, x)),
        1 => (0u8..6).prop_map(Call::Remove),
    ]
}

impl Call {
    fn command(&self, ids: &BTreeMap<u8, NodeId>) -> String {
        match self {
            Self::Add => r#"{"addNode":{"board":"main","type":"notes/sticky"}}"#.to_owned(),
            Self::Within(node) => {
                format!(r#"{{"addNode":{{"board":"main","type":"notes/sticky","parent":"{}"}}}}"#, ids[node])
            }
            Self::Label(node, label) => {
                format!(r#"{{"updateNode":{{"node":"{}","label":"label {label}"}}}}"#, ids[node])
            }
            Self::Rename(node, name) => {
                format!(r#"{{"updateNode":{{"node":"{}","name":"name_{name}"}}}}"#, ids[node])
            }
            Self::Place(node, x) => {
                format!(r#"{{"place":{{"items":[{{"node":"{}","x":{x},"y":900}}]}}}}"#, ids[node])
            }
            Self::Remove(node) => format!(r#"{{"remove":{{"nodes":["{}"]}}}}"#, ids[node]),
        }
    }
}

/// Six notes, the first three of them frames that may hold others.
fn prepared() -> (WorkspaceFixture, BTreeMap<u8, NodeId>) {
    let mut bench = WorkspaceFixture::new();
    for number in 0..6 {
        let kind = if number < 3 { "frame" } else { "sticky" };
        bench.run(&format!(
            r#"{{"addNode":{{"board":"main","type":"notes/{kind}","name":"n{number}","label":"n{number}"}}}}"#
        ));
    }
    bench.save();
    let ids = (0..6).map(|number| (number, bench.find(&format!("n{number}")).unwrap().id)).collect();
    (bench, ids)
}

fn step<T>(
    bench: &mut WorkspaceFixture,
    run: impl FnOnce(&mut MutationGroup<'_>, TimeAndSeed) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let moment = bench.moment();
    let mut group = bench.workspace().begin();
    let result = run(&mut group, moment);
    group.commit().unwrap();
    result
}

fn ask(bench: &mut WorkspaceFixture, ask: &AgentRequest) -> Result<ProposalId, Refusal> {
    let proposer = Proposer { key: "one".to_owned(), name: "Agent".to_owned(), version: "1".to_owned() };
    let client = CallingClient { proposer, connected: true, inherited_key: None };
    step(bench, |group, moment| group.submit(&client, ask, moment))
        .map(|outcome| outcome.response.proposal.id)
}

/// What waits of these calls; nothing when none of them changed anything.
fn proposed(bench: &mut WorkspaceFixture, ids: &BTreeMap<u8, NodeId>, calls: &[Call]) -> Option<ProposalId> {
    for call in calls {
        let what = ProposalInput::Command(Box::new(serde_json::from_str(&call.command(ids)).unwrap()));
        // A refusal is a part of the game.
        let _ = ask(bench, &AgentRequest::Propose { draft: DraftSelector::Current, what, submit: None });
    }
    let submission = ProposalSubmission { title: "Some calls".to_owned(), ..ProposalSubmission::default() };
    ask(bench, &AgentRequest::Submit { draft: None, submission }).ok()
}

fn ada() -> Reviewer {
    Reviewer::in_window("ada".to_owned())
}

/// The state, and every byte of every file but the journal's.
fn everything(bench: &WorkspaceFixture) -> (Vec<u8>, BTreeMap<String, Vec<u8>>) {
    fn files(folder: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, into);
            } else if !path.file_name().unwrap().to_string_lossy().starts_with("journal.db") {
                into.insert(path.display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    files(bench.root(), &mut found);
    (serde_json::to_vec(&bench.ws().snapshot().to_document()).unwrap(), found)
}

/// The nodes with their places.
fn nodes(bench: &WorkspaceFixture) -> BTreeMap<NodeId, (Node, Option<Placement>)> {
    let state = bench.ws().snapshot();
    state.nodes().map(|node| (node.id, (Node::clone(node), state.placement(node.id)))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_no_leaves_every_byte_as_it_was(calls in prop::collection::vec(call(), 1..6)) {
        let (mut bench, ids) = prepared();
        let (before, operations) = (everything(&bench), bench.ws().log(100).unwrap().len());
        let Some(id) = proposed(&mut bench, &ids, &calls) else { return Ok(()) };
        let opened = bench.ws().proposal_details(id).unwrap();
        let confirmed = opened.elements.iter().map(|element| element.subject.clone()).collect();
        let yes = opened.verdict(None, confirmed);
        step(&mut bench, |group, moment| group.reject((id, opened.brief.version), "No", &ada(), moment)).unwrap();
        prop_assert!(everything(&bench) == before, "something is other than it was");
        prop_assert!(step(&mut bench, |group, moment| group.accept_verdict(&yes, &ada(), moment)).is_err());
        prop_assert!(everything(&bench) == before, "a yes after the no did something");
        prop_assert_eq!(bench.ws().log(100).unwrap().len(), operations);
        bench.reopen();
        prop_assert_eq!(everything(&bench).0, before.0);
    }

    #[test]
    fn a_revert_restores_what_was_touched_and_keeps_later_work(
        calls in prop::collection::vec(call(), 1..6), later in prop::collection::vec(call(), 1..6),
    ) {
        let (mut bench, ids) = prepared();
        let Some(id) = proposed(&mut bench, &ids, &calls) else { return Ok(()) };
        let before = nodes(&bench);
        let opened = bench.ws().proposal_details(id).unwrap();
        let touched: BTreeSet<ProposalSubject> =
            opened.elements.iter().map(|element| element.subject.clone()).collect();
        let yes = opened.verdict(None, touched.clone());
        step(&mut bench, |group, moment| group.accept_verdict(&yes, &ada(), moment)).unwrap();
        // Unrelated: about none of these.
        let is_free = |number: &u8| !touched.contains(&ProposalSubject::Node(ids[number]));
        let mut worked = 0;
        for (number, call) in later.iter().enumerate() {
            let unrelated = match call {
                // Under a name of its own: one that takes the name of a removed node is in the way of the revert.
                Call::Add => {
                    bench.add("main", &format!("later{number}"));
                    worked += 1;
                    false
                }
                Call::Label(node, _) | Call::Place(node, _) | Call::Remove(node) => is_free(node),
                // What grows moves its neighbours, whoever they are.
                Call::Within(_) | Call::Rename(..) => false,
            };
            worked += usize::from(unrelated && bench.try_run(&call.command(&ids)).is_ok());
        }
        if worked == 0 {
            bench.add("main", "later");
        }
        let accepted = nodes(&bench);
        let reverted = step(&mut bench, |group, moment| group.revert_proposal(id, false, &ada(), moment));
        prop_assert!(reverted.is_ok(), "{:?}", reverted);
        let now = nodes(&bench);
        for subject in &touched {
            let ProposalSubject::Node(node) = subject else { continue };
            prop_assert_eq!(now.get(node), before.get(node), "{} is not as it was", node);
        }
        for (node, later) in accepted.iter().filter(|(node, _)| !touched.contains(&ProposalSubject::Node(**node))) {
            prop_assert_eq!(now.get(node), Some(later), "{} was later work", node);
        }
    }
}
