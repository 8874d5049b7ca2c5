//! Sessions against previews that behave and previews that do not: each is a thread at the other end of a socket.

use super::{
    PreviewEvents, PreviewLauncher, PreviewProcess, PreviewSessionRequest, PreviewSessionsMsg,
    PreviewWindowMessage, PreviewsHandle, start,
};
use crossbeam_channel::{Receiver, bounded};
use frame_memory::DescriptorChannel;
use shared_protocol::{
    BoardId, NodeId, Refusal,
    framing::{decode_json, encode_json},
    messages::ToRenderer,
    preview_sessions::{
        PreviewGesture, PreviewId, PreviewSessionStatus, PreviewSessionView, PreviewTarget, PreviewsView,
        TransientPropValue,
    },
    preview_wire::{
        FromPreview, LandlockLevel, MAX_FROM_PREVIEW_BYTES, MAX_INPUT_EVENTS, MAX_TO_PREVIEW_BYTES,
        PREVIEW_PROTOCOL_VERSION, PreviewInputEvent, PreviewScreen, SandboxReport, ToPreview,
    },
    request::{Request, Responder},
    requests::{
        ClosePreview, ListPreviews, ReadPreviewLog, RestartPreview, SetPreviewMode, StartPreview, StopPreview,
    },
    v0::PreviewLogLevel,
};
use std::{
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};
use test_support::{PATIENCE, wait_for, wait_until};
use workspace::time_and_seed;
use workspace::{Workspace, WorkspaceTemplate, create};

/// Plays the preview; the number counts the starts, from 1.
type Play = Arc<dyn Fn(Fake, usize) + Send + Sync>;

fn launcher(play: Play) -> PreviewLauncher {
    let starts = AtomicUsize::new(0);
    PreviewLauncher::new("test", move || {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let play = Arc::clone(&play);
        let start = starts.fetch_add(1, Ordering::SeqCst) + 1;
        std::thread::spawn(move || play(Fake::new(theirs), start));
        Ok(PreviewProcess { channel: ours, process: None })
    })
}

/// The other end, as the real preview would hold it.
struct Fake {
    channel: DescriptorChannel,
    stream: UnixStream,
    generation: u32,
    sequence: u64,
    revision: u64,
    dirty: bool,
}

impl Fake {
    fn new(stream: UnixStream) -> Self {
        let channel = DescriptorChannel::new(stream.try_clone().unwrap(), MAX_TO_PREVIEW_BYTES);
        Self { channel, stream, generation: 0, sequence: 0, revision: 0, dirty: false }
    }

    fn say(&self, message: &FromPreview) {
        let _ = self.channel.send(&encode_json(message, MAX_FROM_PREVIEW_BYTES).unwrap(), None);
    }

    fn greet(&self, build: &str) {
        let sandbox = SandboxReport {
            first_out_of_memory: true,
            not_root: true,
            namespaces: true,
            no_capabilities: true,
            no_new_privileges: true,
            not_dumpable: true,
            no_new_executable_memory: true,
            landlock: LandlockLevel::None,
            limits: true,
            system_calls: true,
        };
        self.say(&FromPreview::Hello {
            protocol: PREVIEW_PROTOCOL_VERSION,
            build: build.to_owned(),
            sandbox,
        });
    }

    fn next(&mut self) -> Option<ToPreview> {
        let message: ToPreview = decode_json(&self.channel.receive().ok()?).unwrap();
        match &message {
            ToPreview::Screen { generation, .. } => {
                drop(self.channel.take_descriptor());
                (self.generation, self.dirty) = (*generation, true);
            }
            ToPreview::Scene { revision, .. }
            | ToPreview::Props { revision, .. }
            | ToPreview::Overrides { revision, .. } => (self.revision, self.dirty) = (*revision, true),
            _ => {}
        }
        Some(message)
    }

    fn frame(&mut self) {
        self.sequence += 1;
        let Self { generation, sequence, revision, .. } = *self;
        self.say(&FromPreview::Frame { generation, sequence, revision, micros: 1 });
    }

    /// As it should be, until the channel ends or `stops` says so.
    fn behave(&mut self, stops: impl FnMut(&ToPreview) -> bool) {
        self.greet("test");
        self.answer(stops);
    }

    /// The same, after the hello.
    fn answer(&mut self, mut stops: impl FnMut(&ToPreview) -> bool) {
        while let Some(message) = self.next() {
            if stops(&message) {
                return;
            }
            if let ToPreview::Ping { number } = message {
                if std::mem::take(&mut self.dirty) {
                    self.frame();
                }
                self.say(&FromPreview::Pong { number });
            }
        }
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<NodeId>>);

impl PreviewEvents for Heard {
    fn publish_view(&self, _: &PreviewsView) {}

    fn select_node(&self, node: NodeId) {
        self.0.lock().unwrap().push(node);
    }
}

struct PreviewSessionsFixture {
    link: PreviewsHandle,
    workspace: Workspace,
    thread: Option<JoinHandle<()>>,
    around: Arc<Heard>,
    _folder: tempfile::TempDir,
}

impl PreviewSessionsFixture {
    fn new(play: impl Fn(Fake, usize) + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("app");
        create(&root, WorkspaceTemplate::Interface, BoardId::from_bits(9)).unwrap();
        let workspace = Workspace::open(&root, time_and_seed()).unwrap();
        assert!(workspace.status().notices.is_empty(), "{:?}", workspace.status());
        let (link, orders) = PreviewsHandle::new().unwrap();
        link.show(&workspace);
        let around = Arc::new(Heard::default());
        let around_it: Arc<dyn PreviewEvents> = around.clone();
        let thread = start(link.clone(), orders, around_it, launcher(Arc::new(play))).unwrap();
        Self { link, workspace, thread: Some(thread), around, _folder: folder }
    }

    fn request<R: Request>(&self, request: R) -> Result<R::Response, Refusal>
    where
        PreviewSessionRequest: From<(R, Responder<R::Response>)>,
    {
        let (done, answered) = bounded(1);
        self.link.request(request, Responder::new(move |result| drop(done.send(result))));
        answered.recv_timeout(PATIENCE).expect("an answer")
    }

    fn page(&self, name: &str) -> NodeId {
        let found = self.workspace.snapshot().nodes().find(|node| node.name.as_str() == name);
        found.unwrap().id
    }

    fn begin(&self) -> PreviewId {
        let screen = PreviewScreen::new(320, 200, 1.0, false).unwrap();
        let shows = PreviewTarget::Route(self.page("home"));
        self.request(StartPreview { shows, screen }).unwrap()
    }

    fn view(&self, session: PreviewId) -> PreviewSessionView {
        let view = self.request(ListPreviews {}).unwrap();
        view.sessions.into_iter().find(|view| view.id == session).unwrap()
    }

    fn until(
        &self,
        session: PreviewId,
        what: &str,
        is_so: impl Fn(&PreviewSessionView) -> bool,
    ) -> PreviewSessionView {
        wait_for(what, || Some(self.view(session)).filter(&is_so))
    }

    fn window(&self) -> Receiver<PreviewWindowMessage> {
        let (queue, queued) = bounded(super::MAX_QUEUED_WINDOW_MESSAGES);
        self.link.attach(queue);
        queued
    }
}

impl Drop for PreviewSessionsFixture {
    fn drop(&mut self) {
        self.link.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the thread did not panic");
        }
    }
}

fn is_ready(view: &PreviewSessionView) -> bool {
    view.state == PreviewSessionStatus::Ready
}

fn has_failed(view: &PreviewSessionView) -> bool {
    matches!(view.state, PreviewSessionStatus::Failed(_))
}

#[test]
fn a_session_comes_up_and_is_told_only_what_changed() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let mut bench = PreviewSessionsFixture::new(move |mut fake, _| {
        fake.behave(|message| {
            seen.lock().unwrap().push(message.clone());
            false
        });
    });
    let window = bench.window();
    let session = bench.begin();
    let view = bench.until(session, "ready", is_ready);
    assert_eq!(view.title, "Your parcels");
    let scenes = |told: &[ToPreview]| told.iter().filter(|m| matches!(m, ToPreview::Scene { .. })).count();
    {
        let told = told.lock().unwrap();
        assert_eq!(scenes(&told), 1);
        let Some(ToPreview::Scene { instances, .. }) =
            told.iter().find(|message| matches!(message, ToPreview::Scene { .. }))
        else {
            panic!()
        };
        let names: Vec<&str> = instances.iter().map(|instance| instance.component.as_str()).collect();
        assert!(names.contains(&"ui.button") && names.contains(&"ui.card"), "{names:?}");
        assert!(instances.iter().any(|instance| instance.parent.is_some()), "nested in slots");
    }
    // One prop is one message, and so is one override.
    let open = bench.page("open");
    let actor = shared_protocol::Actor::new(shared_protocol::ActorKind::Terminal, "test");
    for (command, is_it) in [
        (
            format!(r#"{{"updateNode":{{"node":"{open}","set":{{"label":"Go"}}}}}}"#),
            (|message| matches!(message, ToPreview::Props { .. })) as fn(&ToPreview) -> bool,
        ),
        (
            format!(
                r#"{{"setOverrides":{{"set":[{{"instance":"{open}","path":"/label","value":"Now"}}]}}}}"#
            ),
            |message| matches!(message, ToPreview::Overrides { overrides, .. } if overrides.len() == 1),
        ),
    ] {
        let before = told.lock().unwrap().len();
        let command = serde_json::from_str(&command).unwrap();
        let mutation = workspace::Mutation::Run(Box::new(command));
        bench.workspace.execute(&mutation, &actor, time_and_seed()).unwrap();
        bench.link.show(&bench.workspace);
        wait_until("the one message", || told.lock().unwrap().iter().skip(before).any(is_it));
        assert_eq!(scenes(&told.lock().unwrap()), 1, "not everything again");
    }
    let messages: Vec<PreviewWindowMessage> = window.try_iter().collect();
    let memory = messages.iter().find(|m| matches!(m.message, ToRenderer::PreviewMemory { .. }));
    assert!(memory.unwrap().memory.is_some(), "the memory comes with its descriptor");
    assert!(messages.iter().any(|m| matches!(m.message, ToRenderer::PreviewFrame { .. })));
}

/// Something that no preview says, and how main names it.
type Junk = (&'static str, fn(&mut Fake));

const JUNK: [Junk; 12] = [
    ("sent a message before its hello", |fake| fake.say(&FromPreview::Pong { number: 1 })),
    ("has a different build", |fake| fake.greet("another build")),
    ("sent a second hello", |fake| {
        fake.greet("test");
        fake.greet("test");
    }),
    ("sent an invalid message", |fake| write(&fake.stream, &[0xa5; 64 << 10])),
    ("sent an invalid message", |fake| {
        fake.greet("test");
        // A gigabyte is announced.
        write(&fake.stream, &0x4000_0000_u32.to_be_bytes());
    }),
    ("sent an invalid message", |fake| {
        fake.greet("test");
        // Torn: what comes next is taken for the rest of it.
        write(&fake.stream, &[0, 0, 0, 40, b'{']);
        fake.say(&FromPreview::Pong { number: 0 });
        fake.say(&FromPreview::Pong { number: 0 });
    }),
    ("sent an invalid message", |fake| {
        fake.greet("test");
        write(&fake.stream, b"\0\0\0\x13{\"type\":\"runShell\"}");
    }),
    ("reported a frame", |fake| {
        fake.greet("test");
        fake.say(&FromPreview::Frame { generation: 99, sequence: 1, revision: 0, micros: 1 });
    }),
    ("reported a frame", |fake| {
        fake.greet("test");
        while fake.generation == 0 {
            fake.next();
        }
        fake.frame();
        fake.sequence -= 1;
        fake.frame();
    }),
    ("that it was not given", |fake| {
        fake.greet("test");
        fake.say(&FromPreview::Instances { revision: 77, instances: Vec::new() });
    }),
    ("sent too many messages", |fake| {
        fake.greet("test");
        let message = "x".repeat(3_000);
        for _ in 0..2_000 {
            fake.say(&FromPreview::Log { level: PreviewLogLevel::Info, message: message.clone() });
        }
    }),
    ("too large or invalid", |fake| {
        fake.greet("test");
        let (instance, action) = ("a".to_owned(), "b".to_owned());
        fake.say(&FromPreview::Action { instance, action, value: serde_json::json!([[1]]) });
    }),
];

/// Each says one thing that no preview says and answers every question besides: what ends it is what it said.
#[test]
fn whatever_a_hostile_preview_says_ends_it_and_nothing_else() {
    let kind = Arc::new(AtomicUsize::new(usize::MAX));
    let chosen = Arc::clone(&kind);
    let bench =
        PreviewSessionsFixture::new(move |mut fake, _| match JUNK.get(chosen.load(Ordering::SeqCst)) {
            None => fake.behave(|_| false),
            Some((_, say)) => {
                say(&mut fake);
                fake.answer(|_| false);
            }
        });
    let good = bench.begin();
    bench.until(good, "ready", is_ready);
    for (index, (reason, _)) in JUNK.iter().enumerate() {
        kind.store(index, Ordering::SeqCst);
        let bad = bench.begin();
        let view = bench.until(bad, reason, has_failed);
        let PreviewSessionStatus::Failed(failed) = &view.state else { panic!("{view:?}") };
        assert!(failed.what.contains(reason), "{index}: {}", failed.what);
        bench.request(ClosePreview { session: bad }).unwrap();
        assert!(is_ready(&bench.view(good)), "the other one goes on");
    }
}

/// As many events as may be sent at once, each answered by what an honest preview answers, are no flood.
#[test]
fn a_preview_that_answers_every_key_is_honest() {
    let bench = PreviewSessionsFixture::new(|mut fake, _| {
        fake.greet("test");
        while let Some(message) = fake.next() {
            match message {
                ToPreview::Input { events } => {
                    for _ in events {
                        let (instance, action) = ("a".to_owned(), "change".to_owned());
                        fake.say(&FromPreview::Action { instance, action, value: "x".into() });
                    }
                }
                ToPreview::Ping { number } => {
                    if std::mem::take(&mut fake.dirty) {
                        fake.frame();
                    }
                    fake.say(&FromPreview::Pong { number });
                }
                _ => {}
            }
        }
    });
    let session = bench.begin();
    bench.until(session, "ready", is_ready);
    let typed = || vec![PreviewInputEvent::Type { text: "x".to_owned() }; MAX_INPUT_EVENTS];
    bench.link.gesture(session, PreviewGesture::Input(typed()));
    bench.link.gesture(session, PreviewGesture::Input(typed()));
    // More than one turn of messages each, none of which is left lying.
    let view = bench.until(session, "all answered", |view| {
        view.logged >= 2 * MAX_INPUT_EVENTS as u64 || has_failed(view)
    });
    assert!(is_ready(&view), "{view:?}");
}

/// A try ends with its window, even without a message.
#[test]
fn what_is_tried_ends_when_another_window_comes() {
    let shown = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&shown);
    let bench = PreviewSessionsFixture::new(move |mut fake, _| {
        fake.behave(|message| {
            if let ToPreview::Scene { overrides, .. } | ToPreview::Overrides { overrides, .. } = message {
                seen.store(overrides.len(), Ordering::SeqCst);
            }
            false
        });
    });
    let _window = bench.window();
    let session = bench.begin();
    bench.until(session, "ready", is_ready);
    let tried = TransientPropValue { instance: "a".into(), path: "/b".into(), value: 1.into() };
    bench.link.gesture(session, PreviewGesture::Try(vec![tried]));
    let until = |wanted: usize| {
        wait_until("the values that are tried", || shown.load(Ordering::SeqCst) == wanted);
    };
    until(1);
    let _next = bench.window();
    until(0);
}

fn write(stream: &UnixStream, bytes: &[u8]) {
    use std::io::Write as _;
    let _ = (&*stream).write_all(bytes);
}

#[test]
fn the_component_that_ends_it_twice_is_left_out_and_the_rest_is_shown() {
    // Ends whenever it is shown this one.
    let bench = PreviewSessionsFixture::new(|mut fake, _| {
        let mut has_badge = false;
        fake.behave(|message| {
            match message {
                ToPreview::Component { text, .. } if text.contains("id: ui.badge") => has_badge = true,
                ToPreview::ComponentRemoved { .. } => {}
                _ => {}
            }
            has_badge
                && matches!(message, ToPreview::Scene { instances, .. }
                    if instances.iter().any(|instance| instance.component == "ui.badge"))
        });
    });
    let session = bench.begin();
    let view = bench.until(session, "ready without it", is_ready);
    assert_eq!(view.quarantined, ["ui.badge"]);
    let log = bench.request(ReadPreviewLog { session, after: 0 }).unwrap();
    assert!(log.iter().any(|line| line.message.contains("ui.badge crashed the preview twice")), "{log:?}");
    // A person may try again.
    bench.request(RestartPreview { session }).unwrap();
    assert!(bench.until(session, "again", |view| !view.quarantined.is_empty()).quarantined.len() == 1);
}

#[test]
fn one_that_does_not_answer_is_ended_and_what_is_tried_is_tried_again() {
    let tried = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&tried);
    let bench = PreviewSessionsFixture::new(move |mut fake, start| {
        fake.behave(|message| {
            let is_tried = matches!(message, ToPreview::Scene { overrides, .. }
                | ToPreview::Overrides { overrides, .. } if !overrides.is_empty());
            if is_tried && start == 1 {
                // Stuck from now on.
                std::thread::sleep(PATIENCE);
            }
            *seen.lock().unwrap() += usize::from(is_tried);
            false
        });
    });
    let session = bench.begin();
    bench.until(session, "ready", is_ready);
    let value = TransientPropValue {
        instance: bench.page("open").to_string(),
        path: "/label".into(),
        value: "Wow".into(),
    };
    bench.link.gesture(session, PreviewGesture::Try(vec![value]));
    let failed = bench.until(session, "ended", has_failed);
    let PreviewSessionStatus::Failed(failed) = failed.state else { panic!() };
    assert!(failed.what.contains("did not respond in time") && failed.again_at.is_some(), "{failed:?}");
    bench.until(session, "ready again", is_ready);
    assert!(*tried.lock().unwrap() >= 1, "nothing was lost");
}

#[test]
fn what_is_picked_is_chosen_and_what_is_pressed_leads_on() {
    let (here, there) = bounded::<FromPreview>(8);
    let bench = PreviewSessionsFixture::new(move |mut fake, _| {
        fake.greet("test");
        while let Some(message) = fake.next() {
            if let ToPreview::Ping { number } = message {
                fake.frame();
                fake.say(&FromPreview::Pong { number });
            }
            if let ToPreview::Mode { .. } = message {
                there.try_iter().for_each(|message| fake.say(&message));
            }
        }
    });
    let session = bench.begin();
    bench.until(session, "ready", is_ready);
    let open = bench.page("open");
    let boxed = shared_protocol::preview_wire::InstanceBox {
        id: open.to_string(),
        component: "ui.button".into(),
        parent: None,
        rect: [0.0, 0.0, 9.0, 9.0],
        clip: [0.0, 0.0, 9.0, 9.0],
        file: "components/button.component.yaml".into(),
        line: 3,
    };
    let mode = |mode| bench.request(SetPreviewMode { session, mode }).unwrap();
    here.send(FromPreview::Instances { revision: 1, instances: vec![boxed] }).unwrap();
    here.send(FromPreview::Picked { instance: Some(open.to_string()) }).unwrap();
    mode(shared_protocol::preview_wire::PreviewMode::Inspect);
    let view = bench.until(session, "picked", |view| view.selected.is_some());
    let selected = view.selected.unwrap();
    assert_eq!(
        (selected.node, selected.file.as_str(), selected.line),
        (Some(open), "components/button.component.yaml", 3)
    );
    assert_eq!(*bench.around.0.lock().unwrap(), [open]);
    let act = FromPreview::Action {
        instance: open.to_string(),
        action: "press".into(),
        value: serde_json::Value::Null,
    };
    here.send(act).unwrap();
    mode(shared_protocol::preview_wire::PreviewMode::Interact);
    let pickup = bench.page("pickup");
    bench.until(session, "led on", |view| view.route == Some(pickup));
}

#[test]
fn there_are_bounds_and_words_for_what_is_not_there() {
    let bench = PreviewSessionsFixture::new(|mut fake, _| fake.behave(|_| false));
    let screen = PreviewScreen { width: 0, height: 1, quarters: 4, dark: false };
    let shows = PreviewTarget::Route(bench.page("home"));
    assert!(bench.request(StartPreview { shows, screen }).is_err());
    let screen = PreviewScreen::new(10, 10, 1.0, false).unwrap();
    for shows in [
        PreviewTarget::Route(bench.page("open")),
        PreviewTarget::Component { component: "ui.nothing".into() },
        PreviewTarget::Variant { component: "ui.button".into(), variant: "nothing".into() },
    ] {
        assert!(bench.request(StartPreview { shows, screen }).is_err());
    }
    let sessions: Vec<PreviewId> =
        (0..shared_protocol::preview_sessions::MAX_PREVIEW_SESSIONS).map(|_| bench.begin()).collect();
    let shows = PreviewTarget::Component { component: "ui.button".into() };
    assert!(bench.request(StartPreview { shows, screen }).is_err());
    for session in sessions {
        bench.until(session, "ready", is_ready);
        bench.request(StopPreview { session }).unwrap();
        assert_eq!(bench.view(session).state, PreviewSessionStatus::Stopped);
        bench.request(ClosePreview { session }).unwrap();
        assert!(bench.request(StopPreview { session }).is_err());
    }
}

#[test]
fn orders_that_nobody_takes_are_refused() {
    let (link, _orders): (PreviewsHandle, Receiver<PreviewSessionsMsg>) = PreviewsHandle::new().unwrap();
    let (done, answered) = bounded(4_096);
    for _ in 0..super::MAX_QUEUED_ORDERS + 10 {
        let done = done.clone();
        let send = move |result: Result<PreviewsView, Refusal>| {
            let _ = done.try_send(result.is_err());
        };
        link.request(ListPreviews {}, Responder::new(send));
    }
    assert_eq!(answered.try_iter().filter(|refused| *refused).count(), 10);
}

/// A value that is being dragged must not stay for ever because its end found no room.
#[test]
fn the_end_of_a_try_is_never_lost() {
    let (link, _orders): (PreviewsHandle, Receiver<PreviewSessionsMsg>) = PreviewsHandle::new().unwrap();
    let tried = || TransientPropValue { instance: "a".into(), path: "/b".into(), value: 1.into() };
    for _ in 0..super::MAX_QUEUED_ORDERS + 10 {
        link.gesture(PreviewId(1), PreviewGesture::Try(vec![tried()]));
    }
    assert!(!link.take_try_ended(), "one that is replaced by the next may be lost");
    link.gesture(PreviewId(1), PreviewGesture::Try(Vec::new()));
    assert!(link.take_try_ended() && !link.take_try_ended(), "told once");
}
