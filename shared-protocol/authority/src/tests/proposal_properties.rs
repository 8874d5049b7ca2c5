//! Properties of every proposal, over random workspaces and random calls.

use super::{
    AuthorityFixture,
    integrity::check_whole,
    proposals::{NOW, agent, verdict},
    random,
};
use crate::{
    Snapshot, decide,
    proposals::{DraftSelector, QueueLimits, ReviewQueue, effects_without_cause, with_needs},
    rebase,
};
use proptest::{prelude::*, test_runner::TestRunner};
use shared_protocol::{
    Change, Command, Proposal, ProposalState, ProposalSubject, Revision, ids::one_way,
    proposal::ReviewVerdict,
};
use std::{cell::Cell, collections::BTreeSet, sync::Arc};
use test_support::RandomSource;

/// A random workspace and a random proposal on it.
struct Case {
    state: Snapshot,
    queue: ReviewQueue,
    proposal: Arc<Proposal>,
    /// The calls that built the proposal, each with its seed.
    calls: Vec<(Command, u64)>,
    random: RandomSource,
}

impl Case {
    /// Returns `None` when no call changed anything.
    fn new(seed: u64, commands: u64) -> Option<Self> {
        let mut bench = AuthorityFixture::empty();
        let mut random = RandomSource::new(seed);
        for _ in 0..25 {
            let command = random::command(&mut random, &bench.state);
            let _ = bench.run(&command);
        }
        let mut queue = ReviewQueue::from_stored([], QueueLimits::default(), bench.state.revision());
        let mut overlay = bench.state.clone();
        let (mut newest, mut calls) = (None, Vec::new());
        for step in 0..commands {
            let command = random::command(&mut random, &overlay);
            let chance = seed ^ (step << 32);
            let Ok(done) =
                queue.propose(&bench.state, &agent("one"), DraftSelector::Current, &command, (NOW, chance))
            else {
                continue;
            };
            overlay = done.state;
            newest = Some(done.proposal);
            calls.push((command, chance));
        }
        let id = newest?.id;
        // Opened without the checks of `submit`, because random props are often invalid.
        let proposal = Proposal { state: ProposalState::Open, ..Proposal::clone(queue.get(id)?) };
        if proposal.changes.is_empty() {
            return None;
        }
        queue = ReviewQueue::from_stored([proposal], QueueLimits::default(), bench.state.revision());
        let proposal = Arc::clone(queue.get(id)?);
        Some(Self { state: bench.state, queue, proposal, calls, random })
    }
}

fn applied(state: &Snapshot, changes: &[Change]) -> Snapshot {
    let mut state = state.clone();
    state.apply(state.revision().next(), changes).unwrap();
    state
}

fn content(state: &Snapshot) -> Vec<u8> {
    let mut document = state.to_document();
    document.revision = Revision::START;
    // Provenance depends on the path to the content.
    document.provenance.clear();
    serde_json::to_vec(&document).unwrap()
}

/// Ignores places: an automatic place depends on the state, so it differs when parts are accepted one by one.
fn without_places(state: &Snapshot) -> Vec<u8> {
    let mut document = state.to_document();
    document.revision = Revision::START;
    document.provenance.clear();
    document.layout.clear();
    serde_json::to_vec(&document).unwrap()
}

/// Returns the elements that the changes touch or depend on, and the names that they take.
fn concern(state: &Snapshot, changes: &[Change]) -> BTreeSet<String> {
    let mut concern = BTreeSet::new();
    let mut add = |text: String| {
        concern.insert(text);
    };
    for change in changes {
        add(ProposalSubject::of_change(change).to_string());
        match change {
            Change::Node { before, after, .. } => {
                for node in before.iter().chain(after) {
                    add(format!("name {}", node.name));
                    add(node.board.to_string());
                    node.parent
                        .iter()
                        .chain(node.references.values().flatten())
                        .for_each(|id| add(id.to_string()));
                }
            }
            Change::Name { before, after, .. } => {
                for name in [before, after] {
                    add(format!("name {name}"));
                }
            }
            Change::Parent { before, after, .. } => {
                before.iter().chain(after).for_each(|id| add(id.to_string()))
            }
            Change::References { before, after, .. } => {
                before.iter().chain(after).for_each(|id| add(id.to_string()))
            }
            Change::Edge { before, after, .. } => {
                for edge in before.iter().chain(after) {
                    add(edge.source.node.to_string());
                    add(edge.target.node.to_string());
                }
            }
            Change::Board { before, after, .. } => {
                before.iter().chain(after).for_each(|board| add(format!("board name {}", board.name)));
            }
            // A place depends on its siblings.
            Change::Placement { node, .. } => {
                state.node(*node).iter().for_each(|node| add(format!("{:?} {:?}", node.board, node.parent)));
            }
            _ => {}
        }
    }
    concern
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accepting_all_is_the_same_as_doing_it(seed: u64) {
        let Some(Case { state, queue, proposal, calls, .. }) = Case::new(seed, 8) else { return Ok(()) };
        let acceptance = queue.accept(&verdict(&queue, &proposal), &state, NOW).unwrap();
        // The same commands, run one after the other by a person.
        let mut done = state.clone();
        for (command, chance) in &calls {
            let decision = decide(&done, command, one_way(*chance)).unwrap();
            done = applied(&done, &decision.changes);
        }
        prop_assert_eq!(content(&applied(&state, &acceptance.changes)), content(&done));
    }

    #[test]
    fn any_part_leaves_the_graph_whole_and_is_what_was_announced(seed: u64, which: u64) {
        let Some(Case { state, queue, proposal, .. }) = Case::new(seed, 10) else { return Ok(()) };
        let chosen: BTreeSet<ProposalSubject> =
            proposal.subjects().into_iter().enumerate().filter(|(i, _)| which >> (i % 64) & 1 == 1).map(|(_, s)| s).collect();
        let announced = with_needs(&state, &proposal.changes, chosen.iter().cloned());
        let yes = ReviewVerdict { chosen: Some(chosen.clone()), ..verdict(&queue, &proposal) };
        match queue.accept(&yes, &state, NOW) {
            Ok(acceptance) => {
                prop_assert_eq!(&acceptance.subjects, &announced);
                check_whole(&applied(&state, &acceptance.changes));
            }
            Err(refusal) => {
                let stranded = effects_without_cause(&proposal.changes, &announced);
                prop_assert!(chosen.is_empty() || !stranded.is_empty(), "{}", refusal);
            }
        }
    }

    #[test]
    fn parts_accepted_one_after_the_other_come_to_the_whole(seed: u64, which: u64) {
        let Some(Case { state, mut queue, proposal, .. }) = Case::new(seed, 10) else { return Ok(()) };
        let whole = applied(&state, &queue.accept(&verdict(&queue, &proposal), &state, NOW).unwrap().changes);
        let chosen: BTreeSet<ProposalSubject> =
            proposal.subjects().into_iter().enumerate().filter(|(i, _)| which >> (i % 64) & 1 == 1).map(|(_, s)| s).collect();
        let yes = ReviewVerdict { chosen: Some(chosen), ..verdict(&queue, &proposal) };
        let Ok(part) = queue.accept(&yes, &state, NOW) else { return Ok(()) };
        let mut then = applied(&state, &part.changes);
        let rest = queue.record_acceptance(&yes, &part, &then, ("ada", NOW)).unwrap().remove(0);
        if rest.state == ProposalState::Open {
            let rest = queue.accept(&verdict(&queue, &rest), &then, NOW);
            prop_assert!(rest.is_ok(), "{:?}", rest);
            then = applied(&then, &rest.unwrap().changes);
            prop_assert_eq!(without_places(&then), without_places(&whole));
        }
    }

    #[test]
    fn whatever_others_do_what_is_still_open_can_be_accepted(seed: u64) {
        let Some(Case { state, mut queue, proposal, mut random, .. }) = Case::new(seed, 6) else { return Ok(()) };
        let mut state = state;
        for chance in 0..4 {
            let command = random::command(&mut random, &state);
            let Ok(theirs) = decide(&state, &command, seed ^ chance) else { continue };
            state = applied(&state, &theirs.changes);
            queue.rebase_after(&state, &theirs.changes, "ada");
        }
        let now = Arc::clone(queue.get(proposal.id).unwrap());
        if now.state == ProposalState::Open {
            let acceptance = queue.accept(&verdict(&queue, &now), &state, NOW);
            prop_assert!(acceptance.is_ok(), "{:?}", acceptance);
            check_whole(&applied(&state, &acceptance.unwrap().changes));
        } else {
            let is_told = matches!(&now.state, ProposalState::Stale { why } if !why.is_empty());
            prop_assert!(is_told, "{:?}", now.state);
        }
    }
}

#[test]
fn independent_work_and_a_proposal_commute() {
    let cases = 300;
    let real = Cell::new(0);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&any::<u64>(), |seed| {
        let Some(Case { state, mut queue, proposal, mut random, .. }) = Case::new(seed, 3) else {
            return Ok(());
        };
        let ours = concern(&state, &proposal.changes);
        let independent = (0..40).find_map(|turn| {
            let command = random::command(&mut random, &state);
            let changes = decide(&state, &command, seed ^ turn).ok()?.changes;
            let is_apart = !changes.is_empty() && concern(&state, &changes).is_disjoint(&ours);
            is_apart.then_some(changes)
        });
        let Some(theirs) = independent else { return Ok(()) };
        let after_theirs = applied(&state, &theirs);
        prop_assert_eq!(queue.rebase_after(&after_theirs, &theirs, "ada").len(), 0, "it is left as it was");
        let now = Arc::clone(queue.get(proposal.id).unwrap());
        let acceptance = queue.accept(&verdict(&queue, &now), &after_theirs, NOW);
        prop_assert!(acceptance.is_ok(), "{:?}", acceptance);
        let one_way = applied(&after_theirs, &acceptance.unwrap().changes);
        check_whole(&one_way);
        let after_ours = applied(&state, &proposal.changes);
        let other = rebase(&after_ours, &theirs);
        prop_assert!(other.conflicts.is_empty(), "{:?}", other.conflicts);
        prop_assert_eq!(content(&one_way), content(&applied(&after_ours, &other.fitting)));
        real.set(real.get() + 1);
        Ok(())
    });
    run.unwrap();
    assert!(real.get() * 3 > cases, "{} of {cases} cases had independent work", real.get());
}
