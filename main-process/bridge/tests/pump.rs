//! The bridge between a client and a server in the same process, over real streams and threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use bridge::{DraftboardConnector, OfflineSurface, run};
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, BufReader, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread::JoinHandle,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the connections that a test prepared; fails when there is none.
#[derive(Clone)]
struct PreparedConnections {
    waiting: Arc<Mutex<Receiver<UnixStream>>>,
}

impl DraftboardConnector for PreparedConnections {
    fn connect(&self) -> Result<UnixStream, String> {
        self.waiting.lock().unwrap().try_recv().map_err(|_| "nobody is there".to_owned())
    }

    fn launch(&self) -> Result<(), String> {
        Err("not here".to_owned())
    }

    fn may_launch(&self) -> bool {
        false
    }

    fn start_hint(&self) -> String {
        "Start it.".to_owned()
    }
}

struct LineEndpoint {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl LineEndpoint {
    fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { lines: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    fn say(&mut self, message: &Value) {
        self.stream.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }
}

struct BridgeFixture {
    client: LineEndpoint,
    door: Sender<UnixStream>,
    bridge: JoinHandle<io::Result<()>>,
}

impl BridgeFixture {
    fn start() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (door, waiting) = mpsc::channel();
        let reach = PreparedConnections { waiting: Arc::new(Mutex::new(waiting)) };
        let output = theirs.try_clone().unwrap();
        let bridge = std::thread::spawn(move || run(reach, OfflineSurface::default(), theirs, output));
        Self { client: LineEndpoint::new(ours), door, bridge }
    }

    /// Prepares a server for the next connection attempt.
    fn open(&self) -> LineEndpoint {
        let (ours, theirs) = UnixStream::pair().unwrap();
        self.door.send(theirs).unwrap();
        LineEndpoint::new(ours)
    }

    fn end(self) {
        self.client.stream.shutdown(Shutdown::Write).unwrap();
        self.bridge.join().unwrap().unwrap();
    }
}

fn call(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "search"}})
}

fn answer(id: u32, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"text": text}})
}

fn code(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]["error"]["code"]
}

#[test]
fn lines_of_any_size_go_both_ways_at_once() {
    let mut bench = BridgeFixture::start();
    let mut server = bench.open();
    let large = "x".repeat(1 << 20);
    let echo = std::thread::spawn(move || {
        for id in 0..50 {
            assert_eq!(server.hear(), call(id));
            server.say(&answer(id, &large));
        }
        server
    });
    let mut writer = LineEndpoint::new(bench.client.stream.try_clone().unwrap());
    let asking = std::thread::spawn(move || (0..50).for_each(|id| writer.say(&call(id))));
    for id in 0..50 {
        let heard = bench.client.hear();
        assert_eq!(
            (&heard["id"], heard["result"]["text"].as_str().map(str::len)),
            (&json!(id), Some(1 << 20))
        );
    }
    asking.join().unwrap();
    drop(echo.join().unwrap());
    bench.end();
}

#[test]
fn a_lost_connection_is_answered_for_and_replaced() {
    let mut bench = BridgeFixture::start();
    let mut server = bench.open();
    bench.client.say(&call(1));
    assert_eq!(server.hear(), call(1));
    let mut next = bench.open();
    drop(server);
    assert_eq!(code(&bench.client.hear()), "BRIDGE_DISCONNECTED");
    bench.client.say(&call(2));
    assert_eq!(next.hear(), call(2));
    next.say(&answer(2, "here"));
    assert_eq!(bench.client.hear(), answer(2, "here"));
    bench.end();
}

#[test]
fn nobody_is_there_and_then_somebody_is() {
    let mut bench = BridgeFixture::start();
    bench.client.say(&call(1));
    let refused = bench.client.hear();
    assert_eq!(code(&refused), "BRIDGE_DISCONNECTED");
    let error = &refused["result"]["structuredContent"]["error"];
    assert_eq!(error["details"]["hints"][0], "Start it.");
    assert!(error["message"].as_str().unwrap().contains("nobody is there"), "{error}");
    let mut server = bench.open();
    bench.client.say(&call(2));
    assert_eq!(server.hear(), call(2));
    server.say(&answer(2, "here"));
    assert_eq!(bench.client.hear(), answer(2, "here"));
    bench.end();
}

#[test]
fn a_server_that_talks_nonsense_is_left() {
    let mut bench = BridgeFixture::start();
    let mut server = bench.open();
    bench.client.say(&call(1));
    server.hear();
    server.stream.write_all(b"hello\n").unwrap();
    assert_eq!(code(&bench.client.hear()), "BRIDGE_DISCONNECTED");
    bench.end();
}

#[test]
fn a_client_that_leaves_does_not_wait_for_an_answer_that_never_comes() {
    let mut bench = BridgeFixture::start();
    let mut server = bench.open();
    bench.client.say(&call(1));
    server.hear();
    bench.end();
}
