//! Drawing and hit testing never panic, for any content of a snapshot.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use authority::ProblemIndex;
use canvas::{BoardScene, Camera, Canvas, WorkbenchTheme, draw_board, to_markdown, to_svg};
use common::{BOARD, Drawing};
use egui::{Event, Modifiers, PointerButton, Rect, pos2, vec2};
use egui_kittest::Harness;
use shared_protocol::{BoardId, ElementId, NodeId, messages::BoardViewport};
use std::collections::BTreeSet;

fn odd() -> authority::Snapshot {
    let mut drawing = Drawing::new();
    let unknown = drawing.node("no/such/type", "<script>\u{0}\u{202e}\n\t💥 ﷽", None, [0, 0, 16, 16]);
    let huge = drawing.node("net", &"W".repeat(200), None, [-100_000, -100_000, 200_000, 200_000]);
    let tiny = drawing.node("server", "", Some(huge), [99_000, 99_000, 16, 16]);
    let far = drawing.node("server", "far", None, [999_000, -999_000, 200_000, 16]);
    let note = drawing.node("notes/sticky", "note", None, [300, 300, 16, 200]);
    drawing.prop(note, "text", &"long ".repeat(12_000));
    drawing.prop(note, "tone", "no such tone");
    drawing.edge(unknown, tiny, "|]]><!--");
    drawing.edge(tiny, far, "");
    drawing.edge(far, unknown, "");
    drawing.snapshot()
}

#[test]
fn odd_boards_are_drawn_and_pointed_at_at_every_zoom() {
    let snapshot = odd();
    let problems = ProblemIndex::check_all(&snapshot);
    let theme = WorkbenchTheme::dark();
    let missing = NodeId::from_bits(987);
    for zoom in [0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 4.0, f32::NAN, f32::INFINITY] {
        for place in [0.0, 300.0, 999_500.0, f32::NAN, -1e30] {
            let mut canvas = Canvas::new();
            canvas.set_viewport(BoardViewport { x: place, y: -place, zoom });
            canvas.rename(missing);
            let (snapshot, problems, theme) = (&snapshot, &problems, &theme);
            let mut selection: BTreeSet<ElementId> =
                snapshot.nodes_on(BOARD).map(|node| ElementId::Node(node.id)).collect();
            selection.insert(ElementId::Node(missing));
            let mut harness =
                Harness::builder().with_size(vec2(400.0, 300.0)).allow_missing_glyphs().build_ui(move |ui| {
                    let scene = BoardScene {
                        snapshot,
                        board: BOARD,
                        selection: &selection,
                        problems,
                        theme,
                        read_only: false,
                    };
                    canvas.show(ui, &scene);
                    // A board that does not exist.
                    let scene = BoardScene { board: BoardId::from_bits(404), ..scene };
                    canvas.zoom_to_fit(&scene, f32::NAN);
                    canvas.zoom_by(f32::NAN);
                    canvas.set_zoom(zoom);
                });
            for (at, pressed) in
                [(pos2(200.0, 150.0), true), (pos2(260.0, 10.0), true), (pos2(390.0, 290.0), false)]
            {
                harness.event(Event::PointerMoved(at));
                let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
                harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
                harness.step();
            }
        }
    }
}

#[test]
fn odd_boards_are_exported() {
    let snapshot = odd();
    let (problems, theme, selection) =
        (ProblemIndex::check_all(&snapshot), WorkbenchTheme::light(), BTreeSet::new());
    let scene = BoardScene {
        snapshot: &snapshot,
        board: BOARD,
        selection: &selection,
        problems: &problems,
        theme: &theme,
        read_only: true,
    };
    let svg = to_svg(&scene);
    assert!(!svg.contains("<script") && !svg.contains("]]><!--") && !svg.contains('\u{0}'));
    assert!(!to_markdown(&snapshot, BOARD).contains("<script"));
    assert_eq!(to_markdown(&snapshot, BoardId::from_bits(404)), "");
    to_svg(&BoardScene { board: BoardId::from_bits(404), ..scene });
    for view in [Rect::NOTHING, Rect::EVERYTHING, Rect::NAN, Rect::ZERO] {
        let camera = Camera::new(BoardViewport { x: 0.0, y: 0.0, zoom: 1.0 }, view, 1.0);
        let drawn = rasteriser::render_ui(vec2(64.0, 64.0), 1.0, theme.canvas, |ui| {
            draw_board(ui.painter(), &scene, camera, None)
        });
        assert!(drawn.is_ok());
    }
}
