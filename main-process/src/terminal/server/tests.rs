//! Hostile or broken terminals against a real writer and its socket.

use super::{IDLE_LIMIT, MAX_CONNECTIONS, TerminalContext, TerminalServer, serve_connection};
use crate::testing::{Running, add_note, damage_frame};
use processes::{DiscoveryRecord, instance};
use shared_protocol::{
    RefusalCode, Revision,
    decisions::ListQueue,
    framing::{FrameDecoder, MAX_TERMINAL_FRAME_BYTES, decode_json, encode_json, frame},
    messages::{FromTerminal, PROTOCOL_VERSION, ToTerminal},
    requests::{ListProblems, ReadLog, RunCommand, UndoLast, WorkbenchRequest},
};
use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{Arc, atomic::AtomicBool},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use test_support::{PATIENCE, RandomSource, wait_until};

fn record(running: &Running) -> DiscoveryRecord {
    instance::find(std::slice::from_ref(&running.runtime), &running.root).unwrap().unwrap()
}

struct Fake {
    stream: UnixStream,
    reader: FrameDecoder,
}

impl Fake {
    fn connect(record: &DiscoveryRecord) -> Self {
        Self::over(UnixStream::connect(&record.socket).unwrap())
    }

    fn over(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, reader: FrameDecoder::new(MAX_TERMINAL_FRAME_BYTES) }
    }

    /// A message may be refused before all of it was sent.
    fn send(&mut self, bytes: &[u8]) {
        drop(self.stream.write_all(bytes));
    }

    fn say(&mut self, message: &FromTerminal) {
        self.send(&encode_json(message, MAX_TERMINAL_FRAME_BYTES).unwrap());
    }

    /// `None` when the server has ended the connection.
    fn hear(&mut self) -> Option<ToTerminal> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.reader.next_frame().unwrap() {
                return Some(decode_json(&frame).unwrap());
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.reader.push(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("the server says nothing: {error}"),
            }
        }
    }

    /// Whether it was let in.
    fn greet(&mut self, record: &DiscoveryRecord) -> bool {
        self.say(&hello(record));
        matches!(self.hear(), Some(ToTerminal::Welcome { protocol: PROTOCOL_VERSION, .. }))
    }
}

fn hello(record: &DiscoveryRecord) -> FromTerminal {
    FromTerminal::Hello { protocol: PROTOCOL_VERSION, token: record.token.reveal().to_owned() }
}

/// A conversation over a pair of sockets, with a limit of its own.
fn conversing(running: &Running, limit: Duration) -> (Fake, JoinHandle<Result<(), String>>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (router, token) = (running.router.clone(), record(running).token);
    let served = TerminalContext { token, router, is_closed: Arc::default() };
    (Fake::over(ours), std::thread::spawn(move || serve_connection(theirs, &served, limit)))
}

#[test]
fn only_the_right_hello_opens_the_door() {
    let running = Running::start();
    let record = record(&running);
    let token = record.token.reveal().to_owned();
    let near = format!("{}{}", &token[..63], if token.ends_with('0') { '1' } else { '0' });
    for (what, protocol, token) in [
        ("another token", PROTOCOL_VERSION, near),
        ("no token", PROTOCOL_VERSION, String::new()),
        ("a longer token", PROTOCOL_VERSION, format!("{token}0")),
        ("another protocol", PROTOCOL_VERSION + 1, token),
    ] {
        let mut fake = Fake::connect(&record);
        fake.say(&FromTerminal::Hello { protocol, token });
        assert!(matches!(fake.hear(), Some(ToTerminal::Refused(_))), "{what}");
        fake.say(&FromTerminal::Request(RunCommand { command: add_note() }.into()));
        assert_eq!(fake.hear(), None, "{what}");
    }
    let mut fake = Fake::connect(&record);
    fake.say(&FromTerminal::Request(RunCommand { command: add_note() }.into()));
    assert!(matches!(fake.hear(), Some(ToTerminal::Refused(_))), "a request before the hello");
    assert_eq!(fake.hear(), None, "a request before the hello");
    assert_eq!(running.document().revision, Revision::START);

    let mut fake = Fake::connect(&record);
    assert!(fake.greet(&record));
    fake.say(&FromTerminal::Request(RunCommand { command: add_note() }.into()));
    assert!(matches!(fake.hear(), Some(ToTerminal::Response(applied)) if applied["revision"] == 1));
    drop(fake);
    assert_eq!(running.finish().revision, Revision(1));
}

#[test]
fn a_terminal_does_not_reach_the_workspace_that_took_the_place_of_its_own() {
    let running = Running::start();
    for message in [
        FromTerminal::Request(RunCommand { command: add_note() }.into()),
        FromTerminal::Review(ListQueue {}.into()),
        FromTerminal::Confirm { code: "12345678".to_owned() },
        FromTerminal::Mcp,
    ] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (router, token, over) =
            (running.router.clone(), record(&running).token, Arc::new(AtomicBool::new(false)));
        let served = TerminalContext { token, router, is_closed: Arc::clone(&over) };
        let server = TerminalServer { _stop: UnixStream::pair().unwrap().0, is_closed: over };
        let ended = std::thread::spawn(move || serve_connection(theirs, &served, PATIENCE));
        let mut fake = Fake::over(ours);
        assert!(fake.greet(&record(&running)));
        drop(server);
        fake.say(&message);
        let answer = fake.hear();
        assert!(
            matches!(&answer, Some(ToTerminal::Refused(refusal)) if refusal.code == RefusalCode::NoWorkspace),
            "{message:?}: {answer:?}"
        );
        assert!(ended.join().unwrap().is_err());
    }
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn a_malformed_message_is_answered_and_ends_the_connection_where_framing_is_lost() {
    let running = Running::start();
    let record = record(&running);
    let deep = |open: &str, close: &str| {
        let value = format!("{}{}", open.repeat(50_000), close.repeat(50_000));
        frame(
            format!(r#"{{"request":{{"runCommand":{{"command":{value}}}}}}}"#).as_bytes(),
            MAX_TERMINAL_FRAME_BYTES,
        )
        .unwrap()
    };
    let unframed: Vec<(&str, Vec<u8>)> = vec![
        ("the largest length", vec![0xff; 4]),
        ("one byte over the limit", (MAX_TERMINAL_FRAME_BYTES as u32 + 1).to_be_bytes().to_vec()),
        ("an empty frame", vec![0; 4]),
        ("a line of JSON without a length", b"{\"request\":{\"readLog\":{\"limit\":1}}}\n".to_vec()),
    ];
    let framed: Vec<(&str, Vec<u8>)> = vec![
        ("not JSON", frame(b"hello?", MAX_TERMINAL_FRAME_BYTES).unwrap()),
        ("not UTF-8", frame(&[0xff, 0xfe, 0x00], MAX_TERMINAL_FRAME_BYTES).unwrap()),
        ("an unknown message", frame(br#"{"shutdown":{}}"#, MAX_TERMINAL_FRAME_BYTES).unwrap()),
        (
            "an unknown field",
            frame(br#"{"hello":{"protocol":1,"token":"","admin":true}}"#, MAX_TERMINAL_FRAME_BYTES).unwrap(),
        ),
        ("lists within lists", deep("[", "]")),
        ("batches within batches", deep(r#"{"batch":{"commands":["#, "]}}")),
    ];
    let cases = unframed.iter().map(|case| (case, false)).chain(framed.iter().map(|case| (case, true)));
    for ((what, bytes), is_framed) in cases {
        for greeted in [false, true] {
            let mut fake = Fake::connect(&record);
            assert!(!greeted || fake.greet(&record), "{what}");
            fake.send(bytes);
            match fake.hear() {
                Some(ToTerminal::Refused(refusal)) => {
                    assert_eq!(refusal.code, RefusalCode::BadRequest, "{what}");
                    assert!(refusal.message.contains("frame"), "{what}: {refusal}");
                }
                other => panic!("{what}: {other:?}"),
            }
            if is_framed && greeted {
                fake.say(&FromTerminal::Request(ReadLog { limit: 1 }.into()));
                assert!(
                    matches!(fake.hear(), Some(ToTerminal::Response(_))),
                    "{what}: the next one is served"
                );
            } else {
                assert_eq!(fake.hear(), None, "{what}");
            }
        }
    }
    assert_eq!(running.finish().revision, Revision::START);
}

#[test]
fn an_end_inside_a_frame_is_told_from_an_end_between_frames() {
    let running = Running::start();
    for (bytes, fine) in [(&[][..], true), (&[0, 0][..], false), (&[0, 0, 0, 9, b'{'][..], false)] {
        let (mut fake, conversation) = conversing(&running, IDLE_LIMIT);
        fake.send(bytes);
        fake.stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(conversation.join().unwrap().is_ok(), fine, "{bytes:?}");
    }
    running.finish();
}

#[test]
fn whoever_dawdles_is_let_go() {
    let running = Running::start();
    let limit = Duration::from_millis(150);
    let (_silent, silence) = conversing(&running, limit);
    let (mut half, half_said) = conversing(&running, limit);
    half.send(&[0, 0, 0, 40, b'{']);
    let (mut dripping, dripped) = conversing(&running, limit);
    let drip = std::thread::spawn(move || {
        // One byte at a time, always in time for the next: a frame all the same has to come to its end.
        let started = Instant::now();
        let mut left = 1_000;
        while left > 0 && dripping.stream.write_all(&[0]).is_ok() {
            // The pace is what is tried: each byte comes within the limit, the frame does not.
            std::thread::sleep(limit / 10);
            left -= 1;
            if left == 999 {
                drop(dripping.stream.write_all(&[0, 0xff, 0]));
            }
        }
        (left, started.elapsed())
    });
    for (what, conversation) in [("silence", silence), ("half a frame", half_said), ("a drip", dripped)] {
        assert!(conversation.join().unwrap().is_err(), "{what}");
    }
    let (left, elapsed) = drip.join().unwrap();
    assert!(left > 0 && elapsed < PATIENCE, "it could have gone on: {left} {elapsed:?}");
    running.finish();
}

#[test]
fn a_hundred_at_once_get_their_turn_or_a_clear_end() {
    let running = Running::start();
    let record = record(&running);
    let mut all: Vec<Fake> = (0..100).map(|_| Fake::connect(&record)).collect();
    let welcome: Vec<bool> = all.iter_mut().map(|fake| fake.greet(&record)).collect();
    assert_eq!(welcome.iter().filter(|welcome| **welcome).count(), MAX_CONNECTIONS);
    // Those inside are served, all at the same time.
    let mut inside: Vec<Fake> =
        all.into_iter().zip(welcome).filter(|(_, welcome)| *welcome).map(|(fake, _)| fake).collect();
    for fake in &mut inside {
        fake.say(&FromTerminal::Request(RunCommand { command: add_note() }.into()));
    }
    for fake in &mut inside {
        assert!(matches!(fake.hear(), Some(ToTerminal::Response(applied)) if applied["revision"].is_u64()));
    }
    drop(inside);
    // When they are gone there is room again.
    wait_until("room after everybody left", || Fake::connect(&record).greet(&record));
    assert_eq!(running.finish().revision, Revision(MAX_CONNECTIONS as u64));
}

#[test]
fn garbage_never_gets_further_than_its_own_connection() {
    let running = Running::start();
    let mut random = RandomSource::from_environment(3);
    let record = record(&running);
    let token = record.token.reveal().to_owned();
    let near = |last: char| format!("{}{last}", &token[..63]);
    let wrong = near(if token.ends_with('0') { '1' } else { '0' });
    let locked_out = encode_json(
        &FromTerminal::Hello { protocol: PROTOCOL_VERSION, token: wrong },
        MAX_TERMINAL_FRAME_BYTES,
    )
    .unwrap();
    for round in 0..2_000 {
        let (mut fake, conversation) = conversing(&running, IDLE_LIMIT);
        let bytes = if round % 3 == 0 { random.bytes(400) } else { damage_frame(&mut random, &locked_out) };
        fake.send(&bytes);
        drop(fake.stream.shutdown(Shutdown::Write));
        drop(conversation.join().expect("no panic"));
    }
    assert_eq!(running.document().revision, Revision::START, "nobody was let in");
    let valid: Vec<Vec<u8>> = [
        WorkbenchRequest::from(RunCommand { command: add_note() }),
        UndoLast {}.into(),
        ReadLog { limit: 3 }.into(),
        ListProblems {}.into(),
    ]
    .into_iter()
    .map(|request| encode_json(&FromTerminal::Request(request), MAX_TERMINAL_FRAME_BYTES).unwrap())
    .collect();
    for _ in 0..1_000 {
        let (mut fake, conversation) = conversing(&running, IDLE_LIMIT);
        assert!(fake.greet(&record));
        for _ in 0..=random.below(3) {
            let frame = &valid[random.below(valid.len())];
            let bytes = damage_frame(&mut random, frame);
            fake.send(&bytes);
        }
        drop(fake.stream.shutdown(Shutdown::Write));
        // Its answers have to go somewhere.
        let mut said = Vec::new();
        drop(fake.stream.read_to_end(&mut said));
        drop(conversation.join().expect("no panic"));
    }
    running.finish();
}

#[test]
fn a_change_that_waited_while_its_workspace_was_closed_is_refused() {
    let running = Running::start();
    let is_closed = Arc::new(AtomicBool::new(false));
    let bound = running.router.writer.bound_to(Arc::clone(&is_closed));
    let add = || {
        let mutation = workspace::Mutation::Run(Box::new(add_note()));
        let actor = shared_protocol::Actor::new(shared_protocol::ActorKind::Terminal, "test");
        let (sender, receiver) = std::sync::mpsc::channel();
        let responder = shared_protocol::request::Responder::new(move |result| drop(sender.send(result)));
        bound.mutate(mutation, actor, responder);
        receiver.recv_timeout(PATIENCE).unwrap()
    };
    assert!(add().is_ok());
    let before = running.document();
    is_closed.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(add().unwrap_err().code, RefusalCode::NoWorkspace);
    assert_eq!(running.document(), before, "nothing reached the workspace that is open now");
}
