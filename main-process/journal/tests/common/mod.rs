//! Shared test data: random graphs and operations, and a small handwritten board.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it; a test may unwrap")]

use proptest::{collection::vec, option, prelude::*};
use shared_protocol::{
    Actor, ActorKind, Board, BoardId, BoardKind, BoardName, Change, Edge, EdgeEndpoint, EdgeId,
    GraphDocument, Node, NodeId, NodeName, Operation, OperationKind, Placement, PortId, PropKey, PropValue,
    Revision, TypeId,
};
use std::collections::BTreeMap;

/// Text with quotes, all kinds of line breaks, direction marks, controls and non-BMP characters.
pub(crate) fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "'",
        "</script>",
        "{",
        "}",
        "é",
        "漢字",
        "👩\u{200d}👩\u{200d}👧",
        "\u{e0041}",
        "\u{10ffff}",
        "a",
        "web server",
        "null",
    ]);
    prop_oneof![Just(String::new()), vec(pieces, 1..6).prop_map(|pieces| pieces.concat()), "[ -~]{0,20}"]
}

pub(crate) fn value() -> impl Strategy<Value = PropValue> {
    let number = prop_oneof![
        any::<i32>().prop_map(f64::from),
        -1e15..1e15f64,
        any::<f64>().prop_filter("in range", |number| number.is_finite() && number.abs() < 1e300),
        Just(0.1),
        Just(9_007_199_254_740_992.0),
        Just(1e16),
        Just(5e-324),
    ];
    let leaf = prop_oneof![
        Just(PropValue::Null),
        any::<bool>().prop_map(PropValue::Bool),
        number.prop_map(|number| PropValue::number(number).unwrap()),
        hostile_text().prop_map(PropValue::text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(PropValue::List),
            vec((hostile_text(), inner), 0..4).prop_map(|fields| {
                PropValue::Object(fields.into_iter().map(|(key, value)| (key.into(), value)).collect())
            }),
        ]
    })
}

pub(crate) fn props() -> impl Strategy<Value = BTreeMap<PropKey, PropValue>> {
    let key = "[a-zA-Z_][a-zA-Z0-9_]{0,8}".prop_map(|key| PropKey::parse(key).unwrap());
    prop::collection::btree_map(key, value(), 0..4)
}

/// One board; parents are earlier nodes, so that no node contains itself.
pub(crate) fn board_document() -> impl Strategy<Value = GraphDocument> {
    (0usize..12).prop_flat_map(|count| {
        let node = (props(), hostile_text(), any::<prop::sample::Index>(), 0u8..4, option::of(placement()));
        let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), hostile_text());
        let edges = if count == 0 { 0..1 } else { 0..8 };
        (vec(node, count), vec(edge, edges), hostile_text(), prop::sample::select(BoardKind::ALL.to_vec()))
            .prop_map(|(nodes, edges, title, kind)| {
                let mut document = document_of(BoardKind::Spec, &title);
                document.boards[0].kind = kind;
                for (place, (props, label, other, choice, at)) in nodes.into_iter().enumerate() {
                    add_node(&mut document, place, props, label, other.index(place.max(1)), choice, at);
                }
                for (place, (from, to, label)) in edges.into_iter().enumerate() {
                    add_edge(&mut document, place, &from, &to, label);
                }
                document
            })
    })
}

fn placement() -> impl Strategy<Value = Placement> {
    (-1_000_000..=1_000_000, -1_000_000..=1_000_000, 16..=200_000, 16..=200_000)
        .prop_map(|(x, y, w, h)| Placement { x, y, w, h })
}

fn document_of(kind: BoardKind, title: &str) -> GraphDocument {
    let board = Board {
        id: BoardId::from_bits(7),
        kind,
        name: BoardName::parse("main").unwrap(),
        title: title.to_owned(),
    };
    GraphDocument { boards: vec![board], ..GraphDocument::default() }
}

fn add_node(
    document: &mut GraphDocument,
    place: usize,
    props: BTreeMap<PropKey, PropValue>,
    label: String,
    other: usize,
    choice: u8,
    at: Option<Placement>,
) {
    let id = |place: usize| NodeId::from_bits(1000 + place as u64 * 37);
    let earlier = (place > 0).then(|| id(other));
    let references = match earlier {
        Some(target) if choice >= 2 => {
            BTreeMap::from([(PropKey::parse("uses").unwrap(), vec![target, id(0)])])
        }
        _ => BTreeMap::new(),
    };
    document.nodes.push(Node {
        id: id(place),
        board: document.boards[0].id,
        type_id: TypeId::parse("aws/compute/instance").unwrap(),
        name: NodeName::parse(format!("node_{place}")).unwrap(),
        label,
        parent: earlier.filter(|_| choice % 2 == 1),
        props,
        references,
        variables: std::collections::BTreeSet::new(),
    });
    document.layout.extend(at.map(|at| (id(place), at)));
}

fn add_edge(
    document: &mut GraphDocument,
    place: usize,
    from: &prop::sample::Index,
    to: &prop::sample::Index,
    label: String,
) {
    let end = |index: &prop::sample::Index, port: &str| {
        let node = index.get(&document.nodes).id;
        EdgeEndpoint { node, port: PortId::parse(port).unwrap() }
    };
    let edge = Edge {
        id: EdgeId::from_bits(5 + place as u64),
        board: document.boards[0].id,
        source: end(from, "out"),
        target: end(to, "in-2"),
        label,
    };
    document.edges.push(edge);
}

/// Changes of every kind. The journal does not check whether they make sense; the authority does.
pub(crate) fn change() -> impl Strategy<Value = Change> {
    let node = any::<u64>().prop_map(NodeId::from_bits);
    let whole = board_document().prop_map(|document| {
        let node = document.nodes.first().cloned().map(std::sync::Arc::new);
        match document.edges.first() {
            Some(edge) => {
                Change::Edge { id: edge.id, before: None, after: Some(std::sync::Arc::new(edge.clone())) }
            }
            None if node.is_some() => Change::Node { id: NodeId::from_bits(1000), before: node, after: None },
            None => Change::Board {
                id: document.boards[0].id,
                before: None,
                after: Some(std::sync::Arc::new(document.boards[0].clone())),
            },
        }
    });
    let key = || PropKey::parse("size").unwrap();
    let name = |text: &str| NodeName::parse(text).unwrap();
    prop_oneof![
        whole,
        node.clone().prop_map(move |node| Change::Name { node, before: name("a"), after: name("b") }),
        (node.clone(), hostile_text(), hostile_text()).prop_map(|(node, before, after)| Change::Label {
            node,
            before,
            after
        }),
        (node.clone(), option::of(node.clone()), option::of(node.clone()))
            .prop_map(|(node, before, after)| Change::Parent { node, before, after }),
        (node.clone(), option::of(value()), option::of(value()))
            .prop_map(move |(node, before, after)| Change::Prop { node, key: key(), before, after }),
        (node.clone(), vec(node.clone(), 0..3), vec(node.clone(), 0..3))
            .prop_map(move |(node, before, after)| Change::References { node, key: key(), before, after }),
        (node, option::of(placement()), option::of(placement()))
            .prop_map(|(node, before, after)| Change::Placement { node, before, after }),
    ]
}

/// Consecutive operations from `first`.
pub(crate) fn operations(first: u64, most: usize) -> impl Strategy<Value = Vec<Operation>> {
    let actor = (
        prop::sample::select(vec![ActorKind::Window, ActorKind::Terminal, ActorKind::External]),
        hostile_text(),
    );
    let kind = prop_oneof![
        Just(OperationKind::Edit),
        (0u64..99).prop_map(|revision| OperationKind::Undo(Revision(revision))),
        (0u64..99).prop_map(|revision| OperationKind::Redo(Revision(revision))),
        (0u64..99).prop_map(|revision| OperationKind::Revert(Revision(revision))),
    ];
    let operation = (0..i64::MAX as u64, actor, kind, hostile_text(), vec(change(), 0..4));
    vec(operation, 1..=most).prop_map(move |operations| {
        let numbered = operations.into_iter().zip(first..);
        numbered
            .map(|((time, (actor_kind, name), kind, summary, changes), revision)| Operation {
                revision: Revision(revision),
                time,
                actor: Actor::new(actor_kind, name),
                kind,
                summary,
                changes,
            })
            .collect()
    })
}

/// A plain operation of realistic size.
pub(crate) fn operation(revision: u64, bytes: usize) -> Operation {
    Operation {
        revision: Revision(revision),
        time: 1_700_000_000_000 + revision,
        actor: Actor::new(ActorKind::Window, "ada"),
        kind: OperationKind::Edit,
        summary: format!("Rename node {revision}"),
        changes: vec![Change::Label {
            node: NodeId::from_bits(revision),
            before: String::new(),
            after: "x".repeat(bytes),
        }],
    }
}

pub(crate) fn plain_operations(revisions: std::ops::RangeInclusive<u64>) -> Vec<Operation> {
    revisions.map(|revision| operation(revision, 20)).collect()
}

/// A small handwritten board.
pub(crate) fn small_board() -> GraphDocument {
    let mut document = document_of(BoardKind::Infrastructure, "Main");
    let at = |x| Some(Placement { x, y: 20, w: 184, h: 64 });
    let props = BTreeMap::from([
        (PropKey::parse("size").unwrap(), PropValue::from("t3.micro")),
        (PropKey::parse("count").unwrap(), PropValue::from(3)),
    ]);
    add_node(&mut document, 0, BTreeMap::new(), "Network".to_owned(), 0, 0, at(0));
    add_node(&mut document, 1, props, "Web \"é\"".to_owned(), 0, 3, at(20));
    add_node(&mut document, 2, BTreeMap::new(), String::new(), 0, 1, at(300));
    document.edges.push(Edge {
        id: EdgeId::from_bits(5),
        board: document.boards[0].id,
        source: EdgeEndpoint { node: document.nodes[1].id, port: PortId::parse("out").unwrap() },
        target: EdgeEndpoint { node: document.nodes[2].id, port: PortId::parse("in").unwrap() },
        label: "calls".to_owned(),
    });
    document
}
