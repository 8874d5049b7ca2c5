//! The middle of the window: drops, quick add, where it begins.

use crate::shop::{Main, Shop, open};
use egui::{Event, Key, Modifiers, PointerButton, Theme};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Command, EdgeEndpointRef, NodeRef,
    messages::{BoardViewport, FromRenderer, Presence},
    requests::{RunCommand, WorkbenchRequest},
};

fn pointer(shop: &mut Shop, at: egui::Pos2, pressed: Option<bool>) {
    shop.window.event(Event::PointerMoved(at));
    shop.window.run();
    if let Some(pressed) = pressed {
        let button = PointerButton::Primary;
        shop.window.event(Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE });
        shop.window.run();
    }
}

#[test]
fn dragging_from_the_palette_adds_in_the_container_under_the_pointer() {
    let mut shop = Shop::open();
    let from = shop.window.get_by_label("EC2 instance").rect().center();
    let header = shop.rect_of("Subnet Private A");
    let to = header.center() + egui::vec2(20.0, 40.0);
    pointer(&mut shop, from, Some(true));
    pointer(&mut shop, from + egui::vec2(40.0, 10.0), None);
    pointer(&mut shop, to, None);
    pointer(&mut shop, to, Some(false));
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::AddNode(add) })] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (add.type_id.as_str(), &add.parent),
        ("aws/compute/instance", &Some(NodeRef::Id(shop.subnet)))
    );
    assert!(add.at.is_some());
}

#[test]
fn tab_adds_at_the_pointer() {
    let mut shop = Shop::open();
    let at = shop.rect_of("S3 bucket Pictures").center_bottom() + egui::vec2(0.0, 260.0);
    pointer(&mut shop, at, None);
    shop.press(Key::Tab);
    shop.window.get_by_label("Quick add").type_text("dynamo");
    shop.window.run();
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::AddNode(add) })] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(add.type_id.as_str(), "aws/database/dynamodb_table");
}

#[test]
fn dropping_a_connection_on_nothing_adds_and_connects_in_one_step() {
    let mut shop = Shop::open();
    let web = shop.rect_of("EC2 instance Web");
    // The outgoing port is in the middle of the right side.
    let port = web.right_center();
    let empty = shop.rect_of("S3 bucket Pictures").center_bottom() + egui::vec2(0.0, 260.0);
    pointer(&mut shop, port, Some(true));
    pointer(&mut shop, port + egui::vec2(60.0, 10.0), None);
    pointer(&mut shop, empty, None);
    pointer(&mut shop, empty, Some(false));
    assert!(shop.shows("Quick add"), "a list of what can be connected");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::Batch { commands, .. } })] =
        &requests[..]
    else {
        panic!("{requests:?}")
    };
    let [Command::AddNode(add), Command::Connect { source, target, .. }] = &commands[..] else {
        panic!("{commands:?}")
    };
    let name = add.name.as_ref().unwrap();
    let names = |end: &EdgeEndpointRef| end.node.to_string() == format!("production/{name}");
    let is_web = |end: &EdgeEndpointRef| end.node == shop.web.into();
    assert!((names(source) && is_web(target)) || (is_web(source) && names(target)), "{commands:?}");
    assert_eq!(shop.main.snapshot.edges_of(shop.web).count(), 1);
}

#[test]
fn presence_is_told_and_restored() {
    let mut shop = Shop::open();
    shop.main.heard();
    shop.select("EC2 instance Web");
    shop.window.run_steps(4);
    let told = shop.main.heard().into_iter().rev().find_map(|said| match said {
        FromRenderer::Presence(presence) => Some(presence),
        _ => None,
    });
    let presence = told.expect("presence was told");
    assert_eq!(presence.board, Some(shop.infrastructure));
    assert_eq!(presence.selection, [shared_protocol::ElementId::Node(shop.web)]);
    assert!(presence.is_valid() && !presence.viewports.is_empty());
    // Where the board is in the window, and what of it is in view.
    let seen = presence.on_screen().expect("a board is shown");
    let canvas = shop.rect_of("Board Production");
    assert_eq!((seen.area.x, seen.area.y), (canvas.left(), canvas.top()));
    assert!((seen.visible.w * seen.viewport.zoom - canvas.width()).abs() < 0.5, "{seen:?}");

    let (mut main, link) = Main::new();
    main.snapshot = shop.main.snapshot.clone();
    let viewport = BoardViewport { x: 120.0, y: 90.0, zoom: 0.75 };
    main.presence = Presence { viewports: vec![(shop.infrastructure, viewport)], ..presence };
    main.send_workspace();
    shop.window = open(link, (1440.0, 900.0), Theme::Light);
    assert_eq!(shop.field("Label"), "Web");
    assert!(shop.shows("Board Production"));
    assert!(shop.shows("Zoom 75%"));
}

#[test]
fn the_pointer_works_as_on_maps_if_somebody_wants_that() {
    let mut shop = Shop::open();
    let zoom = |shop: &mut Shop| {
        shop.selected();
        shop.main.presence.viewports.first().map(|(_, viewport)| (viewport.x, viewport.zoom)).unwrap()
    };
    shop.press_with(Modifiers::COMMAND, Key::Comma);
    shop.window.get_by_label("Map").click();
    shop.window.run();
    shop.press(Key::Escape);
    let empty = shop.rect_of("S3 bucket Pictures").center_bottom() + egui::vec2(0.0, 260.0);
    shop.window.hover_at(empty);
    shop.window.run();
    let before = zoom(&mut shop);
    let wheel = Event::MouseWheel {
        source: egui::MouseWheelSource::Wheel,
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 2.0),
        phase: egui::TouchPhase::Move,
        modifiers: Modifiers::NONE,
    };
    shop.window.event(wheel);
    shop.window.run();
    let after = zoom(&mut shop);
    assert!(after.1 > before.1 * 1.05, "scrolling zooms: {before:?} {after:?}");
    shop.drag(empty, empty + egui::vec2(-120.0, 0.0));
    let panned = zoom(&mut shop);
    assert!(panned.0 > after.0 + 20.0 && shop.selected().is_empty(), "dragging pans: {after:?} {panned:?}");
}
