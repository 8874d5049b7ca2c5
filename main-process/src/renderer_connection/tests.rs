//! A hostile or broken renderer against a real writer: its connection ends, and nothing else does.

use super::{LIMITS, RendererConnectionError, RendererLimits, serve_within};
use crate::testing::{Running, add_note, damage_frame};
use shared_protocol::{
    AddNode, BoardId, Command, ElementId, NodeId, PropValue, Revision,
    decisions::WindowRequest,
    framing::{FrameDecoder, FramingError, MAX_FROM_RENDERER_BYTES, MAX_TO_RENDERER_BYTES, decode, encode},
    limits::MAX_NODES,
    messages::{
        BoardViewport, ChildHello, ConnectionToken, DesignerActivity, FromRenderer, FullWorkspaceView,
        PROTOCOL_VERSION, Presence, ProcessRole, ToRenderer, ViewRect,
    },
    request::Request,
    requests::{DescribeInstance, ReadLog, RevertOperation, RunCommand, UndoLast, WorkbenchRequest},
};
use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    thread::JoinHandle,
    time::{Duration, Instant},
};
use test_support::{PATIENCE, RandomSource};

const SHORT: RendererLimits =
    RendererLimits { hello: Duration::from_millis(100), frame: Duration::from_millis(100) };

struct Fake {
    stream: UnixStream,
    reader: FrameDecoder,
    served: Option<JoinHandle<Result<(), RendererConnectionError>>>,
}

impl Fake {
    fn connect(running: &Running, limits: RendererLimits) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let router = running.router.clone();
        let served = std::thread::spawn(move || serve_within(limits, &theirs, &router));
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        ours.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream: ours, reader: FrameDecoder::new(MAX_TO_RENDERER_BYTES), served: Some(served) }
    }

    /// Connected, greeted, and with the workspace.
    fn greeted(running: &Running, limits: RendererLimits) -> (Self, FullWorkspaceView) {
        let mut fake = Self::connect(running, limits);
        let token = fake.challenge();
        fake.say(&FromRenderer::Hello(hello(token)));
        let view = fake.workspace();
        (fake, view)
    }

    /// A message may be refused before all of it was sent.
    fn send(&mut self, bytes: &[u8]) {
        drop(self.stream.write_all(bytes));
    }

    fn say(&mut self, message: &FromRenderer) {
        self.send(&encode(message, MAX_FROM_RENDERER_BYTES).unwrap());
    }

    /// `None` when main has ended the connection.
    fn hear(&mut self) -> Option<ToRenderer> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.reader.next_frame().unwrap() {
                return Some(decode(&frame).unwrap());
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.reader.push(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("main says nothing: {error}"),
            }
        }
    }

    fn challenge(&mut self) -> ConnectionToken {
        match self.hear() {
            Some(ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token }) => token,
            other => panic!("{other:?}"),
        }
    }

    fn workspace(&mut self) -> FullWorkspaceView {
        loop {
            match self.hear() {
                Some(ToRenderer::Workspace(view)) => return *view,
                Some(_) => {}
                None => panic!("ended before the workspace came"),
            }
        }
    }

    /// Closes this end, unless main was first, and gives what became of the other.
    fn end(mut self) -> Result<(), RendererConnectionError> {
        drop(self.stream.shutdown(Shutdown::Write));
        self.served.take().unwrap().join().expect("the link did not panic")
    }
}

fn hello(token: ConnectionToken) -> ChildHello {
    ChildHello {
        protocol: PROTOCOL_VERSION,
        build: env!("CARGO_PKG_VERSION").to_owned(),
        role: ProcessRole::Renderer,
        token,
    }
}

fn named_note(name: &str) -> Command {
    match add_note() {
        Command::AddNode(add) => Command::AddNode(AddNode { name: Some(name.parse().unwrap()), ..add }),
        other => other,
    }
}

/// Sets a text of some length, another one each time.
fn rewrite_note(name: &str, round: u64) -> Command {
    let text = PropValue::text(format!("{round:04}").repeat(500));
    Command::UpdateNode {
        node: name.parse().unwrap(),
        name: None,
        label: None,
        set: [("text".parse().unwrap(), text)].into(),
        unset: vec![],
        references: Default::default(),
    }
}

fn request<R: Request<Frame = WorkbenchRequest> + Into<WorkbenchRequest>>(
    id: u64,
    request: R,
) -> FromRenderer {
    FromRenderer::Request { id, request: WindowRequest::Workbench(Into::into(request)) }
}

fn revision(running: &Running) -> Revision {
    running.request(DescribeInstance {}).unwrap().revision
}

#[test]
fn a_hello_that_does_not_fit_ends_the_connection() {
    let running = Running::start();
    type Spoil = fn(&mut ChildHello);
    let wrong: [(&str, Spoil); 5] = [
        ("an older protocol", |hello| hello.protocol -= 1),
        ("a newer protocol", |hello| hello.protocol += 1),
        ("another token", |hello| hello.token[31] ^= 1),
        ("a terminal's role", |hello| hello.role = ProcessRole::Terminal),
        ("another build", |hello| hello.build.push_str("-dirty")),
    ];
    for (what, spoil) in wrong {
        let mut fake = Fake::connect(&running, LIMITS);
        let mut said = hello(fake.challenge());
        spoil(&mut said);
        fake.say(&FromRenderer::Hello(said));
        // Nothing of the workspace is told.
        assert_eq!(fake.hear(), None, "{what}");
        assert!(matches!(fake.end(), Err(RendererConnectionError::Refused(_))), "{what}");
    }
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn what_is_no_hello_ends_the_connection_before_anything_is_told() {
    let running = Running::start();
    let run = request(1, RunCommand { command: add_note() });
    for message in [run, FromRenderer::Resync, FromRenderer::Presence(Presence::default())] {
        let mut fake = Fake::connect(&running, LIMITS);
        fake.challenge();
        fake.say(&message);
        assert_eq!(fake.hear(), None, "{message:?}");
        assert!(matches!(fake.end(), Err(RendererConnectionError::HelloMissing)), "{message:?}");
    }
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn a_second_hello_ends_the_connection() {
    let running = Running::start();
    let mut fake = Fake::connect(&running, LIMITS);
    let token = fake.challenge();
    fake.say(&FromRenderer::Hello(hello(token)));
    fake.workspace();
    fake.say(&FromRenderer::Hello(hello(token)));
    assert!(matches!(fake.end(), Err(RendererConnectionError::HelloMissing)));
    running.finish();
}

#[test]
fn the_frame_s_bounds_hold_before_and_after_the_hello() {
    let running = Running::start();
    let too_large = (MAX_FROM_RENDERER_BYTES as u32 + 1).to_be_bytes();
    type Fits = fn(&RendererConnectionError) -> bool;
    let broken: [(&str, &[u8], Fits); 5] = [
        ("over the limit", &too_large, |e| {
            matches!(e, RendererConnectionError::Frame(FramingError::TooLarge { .. }))
        }),
        ("the largest length", &[0xff; 4], |e| {
            matches!(e, RendererConnectionError::Frame(FramingError::TooLarge { .. }))
        }),
        ("an empty frame", &[0; 4], |e| matches!(e, RendererConnectionError::Frame(FramingError::Empty))),
        ("half a frame", &[0, 0, 0, 9, 1], |e| {
            matches!(e, RendererConnectionError::Frame(FramingError::Truncated { missing: 8 }))
        }),
        ("half a header", &[0, 0], |e| {
            matches!(e, RendererConnectionError::Frame(FramingError::Truncated { missing: 2 }))
        }),
    ];
    for (what, bytes, fits) in broken {
        let mut fake = Fake::connect(&running, LIMITS);
        fake.challenge();
        fake.send(bytes);
        assert!(fake.end().is_err_and(|error| fits(&error)), "{what}, before");
        let (mut fake, _) = Fake::greeted(&running, LIMITS);
        fake.send(bytes);
        assert!(fake.end().is_err_and(|error| fits(&error)), "{what}, after");
    }
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn silence_has_its_limits() {
    let running = Running::start();
    let quiet = Fake::connect(&running, SHORT);
    let mut half = Fake::connect(&running, SHORT);
    half.challenge();
    half.send(&[0, 0, 0, 40, 1, 2, 3]);
    let (mut stalled, _) = Fake::greeted(&running, RendererLimits { hello: PATIENCE, frame: SHORT.frame });
    stalled.send(&[0, 0, 0, 40, 1, 2, 3]);
    // None of them closes its end: main has to.
    for (what, mut fake) in [("no hello", quiet), ("half a hello", half), ("half a frame", stalled)] {
        let ended = fake.served.take().unwrap().join().expect("the link did not panic");
        assert!(
            matches!(ended, Err(RendererConnectionError::NoHello(_) | RendererConnectionError::Stalled(_))),
            "{what}: {ended:?}"
        );
    }
    // One that says nothing between frames is fine for as long as it likes. The silence is what is tried, so it is slept.
    let (mut patient, _) = Fake::greeted(&running, SHORT);
    std::thread::sleep(3 * SHORT.frame + super::POLL);
    patient.say(&FromRenderer::Resync);
    patient.workspace();
    patient.end().unwrap();
    // And one that goes away without a word is not accused of waiting.
    let leaver = Fake::connect(&running, LIMITS);
    assert!(matches!(leaver.end(), Err(RendererConnectionError::EndedEarly)));
    running.finish();
}

#[test]
fn a_presence_out_of_bounds_is_ignored_and_the_connection_goes_on() {
    let running = Running::start();
    let (mut fake, view) = Fake::greeted(&running, LIMITS);
    let board = view.document.boards[0].id;
    let sound = Presence {
        board: Some(board),
        selection: vec![ElementId::Board(board)],
        viewports: vec![(board, BoardViewport { x: -3.5, y: 1e6, zoom: 0.25 })],
        area: Some(ViewRect { x: 10.0, y: 20.0, w: 800.0, h: 600.0 }),
        doing: DesignerActivity::Typing,
        window: "{\"layout\":{}}".to_owned(),
        settings: String::new(),
    };
    fake.say(&FromRenderer::Presence(sound.clone()));
    let at = |x: f32, y: f32, zoom: f32| Presence {
        viewports: vec![(board, BoardViewport { x, y, zoom })],
        ..sound.clone()
    };
    let node = ElementId::Node(NodeId::from_bits(1));
    let unsound = [
        at(f32::NAN, 0.0, 1.0),
        at(0.0, f32::INFINITY, 1.0),
        at(0.0, f32::NEG_INFINITY, 1.0),
        at(0.0, 0.0, f32::NAN),
        at(0.0, 0.0, 0.0),
        at(0.0, 0.0, -1.0),
        Presence { selection: vec![node; MAX_NODES + 1], ..sound.clone() },
        Presence { window: "x".repeat(65 << 10), ..sound.clone() },
        Presence { settings: "x".repeat(65 << 10), ..sound.clone() },
        Presence { area: Some(ViewRect { x: 0.0, y: 0.0, w: f32::INFINITY, h: 1.0 }), ..sound.clone() },
        Presence { area: Some(ViewRect { x: 0.0, y: 0.0, w: 1.0, h: -1.0 }), ..sound.clone() },
        Presence {
            viewports: vec![(BoardId::from_bits(1), BoardViewport { x: 0.0, y: 0.0, zoom: 1.0 }); 501],
            ..sound.clone()
        },
    ];
    for presence in unsound {
        fake.say(&FromRenderer::Presence(presence));
        fake.say(&FromRenderer::Resync);
        assert_eq!(fake.workspace().presence, sound);
    }
    // Finite and absurd is kept, and told again as it is.
    let absurd = at(f32::MAX, f32::MIN, f32::MIN_POSITIVE);
    fake.say(&FromRenderer::Presence(absurd.clone()));
    fake.say(&FromRenderer::Resync);
    assert_eq!(fake.workspace().presence, absurd);
    // The visible area is not finite then.
    assert_eq!(absurd.on_screen(), None);
    let seen = sound.on_screen().unwrap();
    assert_eq!(seen.visible, ViewRect { x: -1603.5, y: 998_800.0, w: 3200.0, h: 2400.0 });
    fake.end().unwrap();
    running.finish();
}

/// Three bytes for each batch within a batch: a decoder that follows them runs out of stack, and main is gone.
#[test]
fn batches_within_batches_do_not_exhaust_the_stack() {
    let running = Running::start();
    let batch = |commands| Command::Batch { summary: None, commands };
    let say = |command| request(0, RunCommand { command });
    let bytes = |message: &FromRenderer| encode(message, MAX_FROM_RENDERER_BYTES).unwrap()[4..].to_vec();
    // One more level adds this in front.
    let (none, one) = (bytes(&say(batch(vec![]))), bytes(&say(batch(vec![batch(vec![])]))));
    let head = none.len() - 3;
    let level = &one[head..head + 3];
    assert_eq!([&one[..head], level, &none[head..]].concat(), one, "the wire form is as assumed");
    for levels in [2_000_000_usize, 100_000, 1_000, 50, 1] {
        let (mut fake, _) = Fake::greeted(&running, LIMITS);
        let mut payload = none[..head].to_vec();
        payload.extend(level.repeat(levels));
        payload.extend(&none[head..]);
        let mut framed = (payload.len() as u32).to_be_bytes().to_vec();
        framed.extend(payload);
        fake.send(&framed);
        if levels == 1 {
            // An honest mistake is answered.
            let answered =
                std::iter::from_fn(|| fake.hear()).find(|m| matches!(m, ToRenderer::Response { .. }));
            assert!(matches!(answered, Some(ToRenderer::Response { result: Err(_), .. })), "{answered:?}");
        } else {
            assert!(
                matches!(fake.end(), Err(RendererConnectionError::Frame(FramingError::Malformed(_)))),
                "{levels}"
            );
        }
    }
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn garbage_before_the_hello_changes_nothing() {
    let running = Running::start();
    let mut random = RandomSource::from_environment(1);
    let mut ended = 0;
    for round in 0..3_000 {
        let mut fake = Fake::connect(&running, LIMITS);
        let bytes = if round % 3 == 0 {
            random.bytes(400)
        } else {
            let token = fake.challenge();
            let mut said = hello(token);
            // Spoiled, and with a token that does not fit, so that no accident opens the door.
            said.token = said.token.map(|byte| !byte);
            let framed = encode(&FromRenderer::Hello(said), MAX_FROM_RENDERER_BYTES).unwrap();
            damage_frame(&mut random, &framed)
        };
        fake.send(&bytes);
        ended += usize::from(fake.end().is_err());
    }
    // Only a renderer that said a whole hello with the right token would have been let in.
    assert_eq!(ended, 3_000);
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn garbage_after_the_hello_leaves_a_whole_graph() {
    let running = Running::start();
    let mut random = RandomSource::from_environment(2);
    let board = running.document().boards[0].id;
    let viewport = BoardViewport { x: 1.0, y: 2.0, zoom: 1.0 };
    let presence = Presence { board: Some(board), viewports: vec![(board, viewport)], ..Presence::default() };
    let valid: Vec<Vec<u8>> = [
        request(1, RunCommand { command: add_note() }),
        request(2, UndoLast {}),
        request(3, RevertOperation { revision: Revision(1), partial: true }),
        request(4, ReadLog { limit: 5 }),
        FromRenderer::Presence(presence),
        FromRenderer::Resync,
    ]
    .iter()
    .map(|message| encode(message, MAX_FROM_RENDERER_BYTES).unwrap())
    .collect();
    let mut refused = 0;
    for round in 0..600 {
        let (mut fake, _) = Fake::greeted(&running, LIMITS);
        for _ in 0..=random.below(4) {
            let frame = &valid[random.below(valid.len())];
            let damaged = damage_frame(&mut random, frame);
            fake.send(&damaged);
        }
        refused += usize::from(fake.end().is_err());
        if round % 100 == 0 {
            running.request(DescribeInstance {}).unwrap();
        }
    }
    assert!(refused > 300, "most of it is noticed: {refused}");
    running.finish();
}

#[test]
fn a_renderer_that_asks_and_does_not_listen_holds_nobody_up_and_is_told_everything_later() {
    const ASKED: u64 = 5_000;
    const EDITED: u64 = 1_000;
    let running = Running::start();
    let (mut fake, _) = Fake::greeted(&running, LIMITS);
    let mut asking = fake.stream.try_clone().unwrap();
    let asker = std::thread::spawn(move || {
        for id in 0..ASKED {
            let message = request(id, RunCommand { command: add_note() });
            asking.write_all(&encode(&message, MAX_FROM_RENDERER_BYTES).unwrap()).unwrap();
        }
    });
    // It takes nothing, and meanwhile somebody else works: more than may wait for a renderer, and than a socket holds.
    let started = Instant::now();
    running.request(RunCommand { command: named_note("note") }).unwrap();
    for round in 1..EDITED {
        running.request(RunCommand { command: rewrite_note("note", round) }).unwrap();
        assert!(started.elapsed() < PATIENCE, "the writer waits for a renderer that does not listen");
    }
    let (mut behind, mut answered, mut everything) = (Revision::START, Vec::new(), 0);
    // To the end without anybody doing anything more: all answers, and all that there is.
    while answered.len() < ASKED as usize || behind < Revision(ASKED + EDITED) {
        match fake.hear().expect("the connection goes on") {
            ToRenderer::Response { request, result } => {
                result.unwrap();
                answered.push(request);
            }
            ToRenderer::Patch(patch) => {
                // A patch fits on what was told before, or everything comes first.
                assert_eq!(patch.revision, behind.next());
                behind = patch.revision;
            }
            ToRenderer::Workspace(view) => {
                assert!(view.document.revision >= behind);
                behind = view.document.revision;
                everything += 1;
            }
            ToRenderer::Status(_) | ToRenderer::Links(_) | ToRenderer::Bundles(_) | ToRenderer::Review(_) => {
            }
            other => panic!("{other:?}"),
        }
    }
    asker.join().unwrap();
    assert!(everything > 0, "it was told everything after it fell behind");
    assert_eq!(answered, (0..ASKED).collect::<Vec<_>>(), "every request is answered once, in order");
    assert_eq!(revision(&running), behind);
    fake.end().unwrap();
    assert_eq!(running.finish().nodes.len(), ASKED as usize + 1);
}

#[test]
fn a_renderer_that_is_killed_while_it_floods_leaves_the_writer_at_work() {
    let running = Running::start();
    for _ in 0..5 {
        let (fake, _) = Fake::greeted(&running, LIMITS);
        let mut asking = fake.stream.try_clone().unwrap();
        let asker = std::thread::spawn(move || {
            for id in 0..5_000 {
                let message = request(id, ReadLog { limit: 100 });
                if asking.write_all(&encode(&message, MAX_FROM_RENDERER_BYTES).unwrap()).is_err() {
                    return;
                }
            }
        });
        running.request(RunCommand { command: add_note() }).unwrap();
        drop(fake.stream.shutdown(Shutdown::Both));
        let mut fake = fake;
        drop(fake.served.take().unwrap().join().expect("the link did not panic"));
        asker.join().unwrap();
        running.request(RunCommand { command: add_note() }).unwrap();
    }
    assert_eq!(running.finish().revision, Revision(10));
}
