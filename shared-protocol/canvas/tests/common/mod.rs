//! A small cloud drawing with containers, edges, notes and problems, for tests, pictures and measurements.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a fixture that cannot be made fails its test")]

pub mod rows;

use authority::{ModuleSource, ProblemIndex, Snapshot, TypeRegistry};
use shared_protocol::{
    Board, BoardId, BoardKind, BoardName, Change, Edge, EdgeEndpoint, EdgeId, GraphDocument, Node, NodeId,
    NodeName, Placement, PortId, PropKey, PropValue, ProposalSubject, Revision, TypeId,
    proposal::ElementChangeKind,
    review::{FieldChange, ProposedElement},
};
use std::{collections::BTreeMap, sync::Arc};

pub const BOARD: BoardId = BoardId::from_bits(1);

pub const MODULE: &str = r#"{
  "format": 1, "module": "test", "title": "Test",
  "types": [
    { "id": "net", "title": "Network", "category": "Network", "icon": "network", "accent": "purple", "container": true },
    { "id": "subnet", "title": "Subnet", "category": "Network", "icon": "subnet", "accent": "teal", "container": true, "parents": ["net"],
      "ports": [{ "id": "in", "label": "Routes to it", "direction": "in" }] },
    { "id": "server", "title": "EC2 instance", "category": "Compute", "icon": "server", "accent": "orange", "parents": ["subnet", "notes/frame"], "root": true,
      "ports": [{ "id": "in", "label": "Receives", "direction": "in" }, { "id": "out", "label": "Talks to", "direction": "out" }],
      "props": [{ "key": "size", "label": "Instance size", "kind": "text", "required": true },
                { "key": "token", "label": "Token", "kind": "text", "sensitive": true },
                { "key": "role", "label": "Role", "kind": "reference", "targets": ["key"] }] },
    { "id": "database", "title": "Database", "category": "Storage", "icon": "database", "accent": "blue", "parents": ["subnet"], "root": true,
      "ports": [{ "id": "in", "label": "Connections", "direction": "in", "maxConnections": 8 }] },
    { "id": "balancer", "title": "Load balancer", "category": "Network", "icon": "loadbalancer", "accent": "green", "parents": ["net", "subnet"], "root": true,
      "ports": [{ "id": "in", "label": "Traffic", "direction": "in" }, { "id": "out", "label": "Targets", "direction": "out" }] },
    { "id": "bucket", "title": "Bucket", "category": "Storage", "icon": "bucket", "accent": "pink",
      "ports": [{ "id": "in", "label": "Written by", "direction": "in", "side": "top" }] },
    { "id": "globe", "title": "Internet gateway", "category": "Network", "icon": "globe", "accent": "red",
      "ports": [{ "id": "out", "label": "Requests", "direction": "out" }] },
    { "id": "key", "title": "Role", "category": "Identity", "icon": "key", "accent": "yellow" }
  ],
  "connections": [
    { "source": { "type": "server", "port": "out" }, "target": { "type": "database", "port": "in" }, "label": "queries" },
    { "source": { "type": "server", "port": "out" }, "target": { "type": "bucket", "port": "in" }, "label": "writes" },
    { "source": { "type": "server", "port": "out" }, "target": { "type": "server", "port": "in" }, "label": "calls" },
    { "source": { "type": "balancer", "port": "out" }, "target": { "type": "server", "port": "in" }, "label": "forwards" },
    { "source": { "type": "globe", "port": "out" }, "target": { "type": "balancer", "port": "in" }, "label": "serves" }
  ]
}"#;

const NOTES: &str = include_str!("../../../../main-process/catalogue/modules/notes.json");

pub fn registry() -> Arc<TypeRegistry> {
    let module = |origin: &str, text: &str| ModuleSource { origin: origin.to_owned(), text: Arc::from(text) };
    let registry = TypeRegistry::compose(&[module("test", MODULE), module("notes", NOTES)], &BTreeMap::new());
    assert_eq!(registry.problems(), []);
    Arc::new(registry)
}

/// Builds a board.
#[derive(Default)]
pub struct Drawing {
    document: GraphDocument,
}

impl Drawing {
    pub fn new() -> Self {
        let mut drawing = Self::default();
        drawing.document.boards.push(Board {
            id: BOARD,
            kind: BoardKind::Infrastructure,
            name: BoardName::parse("main").unwrap(),
            title: "Shop".to_owned(),
        });
        drawing
    }

    pub fn node(&mut self, type_id: &str, label: &str, parent: Option<NodeId>, place: [i32; 4]) -> NodeId {
        let id = NodeId::from_bits(self.document.nodes.len() as u64 + 1);
        let fallback = NodeName::parse("node").unwrap();
        self.document.nodes.push(Node {
            id,
            board: BOARD,
            type_id: TypeId::parse(type_id).unwrap(),
            name: NodeName::from_words(label, &fallback).numbered(self.document.nodes.len() as u32),
            label: label.to_owned(),
            parent,
            props: BTreeMap::new(),
            references: BTreeMap::new(),
            variables: std::collections::BTreeSet::new(),
        });
        let [x, y, w, h] = place;
        self.document.layout.push((id, Placement { x, y, w, h }));
        id
    }

    /// Removes the place of a node.
    pub fn unplaced(&mut self, node: NodeId) {
        self.document.layout.retain(|(other, _)| *other != node);
    }

    pub fn prop(&mut self, node: NodeId, key: &str, value: &str) {
        let found = self.document.nodes.iter_mut().find(|other| other.id == node).unwrap();
        found.props.insert(PropKey::parse(key).unwrap(), PropValue::text(value));
    }

    pub fn refer(&mut self, node: NodeId, key: &str, target: NodeId) {
        let found = self.document.nodes.iter_mut().find(|other| other.id == node).unwrap();
        found.references.insert(PropKey::parse(key).unwrap(), vec![target]);
    }

    pub fn edge(&mut self, from: NodeId, to: NodeId, label: &str) -> EdgeId {
        let id = EdgeId::from_bits(self.document.edges.len() as u64 + 1);
        let end = |node, port: &str| EdgeEndpoint { node, port: PortId::parse(port).unwrap() };
        self.document.edges.push(Edge {
            id,
            board: BOARD,
            source: end(from, "out"),
            target: end(to, "in"),
            label: label.to_owned(),
        });
        id
    }

    pub fn snapshot(mut self) -> Snapshot {
        self.document.revision = Revision(7);
        Snapshot::from_document(self.document, registry()).unwrap()
    }
}

/// The board of the pictures.
pub struct Shop {
    pub snapshot: Snapshot,
    pub problems: ProblemIndex,
    pub web: NodeId,
    pub database: NodeId,
    pub private: NodeId,
    pub network: NodeId,
}

pub fn shop() -> Shop {
    let mut drawing = Drawing::new();
    let gateway = drawing.node("globe", "Internet", None, [0, 160, 184, 64]);
    let network = drawing.node("net", "Production network", None, [264, 0, 880, 560]);
    let balancer = drawing.node("balancer", "Front door", Some(network), [24, 160, 184, 64]);
    let public = drawing.node("subnet", "Public A", Some(network), [256, 56, 280, 288]);
    let web = drawing.node("server", "Web server", Some(public), [48, 56, 184, 64]);
    let api = drawing.node(
        "server",
        "Checkout and orders service with a long name",
        Some(public),
        [48, 168, 184, 64],
    );
    let private = drawing.node("subnet", "Private A", Some(network), [592, 56, 264, 288]);
    let database = drawing.node("database", "Orders", Some(private), [40, 56, 184, 64]);
    let replica = drawing.node("database", "Read replica", Some(private), [40, 184, 184, 64]);
    let key = drawing.node("key", "Deploy role", None, [0, 320, 184, 64]);
    let bucket = drawing.node("bucket", "Receipts", None, [1200, 304, 184, 64]);
    let note = drawing.node("notes/sticky", "Note", Some(network), [24, 376, 232, 128]);
    drawing.prop(note, "text", "Both subnets need a second zone before launch. Ask platform for the address plan, then copy this block.");
    let other = drawing.node("notes/sticky", "Open question", None, [1200, 120, 184, 112]);
    drawing.prop(other, "tone", "blue");
    drawing.prop(other, "text", "Do receipts have to stay in the EU?");
    let heading = drawing.node("notes/text", "Heading", None, [0, -56, 320, 48]);
    drawing.prop(heading, "text", "Shop, production");
    drawing.prop(heading, "size", "large");
    let frame = drawing.node("notes/frame", "Later", Some(network), [296, 376, 560, 152]);
    let unknown = drawing.node("server", "Batch worker", Some(frame), [24, 56, 184, 64]);
    drawing.prop(web, "size", "t3.small");
    drawing.prop(web, "token", "hunter2");
    drawing.refer(web, "role", key);
    drawing.edge(gateway, balancer, "https");
    drawing.edge(balancer, web, "");
    drawing.edge(balancer, api, "/orders");
    drawing.edge(web, database, "queries");
    drawing.edge(api, database, "");
    drawing.edge(api, replica, "");
    drawing.edge(api, bucket, "writes");
    drawing.edge(unknown, web, "");
    let snapshot = drawing.snapshot();
    let problems = ProblemIndex::check_all(&snapshot);
    Shop { snapshot, problems, web, database, private, network }
}

/// A large board, as [`rows`] describes it.
pub fn large(count: usize) -> Snapshot {
    let mut drawing = Drawing::new();
    fill(&mut drawing, count);
    drawing.snapshot()
}

/// A large board, and above it a container with `held` cards, each connected to the next.
pub fn large_with_container(count: usize, held: usize) -> (Snapshot, NodeId) {
    let mut drawing = Drawing::new();
    fill(&mut drawing, count);
    let rows = held.div_ceil(25) as i32;
    let height = rows * 104 + 64;
    let network = drawing.node("net", "Wide network", None, [0, -height - 400, 25 * 216 + 128, height + 96]);
    let subnet = drawing.node("subnet", "Wide", Some(network), [32, 56, 25 * 216 + 64, height]);
    let mut before = None;
    for place in 0..held {
        let at = [(place % 25) as i32 * 216 + 32, (place / 25) as i32 * 104 + 48, 184, 64];
        let id = drawing.node("server", &format!("Held {place}"), Some(subnet), at);
        if let Some(before) = before.replace(id) {
            drawing.edge(before, id, "");
        }
    }
    (drawing.snapshot(), network)
}

fn fill(drawing: &mut Drawing, count: usize) {
    let rows::Rows { boxes, edges } = rows::rows(count);
    let mut ids: Vec<NodeId> = Vec::with_capacity(boxes.len());
    for made in &boxes {
        let type_id = match made.kind {
            rows::Kind::Outer => "net",
            rows::Kind::Inner => "subnet",
            rows::Kind::Card => "server",
        };
        let [x, y, w, h] = made.area;
        let [left, top, ..] = made.parent.map_or([0; 4], |parent| boxes[parent].area);
        let parent = made.parent.map(|parent| ids[parent]);
        ids.push(drawing.node(type_id, &made.label, parent, [x - left, y - top, w, h]));
    }
    for (from, to) in edges {
        drawing.edge(ids[from], ids[to], "");
    }
}

/// A proposal for the nodes nearest to a point: a quarter each is added, removed, changed and moved.
pub fn proposal(snapshot: &Snapshot, at: (i32, i32), count: usize) -> (Snapshot, Vec<ProposedElement>) {
    let away = |id: NodeId| {
        let place = snapshot.absolute_placement(id).unwrap();
        (i64::from(place.x - at.0)).pow(2) + (i64::from(place.y - at.1)).pow(2)
    };
    let mut nodes: Vec<Arc<Node>> =
        snapshot.nodes_on(BOARD).filter(|node| is_leaf(snapshot, node)).cloned().collect();
    nodes.sort_by_key(|node| away(node.id));
    let (mut changes, mut elements) = (Vec::new(), Vec::new());
    for (place, node) in nodes.iter().take(count).enumerate() {
        let (id, was) = (node.id, snapshot.placement(node.id).unwrap());
        let moved = Placement { x: was.x + 60, y: was.y + 40, ..was };
        let (subject, kind) = match place % 4 {
            0 => {
                let added = NodeId::from_bits(1_000_000 + place as u64);
                let name = NodeName::parse(format!("added_{place}")).unwrap();
                let after = Node { id: added, name, label: format!("Added {place}"), ..(**node).clone() };
                changes.push(Change::Node { id: added, before: None, after: Some(Arc::new(after)) });
                changes.push(Change::Placement { node: added, before: None, after: Some(moved) });
                (ProposalSubject::Node(added), ElementChangeKind::Added)
            }
            1 => {
                for edge in snapshot.edges_of(id).map(|edge| Arc::new(edge.clone())) {
                    let gone = Change::Edge { id: edge.id, before: Some(edge), after: None };
                    if !changes.contains(&gone) {
                        changes.push(gone);
                    }
                }
                changes.push(Change::Placement { node: id, before: Some(was), after: None });
                changes.push(Change::Node { id, before: Some(Arc::clone(node)), after: None });
                (ProposalSubject::Node(id), ElementChangeKind::Removed)
            }
            2 => {
                let (before, after) = (node.label.clone(), format!("{} again", node.label));
                changes.push(Change::Label { node: id, before, after });
                (ProposalSubject::Node(id), ElementChangeKind::Changed)
            }
            _ => {
                changes.push(Change::Placement { node: id, before: Some(was), after: Some(moved) });
                (ProposalSubject::Node(id), ElementChangeKind::Placed)
            }
        };
        let field = |field: &str, before: &str, after: &str| FieldChange {
            field: field.to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        elements.push(ProposedElement {
            subject,
            kind,
            text: format!("does something to {}", node.name),
            board: Some(BOARD),
            differences: vec![field("size", "small", "large"), field("region", "eu-west-1", "eu-central-1")],
            files: Vec::new(),
            risks: Vec::new(),
            destructive: kind == ElementChangeKind::Removed,
            needs: Vec::new(),
            effect_of: Vec::new(),
        });
    }
    let mut after = snapshot.clone();
    after.apply(snapshot.revision().next(), &changes).unwrap();
    (after, elements)
}

fn is_leaf(snapshot: &Snapshot, node: &Node) -> bool {
    snapshot.children(BOARD, Some(node.id)).next().is_none()
        && snapshot.type_of(node).is_some_and(|def| !def.container)
}
