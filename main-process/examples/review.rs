//! The review queue on a board of 10,000 nodes: a call that proposes, opening a proposal of 500 elements, accepting it. Each
//! is durable when it is counted. Prints figures beside their goals.
//!
//! ```text
//! cargo run --release -p main-process --example review
//! ```

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and ends where it cannot go on"
)]

use authority::proposals::{AgentAsk, Client, Draft, Submission, Wanted};
use main_process::workspace::{Moment, Mutation, Reviewer, Template, Workspace, create};
use shared_protocol::{
    Actor, ActorKind, AddNode, BoardId, BoardName, Command, Point, ProposalId, proposal::Proposer,
};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: usize = 10_000;
const ELEMENTS: usize = 500;
const ROUNDS: u64 = 9;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("workspace");
    create(&root, Template::Blank, BoardId::from_bits(7)).expect("a workspace");
    let mut workspace = Workspace::open(&root, moment(1)).expect("it opens");
    fill(&mut workspace);
    println!("{} nodes on the board", workspace.snapshot().node_count());

    let mut calls = Vec::new();
    let (mut opening, mut accepting) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let id = propose(&mut workspace, round, &mut calls);
        let start = Instant::now();
        let opened = workspace.opened(id).expect("it opens");
        opening.push(start.elapsed());
        assert_eq!(opened.elements.len(), ELEMENTS);
        let verdict = opened.verdict(None, std::collections::BTreeSet::new());
        let start = Instant::now();
        let mut group = workspace.begin();
        group
            .accepts(&verdict, &Reviewer::at_window("ada".to_owned()), moment(9_000 + round))
            .expect("accepted");
        group.commit().expect("durable");
        accepting.push(start.elapsed());
    }
    tell("one call that proposes, durable", &mut calls, "2 ms");
    tell("opening a proposal of 500 elements", &mut opening, "50 ms");
    tell("accepting it, durable", &mut accepting, "100 ms");
}

fn moment(seed: u64) -> Moment {
    Moment { time: 1_700_000_000_000 + seed, seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
}

fn note(index: usize, row: i32) -> Command {
    let board: BoardName = "infrastructure".parse().expect("a name");
    let mut add = AddNode::new(board, "notes/sticky".parse().expect("a type"));
    add.at = Some(Point { x: (index % 100) as i32 * 240, y: row + (index / 100) as i32 * 240 });
    Command::AddNode(add)
}

fn fill(workspace: &mut Workspace) {
    let commands = (0..NODES).map(|index| note(index, 0)).collect();
    let command = Command::Batch { summary: None, commands };
    let actor = Actor::new(ActorKind::Terminal, "ada");
    workspace.execute(&Mutation::Run(Box::new(command)), &actor, moment(2)).expect("it is filled");
}

/// A proposal of 500 elements, in calls of one each.
fn propose(workspace: &mut Workspace, round: u64, calls: &mut Vec<Duration>) -> ProposalId {
    let proposer = Proposer { key: "bench".to_owned(), name: "Bench".to_owned(), version: "1".to_owned() };
    let client = Client { proposer, connected: true, inherits: None };
    let row = 30_000 + round as i32 * 2_000;
    for index in 0..ELEMENTS {
        let what = Wanted::Command(Box::new(note(index, row)));
        let ask = AgentAsk::Propose { draft: Draft::Current, what, submit: None };
        let seed = 100_000 + round * 1_000 + index as u64;
        let start = Instant::now();
        let mut group = workspace.begin();
        group.ask(&client, &ask, moment(seed)).expect("proposed");
        group.commit().expect("durable");
        calls.push(start.elapsed());
    }
    let submission = Submission { title: "Many notes".to_owned(), ..Submission::default() };
    let mut group = workspace.begin();
    let submitted = group.ask(&client, &AgentAsk::Submit { draft: None, submission }, moment(8_000 + round));
    let id = submitted.expect("submitted").done.proposal.id;
    group.commit().expect("durable");
    id
}

fn tell(what: &str, times: &mut [Duration], goal: &str) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!("  {what:<38} p50 {:>9.3?}  p99 {:>9.3?}  (goal: under {goal})", at(50), at(99));
}
