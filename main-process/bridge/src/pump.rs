//! Executes the core's actions on three threads (client input, Draftboard input, decisions) with bounded queues.

use crate::{
    core::{Action, Core, Habits, Input},
    lines::{Line, Lines, MAX_LINE},
    surface::Surface,
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
const QUEUE: usize = 32;
/// The write timeout. A Draftboard that accepts no byte for this long is considered stuck.
const WRITE_LIMIT: Duration = Duration::from_secs(10);
const NEVER: Duration = Duration::from_secs(3600);

/// Connects to Draftboard or starts it. Errors are texts that the bridge passes on to the client.
pub trait Reach: Send + Sync + 'static {
    /// Opens a connection that carries lines.
    fn connect(&self) -> Result<UnixStream, String>;

    /// Starts Draftboard if that is allowed. Returns before it is ready.
    fn launch(&self) -> Result<(), String>;

    fn may_launch(&self) -> bool;

    /// The instruction for a person to start Draftboard.
    fn how_to_start(&self) -> String;
}

enum Event {
    Input(Input),
    Connected(UnixStream),
    /// An event from the connection with this number. Events from earlier connections are ignored.
    Server(u64, Input),
}

/// Runs until the client closes its input or its output.
pub fn run(
    reach: impl Reach,
    surface: Surface,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let (events, queue) = bounded(QUEUE);
    let habits = Habits { surface, how_to_start: reach.how_to_start(), launch: reach.may_launch() };
    let client = events.clone();
    spawn("client-in", move || read_client(input, &client))?;
    let pump = Pump {
        core: Core::new(habits),
        reach: Arc::new(reach),
        output,
        events,
        server: None,
        connections: 0,
        retry_at: None,
        end_at: None,
    };
    pump.attend(&queue)
}

struct Pump<R, W> {
    core: Core,
    reach: Arc<R>,
    output: W,
    events: Sender<Event>,
    server: Option<UnixStream>,
    connections: u64,
    retry_at: Option<Instant>,
    end_at: Option<Instant>,
}

impl<R: Reach, W: Write> Pump<R, W> {
    fn attend(mut self, queue: &Receiver<Event>) -> io::Result<()> {
        loop {
            let input = match self.next(queue) {
                Some(input) => input,
                None => continue,
            };
            let mut inputs = vec![input];
            while let Some(input) = inputs.pop() {
                for action in self.core.handle(input) {
                    match action {
                        Action::End => return self.output.flush(),
                        action => inputs.extend(self.carry_out(action)?),
                    }
                }
                self.output.flush()?;
            }
        }
    }

    /// Waits for the next event. Returns `None` when the event needs no action.
    fn next(&mut self, queue: &Receiver<Event>) -> Option<Input> {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.end_at) {
            return Some(Input::EndDue);
        }
        if due(self.retry_at) {
            self.retry_at = None;
            return Some(Input::RetryDue);
        }
        let next = [self.retry_at, self.end_at].into_iter().flatten().min();
        let patience = next.map_or(NEVER, |next| next.saturating_duration_since(now));
        match queue.recv_timeout(patience) {
            Ok(Event::Input(input)) => Some(input),
            Ok(Event::Connected(stream)) => Some(self.adopt(stream)),
            Ok(Event::Server(connection, input)) if connection == self.connections => {
                if matches!(input, Input::Lost(_)) {
                    self.server = None;
                }
                Some(input)
            }
            Ok(Event::Server(..)) | Err(RecvTimeoutError::Timeout) => None,
            // Unreachable: the pump holds a sender itself.
            Err(RecvTimeoutError::Disconnected) => Some(Input::EndDue),
        }
    }

    fn adopt(&mut self, stream: UnixStream) -> Input {
        self.connections += 1;
        let (connection, events) = (self.connections, self.events.clone());
        let prepared = stream.set_read_timeout(None).and_then(|()| {
            stream.set_write_timeout(Some(WRITE_LIMIT))?;
            let reader = stream.try_clone()?;
            spawn("draftboard-in", move || read_server(reader, connection, &events))
        });
        match prepared {
            Ok(()) => {
                self.server = Some(stream);
                Input::Connected
            }
            Err(error) => Input::Unreachable(error.to_string()),
        }
    }

    fn carry_out(&mut self, action: Action) -> io::Result<Option<Input>> {
        match action {
            Action::ToClient(mut line) => {
                line.push(b'\n');
                self.output.write_all(&line)?;
            }
            Action::ToServer(mut line) => {
                line.push(b'\n');
                let written = self.server.as_mut().map(|server| server.write_all(&line));
                if let Some(Err(error)) = written {
                    return Ok(self.hang_up(&error.to_string()));
                }
            }
            Action::Connect => {
                self.retry_at = None;
                let (reach, events) = (Arc::clone(&self.reach), self.events.clone());
                spawn("connect", move || {
                    let event = match reach.connect() {
                        Ok(stream) => Event::Connected(stream),
                        Err(reason) => Event::Input(Input::Unreachable(reason)),
                    };
                    drop(events.send(event));
                })?;
            }
            Action::ConnectAfter(wait) => self.retry_at = Some(Instant::now() + wait),
            Action::Launch => {
                if let Err(reason) = self.reach.launch() {
                    tracing::error!(reason, "could not start Draftboard");
                }
            }
            Action::Disconnect => return Ok(self.hang_up("Draftboard sent an unexpected message")),
            Action::EndAfter(wait) => self.end_at = Some(Instant::now() + wait),
            Action::End => {}
        }
        Ok(None)
    }

    fn hang_up(&mut self, reason: &str) -> Option<Input> {
        let server = self.server.take()?;
        // The last event of its reader belongs to a connection that is no longer current.
        self.connections += 1;
        drop(server.shutdown(Shutdown::Both));
        Some(Input::Lost(reason.to_owned()))
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn read_client(input: impl Read, events: &Sender<Event>) {
    let mut lines = Lines::new(input, MAX_LINE);
    loop {
        let input = match lines.next() {
            Ok(Some(Line::Whole(line))) => Input::Client(line),
            Ok(Some(Line::TooLong)) => Input::ClientTooLong,
            Ok(None) => Input::ClientEnded,
            Err(error) => {
                tracing::warn!(%error, "could not read standard input");
                Input::ClientEnded
            }
        };
        let last = matches!(input, Input::ClientEnded);
        if events.send(Event::Input(input)).is_err() || last {
            return;
        }
    }
}

fn read_server(stream: UnixStream, connection: u64, events: &Sender<Event>) {
    let mut lines = Lines::new(stream, MAX_LINE);
    loop {
        let input = match lines.next() {
            Ok(Some(Line::Whole(line))) => Input::Server(line),
            Ok(Some(Line::TooLong)) => Input::Lost("Draftboard sent a message that is too long".to_owned()),
            Ok(None) => Input::Lost("Draftboard closed the connection".to_owned()),
            Err(error) => Input::Lost(error.to_string()),
        };
        let last = matches!(input, Input::Lost(_));
        if events.send(Event::Server(connection, input)).is_err() || last {
            return;
        }
    }
}
