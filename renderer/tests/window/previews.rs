//! The preview panel: sessions, the page as a frame from memory, what is done in it, and selection both ways. The preview
//! process is a few lines that write pixels into the same memory.

use crate::shop::{Main, Shop, response};
use egui::{Key, Pos2, Rect};
use egui_kittest::kittest::Queryable;
use frame_memory::{FrameMemory, FrameMemoryWriter};
use renderer::MainConnectionEvent;
use shared_protocol::{
    BoardId, ElementId, NodeId,
    messages::{FromRenderer, ToRenderer},
    preview_sessions::{
        ComponentView, LogLevel, PreviewFailure, PreviewGesture, PreviewId, PreviewInstanceBox,
        PreviewLogLine, PreviewSessionStatus, PreviewSessionView, PreviewSourceProblem, PreviewTarget,
        PreviewsView, SelectedInstance,
    },
    preview_wire::{PreviewEditKey, PreviewInputEvent, PreviewMode, PreviewScreen},
    requests::{
        ClosePreview, ReadPreviewLog, RestartPreview, SelectInstance, SetPreviewMode, SetPreviewScreen,
        StartPreview, WorkbenchRequest,
    },
};
use std::os::fd::AsFd;

const SESSION: PreviewId = PreviewId(1);

/// The page of the shop and what is on it.
struct Front {
    board: BoardId,
    page: NodeId,
    button: NodeId,
}

fn front(main: &Main) -> Front {
    let node = |label: &str| {
        let mut boards = main.snapshot.boards();
        boards.find_map(|board| main.snapshot.nodes_on(board.id).find(|node| node.label == label)).unwrap()
    };
    Front { board: node("Home").board, page: node("Home").id, button: node("Buy").id }
}

pub(crate) fn session(main: &Main, state: PreviewSessionStatus) -> PreviewSessionView {
    PreviewSessionView {
        id: SESSION,
        shows: PreviewTarget::Route(front(main).page),
        title: "Home".into(),
        state,
        screen: PreviewScreen::new(390, 844, 0.75, false).unwrap(),
        mode: PreviewMode::Interact,
        route: Some(front(main).page),
        selected: None,
        hovered: None,
        problems: Vec::new(),
        quarantined: Vec::new(),
        logged: 0,
        frame_micros: 0,
    }
}

fn tell(shop: &mut Shop, sessions: Vec<PreviewSessionView>) {
    let components = vec![ComponentView {
        id: "ui.button".into(),
        title: "Button".into(),
        variants: vec!["danger".into()],
        file: "components/button.component.yaml".into(),
    }];
    let view = PreviewsView { sessions, components, unavailable: None };
    shop.main.send(ToRenderer::Previews(Box::new(view)));
    shop.window.run();
}

/// A frame memory of the screen, with a frame in one colour in it, as main and the preview would make it.
fn paint(shop: &mut Shop, screen: PreviewScreen, generation: u32, colour: [u8; 4]) -> FrameMemoryWriter {
    let [width, height] = screen.pixels();
    let memory = FrameMemory::new(width, height).unwrap();
    let mut writer =
        FrameMemoryWriter::new(memory.as_fd().try_clone_to_owned().unwrap(), width, height).unwrap();
    shop.main.send_incoming(MainConnectionEvent::Frames { session: SESSION, generation, screen, memory });
    writer.write_frame(&vec![colour; width * height]);
    shop.main.send(ToRenderer::PreviewFrame { session: SESSION, generation, sequence: 1 });
    shop.window.run();
    writer
}

/// The front page in a ready session, with its frame.
fn previewing() -> Shop {
    let mut shop = Shop::open();
    let board = front(&shop.main).board;
    shop.main.presence.board = Some(board);
    shop.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, Key::V);
    let view = session(&shop.main, PreviewSessionStatus::Ready);
    let screen = view.screen;
    tell(&mut shop, vec![view]);
    paint(&mut shop, screen, 1, [200, 30, 30, 255]);
    let instances = instances(&shop.main);
    shop.main.send(ToRenderer::PreviewInstances { session: SESSION, instances });
    shop.settle();
    assert!(shop.shows("Preview of Home"));
    shop
}

fn instances(main: &Main) -> Vec<PreviewInstanceBox> {
    let Front { page, button, .. } = front(main);
    let instance = |id: &str, parent: Option<&str>, node, rect| PreviewInstanceBox {
        id: id.into(),
        component: "ui.button".into(),
        parent: parent.map(Into::into),
        node,
        rect,
        clip: [0.0, 0.0, 390.0, 844.0],
    };
    vec![
        instance("page", None, Some(page), [0.0, 0.0, 390.0, 844.0]),
        instance("buy", Some("page"), Some(button), [20.0, 100.0, 200.0, 60.0]),
        instance("buy/7", Some("buy"), None, [30.0, 110.0, 40.0, 40.0]),
    ]
}

fn page_rect(shop: &Shop) -> Rect {
    shop.window.get_by_label("Preview of Home").rect()
}

/// A point of the page, in the window.
fn at(shop: &Shop, x: f32, y: f32) -> Pos2 {
    let rect = page_rect(shop);
    rect.min + egui::vec2(x / 390.0 * rect.width(), y / 844.0 * rect.height())
}

/// What the window did in the session since the last time.
fn gestures(shop: &mut Shop) -> Vec<PreviewInputEvent> {
    let mut events = Vec::new();
    for message in shop.main.heard() {
        if let FromRenderer::Preview { session: SESSION, gesture: PreviewGesture::Input(more) } = message {
            events.extend(more);
        }
    }
    events
}

fn asked(requests: &[WorkbenchRequest]) -> Vec<&WorkbenchRequest> {
    requests.iter().filter(|request| !matches!(request, WorkbenchRequest::RunCommand(_))).collect()
}

#[test]
fn nothing_is_shown_at_first_and_a_page_can_be_started() {
    let mut shop = Shop::open();
    shop.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, Key::V);
    assert!(shop.shows("No preview open"));
    shop.window.get_by_label("Shop front").click();
    shop.settle();
    shop.window.get_by_label("Preview Home").click();
    shop.window.run();
    let requests = shop.main.requests();
    let page = front(&shop.main).page;
    let [WorkbenchRequest::StartPreview(StartPreview { shows, screen })] = asked(&requests)[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(*shows, PreviewTarget::Route(page));
    assert_eq!((screen.width, screen.height, screen.dark), (390, 844, false), "a telephone");
}

#[test]
fn f5_previews_the_page_around_what_is_selected() {
    let mut shop = Shop::open();
    shop.window.get_by_label("Shop front").click();
    shop.settle();
    shop.select("Button Buy");
    shop.press(Key::F5);
    let requests = shop.main.requests();
    let page = front(&shop.main).page;
    assert!(
        matches!(asked(&requests)[..], [WorkbenchRequest::StartPreview(StartPreview { shows: PreviewTarget::Route(of), .. })] if *of == page)
    );
    assert!(shop.shows("No preview open"), "until main says that there is a session");
}

#[test]
fn every_state_says_what_it_is() {
    let mut shop = Shop::open();
    shop.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, Key::V);
    let show = |shop: &mut Shop, state| {
        let view = session(&shop.main, state);
        shop.main.send(ToRenderer::Previews(Box::new(PreviewsView {
            sessions: vec![view],
            ..PreviewsView::default()
        })));
        // What waits turns for ever.
        shop.window.run_steps(30);
    };
    show(&mut shop, PreviewSessionStatus::Creating);
    assert!(shop.shows("Starting the preview…"));
    show(&mut shop, PreviewSessionStatus::Loading);
    assert!(shop.shows("Loading the page…"));
    show(&mut shop, PreviewSessionStatus::Stopped);
    shop.settle();
    shop.window.get_by_label("Start the preview").click();
    let requests = shop.settle();
    assert!(
        asked(&requests).contains(&&WorkbenchRequest::RestartPreview(RestartPreview { session: SESSION })),
        "{requests:?}"
    );
    let failed = PreviewFailure {
        what: "It used more memory than it may.".into(),
        detail: vec!["out of memory".into()],
        again_at: None,
    };
    show(&mut shop, PreviewSessionStatus::Failed(failed));
    assert!(shop.shows("It used more memory than it may.") && shop.shows("out of memory"));
    shop.window.get_by_label("Restart the preview").click();
    assert!(
        asked(&shop.settle())
            .contains(&&WorkbenchRequest::RestartPreview(RestartPreview { session: SESSION }))
    );
    let why = "The kernel has no filter of system calls.".to_owned();
    let unavailable = PreviewsView { unavailable: Some(why), ..PreviewsView::default() };
    shop.main.send(ToRenderer::Previews(Box::new(unavailable)));
    shop.window.run();
    assert!(shop.shows("no filter of system calls"));
}

#[test]
fn a_frame_is_shown_pixel_for_pixel() {
    let mut shop = previewing();
    let rect = page_rect(&shop);
    assert!((rect.aspect_ratio() - 390.0 / 844.0).abs() < 0.01 && rect.height() > 500.0, "{rect}");
    let picture = shop.window.render().unwrap();
    let pixel = |at: Pos2| picture.get_pixel(at.x as u32, at.y as u32).0;
    assert_eq!(pixel(rect.center()), [200, 30, 30, 255]);
    assert_ne!(pixel(rect.left_top() - egui::vec2(14.0, 14.0)), [200, 30, 30, 255]);
}

#[test]
fn hostile_memory_shows_a_wrong_picture_and_nothing_worse() {
    use std::os::unix::fs::FileExt;
    let mut shop = previewing();
    let screen = PreviewScreen::new(390, 844, 0.75, false).unwrap();
    let [width, height] = screen.pixels();
    let memory = FrameMemory::new(width, height).unwrap();
    let file = std::fs::File::from(memory.as_fd().try_clone_to_owned().unwrap());
    shop.main.send_incoming(MainConnectionEvent::Frames { session: SESSION, generation: 2, screen, memory });
    for round in 0..40u64 {
        let noise = round.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        file.write_at(&noise.to_le_bytes(), (round % 5) * 8).unwrap();
        shop.main.send(ToRenderer::PreviewFrame { session: SESSION, generation: 2, sequence: noise });
        shop.window.step();
    }
    // Of a generation, a session and a place that there never was.
    shop.main.send(ToRenderer::PreviewFrame { session: SESSION, generation: 99, sequence: 1 });
    shop.main.send(ToRenderer::PreviewFrame { session: PreviewId(77), generation: 1, sequence: 1 });
    let wild = PreviewInstanceBox {
        rect: [f32::NAN, -1e30, 1e30, f32::INFINITY],
        ..instances(&shop.main).remove(0)
    };
    shop.main.send(ToRenderer::PreviewInstances { session: SESSION, instances: vec![wild] });
    shop.window.step();
    assert!(shop.shows("Preview of Home"));
}

#[test]
fn what_is_done_in_the_page_is_told_in_its_points() {
    let mut shop = previewing();
    gestures(&mut shop);
    let point = at(&shop, 100.0, 200.0);
    shop.click_at(point);
    let near = |x: f32, y: f32| (x - 100.0).abs() < 1.0 && (y - 200.0).abs() < 1.0;
    let events = gestures(&mut shop);
    assert!(
        events.iter().any(|event| matches!(event, PreviewInputEvent::Move { x, y } if near(*x, *y))),
        "{events:?}"
    );
    let press =
        events.iter().position(|event| matches!(event, PreviewInputEvent::Press { x, y } if near(*x, *y)));
    let release =
        events.iter().position(|event| matches!(event, PreviewInputEvent::Release { x, y } if near(*x, *y)));
    assert!(press.is_some() && press < release, "{events:?}");
    // It has the keyboard now: what is typed is the page's, and no shortcut of the workbench.
    shop.type_keys("c");
    shop.press(Key::C);
    shop.press(Key::Tab);
    shop.press(Key::Backspace);
    shop.press(Key::Delete);
    shop.press(Key::Home);
    shop.press_with(egui::Modifiers::SHIFT, Key::ArrowRight);
    let events = gestures(&mut shop);
    let key = |key: PreviewEditKey| PreviewInputEvent::Key { key };
    let expected = [
        PreviewInputEvent::Type { text: "c".into() },
        key(PreviewEditKey::Tab),
        key(PreviewEditKey::Backspace),
        key(PreviewEditKey::Delete),
        key(PreviewEditKey::Home),
        key(PreviewEditKey::SelectRight),
    ];
    let keys: Vec<_> =
        events.into_iter().filter(|event| !matches!(event, PreviewInputEvent::Move { .. })).collect();
    assert_eq!(keys, expected);
    assert!(shop.main.requests().is_empty(), "no note, nothing deleted");
    shop.press(Key::Escape);
    assert_eq!(gestures(&mut shop), [PreviewInputEvent::Key { key: PreviewEditKey::Escape }]);
    shop.type_keys("x");
    assert!(gestures(&mut shop).is_empty(), "the keyboard was given back");
    let outside = page_rect(&shop).left_top() - egui::vec2(40.0, 0.0);
    shop.window.hover_at(outside);
    shop.window.run();
    assert_eq!(gestures(&mut shop), [PreviewInputEvent::Leave]);
}

#[test]
fn what_an_input_method_composes_is_typed_into_the_page() {
    let mut shop = previewing();
    let point = at(&shop, 100.0, 200.0);
    shop.click_at(point);
    gestures(&mut shop);
    let preedit = egui::ImeEvent::Preedit { text: "e".into(), active_range_chars: None };
    for event in [preedit, egui::ImeEvent::Commit("é".into())] {
        shop.window.event(egui::Event::Ime(event));
        shop.window.run();
    }
    let typed: Vec<_> = gestures(&mut shop)
        .into_iter()
        .filter(|event| matches!(event, PreviewInputEvent::Type { .. }))
        .collect();
    assert_eq!(typed, [PreviewInputEvent::Type { text: "é".into() }]);
}

#[test]
fn the_wheel_scrolls_the_page() {
    let mut shop = previewing();
    let point = at(&shop, 100.0, 200.0);
    shop.window.hover_at(point);
    shop.window.run();
    gestures(&mut shop);
    shop.window.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -30.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: egui::Modifiers::NONE,
    });
    shop.window.run();
    let scrolled: f32 = gestures(&mut shop)
        .iter()
        .map(|event| if let PreviewInputEvent::Scroll { dy } = event { *dy } else { 0.0 })
        .sum();
    let expected = 30.0 * 844.0 / page_rect(&shop).height();
    assert!((scrolled - expected).abs() < 2.0, "{expected} points of the page, not {scrolled}");
}

#[test]
fn a_click_in_inspect_mode_selects_on_the_board_and_the_board_selects_in_the_page() {
    let mut shop = previewing();
    let Front { button, page, .. } = front(&shop.main);
    shop.window.get_by_label("Inspect").click();
    assert!(asked(&shop.settle()).contains(&&WorkbenchRequest::SetPreviewMode(SetPreviewMode {
        session: SESSION,
        mode: PreviewMode::Inspect
    })));
    let mut view = session(&shop.main, PreviewSessionStatus::Ready);
    view.mode = PreviewMode::Inspect;
    tell(&mut shop, vec![view.clone()]);
    gestures(&mut shop);
    let point = at(&shop, 40.0, 120.0);
    shop.click_at(point);
    assert!(gestures(&mut shop).iter().any(|event| matches!(event, PreviewInputEvent::Press { .. })));
    // The preview says what was picked; main tells it: a part of the button.
    view.selected = Some(SelectedInstance {
        instance: "buy/7".into(),
        component: "ui.button".into(),
        node: Some(button),
        file: "components/button.component.yaml".into(),
        line: 7,
    });
    tell(&mut shop, vec![view.clone()]);
    assert_eq!(shop.selected(), [ElementId::Node(button)].into());
    assert!(shop.says("components/button.component.yaml:7"));
    // And the other way: the page is selected on the board.
    shop.main.requests();
    shop.select("Page Home");
    assert_eq!(shop.selected(), [ElementId::Node(page)].into());
    let requests = shop.settle();
    let select =
        WorkbenchRequest::SelectInstance(SelectInstance { session: SESSION, instance: Some("page".into()) });
    assert!(asked(&requests).contains(&&select), "{requests:?}");
}

#[test]
fn device_and_look_are_asked_for_and_told_once() {
    let mut shop = previewing();
    shop.main.requests();
    shop.window.get_by_label("Switch to dark").click();
    let requests = shop.settle();
    let screens: Vec<_> = asked(&requests)
        .into_iter()
        .filter_map(|request| {
            if let WorkbenchRequest::SetPreviewScreen(SetPreviewScreen { screen, .. }) = request {
                Some(*screen)
            } else {
                None
            }
        })
        .collect();
    let [screen] = screens[..] else { panic!("{requests:?}") };
    assert!(screen.dark && screen.width == 390);
    shop.window.run();
    assert!(asked(&shop.settle()).is_empty(), "not again until main answers");
}

#[test]
fn problems_and_the_log_open_below() {
    let mut shop = previewing();
    let mut view = session(&shop.main, PreviewSessionStatus::Ready);
    view.problems = vec![PreviewSourceProblem {
        file: "components/button.component.yaml".into(),
        line: 12,
        column: 5,
        message: "`=props.labl` has no value".into(),
        instance: None,
    }];
    view.logged = 1;
    tell(&mut shop, vec![view]);
    shop.window.get_by_label("Problems (1)").click();
    shop.settle();
    assert!(shop.says("components/button.component.yaml:12:5") && shop.says("`=props.labl` has no value"));
    shop.window.get_by_label("Log").click();
    shop.window.run();
    shop.window.run();
    let line = PreviewLogLine { number: 1, time: 0, level: LogLevel::Info, message: "pressed Buy".into() };
    shop.main.serve_with(&mut |request| match request {
        WorkbenchRequest::ReadPreviewLog(ReadPreviewLog { session: SESSION, after: 0 }) => {
            Some(response(Ok(vec![line.clone()])))
        }
        _ => None,
    });
    shop.window.run();
    assert!(shop.shows("info: pressed Buy"));
}

#[test]
fn sessions_have_tabs_and_can_be_closed() {
    let mut shop = previewing();
    let first = session(&shop.main, PreviewSessionStatus::Ready);
    let second = PreviewSessionView {
        id: PreviewId(2),
        title: "Button".into(),
        shows: PreviewTarget::Component { component: "ui.button".into() },
        route: None,
        ..first.clone()
    };
    tell(&mut shop, vec![first, second]);
    shop.settle();
    let tab = |shop: &Shop, name: &str| {
        shop.window.get_by_role_and_label(egui::accesskit::Role::Tab, name).rect().center()
    };
    let button = tab(&shop, "Button");
    shop.click_at(button);
    assert!(shop.shows("Preview of Button"));
    shop.window.get_by_label("Close Button").click();
    assert!(
        asked(&shop.settle())
            .contains(&&WorkbenchRequest::ClosePreview(ClosePreview { session: PreviewId(2) }))
    );
    let nodes = shop.window.query_all_by_label("Page").count();
    assert_eq!(nodes, 0, "a component alone has no page to choose");
}
