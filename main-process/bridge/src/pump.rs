//! Executes the core's actions on three threads (client input, Draftboard input, decisions) with bounded queues.

use crate::{
    core::{BridgeAction, BridgeCore, BridgeEvent, BridgeSettings},
    lines::{BoundedLineReader, InputLine, MAX_LINE_BYTES},
    surface::OfflineSurface,
};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::Arc,
    time::{Duration, Instant},
};

/// The maximum number of queued lines; readers block when the queue is full.
const MAX_QUEUED_EVENTS: usize = 32;
/// The write timeout. A Draftboard that accepts no byte for this long is considered stuck.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Connects to Draftboard or starts it. Errors are texts that the bridge passes on to the client.
pub trait DraftboardConnector: Send + Sync + 'static {
    /// Opens a connection that carries lines.
    fn connect(&self) -> Result<UnixStream, String>;

    /// Starts Draftboard if that is allowed. Returns before it is ready.
    fn launch(&self) -> Result<(), String>;

    fn may_launch(&self) -> bool;

    /// The instruction for a person to start Draftboard.
    fn start_hint(&self) -> String;
}

enum BridgePumpEvent {
    Input(BridgeEvent),
    Connected(UnixStream),
    /// An event from the connection with this number. Events from earlier connections are ignored.
    Server(u64, BridgeEvent),
}

/// Runs until the client closes its input or its output.
pub fn run(
    reach: impl DraftboardConnector,
    surface: OfflineSurface,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let (events, queue) = bounded(MAX_QUEUED_EVENTS);
    let habits = BridgeSettings { surface, start_hint: reach.start_hint(), may_launch: reach.may_launch() };
    let client = events.clone();
    spawn("client-in", move || read_client(input, &client))?;
    let pump = BridgePump {
        core: BridgeCore::new(habits),
        reach: Arc::new(reach),
        output,
        events,
        server: None,
        connections: 0,
        retry_at: None,
        end_at: None,
    };
    pump.run(&queue)
}

struct BridgePump<R, W> {
    core: BridgeCore,
    reach: Arc<R>,
    output: W,
    events: Sender<BridgePumpEvent>,
    server: Option<UnixStream>,
    connections: u64,
    retry_at: Option<Instant>,
    end_at: Option<Instant>,
}

impl<R: DraftboardConnector, W: Write> BridgePump<R, W> {
    fn run(mut self, queue: &Receiver<BridgePumpEvent>) -> io::Result<()> {
        loop {
            let input = match self.next_input(queue) {
                Some(input) => input,
                None => continue,
            };
            let mut inputs = vec![input];
            while let Some(input) = inputs.pop() {
                for action in self.core.handle(input) {
                    match action {
                        BridgeAction::End => return self.output.flush(),
                        action => inputs.extend(self.execute(action)?),
                    }
                }
                self.output.flush()?;
            }
        }
    }

    /// Waits for the next event. Returns `None` when the event needs no action.
    fn next_input(&mut self, queue: &Receiver<BridgePumpEvent>) -> Option<BridgeEvent> {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.end_at) {
            return Some(BridgeEvent::EndDue);
        }
        if due(self.retry_at) {
            self.retry_at = None;
            return Some(BridgeEvent::RetryDue);
        }
        let next = [self.retry_at, self.end_at].into_iter().flatten().min();
        let patience = next.map_or(IDLE_TIMEOUT, |next| next.saturating_duration_since(now));
        match queue.recv_timeout(patience) {
            Ok(BridgePumpEvent::Input(input)) => Some(input),
            Ok(BridgePumpEvent::Connected(stream)) => Some(self.adopt_connection(stream)),
            Ok(BridgePumpEvent::Server(connection, input)) if connection == self.connections => {
                if matches!(input, BridgeEvent::Lost(_)) {
                    self.server = None;
                }
                Some(input)
            }
            Ok(BridgePumpEvent::Server(..)) | Err(RecvTimeoutError::Timeout) => None,
            // Unreachable: the pump holds a sender itself.
            Err(RecvTimeoutError::Disconnected) => Some(BridgeEvent::EndDue),
        }
    }

    fn adopt_connection(&mut self, stream: UnixStream) -> BridgeEvent {
        self.connections += 1;
        let (connection, events) = (self.connections, self.events.clone());
        let prepared = stream.set_read_timeout(None).and_then(|()| {
            stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
            let reader = stream.try_clone()?;
            spawn("draftboard-in", move || read_server(reader, connection, &events))
        });
        match prepared {
            Ok(()) => {
                self.server = Some(stream);
                BridgeEvent::Connected
            }
            Err(error) => BridgeEvent::Unreachable(error.to_string()),
        }
    }

    fn execute(&mut self, action: BridgeAction) -> io::Result<Option<BridgeEvent>> {
        match action {
            BridgeAction::ToClient(mut line) => {
                line.push(b'\n');
                self.output.write_all(&line)?;
            }
            BridgeAction::ToServer(mut line) => {
                line.push(b'\n');
                let written = self.server.as_mut().map(|server| server.write_all(&line));
                if let Some(Err(error)) = written {
                    return Ok(self.disconnect(&error.to_string()));
                }
            }
            BridgeAction::Connect => {
                self.retry_at = None;
                let (reach, events) = (Arc::clone(&self.reach), self.events.clone());
                spawn("connect", move || {
                    let event = match reach.connect() {
                        Ok(stream) => BridgePumpEvent::Connected(stream),
                        Err(reason) => BridgePumpEvent::Input(BridgeEvent::Unreachable(reason)),
                    };
                    drop(events.send(event));
                })?;
            }
            BridgeAction::ConnectAfter(wait) => self.retry_at = Some(Instant::now() + wait),
            BridgeAction::Launch => {
                if let Err(reason) = self.reach.launch() {
                    tracing::error!(reason, "could not start Draftboard");
                }
            }
            BridgeAction::Disconnect => return Ok(self.disconnect("Draftboard sent an unexpected message")),
            BridgeAction::EndAfter(wait) => self.end_at = Some(Instant::now() + wait),
            BridgeAction::End => {}
        }
        Ok(None)
    }

    fn disconnect(&mut self, reason: &str) -> Option<BridgeEvent> {
        let server = self.server.take()?;
        // The last event of its reader belongs to a connection that is no longer current.
        self.connections += 1;
        drop(server.shutdown(Shutdown::Both));
        Some(BridgeEvent::Lost(reason.to_owned()))
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn read_client(input: impl Read, events: &Sender<BridgePumpEvent>) {
    let mut lines = BoundedLineReader::new(input, MAX_LINE_BYTES);
    loop {
        let input = match lines.next_line() {
            Ok(Some(InputLine::Whole(line))) => BridgeEvent::Client(line),
            Ok(Some(InputLine::TooLong)) => BridgeEvent::ClientTooLong,
            Ok(None) => BridgeEvent::ClientEnded,
            Err(error) => {
                tracing::warn!(%error, "could not read standard input");
                BridgeEvent::ClientEnded
            }
        };
        let last = matches!(input, BridgeEvent::ClientEnded);
        if events.send(BridgePumpEvent::Input(input)).is_err() || last {
            return;
        }
    }
}

fn read_server(stream: UnixStream, connection: u64, events: &Sender<BridgePumpEvent>) {
    let mut lines = BoundedLineReader::new(stream, MAX_LINE_BYTES);
    loop {
        let input = match lines.next_line() {
            Ok(Some(InputLine::Whole(line))) => BridgeEvent::Server(line),
            Ok(Some(InputLine::TooLong)) => {
                BridgeEvent::Lost("Draftboard sent a message that is too long".to_owned())
            }
            Ok(None) => BridgeEvent::Lost("Draftboard closed the connection".to_owned()),
            Err(error) => BridgeEvent::Lost(error.to_string()),
        };
        let last = matches!(input, BridgeEvent::Lost(_));
        if events.send(BridgePumpEvent::Server(connection, input)).is_err() || last {
            return;
        }
    }
}
