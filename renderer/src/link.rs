//! The connection to the main process. Two named threads read and write message frames; bounded channels connect them to
//! the UI thread, which never blocks on either. The shared memory of a preview arrives as a file descriptor and is
//! validated before the window uses it.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use frame_memory::{Channel, ChannelError, FrameMemory};
use shared_protocol::{
    frame::{FrameError, MAX_FROM_RENDERER, MAX_TO_RENDERER, decode, encode},
    messages::{FromRenderer, Hello, PROTOCOL_VERSION, Presence, Request, Role, ToRenderer},
    preview::Screen,
    previews::{PreviewGesture, SessionId},
    review::ReviewRequest,
    upstreams::UpstreamDecision,
};
use std::{
    io::{self, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Capacity of the queue to the UI thread. When it is full, the reader blocks and back-pressure reaches main's socket.
const INCOMING: usize = 256;
/// Capacity of the queue to the socket.
const OUTGOING: usize = 1024;
/// Delay of a repaint request. Zero would paint two frames instead of one.
const SOON: Duration = Duration::from_millis(2);
/// Main always reads its socket. A write that takes longer means that main is gone or stuck, and the window closes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// An event from the connection threads to the window.
#[derive(Debug)]
pub enum Incoming {
    Message(ToRenderer),
    /// The shared memory that holds the preview frames from now on.
    Frames {
        session: SessionId,
        generation: u32,
        screen: Screen,
        memory: FrameMemory,
    },
    /// A request was too large to send. The connection remains open.
    NotSent {
        request: Option<u64>,
        why: String,
    },
    /// The connection ended because main exited or violated the protocol.
    Closed {
        why: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("the workbench is busy and did not take the request. Try again")]
    Busy,
    #[error("the connection to the workbench is closed")]
    Closed,
}

/// The window side of the connection. Each request has a number, which its answer repeats.
#[derive(Debug)]
pub struct Link {
    outgoing: Option<Sender<FromRenderer>>,
    incoming: Receiver<Incoming>,
    next_request: u64,
    threads: Option<Threads>,
}

#[derive(Debug)]
struct Threads {
    writer: JoinHandle<()>,
    socket: UnixStream,
}

impl Link {
    /// Starts the threads on an open socket. Incoming data requests a repaint of `context`.
    pub fn over(stream: UnixStream, context: egui::Context) -> io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let (reading, socket) = (stream.try_clone()?, stream.try_clone()?);
        let (to_window, incoming) = bounded(INCOMING);
        let (outgoing, to_main) = bounded(OUTGOING);
        let hello = outgoing.clone();
        let notify = Notify { window: to_window.clone(), context: context.clone() };
        thread::Builder::new().name("link-reader".into()).spawn(move || read(reading, hello, &notify))?;
        let notify = Notify { window: to_window, context };
        let writer = thread::Builder::new()
            .name("link-writer".into())
            .spawn(move || write(stream, &to_main, &notify))?;
        Ok(Self {
            outgoing: Some(outgoing),
            incoming,
            next_request: 1,
            threads: Some(Threads { writer, socket }),
        })
    }

    /// Creates a connection for tests, without a socket.
    pub fn from_channels(outgoing: Sender<FromRenderer>, incoming: Receiver<Incoming>) -> Self {
        Self { outgoing: Some(outgoing), incoming, next_request: 1, threads: None }
    }

    /// Returns the next event without blocking.
    pub fn next(&self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }

    /// Sends a request to main and returns its number.
    pub fn request(&mut self, request: Request) -> Result<u64, LinkError> {
        let id = self.next_request;
        self.send(FromRenderer::Request { id, request })?;
        self.next_request += 1;
        Ok(id)
    }

    /// Sends a review request, which only the window may send, and returns its number.
    pub fn review(&mut self, request: ReviewRequest) -> Result<u64, LinkError> {
        let id = self.next_request;
        self.send(FromRenderer::Review { id, request })?;
        self.next_request += 1;
        Ok(id)
    }

    /// Sends a decision about a managed server, which only a person may make, and returns its number.
    pub fn upstream(&mut self, decision: UpstreamDecision) -> Result<u64, LinkError> {
        let id = self.next_request;
        self.send(FromRenderer::Upstream { id, decision })?;
        self.next_request += 1;
        Ok(id)
    }

    pub fn presence(&self, presence: Presence) -> Result<(), LinkError> {
        self.send(FromRenderer::Presence(presence))
    }

    /// Sends a gesture to a preview. There is no answer.
    pub fn preview(&self, session: SessionId, gesture: PreviewGesture) -> Result<(), LinkError> {
        self.send(FromRenderer::Preview { session, gesture })
    }

    pub fn resync(&self) -> Result<(), LinkError> {
        self.send(FromRenderer::Resync)
    }

    fn send(&self, message: FromRenderer) -> Result<(), LinkError> {
        let outgoing = self.outgoing.as_ref().ok_or(LinkError::Closed)?;
        outgoing.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => LinkError::Busy,
            TrySendError::Disconnected(_) => LinkError::Closed,
        })
    }
}

impl Drop for Link {
    /// Flushes the last messages (presence, intentional close) to main: the writer thread ends after it has written the
    /// queue of the dropped sender. The write timeout bounds the wait.
    fn drop(&mut self) {
        self.outgoing = None;
        let Some(Threads { writer, socket }) = self.threads.take() else { return };
        if let Err(error) = socket.shutdown(Shutdown::Read) {
            tracing::debug!(%error, "the socket is already closed");
        }
        if writer.join().is_err() {
            tracing::error!("the thread link-writer panicked");
        }
    }
}

struct Notify {
    window: Sender<Incoming>,
    context: egui::Context,
}

impl Notify {
    /// Returns `false` when the window has closed.
    fn tell(&self, incoming: Incoming) -> bool {
        let told = self.window.send(incoming).is_ok();
        self.context.request_repaint_after(SOON);
        told
    }
}

fn read(stream: UnixStream, outgoing: Sender<FromRenderer>, notify: &Notify) {
    let mut channel = Channel::new(stream, MAX_TO_RENDERER);
    let greeted = shake_hands(&mut channel, &outgoing);
    // From here on only the window holds a sender, so the writer thread ends with the window.
    drop(outgoing);
    let why = match greeted.and_then(|()| pass_on(channel, notify)) {
        Ok(()) => None,
        Err(error) => {
            tracing::error!(%error, "the connection to the main process failed");
            Some(error.to_string())
        }
    };
    notify.tell(Incoming::Closed { why });
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the main process did not open with a challenge of protocol {PROTOCOL_VERSION}")]
    NoChallenge,
    #[error("the outgoing queue is closed")]
    NoQueue,
}

/// Receives the challenge, which must be the first message, and answers it before any other message is sent.
fn shake_hands(channel: &mut Channel, outgoing: &Sender<FromRenderer>) -> Result<(), ReadError> {
    let first = match channel.receive() {
        Err(ChannelError::Ended) => return Err(ReadError::NoChallenge),
        received => received?,
    };
    match decode(&first)? {
        ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token } => {
            let build = env!("CARGO_PKG_VERSION").to_owned();
            let hello = Hello { protocol: PROTOCOL_VERSION, build, role: Role::Renderer, token };
            outgoing.send(FromRenderer::Hello(hello)).map_err(|_| ReadError::NoQueue)
        }
        _ => Err(ReadError::NoChallenge),
    }
}

fn pass_on(mut channel: Channel, notify: &Notify) -> Result<(), ReadError> {
    loop {
        let frame = match channel.receive() {
            Err(ChannelError::Ended) => return Ok(()),
            received => received?,
        };
        let incoming = match decode(&frame)? {
            ToRenderer::PreviewMemory { session, generation, screen } => {
                match memory(channel.take_descriptor(), screen) {
                    Ok(memory) => Incoming::Frames { session, generation, screen, memory },
                    Err(why) => {
                        tracing::error!(%session, why, "cannot show the frames of a preview");
                        continue;
                    }
                }
            }
            message => Incoming::Message(message),
        };
        if !notify.tell(incoming) {
            return Ok(());
        }
    }
}

/// Adopts the shared memory that came with a message. Fails when it does not match the announced screen.
fn memory(descriptor: Option<OwnedFd>, screen: Screen) -> Result<FrameMemory, String> {
    let descriptor = descriptor.ok_or("the message carries no memory descriptor")?;
    if !screen.is_valid() {
        return Err("the screen size is not valid".to_owned());
    }
    let [width, height] = screen.pixels();
    FrameMemory::adopt(descriptor, width, height).map_err(|error| error.to_string())
}

fn write(mut stream: UnixStream, messages: &Receiver<FromRenderer>, notify: &Notify) {
    for message in messages {
        let frame = match encode(&message, MAX_FROM_RENDERER) {
            Ok(frame) => frame,
            Err(error) => {
                let request = match message {
                    FromRenderer::Request { id, .. } | FromRenderer::Review { id, .. } => Some(id),
                    _ => None,
                };
                notify.tell(Incoming::NotSent { request, why: error.to_string() });
                continue;
            }
        };
        if let Err(error) = stream.write_all(&frame) {
            tracing::error!(%error, "cannot write to the main process");
            notify.tell(Incoming::Closed { why: Some(error.to_string()) });
            return;
        }
    }
}
