//! Gestures through the accessibility tree and raw pointer events, without a window or a GPU.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;
mod world;

use canvas::{BoardScene, CanvasEvent};
use common::BOARD;
use egui::{Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, TouchPhase, pos2, vec2};
use egui_kittest::{
    Harness,
    kittest::{NodeT, Queryable},
};
use shared_protocol::{
    BoardPoint, Change, Command, ElementId, NodeRef, Placement, Revision, command::PlaceNode,
    messages::BoardViewport,
};
use world::{VIEW, World, commands, drag, harness, moved, nodes, press, start_drag};

#[test]
fn a_click_selects_and_a_click_on_nothing_clears() {
    let (mut harness, ids) = harness();
    harness.get_by_label("EC2 instance Web server, 1 problem").click();
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.web]));
    harness.get_by_label("Subnet Private").click();
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.subnet]));
    press(&harness, pos2(300.0, 650.0), true, Modifiers::NONE);
    press(&harness, pos2(300.0, 650.0), false, Modifiers::NONE);
    harness.run();
    assert!(harness.state().selection.is_empty());
}

#[test]
fn an_assistive_click_selects_too() {
    let (mut harness, ids) = harness();
    harness.get_by_label("Database Orders").click_accesskit();
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.database]));
    assert_eq!(harness.get_by_label("Database Orders").accesskit_node().is_selected(), Some(true));
}

#[test]
fn shift_click_adds_and_takes_away() {
    let (mut harness, ids) = harness();
    harness.get_by_label("Database Orders").click();
    harness.run();
    harness.get_by_label("Load balancer Front door").click_modifiers(Modifiers::SHIFT);
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.database, ids.balancer]));
    harness.get_by_label("Database Orders").click_modifiers(Modifiers::SHIFT);
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.balancer]));
}

#[test]
fn a_marquee_takes_what_it_touches() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(300.0, 190.0), pos2(100.0, 60.0), Modifiers::NONE);
    assert_eq!(harness.state().selection, nodes(&[ids.web, ids.database]));
    drag(&mut harness, pos2(300.0, 300.0), pos2(100.0, 310.0), Modifiers::SHIFT);
    assert_eq!(harness.state().selection, nodes(&[ids.web, ids.database, ids.balancer]));
    drag(&mut harness, pos2(300.0, 130.0), pos2(100.0, 190.0), Modifiers::ALT);
    assert_eq!(harness.state().selection, nodes(&[ids.web, ids.balancer]));
    assert_eq!(commands(&harness), []);
}

#[test]
fn a_marquee_within_a_container_leaves_the_container_alone() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(820.0, 350.0), pos2(600.0, 170.0), Modifiers::NONE);
    assert_eq!(harness.state().selection, nodes(&[ids.inside]));
}

#[test]
fn a_drag_ends_in_one_place() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(203.0, 93.0), Modifiers::NONE);
    // 40 + 63 and 40 + 43, on the grid of 8.
    assert_eq!(commands(&harness), [Command::Place { items: vec![moved(ids.web, 104, 80)] }]);
    assert_eq!(harness.state().selection, nodes(&[ids.web]));
}

#[test]
fn ctrl_suspends_the_grid() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(203.0, 93.0), Modifiers::COMMAND | Modifiers::CTRL);
    assert_eq!(commands(&harness), [Command::Place { items: vec![moved(ids.web, 103, 83)] }]);
}

#[test]
fn what_was_dropped_stays_until_the_answer() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(204.0, 90.0), Modifiers::NONE);
    let shown =
        |harness: &Harness<'_, World>| harness.get_by_label("EC2 instance Web server, 1 problem").rect().min;
    assert_eq!(shown(&harness), pos2(104.0, 80.0));
    // The authority accepts: the change is applied and nothing jumps.
    let world = harness.state_mut();
    let before = world.snapshot.placement(ids.web);
    let after = before.map(|place| place.moved_to(BoardPoint { x: 104, y: 80 }));
    let changes = [Change::Placement { node: ids.web, before, after }];
    world.snapshot.apply(Revision(8), &changes).unwrap();
    world.canvas.document_changed(&world.snapshot, BOARD, Some(&changes));
    harness.step();
    assert_eq!(shown(&harness), pos2(104.0, 80.0));
}

#[test]
fn without_an_answer_it_goes_back() {
    let (mut harness, _) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(204.0, 90.0), Modifiers::NONE);
    harness.run_steps(40);
    assert_eq!(harness.get_by_label("EC2 instance Web server, 1 problem").rect().min, pos2(40.0, 40.0));
}

#[test]
fn a_container_takes_its_content_along_once() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.network, ids.inside]);
    drag(&mut harness, pos2(600.0, 58.0), pos2(616.0, 74.0), Modifiers::NONE);
    assert_eq!(commands(&harness), [Command::Place { items: vec![moved(ids.network, 416, 56)] }]);
    let shown = harness.get_by_label("EC2 instance Worker, 1 problem").rect().min;
    assert_eq!(shown, pos2(480.0 + 16.0 + 0.0, 152.0 + 16.0));
}

#[test]
fn dropping_into_a_container_reparents() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(740.0, 298.0), Modifiers::NONE);
    let expected = Command::Reparent {
        nodes: vec![NodeRef::Id(ids.web)],
        parent: Some(NodeRef::Id(ids.subnet)),
        delta: BoardPoint { x: 600, y: 248 },
    };
    assert_eq!(commands(&harness), [expected]);
}

#[test]
fn a_container_that_may_not_take_it_refuses_and_nothing_moves() {
    let (mut harness, _) = harness();
    // The border of the network around the subnet: databases are allowed in subnets only.
    drag(&mut harness, pos2(140.0, 170.0), pos2(890.0, 410.0), Modifiers::NONE);
    assert_eq!(commands(&harness), []);
    let refusal = harness.state().events.iter().find_map(|event| match event {
        CanvasEvent::Refused(refusal) => Some(refusal.message.clone()),
        _ => None,
    });
    assert_eq!(refusal.as_deref(), Some("Database cannot be placed in Network"));
    assert_eq!(harness.get_by_label("Database Orders").rect().min, pos2(40.0, 160.0));
}

#[test]
fn escape_takes_a_drag_back() {
    let (mut harness, _) = harness();
    start_drag(&mut harness, pos2(140.0, 50.0), pos2(240.0, 90.0), Modifiers::NONE);
    assert_ne!(harness.get_by_label("EC2 instance Web server, 1 problem").rect().min, pos2(40.0, 40.0));
    harness.key_press(Key::Escape);
    harness.run();
    harness.hover_at(pos2(260.0, 100.0));
    press(&harness, pos2(260.0, 100.0), false, Modifiers::NONE);
    harness.run();
    assert_eq!(commands(&harness), []);
    assert_eq!(harness.get_by_label("EC2 instance Web server, 1 problem").rect().min, pos2(40.0, 40.0));
}

#[test]
fn alt_drag_duplicates() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(140.0, 50.0), pos2(204.0, 90.0), Modifiers::ALT);
    let expected =
        Command::Duplicate { nodes: vec![NodeRef::Id(ids.web)], offset: BoardPoint { x: 64, y: 40 } };
    assert_eq!(commands(&harness), [expected]);
    assert_eq!(harness.get_by_label("EC2 instance Web server, 1 problem").rect().min, pos2(40.0, 40.0));
}

#[test]
fn a_port_dragged_to_a_node_connects() {
    let (mut harness, ids) = harness();
    // The out port is in the middle of the right side; any point on the database is a target.
    drag(&mut harness, pos2(224.0, 72.0), pos2(120.0, 200.0), Modifiers::NONE);
    let [Command::Connect { source, target, .. }] = &commands(&harness)[..] else {
        panic!("{:?}", commands(&harness))
    };
    assert_eq!((&source.node, &target.node), (&NodeRef::Id(ids.web), &NodeRef::Id(ids.database)));
    assert_eq!(source.port.as_ref().map(|port| port.as_str()), Some("out"));
    assert_eq!(target.port.as_ref().map(|port| port.as_str()), Some("in"));
}

#[test]
fn a_connection_against_the_rules_is_refused() {
    let (mut harness, _) = harness();
    drag(&mut harness, pos2(224.0, 72.0), pos2(120.0, 320.0), Modifiers::NONE);
    assert_eq!(commands(&harness), []);
    assert!(harness.state().events.iter().any(|event| matches!(event, CanvasEvent::Refused(_))));
}

#[test]
fn a_connection_into_the_open_asks_what_to_add() {
    let (mut harness, ids) = harness();
    drag(&mut harness, pos2(224.0, 72.0), pos2(320.0, 200.0), Modifiers::NONE);
    let asked = harness.state().events.iter().find_map(|event| match event {
        CanvasEvent::QuickAdd { at, from } => Some((*at, from.as_ref().map(|from| from.node))),
        _ => None,
    });
    assert_eq!(asked, Some((BoardPoint { x: 320, y: 200 }, Some(ids.web))));
}

#[test]
fn a_container_is_resized_around_its_content() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.subnet]);
    harness.step();
    // The upper left corner of the subnet is pulled outwards: its content keeps its place on the board.
    drag(&mut harness, pos2(440.0, 96.0), pos2(424.0, 88.0), Modifiers::NONE);
    let place = Placement { x: 24, y: 48, w: 416, h: 288 };
    let expected =
        Command::Place { items: vec![PlaceNode::new(ids.subnet, place), moved(ids.inside, 56, 64)] };
    assert_eq!(commands(&harness), [expected]);
}

#[test]
fn a_container_never_shrinks_past_its_content() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.subnet]);
    harness.step();
    drag(&mut harness, pos2(840.0, 376.0), pos2(500.0, 150.0), Modifiers::NONE);
    let [Command::Place { items }] = &commands(&harness)[..] else { panic!("{:?}", commands(&harness)) };
    assert_eq!((items[0].w, items[0].h), (Some(232), Some(128)));
}

#[test]
fn a_double_click_on_nothing_asks_what_to_add() {
    let (mut harness, _) = harness();
    for _ in 0..2 {
        press(&harness, pos2(300.0, 650.0), true, Modifiers::NONE);
        press(&harness, pos2(300.0, 650.0), false, Modifiers::NONE);
    }
    harness.run();
    let expected = CanvasEvent::QuickAdd { at: BoardPoint { x: 300, y: 650 }, from: None };
    assert!(harness.state().events.contains(&expected), "{:?}", harness.state().events);
}

#[test]
fn a_label_is_renamed_in_place() {
    let (mut harness, ids) = harness();
    harness.state_mut().canvas.rename(ids.web);
    harness.run();
    harness.get_by_label("Label").type_text("Front end");
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    let [Command::UpdateNode { node, label, .. }] = &commands(&harness)[..] else {
        panic!("{:?}", commands(&harness))
    };
    assert_eq!((node, label.as_deref()), (&NodeRef::Id(ids.web), Some("Front end")));
    assert!(harness.query_by_label("Label").is_none());
}

#[test]
fn escape_leaves_a_label_as_it_was() {
    let (mut harness, ids) = harness();
    harness.state_mut().selection = nodes(&[ids.web]);
    harness.key_press(Key::F2);
    harness.run();
    harness.get_by_label("Label").type_text("Something else");
    harness.run();
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(commands(&harness), []);
    assert!(harness.query_by_label("Label").is_none());
}

#[test]
fn a_note_is_written_on() {
    let (mut harness, ids) = harness();
    harness.state_mut().canvas.rename(ids.note);
    harness.run();
    harness.get_by_label("Note text").type_text("Buy milk");
    harness.run();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    harness.run();
    let [Command::UpdateNode { set, label: None, .. }] = &commands(&harness)[..] else {
        panic!("{:?}", commands(&harness))
    };
    assert_eq!(set.get("text").and_then(|text| text.as_text()), Some("Buy milk"));
}

#[test]
fn a_right_click_selects_and_asks_for_a_menu() {
    let (mut harness, ids) = harness();
    harness.get_by_label("Database Orders").click_secondary();
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.database]));
    let asked = harness.state().events.iter().any(|event| {
        matches!(event, CanvasEvent::ContextMenu { element: Some(element), .. } if *element == ElementId::Node(ids.database))
    });
    assert!(asked);
}

#[test]
fn zooming_keeps_what_is_under_the_pointer() {
    let (mut harness, _) = harness();
    let cursor = pos2(700.0, 200.0);
    harness.hover_at(cursor);
    harness.step();
    let before = harness.state().canvas.pointer_board_position().unwrap();
    let wheel = |delta: f32| Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, delta),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Wheel,
        modifiers: Modifiers::COMMAND,
    };
    for delta in [60.0, 60.0, -30.0] {
        harness.event(Event::ModifiersChanged(Modifiers::COMMAND));
        harness.event(wheel(delta));
        harness.run_steps(20);
    }
    let zoom = harness.state().canvas.viewport().zoom;
    assert!(zoom > 1.1, "{zoom}");
    let after = harness.state().canvas.pointer_board_position().unwrap();
    assert!((after.x - before.x).abs() <= 1 && (after.y - before.y).abs() <= 1, "{before:?} {after:?}");
    assert!(harness.state().events.contains(&CanvasEvent::ViewportChanged));
}

#[test]
fn the_middle_button_pans() {
    let (mut harness, _) = harness();
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Middle,
        pressed,
        modifiers: Modifiers::NONE,
    };
    // Over a node: the node keeps its place and is not selected.
    let (from, to) = (pos2(140.0, 50.0), pos2(240.0, 90.0));
    harness.hover_at(from);
    harness.step();
    harness.event(button(from, true));
    harness.step();
    harness.hover_at(to);
    harness.step();
    harness.event(button(to, false));
    harness.step();
    let BoardViewport { x, y, .. } = harness.state().canvas.viewport();
    assert_eq!((x, y), (VIEW.x / 2.0 - 100.0, VIEW.y / 2.0 - 40.0));
    assert_eq!(commands(&harness), []);
    assert!(harness.state().selection.is_empty());
    assert!(!harness.state().canvas.is_busy());
}

#[test]
fn space_and_a_drag_pan() {
    let (mut harness, _) = harness();
    harness.key_down(Key::Space);
    harness.step();
    drag(&mut harness, pos2(140.0, 50.0), pos2(240.0, 90.0), Modifiers::NONE);
    harness.key_up(Key::Space);
    harness.step();
    let BoardViewport { x, y, .. } = harness.state().canvas.viewport();
    assert_eq!((x, y), (VIEW.x / 2.0 - 100.0, VIEW.y / 2.0 - 40.0));
    assert_eq!(commands(&harness), []);
    assert!(harness.state().selection.is_empty());
}

#[test]
fn what_is_out_of_view_is_not_listed_until_it_is_brought_there() {
    let (mut harness, _) = harness();
    harness.run();
    assert!(harness.query_by_label_contains("instance Far away").is_none());
    let world = harness.state_mut();
    let far = world.snapshot.nodes_on(BOARD).find(|node| node.label == "Far away").unwrap().id;
    let scene = BoardScene {
        snapshot: &world.snapshot,
        board: BOARD,
        selection: &world.selection,
        problems: &world.problems,
        theme: &world.theme,
        read_only: false,
    };
    world.canvas.zoom_to(&scene, &[far]);
    harness.run();
    assert!(harness.query_by_label_contains("instance Far away").is_some());
    assert!(harness.query_by_label_contains("Database Orders").is_none());
}

#[test]
fn a_board_that_cannot_be_changed_can_be_looked_at() {
    let (mut harness, ids) = harness();
    harness.state_mut().read_only = true;
    drag(&mut harness, pos2(140.0, 50.0), pos2(203.0, 93.0), Modifiers::NONE);
    drag(&mut harness, pos2(224.0, 72.0), pos2(120.0, 200.0), Modifiers::NONE);
    assert_eq!(commands(&harness), []);
    harness.get_by_label("Load balancer Front door").click();
    harness.run();
    assert_eq!(harness.state().selection, nodes(&[ids.balancer]));
}
