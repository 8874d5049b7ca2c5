use super::*;
use crate::{camera::rounded_point, index::tests::common::Drawing};
use authority::decide;
use common::{BOARD, shop};
use egui::pos2;
use shared_protocol::{BoardPoint, Command, EdgeEndpointRef, NodeRef, command::PlaceNode};

#[path = "../../tests/common/mod.rs"]
mod common;
mod routing;

type Nodes = Vec<(NodeId, Placement, u16)>;
type Edges = Vec<(EdgeId, Vec<(i32, i32)>)>;

/// The content of the index in a canonical order.
fn content(index: &BoardIndex) -> (Nodes, Edges) {
    let mut nodes: Vec<_> = index.nodes().map(|slot| (slot.id, slot.area, slot.depth)).collect();
    let way = |slot: &IndexedEdge| {
        slot.route.points().iter().map(|&at| rounded_point(at)).map(|at| (at.x, at.y)).collect()
    };
    let mut edges: Vec<_> = index.edges().map(|slot| (slot.id, way(slot))).collect();
    nodes.sort_unstable_by_key(|(id, ..)| *id);
    edges.sort_unstable();
    (nodes, edges)
}

/// The result of a query, to compare the grid with the list.
fn everything(index: &BoardIndex) -> (usize, usize) {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let area = Placement { x: -100_000, y: -100_000, w: 200_000, h: 200_000 };
    index.nodes_in(area, &mut nodes);
    index.edges_in(area, &mut edges);
    (nodes.len(), edges.len())
}

#[test]
fn following_changes_comes_to_the_same_as_starting_over() {
    let shop = shop();
    let mut snapshot = shop.snapshot.clone();
    let mut index = BoardIndex::build(&snapshot, BOARD);
    let id = |node: NodeId| NodeRef::Id(node);
    let place =
        |node, x, y| Command::Place { items: vec![PlaceNode { node: id(node), x, y, w: None, h: None }] };
    let end = |node| EdgeEndpointRef { node: id(node), port: None };
    let update = |label: &str| Command::UpdateNode {
        node: id(shop.web),
        name: None,
        label: Some(label.to_owned()),
        set: Default::default(),
        unset: Vec::new(),
        references: Default::default(),
    };
    let commands = [
        place(shop.web, 16, 200),
        place(shop.network, 400, -300),
        update("Renamed"),
        Command::Reparent {
            nodes: vec![id(shop.web)],
            parent: Some(id(shop.private)),
            delta: BoardPoint { x: 8, y: 8 },
        },
        place(shop.private, 100, 100),
        Command::Duplicate { nodes: vec![id(shop.private)], offset: BoardPoint { x: 400, y: 0 } },
        Command::Remove { nodes: vec![id(shop.database)], edges: Vec::new() },
        Command::Reparent { nodes: vec![id(shop.web)], parent: None, delta: BoardPoint { x: -900, y: 0 } },
        Command::Connect { source: end(shop.web), target: end(shop.web), label: String::new() },
        Command::Remove { nodes: vec![id(shop.network)], edges: Vec::new() },
    ];
    let mut followed = 0;
    for (seed, command) in commands.into_iter().enumerate() {
        let Ok(decision) = decide(&snapshot, &command, seed as u64) else { continue };
        snapshot.apply(snapshot.revision().next(), &decision.changes).unwrap();
        // A gesture may be active when a change arrives.
        index.set_preview(&snapshot, [(shop.web, Placement { x: 5, y: 5, w: 5, h: 5 })]);
        index.update(&snapshot, BOARD, &decision.changes);
        let anew = BoardIndex::build(&snapshot, BOARD);
        assert_eq!(content(&index), content(&anew), "{command:?}");
        assert_eq!(everything(&index), everything(&anew), "{command:?}");
        assert!(index.is_current(&snapshot, BOARD));
        followed += 1;
    }
    assert!(followed >= 8, "{followed}");
}

#[test]
fn a_preview_moves_edges_and_leaves_no_trace() {
    let shop = shop();
    let mut index = BoardIndex::build(&shop.snapshot, BOARD);
    let before = content(&index);
    let moved = index.model_area(shop.web).unwrap().moved_by(300, 40);
    index.set_preview(&shop.snapshot, [(shop.web, moved)]);
    assert_ne!(content(&index).1, before.1);
    assert_eq!(index.slot(shop.web).unwrap().area, moved);
    index.clear_preview(&shop.snapshot);
    assert_eq!(content(&index), before);
}

#[test]
fn the_innermost_container_is_found() {
    let shop = shop();
    let index = BoardIndex::build(&shop.snapshot, BOARD);
    let private = index.slot(shop.private).unwrap().area;
    let at = pos2(private.x as f32 + 5.0, private.y as f32 + 5.0);
    assert_eq!(index.container_at(at, |_| false), Some(shop.private));
    assert_eq!(index.container_at(at, |id| id == shop.private), Some(shop.network));
    assert_eq!(index.container_at(pos2(-5_000.0, 0.0), |_| false), None);
}

#[test]
fn a_node_without_a_type_or_a_place_is_still_somewhere() {
    let mut drawing = Drawing::new();
    let lost = drawing.node("no/such/type", "Lost", None, [10, 20, 100, 50]);
    let net = drawing.node("net", "Net", None, [400, 300, 500, 400]);
    let nowhere = drawing.node("server", "Nowhere", Some(net), [1, 1, 1, 1]);
    drawing.unplaced(nowhere);
    let snapshot = drawing.snapshot();
    let index = BoardIndex::build(&snapshot, BOARD);
    assert_eq!(index.slot(lost).unwrap().kind, DrawnNodeKind::Card);
    // At the origin of its container, with the default size of its type.
    let area = index.slot(nowhere).unwrap().area;
    assert_eq!((area.x, area.y), (400, 300));
    assert!(area.w >= 100 && area.h >= 40, "{area:?}");
}
