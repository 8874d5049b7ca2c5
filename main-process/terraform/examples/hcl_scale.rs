//! Measures generation and import times: `cargo run --release -p terraform --example hcl_scale`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and ends when something is wrong"
)]

use authority::{Snapshot, TypeRegistry, decide};
use shared_protocol::{
    Board, BoardId, BoardKind, Command, Edge, EdgeEndpoint, EdgeId, GraphDocument, Node, NodeId, PropKey,
    PropValue, Revision,
};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use terraform::{GenerateInput, HclGenerator, TerraformProjectSettings, import::read_terraform};

const RUNS: usize = 21;

fn main() {
    let registry = Arc::new(TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new()));
    let small = board(&registry, 200, 325);
    let large = board(&registry, 10_000, 16_000);
    // The provider schemas are parsed once per process.
    generate(&mut HclGenerator::new(), &small);

    report("200 nodes, 325 edges, from scratch", 5.0, measure(|| generate(&mut HclGenerator::new(), &small)));
    report("200 nodes, after a change of one", 0.5, after_a_change(&small));
    report(
        "10,000 nodes, 16,000 edges, from scratch",
        250.0,
        measure(|| generate(&mut HclGenerator::new(), &large)),
    );
    report("10,000 nodes, after a change of one", 250.0, after_a_change(&large));
    report("import of 200 resources", 50.0, import(&registry, &small));
}

fn board_id() -> BoardId {
    BoardId::from_bits(1)
}

fn generate(generator: &mut HclGenerator, snapshot: &Snapshot) -> usize {
    let settings = settings();
    let input = GenerateInput { snapshot, board: board_id(), settings: &settings };
    let generated = generator.generate(&input);
    generated.files.values().map(|text| text.len()).sum()
}

fn settings() -> TerraformProjectSettings {
    let tags = BTreeMap::from([("team".to_owned(), "shop".to_owned())]);
    let mut settings = TerraformProjectSettings::default();
    settings.tags = tags;
    settings
}

fn measure(mut work: impl FnMut() -> usize) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort();
    times
}

fn after_a_change(snapshot: &Snapshot) -> Vec<Duration> {
    let mut generator = HclGenerator::new();
    generate(&mut generator, snapshot);
    let node = snapshot.nodes().find(|node| node.type_id.as_str().ends_with("s3_bucket")).unwrap().id;
    let mut number = 0;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        number += 1;
        let command = Command::UpdateNode {
            node: node.into(),
            name: None,
            label: None,
            set: BTreeMap::from([(key("bucket"), PropValue::text(format!("bucket-{number}")))]),
            unset: Vec::new(),
            references: BTreeMap::new(),
        };
        let mut changed = snapshot.clone();
        let decision = decide(&changed, &command, number).unwrap();
        changed.apply(changed.revision().next(), &decision.changes).unwrap();
        let start = Instant::now();
        std::hint::black_box(generate(&mut generator, &changed));
        times.push(start.elapsed());
        assert_eq!(generator.rendered_count(), 1);
    }
    times.sort();
    times
}

fn import(registry: &Arc<TypeRegistry>, snapshot: &Snapshot) -> Vec<Duration> {
    let settings = settings();
    let input = GenerateInput { snapshot, board: board_id(), settings: &settings };
    let files: Vec<(String, String)> = HclGenerator::new()
        .generate(&input)
        .files
        .iter()
        .filter(|(name, _)| name.ends_with(".tf"))
        .map(|(name, text)| (name.clone(), text.to_string()))
        .collect();
    let empty = Snapshot::new(registry.clone());
    measure(|| {
        read_terraform(&empty, &files, "imported".parse().unwrap(), "Imported", 1).unwrap().changes.len()
    })
}

fn report(what: &str, bound: f64, times: Vec<Duration>) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let (median, worst) = (milliseconds(times[times.len() / 2]), milliseconds(times[times.len() - 1]));
    let word = if median < bound { "ok" } else { "OVER" };
    println!("{what:45} median {median:8.3} ms  worst {worst:8.3} ms  bound {bound:6.1} ms  {word}");
}

fn key(text: &str) -> PropKey {
    PropKey::parse(text).unwrap()
}

/// A board of networks with subnets and machines, groups around buckets, and meaningful edges.
fn board(registry: &Arc<TypeRegistry>, nodes: usize, edges: usize) -> Snapshot {
    let mut document = GraphDocument {
        revision: Revision::default(),
        boards: vec![Board {
            id: board_id(),
            kind: BoardKind::Infrastructure,
            name: "main".parse().unwrap(),
            title: "Main".to_owned(),
        }],
        ..GraphDocument::default()
    };
    let add =
        |document: &mut GraphDocument, kind: &str, parent: Option<NodeId>, props: Vec<(&str, PropValue)>| {
            let number = document.nodes.len() as u64 + 1;
            let id = NodeId::from_bits(number);
            document.nodes.push(Node {
                id,
                board: board_id(),
                type_id: kind.parse().unwrap(),
                name: format!("node_{number}").parse().unwrap(),
                label: format!("Node {number}"),
                parent,
                props: props.into_iter().map(|(name, value)| (key(name), value)).collect(),
                references: BTreeMap::new(),
                variables: std::collections::BTreeSet::new(),
            });
            id
        };
    let (mut groups, mut machines) = (Vec::new(), Vec::new());
    while document.nodes.len() < nodes {
        let vpc = add(
            &mut document,
            "aws/networking/vpc",
            None,
            vec![("cidr_block", PropValue::text("10.0.0.0/16"))],
        );
        let group = add(
            &mut document,
            "aws/compute/security_group",
            Some(vpc),
            vec![("name", PropValue::text("web")), ("description", PropValue::text("web"))],
        );
        groups.push(group);
        for _ in 0..4 {
            let subnet = add(
                &mut document,
                "aws/networking/subnet",
                Some(vpc),
                vec![("cidr_block", PropValue::text("10.0.1.0/24"))],
            );
            for _ in 0..3 {
                let machine = add(
                    &mut document,
                    "aws/compute/instance",
                    Some(subnet),
                    vec![
                        ("ami", PropValue::text("ami-0123456789abcdef0")),
                        ("instance_type", PropValue::text("t3.micro")),
                    ],
                );
                machines.push((machine, group));
            }
        }
        for _ in 0..6 {
            add(&mut document, "aws/storage/s3_bucket", None, vec![("bucket", PropValue::text("bucket"))]);
        }
    }
    document.nodes.truncate(nodes);
    let kept = |id: NodeId| id.bits() <= nodes as u64;
    let mut number = 0;
    let mut connect = |document: &mut GraphDocument, from: (NodeId, &str), to: (NodeId, &str)| {
        number += 1;
        document.edges.push(Edge {
            id: EdgeId::from_bits(number),
            board: board_id(),
            source: EdgeEndpoint { node: from.0, port: from.1.parse().unwrap() },
            target: EdgeEndpoint { node: to.0, port: to.1.parse().unwrap() },
            label: String::new(),
        });
    };
    for (machine, group) in machines.iter().filter(|(machine, group)| kept(*machine) && kept(*group)) {
        connect(&mut document, (*group, "group-out"), (*machine, "security-groups"));
        let node = document.nodes.iter_mut().find(|node| node.id == *machine).unwrap();
        node.references.insert(key("security_group_ids"), vec![*group]);
    }
    let ids: Vec<NodeId> = document.nodes.iter().map(|node| node.id).collect();
    for (index, id) in ids.iter().enumerate().cycle().take(edges * 3) {
        if document.edges.len() >= edges {
            break;
        }
        let step = 1 + document.edges.len() / ids.len();
        connect(&mut document, (*id, "out"), (ids[(index + step) % ids.len()], "in"));
    }
    Snapshot::from_document(document, registry.clone()).unwrap()
}
