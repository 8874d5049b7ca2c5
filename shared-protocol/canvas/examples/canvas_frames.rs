//! Measures a frame of the canvas: CPU time of layout and tessellation, without a GPU.
//!
//! `cargo run --release -p canvas --example canvas_frames [-- 1000 10000 50000]`

#![allow(clippy::print_stdout, reason = "it prints a table")]
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made should stop")]

#[path = "../tests/common/mod.rs"]
mod common;

use authority::ProblemIndex;
use canvas::{
    BoardScene, Canvas, CanvasProposal, ProposalLayer, ProposedBoard, WorkbenchTheme, board_bounds,
};
use common::BOARD;
use egui::{Context, Event, Modifiers, PointerButton, Pos2, RawInput, Rect, Vec2, pos2, vec2};
use shared_protocol::{ElementId, Placement, messages::BoardViewport};
use std::{collections::BTreeSet, sync::Arc};

/// The allocator of the workbench.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const VIEW: Vec2 = vec2(1600.0, 1000.0);
const FRAMES: usize = 240;
const WARM_UP: usize = 3;
/// The number of elements of a proposal.
const ELEMENTS: usize = 500;

fn main() {
    as_the_window_is_started();
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![1_000, 10_000, 50_000] } else { asked };
    println!(
        "{:>7}  {:<6} {:>9} {:>9} {:>9} {:>10}  goal",
        "nodes", "view", "median", "p95", "most", "vertices"
    );
    for count in counts {
        let snapshot = common::large(count);
        let problems = ProblemIndex::default();
        let bounds = board_bounds(&snapshot, BOARD).unwrap();
        let (selection, theme) = (BTreeSet::new(), WorkbenchTheme::dark());
        let scene = BoardScene {
            snapshot: &snapshot,
            board: BOARD,
            selection: &selection,
            problems: &problems,
            theme: &theme,
            read_only: false,
        };
        for view in ["near", "out", "mixed"] {
            measure(&scene, bounds, count, view, false, None);
        }
        measure(&scene, bounds, count, "near", true, None);
        review(&scene, bounds, count);
        drag_a_container(&problems, &theme, count);
        let start = now();
        let mut canvas = Canvas::new();
        canvas.document_changed(&snapshot, BOARD, None);
        println!("{count:>7}  index built and edges routed in {:.1} ms", now() - start);
    }
}

/// `read`: assistive technology is active, so everything in view is described as well.
fn measure(
    scene: &BoardScene<'_>,
    bounds: Placement,
    count: usize,
    view: &str,
    read: bool,
    proposal: Option<CanvasProposal>,
) -> f64 {
    let ctx = Context::default();
    if read {
        ctx.enable_accesskit();
    }
    scene.theme.apply(&ctx);
    let mut canvas = Canvas::new();
    canvas.document_changed(scene.snapshot, scene.board, None);
    let word = if proposal.is_some() {
        "ghosts"
    } else if read {
        "read"
    } else {
        view
    };
    canvas.set_proposal(proposal);
    let (mut times, mut vertices) = (Vec::new(), 0);
    for frame in 0..FRAMES + WARM_UP {
        canvas.set_viewport(camera(bounds, view, frame.saturating_sub(WARM_UP) as f32 / FRAMES as f32));
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, VIEW)),
            time: Some(frame as f64 / 60.0),
            // The pointer moves, because hit testing is a part of the cost.
            events: vec![Event::PointerMoved(pos2(400.0 + frame as f32, 300.0))],
            ..RawInput::default()
        };
        let start = now();
        let mut output = ctx.run_ui(input, |ui| drop(canvas.show(ui, scene)));
        let shapes = std::mem::take(&mut output.shapes);
        let primitives = ctx.tessellate(shapes, output.pixels_per_point);
        let time = now() - start;
        output.drop_without_applying_deltas();
        if frame >= WARM_UP {
            times.push((time, canvas.viewport().zoom));
        }
        let count = |primitive: &egui::ClippedPrimitive| match &primitive.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.vertices.len(),
            egui::epaint::Primitive::Callback(_) => 0,
        };
        vertices = vertices.max(primitives.iter().map(count).sum());
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{count:>7}  {word:<6} {:>6.2} ms {:>6.2} ms {:>6.2} ms {vertices:>10}  {} (most at zoom {:.2})",
        at(0.5).0,
        at(0.95).0,
        at(1.0).0,
        goal(word, count),
        at(1.0).1
    );
    at(0.5).0
}

/// Measures a proposal of 500 elements over the board in the three layers, against the board without it.
fn review(scene: &BoardScene<'_>, bounds: Placement, count: usize) {
    let middle = (bounds.x + bounds.w * 4 / 10 + 400, bounds.y + bounds.h * 4 / 10 + 150);
    let start = now();
    let (after, elements) = common::proposal(scene.snapshot, middle, ELEMENTS);
    let made = now();
    let board = ProposedBoard::build(scene.snapshot, &after, scene.board, &elements, 1);
    println!(
        "{count:>7}  a proposal of {} elements made ready in {:.1} ms (applied in {:.1} ms)",
        elements.len(),
        now() - made,
        made - start
    );
    let chosen = Arc::new(elements.iter().map(|element| element.subject.clone()).collect());
    let shown =
        CanvasProposal { board: Arc::new(board), selected: chosen, focus: None, layer: ProposalLayer::Over };
    for view in ["near", "half", "third", "out"] {
        let without = measure(scene, bounds, count, view, false, None);
        let with = measure(scene, bounds, count, view, false, Some(shown.clone()));
        println!(
            "{count:>7}  {view:<6} {:>6.2} ms more with the proposal (goal: under 2 ms)",
            with - without
        );
    }
}

fn goal(view: &str, count: usize) -> &'static str {
    match view {
        "near" => "median under 1 ms",
        "ghosts" => "with a proposal of 500 elements over it",
        "half" | "third" => "the board alone, for comparison",
        "read" => "as near, with everything described for a screen reader",
        "out" if count > 10_000 => "median under 6 ms",
        "out" => "median under 2 ms",
        _ => "p95 under 6 ms, none over 16 ms",
    }
}

/// Measures dragging a container with 500 cards by its title.
fn drag_a_container(problems: &ProblemIndex, theme: &WorkbenchTheme, count: usize) {
    let (snapshot, container) = common::large_with_container(count, 500);
    let selection = BTreeSet::from([ElementId::Node(container)]);
    let scene = BoardScene {
        snapshot: &snapshot,
        board: BOARD,
        selection: &selection,
        problems,
        theme,
        read_only: false,
    };
    let place = snapshot.absolute_placement(container).unwrap();
    let ctx = Context::default();
    ctx.enable_accesskit();
    theme.apply(&ctx);
    let mut canvas = Canvas::new();
    canvas.document_changed(&snapshot, BOARD, None);
    let zoom = (VIEW.x / place.w as f32).min(VIEW.y / place.h as f32) * 0.85;
    let middle = (place.x as f32 + place.w as f32 / 2.0, place.y as f32 + place.h as f32 / 2.0);
    canvas.set_viewport(BoardViewport { x: middle.0, y: middle.1, zoom });
    // The middle of its title on the screen.
    let grab = pos2(VIEW.x / 2.0, (place.y as f32 + 18.0 - middle.1) * zoom + VIEW.y / 2.0);
    let mut times = Vec::new();
    for frame in 0..120 {
        let at = grab + vec2(1.0, 0.5) * (frame as f32 - 3.0).max(0.0);
        let mut events = vec![Event::PointerMoved(at)];
        if frame == 2 {
            events.push(Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed: true,
                modifiers: Modifiers::NONE,
            });
        }
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, VIEW)),
            time: Some(frame as f64 / 60.0),
            events,
            ..RawInput::default()
        };
        let start = now();
        let mut output = ctx.run_ui(input, |ui| drop(canvas.show(ui, &scene)));
        let shapes = std::mem::take(&mut output.shapes);
        drop(ctx.tessellate(shapes, output.pixels_per_point));
        let time = now() - start;
        output.drop_without_applying_deltas();
        if frame >= 20 {
            times.push(time);
        }
    }
    assert!(canvas.is_busy(), "the container is being dragged");
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{count:>7}  drag   {:>6.2} ms {:>6.2} ms {:>6.2} ms {:>10}  a container of 500, median under 5 ms",
        at(0.5),
        at(0.95),
        at(1.0),
        ""
    );
}

/// Near: 100 % and moving. Out: the whole board. Mixed: from one to the other and back.
fn camera(bounds: Placement, view: &str, share: f32) -> BoardViewport {
    let (w, h) = (bounds.w as f32, bounds.h as f32);
    let fit = (VIEW.x / w).min(VIEW.y / h) * 0.95;
    let (x, y) = (bounds.x as f32 + w * 0.4 + 800.0 * share, bounds.y as f32 + h * 0.4 + 300.0 * share);
    match view {
        "near" => BoardViewport { x, y, zoom: 1.0 },
        // Cards with titles, and as many as fit.
        "half" => BoardViewport { x, y, zoom: 0.5 },
        // Blocks.
        "third" => BoardViewport { x, y, zoom: 0.25 },
        "out" => BoardViewport {
            x: bounds.x as f32 + w / 2.0,
            y: bounds.y as f32 + h / 2.0,
            zoom: fit * (1.0 - 0.02 * share),
        },
        _ => {
            let wave = (share * std::f32::consts::TAU).cos() * 0.5 + 0.5;
            BoardViewport { x, y, zoom: (fit.ln() * (1.0 - wave)).exp() }
        }
    }
}

/// Tells the allocator through the environment, before it starts, not to use huge pages.
fn as_the_window_is_started() {
    use std::os::unix::process::CommandExt;
    let name = "MIMALLOC_ALLOW_THP";
    if std::env::var_os(name).is_none() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let error = again.args(std::env::args_os().skip(1)).env(name, "0").exec();
        println!("measured with huge pages: {error}");
    }
}

/// Returns the CPU time of this thread in milliseconds; other programs do not count.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
