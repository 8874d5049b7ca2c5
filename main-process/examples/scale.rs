//! A workspace of 50,000 nodes and 75,000 edges: how long it takes to open, to decide and apply a command, and what it
//! weighs. Prints figures beside their goals.
//!
//! ```text
//! cargo run --release -p main-process --example scale [NODES]
//! ```

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and ends where it cannot go on"
)]

use authority::decide;
use shared_protocol::{
    Actor, ActorKind, Board, BoardId, BoardKind, Command, Edge, EdgeEndpoint, EdgeId, GraphDocument, Node,
    NodeId, Placement, PropKey, PropValue, command::PlaceNode,
};
use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};
use workspace::{Mutation, TimeAndSeed, Workspace, WorkspaceTemplate, create};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SUBNETS: usize = 10;
const INSTANCES: usize = 48;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, folder] = &arguments[..]
        && mode == "open"
    {
        return measure_open(Path::new(folder));
    }
    let nodes = arguments.get(1).and_then(|count| count.parse().ok()).unwrap_or(50_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let document = generate(nodes);
    println!("{} nodes, {} edges", document.nodes.len(), document.edges.len());
    write_workspace(folder.path(), &document);

    println!("\nopening, each in a process of its own (goal: under 2 s and 400 MB)");
    for what in ["from files alone", "from the journal"] {
        println!("  {what}");
        run_self(&["open", &folder.path().display().to_string()]);
    }
    measure_commands(folder.path());
}

fn run_self(arguments: &[&str]) {
    let exe = std::env::current_exe().expect("this program");
    let status = std::process::Command::new(exe).args(arguments).status().expect("this program runs");
    assert!(status.success());
}

fn moment(seed: u64) -> TimeAndSeed {
    TimeAndSeed { time: 1_700_000_000_000, seed }
}

fn write_workspace(folder: &Path, document: &GraphDocument) {
    create(folder, WorkspaceTemplate::Blank, BoardId::from_bits(7)).expect("a new workspace");
    let text = journal::write_board(document).expect("a board file");
    std::fs::write(folder.join("boards/scale.board.json"), &text).expect("a board file");
    println!("board file {:.1} MB", text.len() as f64 / 1e6);
}

fn measure_open(folder: &Path) {
    let start = Instant::now();
    let workspace = Workspace::open(folder, moment(1)).unwrap_or_else(|error| panic!("{error}"));
    let took = start.elapsed();
    let (now, most) = memory();
    println!(
        "    {} nodes in {:.2} s, memory {now} MB, at most {most} MB",
        workspace.snapshot().node_count(),
        took.as_secs_f64()
    );
    workspace.close();
}

/// Resident memory now and at its highest, in megabytes.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| {
        let found = status.lines().find(|line| line.starts_with(name));
        found.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or_default() / 1024
    };
    (line("VmRSS:"), line("VmHWM:"))
}

fn measure_commands(folder: &Path) {
    let mut workspace = Workspace::open(folder, moment(1)).unwrap_or_else(|error| panic!("{error}"));
    let instances: Vec<NodeId> =
        workspace.snapshot().nodes().filter(|node| node.parent.is_some()).map(|node| node.id).collect();
    let pick = |index: usize| instances[index * 7_919 % instances.len()];
    println!("\ndecided and applied, without the disk (goal: median under 1 ms)");
    for (name, command) in commands() {
        let mut times = Vec::new();
        let mut patch = 0;
        for index in 0..1_000 {
            let mut state = workspace.snapshot().clone();
            let command = command(&state, pick(index), index);
            let start = Instant::now();
            let decision =
                decide(&state, &command, index as u64).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            state.apply(state.revision().next(), &decision.changes).expect("a decision applies");
            times.push(start.elapsed());
            patch = patch.max(
                shared_protocol::framing::encode(&decision.changes, usize::MAX)
                    .map_or(0, |bytes| bytes.len()),
            );
        }
        let (median, p99) = quantiles(&mut times);
        println!("  {name:<28} median {median:>8.1?}  p99 {p99:>8.1?}  patch at most {patch} bytes");
    }

    println!("\nthe same, durable: decided, journaled with fsync, visible");
    let actor = Actor::new(ActorKind::Terminal, "benchmark");
    let mut times = Vec::new();
    for index in 0..100 {
        let placed = PlaceNode::new(pick(index), Placement { x: 20, y: 60, w: 184, h: 64 });
        let mutation = Mutation::Run(Box::new(Command::Place { items: vec![placed] }));
        let start = Instant::now();
        workspace
            .execute(&mutation, &actor, moment(index as u64))
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        times.push(start.elapsed());
    }
    let (median, p99) = quantiles(&mut times);
    println!("  one command a commit         median {median:>8.1?}  p99 {p99:>8.1?}");
    let start = Instant::now();
    let mut group = workspace.begin();
    for index in 0..256 {
        let placed = PlaceNode::new(pick(index), Placement { x: 24, y: 64, w: 184, h: 64 });
        let mutation = Mutation::Run(Box::new(Command::Place { items: vec![placed] }));
        group.run(&mutation, &actor, moment(index as u64)).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    group.commit().unwrap_or_else(|refusal| panic!("{refusal}"));
    println!("  256 commands a commit        {:>8.1?} each", start.elapsed() / 256);

    let start = Instant::now();
    let (_, files) = workspace.save().unwrap_or_else(|refusal| panic!("{refusal}"));
    println!("\nsaving {} in {:.2} s", files.join(", "), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let wire = shared_protocol::framing::encode(&workspace.view(), usize::MAX).expect("a view");
    println!(
        "everything for a renderer: {:.1} MB in {:.2} s",
        wire.len() as f64 / 1e6,
        start.elapsed().as_secs_f64()
    );
}

type MakeCommand = fn(&authority::Snapshot, NodeId, usize) -> Command;

fn commands() -> Vec<(&'static str, MakeCommand)> {
    vec![
        ("move a node", |state, node, index| {
            let placement = state.placement(node).expect("a place").moved_by(index as i32 % 9 + 1, 0);
            Command::Place { items: vec![PlaceNode::new(node, placement)] }
        }),
        ("set a property", |_, node, index| Command::UpdateNode {
            node: node.into(),
            name: None,
            label: Some(format!("Server {index}")),
            set: BTreeMap::new(),
            unset: Vec::new(),
            references: BTreeMap::new(),
        }),
        ("add a node, placed for it", |state, node, _| {
            let node = state.node(node).expect("a node");
            let parent = state.ancestors(node.parent).find(|node| node.type_id.as_str().ends_with("subnet"));
            let mut add =
                shared_protocol::AddNode::new(node.board, "aws/compute/instance".parse().expect("a type"));
            add.parent = parent.map(|parent| parent.id.into());
            if add.parent.is_none() {
                add.type_id = "aws/storage/s3_bucket".parse().expect("a type");
            }
            Command::AddNode(add)
        }),
        ("remove a node", |_, node, _| Command::Remove { nodes: vec![node.into()], edges: Vec::new() }),
    ]
}

fn quantiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Networks of subnets of servers, each connected to the next ones.
fn generate(wanted: usize) -> GraphDocument {
    let board = Board {
        id: BoardId::from_bits(1),
        kind: BoardKind::Infrastructure,
        name: "scale".parse().expect("a name"),
        title: "Scale".to_owned(),
    };
    let mut made = GraphDocument { boards: vec![board], ..GraphDocument::default() };
    let vpcs = wanted / (1 + SUBNETS * (1 + INSTANCES));
    for vpc in 0..vpcs {
        let (column, row) = ((vpc % 10) as i32, (vpc / 10) as i32);
        let network = add(
            &mut made,
            "aws/networking/vpc",
            None,
            Placement { x: column * 6000, y: row * 5000, w: 5600, h: 4600 },
        );
        for subnet in 0..SUBNETS {
            let place = Placement {
                x: 40 + (subnet % 5) as i32 * 1100,
                y: 80 + (subnet / 5) as i32 * 2200,
                w: 1060,
                h: 2100,
            };
            let subnet = add(&mut made, "aws/networking/subnet", Some((network, "vpc_id")), place);
            for instance in 0..INSTANCES {
                let place = Placement {
                    x: 40 + (instance % 4) as i32 * 250,
                    y: 80 + (instance / 4) as i32 * 160,
                    w: 184,
                    h: 64,
                };
                add(&mut made, "aws/compute/instance", Some((subnet, "subnet_id")), place);
            }
        }
    }
    while made.nodes.len() < wanted {
        let index = made.nodes.len() as i32;
        add(
            &mut made,
            "aws/storage/s3_bucket",
            None,
            Placement { x: index % 100 * 250, y: -200 - index / 100 * 120, w: 184, h: 64 },
        );
    }
    connect(&mut made, wanted * 3 / 2);
    made.edges.sort_by_key(|edge| edge.id);
    made
}

fn add(
    made: &mut GraphDocument,
    type_id: &str,
    parent: Option<(NodeId, &str)>,
    placement: Placement,
) -> NodeId {
    let number = made.nodes.len() as u64;
    let id = NodeId::from_bits(number);
    let short = type_id.rsplit('/').next().unwrap_or_default();
    let key = |key: &str| PropKey::parse(key).expect("a key");
    let props = match short {
        "instance" => vec![
            (key("ami"), PropValue::text("ami-0c0933ae5caf0f5f9")),
            (key("instance_type"), PropValue::text("t3.small")),
            (key("monitoring"), PropValue::Bool(true)),
        ],
        "s3_bucket" => vec![(key("bucket"), PropValue::text(format!("bucket-{number}")))],
        _ => vec![(key("cidr_block"), PropValue::text("10.0.0.0/16"))],
    };
    made.nodes.push(Node {
        id,
        board: BoardId::from_bits(1),
        type_id: type_id.parse().expect("a type"),
        name: format!("{short}_{number}").parse().expect("a name"),
        label: format!("{short} {number}"),
        parent: parent.map(|(parent, _)| parent),
        props: props.into_iter().collect(),
        references: parent.map(|(parent, reference)| (key(reference), vec![parent])).into_iter().collect(),
        variables: std::collections::BTreeSet::new(),
    });
    made.layout.push((id, placement));
    id
}

fn connect(made: &mut GraphDocument, wanted: usize) {
    let servers: Vec<NodeId> = made
        .nodes
        .iter()
        .filter(|node| node.type_id.as_str().ends_with("instance"))
        .map(|node| node.id)
        .collect();
    for number in 0..wanted {
        let (from, step) = (number % servers.len(), 1 + number / servers.len());
        let end = |index: usize, port: &str| EdgeEndpoint {
            node: servers[index % servers.len()],
            port: port.parse().expect("a port"),
        };
        made.edges.push(Edge {
            id: EdgeId::from_bits(number as u64),
            board: BoardId::from_bits(1),
            source: end(from, "out"),
            target: end(from + step, "in"),
            label: String::new(),
        });
    }
}
