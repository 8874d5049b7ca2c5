//! Whether the window stays smooth beside a preview: time per frame with one that rests, one that draws all the time, and
//! one that writes nonsense without end while a second one burns the processor.
//!
//! `cargo run --release -p renderer --example preview_frames`
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a tool for the terminal")]

use authority::{Snapshot, TypeRegistry, decide};
use crossbeam_channel::{Sender, unbounded};
use egui::{Context, Rect, pos2, vec2};
use frame_memory::{FrameMemory, FrameMemoryWriter};
use renderer::{MainConnection, MainConnectionEvent, Workbench};
use shared_protocol::{
    AddNode, BoardKind, BoardPoint, Command, ElementId,
    messages::{FullWorkspaceView, Presence, RegistryView, ToRenderer, WorkspaceStatus},
    preview_sessions::{PreviewId, PreviewSessionStatus, PreviewSessionView, PreviewTarget, PreviewsView},
    preview_wire::{PreviewMode, PreviewScreen},
};
use std::{
    collections::BTreeMap,
    fs::File,
    os::{fd::AsFd, unix::fs::FileExt},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

const FRAMES: usize = 400;
const SESSION: PreviewId = PreviewId(1);

fn main() {
    let screen = PreviewScreen::new(1280, 800, 1.0, false).expect("there is such a screen");
    for (name, hostile) in
        [("a preview that rests", None), ("drawing all the time", Some(false)), ("hostile", Some(true))]
    {
        let (to_window, context, mut workbench) = window(screen);
        let stop = Arc::new(AtomicBool::new(false));
        let workers =
            hostile.map(|hostile| misbehave(&to_window, screen, hostile, &stop)).unwrap_or_default();
        let mut times = Vec::with_capacity(FRAMES);
        for number in 0..FRAMES {
            if hostile.is_some() {
                let frame =
                    ToRenderer::PreviewFrame { session: SESSION, generation: 1, sequence: number as u64 };
                to_window.send(MainConnectionEvent::Message(frame)).expect("the window is there");
            }
            let started = Instant::now();
            frame(&context, &mut workbench, number);
            times.push(started.elapsed());
            std::thread::sleep(Duration::from_millis(4));
        }
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.join().expect("it ends");
        }
        // The first frames make fonts and textures.
        let mut times = times.split_off(20);
        times.sort();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
        println!("{name}: median {:.2} ms, p95 {:.2} ms, most {:.2} ms a frame", at(50), at(95), at(100));
    }
}

fn frame(context: &Context, workbench: &mut Workbench, number: usize) {
    let input = egui::RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1440.0, 900.0))),
        time: Some(number as f64 / 60.0),
        events: vec![egui::Event::PointerMoved(pos2(400.0 + (number % 100) as f32, 400.0))],
        ..Default::default()
    };
    let mut output = context.run_ui(input, |ui| {
        workbench.receive(ui.ctx());
        workbench.show_ui(ui);
    });
    let shapes = std::mem::take(&mut output.shapes);
    let primitives = context.tessellate(shapes, output.pixels_per_point);
    assert!(!primitives.is_empty());
    // Handed to the graphics card in the real window.
    output.textures_delta.clear();
}

/// A window with a page on a board and its preview in front.
fn window(screen: PreviewScreen) -> (Sender<MainConnectionEvent>, Context, Workbench) {
    let registry = Arc::new(TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new()));
    let mut snapshot = Snapshot::new(registry);
    let mut seed = 0;
    let mut run = |snapshot: &mut Snapshot, command: Command| {
        seed += 1;
        let decision = decide(snapshot, &command, seed).expect("it may be");
        snapshot.apply(snapshot.revision().next(), &decision.changes).expect("it fits");
        decision.created
    };
    let board = Command::AddBoard { kind: BoardKind::Interface, title: "Shop".into(), name: None };
    let made = run(&mut snapshot, board);
    let board = made.into_iter().find_map(|id| if let ElementId::Board(id) = id { Some(id) } else { None });
    let mut page = AddNode::new(board.expect("a board"), "ui.route".parse().expect("a type"));
    page.at = Some(BoardPoint { x: 0, y: 0 });
    let made = run(&mut snapshot, Command::AddNode(page));
    let page = made.into_iter().find_map(|id| if let ElementId::Node(id) = id { Some(id) } else { None });
    let page = page.expect("a page");
    let (outgoing, heard) = unbounded();
    let (to_window, incoming) = unbounded();
    // Nobody answers; what is said is thrown away when all of this is.
    std::mem::forget(heard);
    let context = Context::default();
    let workbench = Workbench::new(&context, MainConnection::from_channels(outgoing, incoming));
    let types = snapshot.registry();
    let view = FullWorkspaceView {
        root: "/shop".into(),
        name: "shop".into(),
        document: snapshot.to_document(),
        registry: RegistryView {
            types: types.types().map(|def| (**def).clone()).collect(),
            rules: types.rules().to_vec(),
            problems: Vec::new(),
        },
        presence: Presence {
            window: r#"{"layout":{"row":[{"tabs":{"panels":[{"panel":"canvas"}]}},{"size":700,"tabs":{"panels":[{"panel":"preview"}],"front":"preview"}}]}}"#.into(),
            ..Presence::default()
        },
        status: WorkspaceStatus::default(),
    };
    let session = PreviewSessionView {
        id: SESSION,
        shows: PreviewTarget::Route(page),
        title: "Home".into(),
        state: PreviewSessionStatus::Ready,
        screen,
        mode: PreviewMode::Interact,
        route: Some(page),
        selected: None,
        hovered: None,
        problems: Vec::new(),
        quarantined: Vec::new(),
        logged: 0,
        frame_micros: 0,
    };
    let previews = PreviewsView { sessions: vec![session], ..PreviewsView::default() };
    for message in [ToRenderer::Workspace(Box::new(view)), ToRenderer::Previews(Box::new(previews))] {
        to_window.send(MainConnectionEvent::Message(message)).expect("the window is there");
    }
    (to_window, context, workbench)
}

/// Threads that stand for the other process: they share the memory and the processors with the window, and nothing else.
fn misbehave(
    to_window: &Sender<MainConnectionEvent>,
    screen: PreviewScreen,
    hostile: bool,
    stop: &Arc<AtomicBool>,
) -> Vec<std::thread::JoinHandle<()>> {
    let [width, height] = screen.pixels();
    let memory = FrameMemory::new(width, height).expect("memory");
    let copy = || memory.as_fd().try_clone_to_owned().expect("a descriptor");
    let mut writer = FrameMemoryWriter::new(copy(), width, height).expect("a writer");
    let file = File::from(copy());
    to_window
        .send(MainConnectionEvent::Frames { session: SESSION, generation: 1, screen, memory })
        .expect("the window is there");
    let mut workers = Vec::new();
    let until = Arc::clone(stop);
    workers.push(std::thread::spawn(move || {
        let mut round = 0u64;
        while !until.load(Ordering::Relaxed) {
            round += 1;
            writer.write_frame(&vec![[round as u8, 90, 160, 255]; width * height]);
            if hostile {
                let noise = round.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let _ = file.write_at(&noise.to_le_bytes(), (round % 4) * 8);
            } else {
                std::thread::sleep(Duration::from_millis(16));
            }
        }
    }));
    // A preview has one thread; this is a second one.
    if hostile {
        let until = Arc::clone(stop);
        workers.push(std::thread::spawn(move || while !until.load(Ordering::Relaxed) {}));
    }
    workers
}
