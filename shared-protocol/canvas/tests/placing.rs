//! Guides, resizing several nodes, the minimap, inserting a card into an edge, and descriptions of ports and edges.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;
mod world;

use canvas::BoardScene;
use common::{BOARD, Drawing};
use egui::{Modifiers, pos2};
use egui_kittest::{Harness, kittest::Queryable};
use shared_protocol::{
    BoardPoint, Change, Command, EdgeEndpointRef, NodeId, NodeRef, Placement, Revision, command::PlaceNode,
    messages::BoardViewport,
};
use world::{VIEW, World, commands, drag, harness, harness_of, moved, nodes, press, start_drag};

#[test]
fn what_is_moved_lines_up_with_its_neighbours() {
    let (mut harness, ids) = harness();
    // Its middle comes within a point of the middle of the note: off the grid of 8, on the line of the note.
    drag(&mut harness, pos2(140.0, 50.0), pos2(440.0, 517.0), Modifiers::NONE);
    assert_eq!(commands(&harness), [Command::Place { items: vec![moved(ids.web, 344, 508)] }]);
}

#[test]
fn ctrl_suspends_guides_too() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(440.0, 517.0), Modifiers::COMMAND | Modifiers::CTRL);
    assert_eq!(commands(&harness), [Command::Place { items: vec![moved(ids.web, 340, 507)] }]);
}

#[test]
fn a_side_that_is_resized_lines_up() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.note]);
    harness.step();
    // The right side of the note, at 240, to within 3 of the right side of the cards above it, at 224.
    drag(&mut harness, pos2(240.0, 540.0), pos2(227.0, 540.0), Modifiers::NONE);
    let [Command::Place { items }] = &commands(&harness)[..] else { panic!("{:?}", commands(&harness)) };
    assert_eq!((items[0].x, items[0].w), (40, Some(184)));
}

#[test]
fn a_card_dropped_on_an_edge_is_put_into_it() {
    let mut drawing = Drawing::new();
    let a = drawing.node("server", "A", None, [40, 300, 184, 64]);
    let b = drawing.node("server", "B", None, [700, 300, 184, 64]);
    let card = drawing.node("server", "Card", None, [400, 500, 184, 64]);
    let key = drawing.node("key", "Key", None, [400, 100, 184, 64]);
    let edge = drawing.edge(a, b, "calls");
    let mut harness = harness_of(drawing);
    // A key has no ports, so it is only moved.
    drag(&mut harness, pos2(492.0, 110.0), pos2(492.0, 310.0), Modifiers::NONE);
    assert_eq!(commands(&harness), [Command::Place { items: vec![moved(key, 400, 300)] }]);
    harness.run_steps(40);
    harness.state_mut().events.clear();
    drag(&mut harness, pos2(492.0, 510.0), pos2(492.0, 310.0), Modifiers::NONE);
    let found = commands(&harness);
    let [Command::Batch { commands, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(commands[0], Command::Place { items: vec![moved(card, 400, 300)] });
    assert_eq!(commands[1], Command::Remove { nodes: Vec::new(), edges: vec![edge] });
    let ends =
        |source: &EdgeEndpointRef, target: &EdgeEndpointRef| (source.node.clone(), target.node.clone());
    let [
        _,
        _,
        Command::Connect { source: s1, target: t1, label },
        Command::Connect { source: s2, target: t2, .. },
    ] = &commands[..]
    else {
        panic!("{commands:?}")
    };
    assert_eq!(ends(s1, t1), (NodeRef::Id(a), NodeRef::Id(card)));
    assert_eq!(ends(s2, t2), (NodeRef::Id(card), NodeRef::Id(b)));
    assert_eq!(label, "calls");
}

#[test]
fn a_press_in_the_minimap_moves_the_view() {
    let (mut harness, _) = harness();
    harness.run();
    let map = harness.get_by_label("Minimap").rect();
    assert!(map.right() <= VIEW.x && map.bottom() <= VIEW.y);
    press(&harness, map.center(), true, Modifiers::NONE);
    press(&harness, map.center(), false, Modifiers::NONE);
    harness.run();
    let BoardViewport { x, y, zoom } = harness.state().canvas.viewport();
    // From 40 to 9,184, and from 40 to 9,064.
    assert!((x - 4612.0).abs() < 100.0 && (y - 4552.0).abs() < 100.0 && zoom == 1.0, "{x} {y} {zoom}");
    assert!(harness.state().selection.is_empty());
    assert_eq!(commands(&harness), []);
}

#[test]
fn the_minimap_hides_when_all_is_in_view_or_nobody_wants_it() {
    let (mut harness, _) = harness();
    harness.run();
    assert!(harness.query_by_label("Minimap").is_some());
    harness.state_mut().canvas.set_minimap(false);
    harness.run();
    assert!(harness.query_by_label("Minimap").is_none());
    let world = harness.state_mut();
    world.canvas.set_minimap(true);
    let scene = BoardScene {
        snapshot: &world.snapshot,
        board: BOARD,
        selection: &world.selection,
        problems: &world.problems,
        theme: &world.theme,
        read_only: false,
    };
    world.canvas.zoom_to_fit(&scene, 24.0);
    harness.run();
    assert!(harness.query_by_label("Minimap").is_none());
}

#[test]
fn the_view_follows_a_gesture_to_its_edge() {
    let (mut harness, _) = harness();
    harness.state_mut().canvas.set_minimap(false);
    start_drag(&mut harness, pos2(300.0, 460.0), pos2(1000.0, 460.0), Modifiers::NONE);
    harness.hover_at(pos2(998.0, 460.0));
    harness.step();
    let before = harness.state().canvas.viewport();
    harness.run_steps(10);
    let after = harness.state().canvas.viewport();
    assert!(after.x > before.x + 50.0 && after.y == before.y, "{before:?} {after:?}");
}

#[test]
fn ports_and_edges_have_names() {
    let (mut harness, _) = harness();
    harness.run();
    for name in [
        "Web server, port Talks to, not connected",
        "Worker, port Talks to, connected to Orders",
        "Orders, port Connections, connected to Worker",
        "Connection from Worker to Orders, queries",
    ] {
        assert!(harness.query_by_label(name).is_some(), "{name}");
    }
}

/// Another client moves a node.
fn put(harness: &mut Harness<'_, World>, node: NodeId, to: BoardPoint) {
    let world = harness.state_mut();
    let before = world.snapshot.placement(node);
    let changes = [Change::Placement { node, before, after: before.map(|place| place.moved_to(to)) }];
    world.snapshot.apply(Revision(8), &changes).unwrap();
    world.canvas.document_changed(&world.snapshot, BOARD, Some(&changes));
}

#[test]
fn nodes_go_to_their_new_place_and_then_all_is_still() {
    let (mut harness, ids) = harness();
    harness.state_mut().canvas.set_reduced_motion(false);
    harness.run();
    put(&mut harness, ids.database, BoardPoint { x: 40, y: 400 });
    let at = |harness: &Harness<'_, World>| harness.get_by_label("Database Orders").rect().top();
    harness.step();
    harness.step();
    harness.step();
    assert!(at(&harness) > 160.0 && at(&harness) < 400.0, "{}", at(&harness));
    harness.run_steps(20);
    assert_eq!(at(&harness), 400.0);
    // No further frame is requested.
    assert!(harness.run() <= 2);
    // With reduced motion the node moves at once.
    harness.state_mut().canvas.set_reduced_motion(true);
    let world = harness.state_mut();
    let before = world.snapshot.placement(ids.web);
    let after = before.map(|place| place.moved_to(BoardPoint { x: 40, y: 80 }));
    let changes = [Change::Placement { node: ids.web, before, after }];
    world.snapshot.apply(Revision(9), &changes).unwrap();
    world.canvas.document_changed(&world.snapshot, BOARD, Some(&changes));
    harness.step();
    assert_eq!(harness.get_by_label("EC2 instance Web server, 1 problem").rect().top(), 80.0);
}

#[test]
fn a_press_ends_a_movement_at_once() {
    let (mut harness, ids) = harness();
    harness.state_mut().canvas.set_reduced_motion(false);
    harness.run();
    put(&mut harness, ids.database, BoardPoint { x: 40, y: 400 });
    harness.step();
    // While another node moves, the first one is in its place.
    start_drag(&mut harness, pos2(140.0, 50.0), pos2(340.0, 60.0), Modifiers::NONE);
    assert_eq!(harness.get_by_label("Database Orders").rect().top(), 400.0);
}

#[test]
fn the_view_flies_unless_somebody_takes_it() {
    let (mut harness, ids) = harness();
    harness.run();
    harness.state_mut().canvas.set_reduced_motion(false);
    let fly = |harness: &mut Harness<'_, World>| {
        let world = harness.state_mut();
        let scene = BoardScene {
            snapshot: &world.snapshot,
            board: BOARD,
            selection: &world.selection,
            problems: &world.problems,
            theme: &world.theme,
            read_only: false,
        };
        world.canvas.zoom_to(&scene, &[ids.inside]);
    };
    let before = harness.state().canvas.viewport();
    fly(&mut harness);
    harness.run_steps(4);
    let under_way = harness.state().canvas.viewport();
    harness.run_steps(20);
    let after = harness.state().canvas.viewport();
    assert_eq!((after.x, after.y, after.zoom), (572.0, 184.0, 1.5));
    assert!(before.zoom < under_way.zoom && under_way.zoom < after.zoom, "{under_way:?}");
    harness.state_mut().canvas.set_viewport(before);
    harness.step();
    fly(&mut harness);
    harness.run_steps(3);
    harness.state_mut().canvas.set_viewport(before);
    harness.run_steps(20);
    assert_eq!(harness.state().canvas.viewport(), before);
}

#[test]
fn several_are_resized_by_the_frame_around_them() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.network, ids.note]);
    harness.step();
    // The selection covers 40, 40 to 920, 600. The lower right corner stays.
    drag(&mut harness, pos2(40.0, 40.0), pos2(88.0, 96.0), Modifiers::NONE);
    let placed = |node, x, y, w, h| PlaceNode::new(node, Placement { x, y, w, h });
    let items = vec![placed(ids.network, 428, 96, 492, 360), placed(ids.note, 88, 492, 189, 108)];
    assert_eq!(commands(&harness), [Command::Place { items }]);
}

#[test]
fn several_never_shrink_past_what_one_of_them_holds() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.network, ids.web]);
    harness.step();
    // From 40, 40 to 920, 440; the network must keep room for its subnet.
    drag(&mut harness, pos2(40.0, 440.0), pos2(700.0, 100.0), Modifiers::NONE);
    let [Command::Place { items }] = &commands(&harness)[..] else { panic!("{:?}", commands(&harness)) };
    let network = items.iter().find(|item| item.node == ids.network.into()).unwrap();
    assert_eq!((network.w, network.h), (Some(448), Some(344)));
    let web = items.iter().find(|item| item.node == ids.web.into()).unwrap();
    assert_eq!((web.w, web.h), (None, None), "a card keeps its size");
}
