//! A canvas in a headless window, with simulated input.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use crate::common::{BOARD, Drawing};
use authority::{ProblemIndex, Snapshot};
use canvas::{BoardScene, Canvas, CanvasEvent, WorkbenchTheme};
use egui::{Event, Modifiers, PointerButton, Pos2, Vec2, vec2};
use egui_kittest::Harness;
use shared_protocol::{Command, ElementId, NodeId, NodeRef, command::PlaceNode, messages::BoardViewport};
use std::collections::BTreeSet;

pub struct World {
    pub canvas: Canvas,
    pub snapshot: Snapshot,
    pub problems: ProblemIndex,
    pub theme: WorkbenchTheme,
    pub selection: BTreeSet<ElementId>,
    pub read_only: bool,
    pub events: Vec<CanvasEvent>,
}

#[derive(Clone, Copy)]
pub struct Ids {
    pub web: NodeId,
    pub database: NodeId,
    pub balancer: NodeId,
    pub network: NodeId,
    pub subnet: NodeId,
    pub inside: NodeId,
    pub note: NodeId,
}

pub const VIEW: Vec2 = vec2(1000.0, 700.0);

/// A board at 100 %, so that board and screen coordinates are equal.
pub fn harness() -> (Harness<'static, World>, Ids) {
    let mut drawing = Drawing::new();
    let web = drawing.node("server", "Web server", None, [40, 40, 184, 64]);
    let database = drawing.node("database", "Orders", None, [40, 160, 184, 64]);
    let balancer = drawing.node("balancer", "Front door", None, [40, 280, 184, 64]);
    let network = drawing.node("net", "Network", None, [400, 40, 520, 400]);
    let subnet = drawing.node("subnet", "Private", Some(network), [40, 56, 400, 280]);
    let inside = drawing.node("server", "Worker", Some(subnet), [40, 56, 184, 64]);
    let note = drawing.node("notes/sticky", "Note", None, [40, 480, 200, 120]);
    drawing.node("server", "Far away", None, [9000, 9000, 184, 64]);
    drawing.edge(inside, database, "queries");
    (harness_of(drawing), Ids { web, database, balancer, network, subnet, inside, note })
}

/// The same with a custom board.
pub fn harness_of(drawing: Drawing) -> Harness<'static, World> {
    let snapshot = drawing.snapshot();
    let mut canvas = Canvas::new();
    canvas.set_viewport(BoardViewport { x: VIEW.x / 2.0, y: VIEW.y / 2.0, zoom: 1.0 });
    let world = World {
        canvas,
        problems: ProblemIndex::check_all(&snapshot),
        snapshot,
        theme: WorkbenchTheme::light(),
        selection: BTreeSet::new(),
        read_only: false,
        events: Vec::new(),
    };
    Harness::builder().with_size(VIEW).with_step_dt(1.0 / 60.0).build_ui_state(
        |ui, world: &mut World| {
            // No margin: the board starts at the corner of the window.
            let rect = egui::Rect::from_min_size(Pos2::ZERO, VIEW);
            let mut ui = ui.new_child(egui::UiBuilder::new().max_rect(rect));
            let World { canvas, snapshot, problems, theme, selection, read_only, events } = world;
            let scene =
                BoardScene { snapshot, board: BOARD, selection, problems, theme, read_only: *read_only };
            for event in canvas.show(&mut ui, &scene) {
                if let CanvasEvent::Select(wanted) = &event {
                    *selection = wanted.clone();
                }
                events.push(event);
            }
        },
        world,
    )
}

pub fn nodes(ids: &[NodeId]) -> BTreeSet<ElementId> {
    ids.iter().map(|id| ElementId::Node(*id)).collect()
}

pub fn press(harness: &Harness<'_, World>, at: Pos2, pressed: bool, modifiers: Modifiers) {
    harness.event(Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers });
}

/// Presses, moves and releases; the last move and the release arrive in one frame.
pub fn drag(harness: &mut Harness<'_, World>, from: Pos2, to: Pos2, modifiers: Modifiers) {
    start_drag(harness, from, to, modifiers);
    let input = harness.input_mut();
    input.events.push(Event::PointerMoved(to));
    input.events.push(Event::PointerButton {
        pos: to,
        button: PointerButton::Primary,
        pressed: false,
        modifiers,
    });
    harness.step();
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    harness.step();
}

/// Keeps the button down, most of the way to the target.
pub fn start_drag(harness: &mut Harness<'_, World>, from: Pos2, to: Pos2, modifiers: Modifiers) {
    harness.hover_at(from);
    harness.step();
    harness.event(Event::ModifiersChanged(modifiers));
    press(harness, from, true, modifiers);
    harness.step();
    harness.hover_at(from + (to - from) * 0.4);
    harness.step();
    harness.hover_at(from + (to - from) * 0.9);
    harness.step();
}

pub fn commands(harness: &Harness<'_, World>) -> Vec<Command> {
    let run = |event: &CanvasEvent| match event {
        CanvasEvent::Run(command) => Some(command.clone()),
        _ => None,
    };
    harness.state().events.iter().filter_map(run).collect()
}

pub fn moved(node: NodeId, x: i32, y: i32) -> PlaceNode {
    PlaceNode { node: NodeRef::Id(node), x, y, w: None, h: None }
}
