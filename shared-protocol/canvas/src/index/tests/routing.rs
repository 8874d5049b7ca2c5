//! Edges avoid nodes and keep apart from each other.

use super::*;
use crate::camera::rect_of;
use egui::Rect;
use test_support::RandomSource;

/// Returns the nodes that an edge crosses although it should avoid them.
fn crossed(snapshot: &Snapshot, index: &BoardIndex) -> Vec<(EdgeId, NodeId)> {
    let mut found = Vec::new();
    for slot in index.edges() {
        let ends = [slot.source, slot.target];
        let inside = |id: NodeId| {
            ends.iter().any(|end| {
                *end == id
                    || snapshot
                        .node(*end)
                        .is_some_and(|node| snapshot.ancestors(node.parent).any(|above| above.id == id))
            })
        };
        for node in index.nodes().filter(|node| !inside(node.id)) {
            let rect = rect_of(node.area);
            let hit = slot.route.segments().any(|[a, b]| {
                let stretch = Rect::from_two_pos(a, b);
                stretch.min.x < rect.max.x
                    && stretch.max.x > rect.min.x
                    && stretch.min.y < rect.max.y
                    && stretch.max.y > rect.min.y
            });
            if hit {
                found.push((slot.id, node.id));
            }
        }
    }
    found
}

fn is_straight(index: &BoardIndex) {
    for slot in index.edges() {
        for [a, b] in slot.route.segments() {
            let crooked = (a.x - b.x).abs() > 0.01 && (a.y - b.y).abs() > 0.01;
            assert!(!crooked, "{:?}: {:?}", slot.id, slot.route.points());
        }
    }
}

#[test]
fn an_edge_goes_round_a_card_and_a_container_in_its_way() {
    let mut drawing = Drawing::new();
    let a = drawing.node("server", "A", None, [0, 0, 184, 64]);
    drawing.node("server", "Between", None, [300, 0, 184, 64]);
    let net = drawing.node("net", "Net", None, [560, -200, 300, 400]);
    let subnet = drawing.node("subnet", "Subnet", Some(net), [20, 50, 260, 300]);
    drawing.node("server", "Inside", Some(subnet), [20, 50, 184, 64]);
    let b = drawing.node("server", "B", None, [960, 0, 184, 64]);
    let edge = drawing.edge(a, b, "calls");
    let snapshot = drawing.snapshot();
    let index = BoardIndex::build(&snapshot, BOARD);
    assert_eq!(crossed(&snapshot, &index), []);
    is_straight(&index);
    let points = index.edge_slot(edge).unwrap().route.points();
    assert!(points.len() <= 8, "{points:?}");
}

#[test]
fn within_its_own_containers_an_edge_is_free_to_go() {
    let shop = shop();
    let index = BoardIndex::build(&shop.snapshot, BOARD);
    assert_eq!(crossed(&shop.snapshot, &index), []);
    is_straight(&index);
}

#[test]
fn on_a_crowded_board_no_edge_crosses_a_card() {
    // Cards on a sparse grid, connected at random: a route always exists.
    let mut drawing = Drawing::new();
    let mut random = RandomSource::new(7);
    let mut cards = Vec::new();
    for place in 0..100 {
        if !random.one_in(4) {
            let (x, y) = (
                (place % 10) * 280 + random.below(5) as i32 * 8,
                (place / 10) * 140 + random.below(3) as i32 * 8,
            );
            cards.push(drawing.node("server", &format!("Card {place}"), None, [x, y, 184, 64]));
        }
    }
    for _ in 0..150 {
        let (a, b) = (random.below(cards.len()), random.below(cards.len()));
        if a != b {
            drawing.edge(cards[a], cards[b], "");
        }
    }
    let snapshot = drawing.snapshot();
    let index = BoardIndex::build(&snapshot, BOARD);
    let bad = crossed(&snapshot, &index);
    assert!(bad.len() <= 2, "{bad:?}");
    is_straight(&index);
}

#[test]
fn edges_on_one_line_are_moved_apart() {
    let mut drawing = Drawing::new();
    let left = [0, 120, 240].map(|y| drawing.node("server", "Left", None, [0, y, 184, 64]));
    let right = [480, 600, 720].map(|y| drawing.node("server", "Right", None, [400, y, 184, 64]));
    let edges = [0, 1, 2].map(|at| drawing.edge(left[at], right[at], ""));
    let snapshot = drawing.snapshot();
    let index = BoardIndex::build(&snapshot, BOARD);
    let mut lines: Vec<f32> =
        edges.iter().map(|id| index.edge_slot(*id).unwrap().route.points()[1].x).collect();
    assert!(lines.iter().all(|x| (x - 292.0).abs() <= 8.0), "{lines:?}");
    // The uppermost edge is the outermost: the edges do not cross.
    assert!(lines[0] > lines[1] && lines[1] > lines[2], "{lines:?}");
    lines.dedup_by(|a, b| (*a - *b).abs() < 3.0);
    assert_eq!(lines.len(), 3);
    is_straight(&index);
}

#[test]
fn a_change_routes_anew_only_what_it_touches() {
    let snapshot = common::large(400);
    let mut index = BoardIndex::build(&snapshot, BOARD);
    let before: HashMap<EdgeId, u32> = index.edges().map(|slot| (slot.id, slot.generation)).collect();
    let node = snapshot.nodes_on(BOARD).find(|node| node.label == "Worker 210").unwrap().id;
    let place = snapshot.placement(node).unwrap();
    let command = Command::Place {
        items: vec![PlaceNode { node: NodeRef::Id(node), x: place.x + 8, y: place.y + 16, w: None, h: None }],
    };
    let decision = decide(&snapshot, &command, 1).unwrap();
    let mut next = snapshot.clone();
    next.apply(snapshot.revision().next(), &decision.changes).unwrap();
    index.update(&next, BOARD, &decision.changes);
    let routed = index.edges().filter(|slot| before.get(&slot.id) != Some(&slot.generation)).count();
    assert!((1..=24).contains(&routed), "{routed} of {}", before.len());
    assert_eq!(content(&index), content(&BoardIndex::build(&next, BOARD)));
}

#[test]
fn many_edges_at_once_are_finished_later() {
    let shop = shop();
    let mut index = BoardIndex::build(&shop.snapshot, BOARD);
    let whole = content(&index);
    let edges: Vec<EdgeId> = index.edges().map(|slot| slot.id).collect();
    index.route_all(&shop.snapshot, BOARD, edges, 0);
    assert!(index.has_pending_routes());
    while index.has_pending_routes() {
        index.route_pending(&shop.snapshot, 3);
    }
    assert_eq!(content(&index), whole);
}
